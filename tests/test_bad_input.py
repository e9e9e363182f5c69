"""Every bad input gets one line that names the place, the problem and the way out."""

import datetime
import gzip
import io
import json
import os
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from bivec import SVD, load
from bivec.errors import FormatError, InputError, SaveError
from bivec.graph import BipartiteGraph
from bivec.io import as_graph, read_edges, write_graph

NAN, INF = float("nan"), float("inf")


def parquet(**columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def arrow(**columns):
    file = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    return file.getvalue()


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


def hif(*incidences, **tables):
    return json.dumps({"incidences": list(incidences), **tables})


def mtx(*lines, field="real"):
    return "\n".join([f"%%MatrixMarket matrix coordinate {field} general", *lines, ""])


def npy():
    file = io.BytesIO()
    np.save(file, np.eye(2))
    return file.getvalue()


def flipped(data, position):
    return data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :]


ROWS = "".join(f"u{i},i{i % 7}\n" for i in range(2000)).encode()
WEIGHT_WAY_OUT = "weight=None"
END_WAY_OUT = "fill in the id or remove the row"
SHAPE_WAY_OUT = "Mend the row, pass another delimiter"
QUOTE_WAY_OUT = "Close the quote, or pass quote=None"

# name: (file, content, options of read_edges, parts of the message)
FILES = {
    # nothing there
    "empty file": ("a.csv", "", {}, ["the file is empty", "at least one line"]),
    "empty gzip": ("a.csv.gz", gzip.compress(b""), {}, ["empty after decompression"]),
    "only comments": ("a.txt", "# one\n% two\n\n", {}, ["only comments or blank lines"]),
    "only blank lines": ("a.txt", "\n \n\t\n", {}, ["only comments or blank lines"]),
    "header only": ("a.csv", "user,item\n", {}, ["a header but no edges", "Add rows"]),
    "quoted header only": ("a.csv", '"user","item"\n', {}, ["a header but no edges"]),
    "no communities": ("a.cmty.txt", "# none\n\n", {}, ["no communities", "Each line lists"]),
    "no rows in Parquet": ("a.parquet", parquet(a=pa.array([], "str"), b=pa.array([], "str")), {},
                           ["the table has no rows", "at least one edge"]),
    # rows
    "too many cells": ("a.csv", "a,b\nc,d,e\n", {},
                       ["line 2", "3 cells where 2 are expected", SHAPE_WAY_OUT]),
    "too few cells": ("a.csv", "a,b,c\nd,e,f\ng,h\n", {}, ["line 3", "2 cells where 3"]),
    "one cell": ("a.csv", "a,b\nc\n", {}, ["line 2", "1 cell where 2 are expected"]),
    "ragged after blank lines": ("a.csv", "a,b\n\n\nc,d\n\ne,f,g\n", {}, ["line 6", "3 cells"]),
    "ragged after CRLF": ("a.csv", "a,b\r\nc,d\r\ne\r\n", {}, ["line 3", "1 cell where 2"]),
    "ragged after comments": ("a.tsv", "# x\n#\na\tb\nc\td\te\n", {}, ["line 4", "tab-separated"]),
    "ragged blanks": ("a.txt", "a b\nc d\n e  f g \n", {}, ["line 3", "3 cells", "blank-sep"]),
    "ragged double colon": ("a.dat", "a::b\nc::d\ne::f::g\n", {}, ["line 3", "double-colon"]),
    "ragged after a wrapped cell": ("a.csv", 'a,"b\nb"\nc\n', {}, ["line 3", "1 cell"]),
    "ragged far down": ("a.csv", ROWS + b"oops\n", {}, ["line 2,001", "1 cell"]),
    "open quote, right width": ("a.csv", 'a,b\nc,"d\ne,f\n', {},
                                ["line 2", 'a quote (") opens', "does not close", QUOTE_WAY_OUT]),
    "open quote in the first row": ("a.csv", 'a,"b\nc,d\n', {}, ["line 1", "does not close"]),
    "open quote in an unused column": ("a.csv", 'a,b,x\nc,d,"y\ne,f,z\n', {}, ["line 2", "quote"]),
    "open quote, wrong width": ("a.csv", 'a,b\n"c,d\ne,f\n', {}, ["line 2", QUOTE_WAY_OUT]),
    "quote that closes early": ("a.csv", 'x,y\n"Weird Al" Yankovic,b\n', {},
                                ["line 2", 'a quote (") closes in the middle', "quote=None"]),
    "quote that closes at once": ("a.csv", 'x,y\n""a,b\n', {}, ["line 2", "in the middle"]),
    "quote that closes behind a comma": ("a.csv", 'x,y\n"a,"b,c\n', {}, ["line 2", "middle"]),
    "quote behind a mark": ("a.csv", '\ufeff"a"b,c\n', {}, ["line 1", "in the middle"]),
    "quote closes early, far down": ("a.csv", b"a,b\n" * 300_000 + b'"c"d,e\n' + b"a,b\n" * 9, {},
                                     ["line 300,001", "in the middle"]),
    "quoted header": ("a.csv", '"us"er,item\na,b\n', {}, ["line 1", "in the middle"]),
    "quotes that swallow lines": (
        "a.tsv", '"Heroes\tartist 1\n' + "x\ty\n" * 899 + '"Low\tartist 3\n', {},
        ["line 1", "goes on to line 901", QUOTE_WAY_OUT]),
    "quotes that swallow blocks": (
        "a.tsv", "x\ty\n" + '"Heroes\tartist 1\n' + "x\ty\n" * 9 + '"Low\tartist 3\n'
        + "x\ty\n" * 500_000, {}, ["line 2", "goes on to line 12"]),
    "huge first cell": ("a.csv", 'a,"' + "x" * 200_000, {}, ["the first row cannot be split"]),
    "carriage returns alone": ("a.csv", "a,b\rc,d\r", {}, ["old Macs", "tr "]),
    "single column": ("a.csv", "ann\nbob\n", {},
                      ["no delimiter found", "Pass delimiter=", "format='communities'"]),
    "delimiter that is not there": ("a.csv", "a,b\n", {"delimiter": ";"},
                                    ["line 1", "semicolon", "one column", "two ends"]),
    # columns
    "unknown left": ("a.csv", "user,item\na,b\n", {"left": "usr"},
                     ["no column named 'usr' for the left side", "'user', 'item'", "position"]),
    "unknown right": ("a.csv", "user,item\na,b\n", {"right": "x"}, ["'x' for the right side"]),
    "unknown weight": ("a.csv", "user,item\na,b\n", {"weight": "x"}, ["'x' for the weight"]),
    "duplicate names": ("a.csv", "id,id,w\na,b,1\n", {"left": "id", "right": "w"},
                        ["2 columns named 'id'", "position"]),
    "position out of range": ("a.csv", "a,b\n", {"right": 2},
                              ["no column at position 2 for the right side", "2 columns"]),
    "negative position": ("a.csv", "a,b\n", {"left": -1}, ["no column at position -1"]),
    "weight out of range": ("a.csv", "a,b\n", {"weight": 7}, ["position 7 for the weight"]),
    "no position": ("a.csv", "a,b\n", {"left": None}, ["no column at position None"]),
    "same column twice": ("a.csv", "user,item\na,b\n", {"left": "item", "right": "item"},
                          ["both column 'item'", "Choose two columns"]),
    "weight is an end": ("a.csv", "user,item\na,b\n", {"weight": "user"},
                         ["column 'user' cannot be a weight and an end", WEIGHT_WAY_OUT]),
    "Excel's empty delimiter": ("a.csv", "sep=\r\na,b\r\n", {}, ["line 1", "leaves one column"]),
    "Excel's delimiter is the quote": ("a.csv", "sep='\na'b\n", {"quote": "'"},
                                       ['"\'" cannot be a delimiter']),
    "pandas index": ("a.csv", ",user,item\n0,a,b\n1,c,d\n", {},
                     ["index column written by pandas", "left= and right=", "'user', 'item'"]),
    "pandas index on the right": ("a.csv", ",user,item\n0,a,b\n", {"left": 1, "right": 0},
                                  ["index column written by pandas"]),
    "pandas index, read again": ("a.csv", "Unnamed: 0,user,n\n0,a,1\n", {}, ["written by pandas"]),
    "names without header": ("a.csv", "a,b\n", {"left": "user", "header": False},
                             ["by name", "no header", "Give positions"]),
    "unknown Parquet column": ("a.parquet", parquet(u=["a"], i=["b"]), {"left": "x"},
                               ["no column named 'x'", "'u', 'i'"]),
    "Parquet weight is an end": ("a.parquet", parquet(u=[1], i=[2]), {"weight": "i"},
                                 ["'i' cannot be a weight and an end"]),
    "Parquet of one column": ("a.parquet", parquet(u=["a"]), {}, ["1 column", "two ends"]),
    "columns of communities": ("a.cmty.txt", "1 2\n", {"left": "x"}, ["no columns to choose"]),
    # weights
    "text NaN": ("a.csv", "a,b,1\nc,d,nan\n", {},
                 ["line 2", "column 3", "the weight is NaN", WEIGHT_WAY_OUT]),
    "text inf": ("a.csv", "u,i,w\na,b,inf\n", {},
                 ["line 2", "column 3 ('w')", "the weight is infinite"]),
    "text -inf": ("a.csv", "a,b,1\nc,d,2\ne,f,-inf\n", {}, ["line 3", "infinite"]),
    "text negative": ("a.tsv", "a\tb\t-2.5\n", {}, ["line 1", "-2.5 is negative"]),
    "text word": ("a.csv", "a,b,1\nc,d,many\ne,f,2\n", {}, ["line 2", "'many' is not a number"]),
    "text decimal comma": ("a.csv", "a;b;1.5\nc;d;2\ne;f;2,5\n", {},
                           ["line 3", "'2,5' is not a number"]),
    "text decimal point": ("a.csv", "a;b;1,5\nc;d;2\ne;f;3,5\ng;h;1.5\n", {},
                           ["line 4", "'1.5' is not a number"]),
    "text negative comma": ("a.csv", "a;b;1,5\nc;d;-2,5\n", {}, ["line 2", "-2.5 is negative"]),
    "text thousands": ("a.tsv", "who\twhat\tplays\na\tb\t1,000\nc\td\t2,500\n", {},
                       ["column 3 ('plays')", "thousands marks", WEIGHT_WAY_OUT, "Clean"]),
    "text percent": ("a.csv", "a,b,50%\nc,d,7 %\n", {}, ["column 3", "percent", WEIGHT_WAY_OUT]),
    "text currency": ("a.csv", 'a,b,"$1,000.50"\nc,d,€ 3\n', {}, ["column 3", "currency"]),
    "text quoted comma": ("a.csv", 'a,b,"4,5"\n', {}, ["column 3", "decimal commas"]),
    "text percent by choice": ("a.csv", "a,b,50%\n", {"weight": 2}, ["'50%' is not a number"]),
    "text Arabic digits": ("a.csv", "a,b,٣\n", {"weight": 2}, ["line 1", "not a number"]),
    "text underscore": ("a.csv", "a,b,1_000\n", {"weight": 2}, ["'1_000' is not a number"]),
    "text empty weight": ("a.csv", "a,b,1\nc,d,\n", {}, ["line 2", "the weight is missing"]),
    "text overflow": ("a.csv", "a,b,1\nc,d,1e39\n", {},
                      ["line 2", "1e+39 does not fit into 32-bit floating point"]),
    "text underflow": ("a.csv", "a,b,1\nc,d,1e-60\n", {}, ["line 2", "1e-60 does not fit"]),
    "text blanks": ("out.x", "% bip\n1 1 1 \n1 2 x \n2 2 1\n", {}, ["line 3", "'x' is not"]),
    "wrapped row before": ("a.csv", '"a\n\na",b,1\nc,d,-1\n', {}, ["line 4", "-1 is negative"]),
    "sum overflows": ("a.csv", "a,b,3e38\na,b,3e38\n", {},
                      ["add up to more than 32-bit", "duplicates='max'"]),
    "Parquet NaN": ("a.parquet", parquet(u=["a", "b"], i=["x", "y"], w=[1.0, NAN]), {},
                    ["column 'w'", "in row 2, the weight is NaN", WEIGHT_WAY_OUT]),
    "Parquet missing weight": ("a.parquet", parquet(u=["a"], i=["x"], w=pa.array([None], "f8")), {},
                               ["column 'w'", "in row 1, the weight is missing"]),
    "Parquet text weight": ("a.parquet", parquet(u=["a"], i=["x"], w=["3"]), {"weight": "w"},
                            ["column 'w'", "of type string, not numeric"]),
    "MatrixMarket negative": ("a.mtx", mtx("2 3 1", "2 3 -1"), {},
                              ["left 2 and right 3", "-1 is negative"]),
    "HIF bad weight": ("a.json", hif({"node": 1, "edge": 1}, {"node": 1, "edge": 2, "weight": "x"}),
                       {}, ["in incidence 2, the weight 'x' is not a number"]),
    "HIF true weight": ("a.json", hif({"node": 1, "edge": 1, "weight": True}), {},
                        ["in incidence 1, the weight True is not a number"]),
    "HIF NaN": ("a.json", hif({"node": 1, "edge": 1, "weight": NAN}), {}, ["incidence 1", "NaN"]),
    "HIF overflow": ("a.json", hif({"node": 1, "edge": 1, "weight": 10**400}), {},
                     ["in incidence 1, the weight does not fit"]),
    # ids
    "missing left": ("a.csv", "a,b\n,d\n", {},
                     ["line 2", "column 1", "the left id is missing", END_WAY_OUT]),
    "missing right": ("a.tsv", "user\titem\na\tb\nc\t\n", {},
                      ["line 3", "column 2 ('item')", "the right id is missing", END_WAY_OUT]),
    "empty quotes": ("a.csv", 'a,""\n', {}, ["line 1", "the right id is missing"]),
    "missing double colon": ("a.dat", "a::b\nc::\n", {}, ["line 2", "the right id is missing"]),
    "Parquet null left": ("a.parquet", parquet(u=["a", None], i=["x", "y"]), {},
                          ["column 'u'", "in row 2, the left id is missing", END_WAY_OUT]),
    "Parquet empty right": ("a.parquet", parquet(u=[1, 2, 3], i=["x", "x", ""]), {},
                            ["column 'i'", "in row 3, the right id is missing"]),
    "Arrow null right": ("a.arrow", arrow(u=["a"], i=pa.array([None], "str")), {},
                         ["column 'i'", "in row 1, the right id is missing"]),
    "Parquet float ids": ("a.parquet", parquet(u=[1.5], i=["x"]), {},
                          ["the left ids are of type double", "strings or integers", "astype"]),
    "Parquet dates": ("a.parquet", parquet(u=["a"], i=[datetime.date(2020, 1, 1)]), {},
                      ["the right ids are of type date32"]),
    "Parquet uint64": ("a.parquet", parquet(u=pa.array([2**64 - 1], "u8"), i=["x"]), {},
                       ["left ids do not fit into 64-bit", "Turn them into strings"]),
    "Parquet list ids": ("a.parquet", parquet(u=[["a"]], i=["x"]), {},
                         ["the left ids are of type list", "strings or integers"]),
    "Parquet struct ids": ("a.parquet", parquet(u=["a"], i=[{"x": 1}]), {},
                           ["the right ids are of type struct", "strings or integers"]),
    "Arrow list ids": ("a.arrow", arrow(u=[["a"]], i=["x"]), {}, ["left ids are of type list"]),
    "HIF missing node": ("a.json", hif({"edge": "p"}), {}, ["incidence 1 has no 'node'"]),
    "HIF missing edge": ("a.json", hif({"node": "a", "edge": ""}), {}, ["1 has no 'edge'"]),
    "HIF float node": ("a.json", hif({"node": 1.5, "edge": 1}), {}, ["left ids", "of type double"]),
    "HIF mixed nodes": ("a.json", hif({"node": 1, "edge": 1}, nodes=[{"node": "a"}]), {},
                        ["the left ids mix strings and integers", "'a', 1"]),
    "HIF lone surrogate": ("a.json", hif({"node": "\ud800", "edge": 1}), {}, ["no valid Unicode"]),
    # bytes
    "truncated gzip": ("a.csv.gz", gzip.compress(ROWS)[:-200], {},
                       ["the gzip data ends too early", "again"]),
    "gzip without its end": ("a.csv.gz", gzip.compress(b"a,b\n")[:-4], {}, ["ends too early"]),
    "truncated gzip, communities": ("a.cmty.txt.gz", gzip.compress(b"1 2\n" * 999_999)[:-99], {},
                                    ["the gzip data ends too early"]),
    "truncated gzip, MatrixMarket": ("a.mtx.gz", gzip.compress(
        mtx("9 9 60000", *["1 1 0.1"] * 60_000).encode())[:-99], {}, ["gzip data ends too early"]),
    "truncated zstd": ("a.csv.zst", zstd(ROWS)[:-5], {}, ["the zstd data ends too early"]),
    "damaged gzip": ("a.csv.gz", flipped(gzip.compress(b"a,b\nc,d\n"), -6), {},
                     ["the gzip data is damaged", "again"]),
    "damaged zstd": ("a.csv.zst", zstd(ROWS)[:9] + b"\xff" * 30, {}, ["the zstd data is damaged"]),
    "truncated Parquet": ("a.parquet", parquet(u=["a"], i=["b"])[:-9], {},
                          ["the parquet file is damaged or incomplete", "again"]),
    "damaged Arrow": ("a.arrow", arrow(u=["a"], i=["b"])[:-30], {},
                      ["the arrow file is damaged or incomplete", "again"]),
    "packed Parquet": ("a.parquet.gz", gzip.compress(parquet(u=["a"], i=["b"])), {},
                       ["packed with gzip", "Unpack it first"]),
    "Latin-1": ("a.csv", b"a,b\nMu\xf1oz,d\n", {},
                ["line 2", "byte 3", "0xf1", "no UTF-8", "iconv"]),
    "Latin-1 communities": ("a.cmty.txt", b"a b\n\nc \xe9\n", {}, ["line 3", "no UTF-8"]),
    "Latin-1 far down": ("a.csv.gz", gzip.compress(ROWS + b"\xff,b\n"), {}, ["line 2,001", "0xff"]),
    "UTF-16": ("a.csv", "a,b\n".encode("utf-16"), {}, ["UTF-16 text", "Convert it"]),
    "UTF-16 without a mark": ("a.csv", "ann,bob\n".encode("utf-16-le"), {}, ["UTF-16 text"]),
    "zip": ("a.zip", b"PK\x03\x04abcd", {}, ["a zip archive", "Convert it"]),
    "xz": ("a.csv.xz", b"\xfd7zXZ\x00\x00", {}, ["an xz archive", "Convert it"]),
    "pickle": ("a.pkl", pickle.dumps([("a", "b")]), {}, ["a pickle", "Convert it"]),
    "old pickle": ("a.pkl", pickle.dumps([("a", "b")], protocol=2), {}, ["a pickle"]),
    "HDF5": ("a.h5", b"\x89HDF\r\n\x1a\n", {}, ["an HDF5 file", "Convert it"]),
    "numpy": ("a.npy", npy(), {}, ["a numpy array", "Convert it"]),
    "tar in gzip": ("a.tgz", gzip.compress(b"name".ljust(257, b"\0") + b"ustar\0"), {},
                    ["a tar archive"]),
    "Arrow stream": ("a.arrow", b"\xff\xff\xff\xff\x78\0\0\0", {},
                     ["an Arrow stream", "Write it as an Arrow file"]),
    "JSON lines": ("a.txt", '{"user": "a", "item": "b"}\n' * 2, {},
                   ["this is JSON", "Convert it", "format='text'"]),
    "JSON of pairs": ("a.txt", "\n [[1, 2], [3, 4]]\n", {}, ["this is JSON"]),
    "JSON over lines": ("a.txt", '[\n  {"user": 1}\n]\n', {}, ["this is JSON"]),
    "JSON in one long line": ("a.txt", "[" + '{"a": 1}, ' * 99_999 + "{}]", {}, ["this is JSON"]),
    # MatrixMarket
    "MatrixMarket entry": ("a.mtx", mtx("2 2 1", "1 x 3"), {}, ["line 3", "no valid MatrixMarket"]),
    "MatrixMarket too few": ("a.mtx", mtx("2 2 2", "1 1 3"), {}, ["no valid Matrix", "again"]),
    "MatrixMarket too many": ("a.mtx", mtx("2 2 1", "1 1 3", "1 2 3"), {}, ["no valid Matrix"]),
    "MatrixMarket outside": ("a.mtx", mtx("2 2 1", "3 1 3"), {}, ["line 3", "out of bounds"]),
    "MatrixMarket complex": ("a.mtx", mtx("1 1 1", "1 1 3 2", field="complex"), {},
                             ["complex128", "real numbers"]),
    "MatrixMarket header": ("a.mtx", "%%MatrixMarket matrx\n1 1 1\n", {}, ["line 1", "matrx"]),
    "MatrixMarket id": ("a.mtx", mtx('%left "a\\q"', "1 1 1", "1 1 1"), {},
                        ["line 2", "the id in this comment"]),
    "MatrixMarket ids": ("a.mtx", mtx('%left "a"', '%left "b"', "1 1 1", "1 1 1"), {},
                         ["2 left ids for a matrix of shape (1, 1)"]),
    # HIF
    "HIF not JSON": ("a.json", '{"incidences": [\n  oops]}', {}, ["line 2, column 3", "no valid"]),
    "HIF without incidences": ("a.json", '{"nodes": []}', {}, ["no HIF hypergraph", "incidences"]),
    "HIF empty": ("a.json", hif(), {}, ["no incidences", "List at least one"]),
    "HIF nodes": ("a.json", hif({"node": 1, "edge": 1}, nodes=[1]), {}, ["'nodes' is not a list"]),
    "HIF null node": ("a.json", hif({"node": 1, "edge": 1}, nodes=[{"node": None}]), {},
                      ["row 1 of the left ids is missing"]),
    "HIF bytes": ("a.json", b'{"incidences": "\xff"}', {}, ["no UTF-8"]),
    "HIF deep": ("a.json", "[" * 99_999, {}, ["no HIF hypergraph"]),
    # options
    "unknown duplicates": ("a.csv", "a,b\n", {"duplicates": "mean"},
                           ["duplicates='mean' is no policy", "sum, max, last, error"]),
    "repeated edge": ("a.csv", "a,b\nc,d\na,b\na,b\n", {"duplicates": "error"},
                      ["the edge 'a' - 'b' is given more than once", "one of 2 rows", "'sum'"]),
    "repeated member": ("a.cmty.txt", "7 7\n", {"duplicates": "error"}, ["the edge 7 - 1"]),
    "delimiter of Parquet": ("a.parquet", parquet(u=["a"], i=["b"]), {"delimiter": ","},
                             ["for text", "a parquet file", "Drop them"]),
    "header of communities": ("a.cmty.txt", "1 2\n", {"header": False}, ["a communities file"]),
    "quote of HIF": ("a.json", hif({"node": 1, "edge": 1}), {"quote": None}, ["a hif file"]),
    "empty delimiter": ("a.csv", "a,b\n", {"delimiter": ""}, ["'' cannot be a delimiter", "','"]),
    "newline delimiter": ("a.csv", "a,b\n", {"delimiter": "\n"}, [r"'\n' cannot be a delimiter"]),
    "quote delimiter": ("a.csv", "a,b\n", {"delimiter": '"'}, ["cannot be a delimiter"]),
    "long quote": ("a.csv", "a,b\n", {"quote": "''"}, ["cannot be the quote", "Pass"]),
    "quote of several bytes": ("a.csv", "a,b\n", {"quote": "“"}, ["'“' cannot be the quote"]),
    "comma quote": ("a.csv", "a,b\n", {"quote": ","}, ["',' cannot be the quote"]),
}  # fmt: skip


def check(error, parts):
    message = str(error)
    assert "\n" not in message
    for part in parts:
        assert part in message
    if isinstance(error, InputError):
        assert error.hint
        assert message.endswith(error.hint)
        assert error.hint.endswith(".")


@pytest.mark.parametrize("name", FILES)
def test_file(name, tmp_path):
    file, content, options, parts = FILES[name]
    path = tmp_path / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_edges(path, **options)
    place = [] if name == "unknown duplicates" else [str(path)]
    check(caught.value, [*place, *parts])
    assert str(caught.value).count(str(path)) <= 1


def test_missing_file(tmp_path):
    with pytest.raises(InputError) as caught:
        read_edges(tmp_path / "no.csv")
    check(caught.value, ["no.csv: there is no such file", "Check the path"])


def test_directory(tmp_path):
    with pytest.raises(InputError) as caught:
        read_edges(tmp_path)
    check(caught.value, [f"{tmp_path}: this is a directory", "Name a file"])


def test_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError) as caught:
        read_edges(path)
    check(caught.value, [f"{path}: this is a pipe", "Save it to a file first", "compressed"])


def test_a_name_that_is_no_text(tmp_path):
    """File systems take any bytes for a name; the libraries that read and write do not."""
    name = tmp_path / os.fsdecode(b"b\xfccher.csv")
    with pytest.raises(InputError, match=r"its name is no UTF-8 text\. Rename it"):
        read_edges(name)
    graph = BipartiteGraph([0, 1], [0, 1])
    with pytest.raises(SaveError, match="its name is no UTF-8 text"):
        write_graph(graph, name)
    embedding = SVD(dim=1).fit(graph).embedding_
    folder = name.with_suffix(".bivec")
    with pytest.raises(SaveError, match="its name is no UTF-8 text"):
        embedding.save(folder)
    with pytest.raises(FormatError, match=r"is no UTF-8 text\. Rename it"):
        load(folder)
    assert not list(tmp_path.iterdir())


def test_saved_embedding(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InputError) as caught:
        read_edges(tmp_path)
    check(caught.value, ["looks like a saved embedding", "bivec.load"])


def test_unknown_format(tmp_path):
    with pytest.raises(InputError) as caught:
        read_edges(tmp_path / "no.csv", format="excel")
    check(caught.value, ["'excel' is no format", "text, parquet, arrow"])


def frame(library, **columns):
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](columns)


def marked(*edges, **sides):
    graph = nx.Graph()
    for node, side in sides.items():
        graph.add_node(node, bipartite=side)
    graph.add_edges_from(edges)
    return graph


# name: (object, options of as_graph, parts of the message)
OBJECTS = {
    "int": (5, {}, ["object of type int", "Pass a path, a scipy matrix"]),
    "None": (None, {}, ["object of type NoneType"]),
    "bytes": (b"a,b", {}, ["object of type bytes"]),
    "open file": (io.BytesIO(b"a,b"), {}, ["an open file (BytesIO)", "Pass its path"]),
    "open text file": (io.StringIO("a,b"), {}, ["an open file (StringIO)", "Pass its path"]),
    "columns of pairs": ([("a", "b")], {"left": 1, "right": 0}, ["a list has none", "Drop"]),
    "weight name of pairs": ([("a", "b", 1)], {"weight": "w"}, ["a list has none", "weight=None"]),
    "weight column of pairs": ([("a", "b", 1)], {"weight": 2}, ["a list has none"]),
    "columns of a matrix": (np.eye(2), {"left": "u"}, ["a ndarray has none"]),
    "weight name of a matrix": (sparse.eye_array(2), {"weight": "w"}, ["has none", "Drop"]),
    "columns of a dict": ({"p": {"a"}}, {"right": 2}, ["a dict has none"]),
    "columns of a graph": (BipartiteGraph([0], [0]), {"left": "u"}, ["a BipartiteGraph has none"]),
    "columns of networkx": (nx.path_graph(2), {"left": 1, "right": 0}, ["a Graph has none"]),
    "unknown attribute": (nx.path_graph(2), {"weight": "n"}, ["no edge", "attribute 'n'", "Name"]),
    "ids for pairs": ([("a", "b")], {"left_ids": ["a"]}, ["left_ids and right_ids", "own ids"]),
    # pairs
    "no pairs": ([], {}, ["there are no edges", "at least one pair"]),
    "four parts": ([("a", "b"), ("a", "b", 1, 2)], {}, ["edge 2 is ('a', 'b', 1, 2)", "Pass (l"]),
    "strings": (["ab"], {}, ["edge 1 is 'ab', not a pair"]),
    "long edge": ([("a" * 5000,)], {}, ["edge 1 is", "not a pair"]),
    "missing left": ([("a", "b"), (None, "b")], {}, ["row 2 of the left ids is missing", "Drop"]),
    "missing right": ([("a", None)], {}, ["row 1 of the right ids is missing"]),
    "empty id": ([("a", "")], {}, ["row 1 of the right ids is an empty string"]),
    "float ids": ([(1.5, "b")], {}, ["the left ids are of type double", "Convert"]),
    "bool ids": ([(True, "b")], {}, ["the left ids are of type bool"]),
    "date ids": ([("a", datetime.datetime(2020, 1, 1))], {}, ["right ids are of type timestamp"]),
    "bytes ids": ([(b"a", "b")], {}, ["the left ids are of type binary"]),
    "mixed ids": ([("a", 1), (2, 1)], {}, ["left ids mix strings and integers", "'a', 2", "str()"]),
    "mixed with float": ([("a", 1), (2.5, 1)], {}, ["values of type float", "Convert"]),
    "object ids": ([(object(), 1)], {}, ["values of type object"]),
    "huge ids": ([(2**70, 1)], {}, ["values of type int", "64-bit integers"]),
    "lone surrogate": ([("\ud800", 1)], {}, ["the left ids hold text that is no valid Unicode"]),
    "NaN": ([("a", "b", 1), ("a", "c", NAN)], {}, ["in edge 2, the weight is NaN", "finite"]),
    "inf": ([("a", "b", INF)], {}, ["in edge 1, the weight is infinite"]),
    "-inf": ([("a", "b", -INF)], {}, ["in edge 1, the weight is infinite"]),
    "negative": ([("a", "b", -3)], {}, ["in edge 1, the weight -3 is negative"]),
    "text weight": ([("a", "b", "3")], {}, ["in edge 1, the weight '3' is not a number"]),
    "no weight": ([("a", "b", 1), ("a", "c", None)], {}, ["in edge 2, the weight None is not"]),
    "huge weight": ([("a", "b", 10**400)], {}, ["in edge 1, the weight does not fit"]),
    "repeated": ([("a", "b"), ("a", "b")], {"duplicates": "error"}, ["the edge 'a' - 'b'"]),
    "policy": ([("a", "b")], {"duplicates": "min"}, ["duplicates='min' is no policy"]),
    # hypergraphs
    "no hyperedges": ({}, {}, ["the hypergraph is empty", "{hyperedge: members}"]),
    "dict of strings": ({"p": "ann"}, {}, ["members of hyperedge 'p' are a str", "dict of sets"]),
    "dict of dicts": ({"p": {"a": 1}}, {}, ["members of hyperedge 'p' are a dict"]),
    "dict of ints": ({"p": 3}, {}, ["members of hyperedge 'p' are a int"]),
    "mixed hyperedges": ({1: {"a"}, "x": set()}, {}, ["right ids mix strings and integers"]),
    # frames
    "pandas NaN": (frame("pandas", u=["a", "b"], i=[1, 2], w=[1, NAN]), {},
                   ["column 'w'", "in row 2, the weight is missing", WEIGHT_WAY_OUT]),
    "pandas inf": (frame("pandas", u=["a"], i=[1], w=[INF]), {}, ["in row 1", "infinite"]),
    "pandas None": (frame("pandas", u=["a", None], i=[1, 2]), {},
                    ["column 'u'", "in row 2, the left id is missing"]),
    "pandas mixed": (frame("pandas", u=["a", 2], i=[1, 2]), {}, ["mixes types", "Convert"]),
    "pandas float ids": (frame("pandas", u=[1, None], i=[1, 2]), {}, ["in row 2, the left id"]),
    "pandas same names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, ["same name", "own"]),
    "pandas weight is an end": (frame("pandas", u=["a"], i=[1]), {"weight": "i"},
                                ["'i' cannot be a weight and an end"]),
    "pandas text weight": (frame("pandas", u=["a"], i=[1], w=["x"]), {"weight": "w"},
                           ["column 'w'", "not numeric"]),
    "pandas one column": (frame("pandas", u=["a"]), {}, ["1 column", "two ends"]),
    "pandas no rows": (frame("pandas", u=[], i=[]), {}, ["no rows"]),
    "polars NaN": (frame("polars", u=["a"], i=[1], w=[NAN]), {}, ["in row 1, the weight is NaN"]),
    "polars negative": (frame("polars", u=["a"], i=[1], w=[-1]), {}, ["-1 is negative"]),
    "polars null": (frame("polars", u=["a"], i=[None]), {}, ["in row 1, the right id is missing"]),
    "polars empty": (frame("polars", u=["b", ""], i=[1, 2]), {}, ["in row 2, the left id"]),
    "polars unknown": (frame("polars", u=["a"], i=[1]), {"right": "x"}, ["no column named 'x'"]),
    "polars same": (frame("polars", u=["a"], i=[1]), {"right": 0}, ["both column 'u'"]),
    "pyarrow negative": (frame("pyarrow", u=["a"], i=[1], w=[-1]), {}, ["-1 is negative"]),
    "pyarrow bool ids": (frame("pyarrow", u=[True], i=[1]), {}, ["left ids are of type bool"]),
    "pyarrow list ids": (frame("pyarrow", u=[["a"]], i=[1]), {}, ["left ids are of type list"]),
    "polars struct ids": (frame("polars", u=[{"a": 1}], i=[1]), {}, ["ids are of type struct"]),
    "pandas list ids": (frame("pandas", u=[["a"]], i=[1]), {}, ["left ids are of type list"]),
    "pandas index": (frame("pandas", **{"Unnamed: 0": [0], "u": ["a"]}), {}, ["written by pandas"]),
    "pyarrow views": (frame("pyarrow", u=pa.array(["b", "b", ""], "string_view"), i=[1, 2, 3]), {},
                      ["column 'u'", "in row 3, the left id is missing"]),
    # matrices
    "pairs in an array": (np.array([[1, 2], [3, 4], [5, 6]]), {},
                          ["shape (3, 2)", "list(map(tuple, a))", "scipy.sparse.csr_array(a)"]),
    "1-D": (np.ones(3), {}, ["two dimensions, not 1", "list of tuples"]),
    "sparse 1-D": (sparse.coo_array(np.ones(3)), {}, ["two dimensions, not 1"]),
    "complex": (np.ones((1, 1), complex), {}, ["complex128", "real numbers"]),
    "object": (np.array([["a", 1]], object), {}, ["of type object", "list of tuples"]),
    "array NaN": (np.array([[0, 1], [NAN, 0]]), {}, ["left 1 and right 0, the weight is NaN"]),
    "sparse negative": (sparse.csr_array([[0, -2]]), {}, ["left 0 and right 1", "-2 is negative"]),
    "sparse overflow": (sparse.csr_array([[1e300]]), {"left_ids": ["ann"], "right_ids": ["x"]},
                        ["left 'ann' and right 'x'", "1e+300 does not fit"]),
    "left ids": (np.eye(2), {"left_ids": ["a"]}, ["1 left ids", "shape (2, 2)", "transpose"]),
    "right ids": (np.eye(2), {"right_ids": [1, 2, 3]}, ["3 right ids", "shape (2, 2)"]),
    "repeated ids": (np.eye(2), {"left_ids": ["a", "a"]}, ["left ids are not distinct: 'a'"]),
    "id table": (np.eye(1), {"left_ids": np.array([["a"]])}, ["left ids are an array of 2 dim"]),
    "uint64 ids": (np.eye(1), {"left_ids": np.array([2**64 - 1], np.uint64)},
                   ["left ids do not fit into 64-bit", "Turn them into strings"]),
    # networkx
    "odd cycle": (nx.cycle_graph(3), {}, ["not bipartite", "cycle through the edge", "left_ids"]),
    "marks against edges": (marked(("a", "b"), a=0, b=0), {}, ["'a' - 'b' joins two left nodes"]),
    "some marks": (marked(("a", "b"), a=0), {}, ["'bipartite' of node 'b' is None", "every node"]),
    "odd marks": (marked(("a", "b"), a=0, b="x"), {}, ["'bipartite' of node 'b' is 'x'"]),
    "several components": (nx.Graph([(1, 2), (3, 4)]), {}, ["several components", "left_ids"]),
    "unknown left id": (nx.path_graph(2), {"left_ids": [9]}, ["left_ids names 9", "no node"]),
    "left ids joined": (nx.path_graph(3), {"left_ids": [0, 1]}, ["0 - 1 joins two left nodes"]),
    "right ids of networkx": (nx.path_graph(2), {"right_ids": [1]}, ["right_ids", "Pass left_ids"]),
    "empty networkx": (nx.Graph(), {}, ["the networkx graph is empty"]),
    "tuple nodes": (nx.Graph([((1, 2), "b")]), {}, ["the left ids are of type list"]),
    "weight of networkx": (nx.Graph([(1, 2, {"weight": "x"})]), {}, ["'x' is not a number"]),
    "self loop": (nx.Graph([(1, 1)]), {"left_ids": [1]}, ["1 - 1 joins two left nodes"]),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_object(name):
    data, options, parts = OBJECTS[name]
    with pytest.raises(InputError) as caught:
        as_graph(data, **options)
    check(caught.value, parts)
    assert len(str(caught.value)) < 400


# arguments of BipartiteGraph and parts of the message
ARRAYS = {
    "lengths": (([0, 1], [0]), {}, ["2 left ends but 1 right ends", "each edge"]),
    "negative row": (([-1], [0]), {}, ["a left row is negative"]),
    "float rows": (([0], [0.5]), {}, ["the right rows are no one-dimensional array of integers"]),
    "too few ids": (([0, 5], [0, 0]), {"left_ids": ["a"]}, ["left row 5 of only 1 left ids"]),
    "weights": (([0], [0], [1, 2]), {}, ["1 edges but weights of shape (2,)"]),
    "complex weights": (([0], [0], [1j]), {}, ["complex128", "finite number"]),
    "text weights": (([0], [0], ["1"]), {}, ["no real numbers"]),
    "NaN weight": (([0, 0], [0, 1], [1, NAN]), {}, ["in edge 2 of 2, the weight is NaN"]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    arguments, options, parts = ARRAYS[name]
    with pytest.raises(InputError) as caught:
        BipartiteGraph(*arguments, **options)
    check(caught.value, parts)


@pytest.mark.parametrize("side", ["both", "Left", 0])
def test_unknown_side(side):
    with pytest.raises(InputError) as caught:
        BipartiteGraph([0], [0]).side(side)
    check(caught.value, ["is no side", "'left' or 'right'"])


PAIR = [("a", "b")]
ALONE = {"p": {"a"}, "q": set()}

# name: (graph, file, parts of the message)
WRITES = {
    "no suffix": (PAIR, "graph", ["graph: its name does not tell the format", ".csv, .tsv"]),
    "unknown suffix": (PAIR, "graph.xlsx", ["does not tell the format", ".parquet"]),
    "unknown compression": (PAIR, "graph.csv.bz2", ["does not tell the format"]),
    "compressed Parquet": (PAIR, "g.parquet.gz", ["not written compressed", "Drop the last"]),
    "compressed HIF": (PAIR, "g.json.zst", ["not written compressed", "Drop"]),
    "zstd MatrixMarket": (PAIR, "g.mtx.zst", ["gzip only", ".mtx.gz"]),
    "isolated in CSV": (ALONE, "g.csv", ["1 node has no edge", "text has no place", ".parquet"]),
    "isolated in TSV": (np.zeros((2, 2)), "g.tsv.gz", ["4 nodes have no edge", "prune(1, 1)"]),
    "isolated in communities": (ALONE, "g.cmty.txt", ["1 node has no edge", "a community file"]),
    "weights in communities": ([("a", 1, 2)], "g.cmty.txt", ["no place for weights", ".json"]),
    "named groups": (PAIR, "g.cmty.txt", ["numbers its groups by line", "1 to 1", ".json"]),
    "groups from 2": ([("a", 2)], "g.cmty.txt", ["numbers its groups by line"]),
    "blank in communities": ([("a b", 1)], "g.cmty.txt", ["holds a blank", ".json"]),
    "hash in communities": ([("#a", 1)], "g.cmty.txt", ["starts with # or %", ".json"]),
    "empty graph": (np.zeros((0, 0)), "g.parquet", ["the graph is empty"]),
    "long id": ([("a" * 200_000, "b")], "g.csv", ["longer than", ".parquet"]),
    "no such directory": (PAIR, "no/g.csv", ["no does not exist", "Create it"]),
    "a directory": (PAIR, "", ["it is a directory", "Choose another name"]),
    "below a file": (PAIR, "file.txt/g.csv", ["file.txt/g.csv", "Not a directory"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_write(name, tmp_path):
    data, file, parts = WRITES[name]
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    (folder / "file.txt").write_text("unchanged")
    with pytest.raises(SaveError) as caught:
        write_graph(as_graph(data), folder / file)
    check(caught.value, [f"cannot write {folder / file}", *parts])
    assert str(caught.value).endswith(".")
    assert [path.read_text() for path in folder.iterdir()] == ["unchanged"]


def test_many_distinct_cases():
    assert len(FILES) + len(OBJECTS) + len(ARRAYS) + len(WRITES) > 150
