"""Reading files: what is guessed, what is given, and what is left alone."""

import bz2
import gzip
import json
import re
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bivec.io import as_graph, delimited, read_edges, write_graph
from bivec.io.read import read_with_description


@pytest.fixture
def read(tmp_path):
    """Write content to a file and read it as a dict of edges."""

    def read(content, name="edges.txt", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return edges(read_edges(path, **options))

    return read


def edges(graph):
    return {(row["left"], row["right"]): row["weight"] for row in graph.to_arrow().to_pylist()}


def unweighted(*pairs):
    return dict.fromkeys(pairs, 1.0)


ABCD = unweighted(("a", "b"), ("c", "d"))


# Layout


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", "::", " ", "   "])
def test_delimiters_are_found(read, delimiter):
    rows = [("ann", "x"), ("bob", "y-z"), ("ann", "y-z")]
    assert read("".join(delimiter.join(row) + "\n" for row in rows)) == unweighted(*rows)


@pytest.mark.parametrize(
    "content, options, expected",
    [
        ("a b,c d\n", {}, unweighted(("a b", "c d"))),
        ("a,b\tc,d\n", {}, unweighted(("a,b", "c,d"))),
        ("a,b\tc,d\n", {"name": "edges.csv"}, unweighted(("a,b", "c,d"))),
        ("a|b,c\n", {"name": "edges.csv"}, unweighted(("a|b", "c"))),
        ("a|b,c\n", {}, unweighted(("a|b", "c"))),
        ("a;b,c\n", {"delimiter": "semicolon"}, unweighted(("a", "b,c"))),
        ("a;b;1,5\nc;d;2,5\n", {"weight": None, "name": "edges.csv"}, ABCD),
        ("a b|c d|e\n", {}, unweighted(("a b", "c d"))),
        ("1::2,5::3\n", {"weight": None}, unweighted((1, "2,5"))),
        ("a::b c\n", {}, unweighted(("a", "b c"))),
        ("a b\tc,d\n", {"name": "edges.tsv"}, unweighted(("a b", "c,d"))),
        ("a,b;c,d\n", {"delimiter": ";"}, unweighted(("a,b", "c,d"))),
        ("a--b\nc--d\n", {"delimiter": "--"}, ABCD),
        ("a→b\nc→d\n", {"delimiter": "→"}, ABCD),
        ("aXb\ncXd\n", {"delimiter": "X"}, ABCD),
        ("a b\nc d\n", {"delimiter": "whitespace"}, ABCD),
        ("a b\nc  d\n", {"delimiter": " "}, ABCD),
        ("a b\nc  d\n", {"delimiter": "space"}, ABCD),
        ("a,b\tc,d\n", {"delimiter": "\\t"}, unweighted(("a,b", "c,d"))),
        ("a,b\tc,d\n", {"delimiter": "tab"}, unweighted(("a,b", "c,d"))),
        ("a\tb,c\n", {"delimiter": "comma"}, unweighted(("a\tb", "c"))),
        ("a|b,c\n", {"delimiter": "bar"}, unweighted(("a", "b,c"))),
    ],
)
def test_delimiters_by_suffix_and_by_choice(read, content, options, expected):
    assert read(content, **options) == expected


@pytest.mark.parametrize(
    "content, expected",
    [
        ("1, 2, 3.5\n4, 5, 6\n", {(1, 2): 3.5, (4, 5): 6}),
        ("user, movie\nann, Alien\n", unweighted(("ann", "Alien"))),
        ("a; b\r\nc; d\r\n", ABCD),
        ("a,  b\nc,  d\n", unweighted(("a", "  b"), ("c", "  d"))),
        ("a, b\nc,d\n", unweighted(("a", " b"), ("c", "d"))),
        ('a, b\n"c", d\n', unweighted(("a", " b"), ("c", " d"))),
    ],
)
def test_one_blank_behind_every_delimiter(read, content, expected):
    assert read(content) == expected


@pytest.mark.parametrize("first", ["sep=;\n", "sep=;\r\n", "SEP=;\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_excel_names_the_delimiter(read, first):
    assert read(f"{first}a,1;b\nc,2;d\n") == unweighted(("a,1", "b"), ("c,2", "d"))
    assert read(f"{first}a,b\nc,d\n", delimiter=",") == ABCD
    assert read("sep=;,b\n") == unweighted(("sep=;", "b"))


@pytest.mark.parametrize("first", ["sep=", "sep=é", "sep=x", "sep=,x"])
def test_other_lines_name_no_delimiter(read, first):
    assert read(f"{first}\tb\nc\td\n") == unweighted((first, "b"), ("c", "d"))


@pytest.mark.parametrize(
    "content",
    [
        "a b\nc d",
        "a b\r\nc d\r\n",
        " a  b \n\tc\td\t\n",
        "a b \r\nc d \r\n",
        "a\tb\n\n  \nc d\n\n",
        "\ufeffa b\nc d\n",
        "\ufeff# comment\na b\nc d\n",
        "# comment\n#\n\n%% other\na b\nc d\n",
    ],
)
def test_blanks_line_ends_marks_and_comments(read, content):
    assert read(content) == ABCD


@pytest.mark.parametrize(
    "content",
    [
        "a,b\nc,d",
        "a,b\r\nc,d\r\n",
        "\n\na,b\n\nc,d\n\n",
        "\ufeffa,b\nc,d\n",
        '\ufeff"a",b\nc,"d"\n',
        "\ufeff# comment\na,b\nc,d\n",
        "# a comment, with commas, many\n#\n\n%% other\na,b\nc,d\n",
    ],
)
def test_line_ends_marks_and_comments_of_csv(read, content):
    assert read(content) == ABCD


@pytest.mark.parametrize(
    "content, expected",
    [
        ("#cats,ann\n#dogs,bob\n", unweighted(("#cats", "ann"), ("#dogs", "bob"))),
        ("a,b\n# c,d\n", unweighted(("a", "b"), ("# c", "d"))),
        ("%x y\n%z y\n", unweighted(("%x", "y"), ("%z", "y"))),
        ("PAR1\tC1\nARROW1\tC2\n", unweighted(("PAR1", "C1"), ("ARROW1", "C2"))),
        ("{a,b\n", unweighted(("{a", "b"))),
    ],
)
def test_data_that_looks_like_something_else(read, content, expected):
    assert read(content) == expected


@pytest.mark.parametrize(
    "content, expected",
    [
        ('"a,b",c\n', unweighted(("a,b", "c"))),
        ('"a""b",c\n', unweighted(('a"b', "c"))),
        ('"a\nb",c\nd,e\n', unweighted(("a\nb", "c"), ("d", "e"))),
        ('a"b,c\n', unweighted(('a"b', "c"))),
        ('5" disk,c\nd,7" single\n', unweighted(('5" disk', "c"), ("d", '7" single'))),
        ('a,b\n"c","d"', ABCD),
        ('"us\ner",item,n\nu1,i1,3\nu2,i1,7\n', {("u1", "i1"): 3, ("u2", "i1"): 7}),
        ('"""a""",""""\n', unweighted(('"a"', '"'))),
        ('"a,""b""",c\n', unweighted(('a,"b"', "c"))),
    ],
)
def test_quotes(read, content, expected):
    assert read(content, "edges.csv") == expected


def test_wrapped_cells_over_the_ends_of_blocks(read):
    name = "first\nlast" * 50
    rows = "".join(f'"{name}{i}",x\n' for i in range(5000))
    assert read(rows, "edges.csv") == unweighted(*((f"{name}{i}", "x") for i in range(5000)))


def test_quotes_by_choice(read):
    assert read("'a,b',c\n", quote="'") == unweighted(("a,b", "c"))
    assert read('"a,b\nc,d"\n', quote=None) == unweighted(('"a', "b"), ("c", 'd"'))


# Header


@pytest.mark.parametrize(
    "content",
    [
        "user,item\na,b\n",
        "Source,Target\na,b\nc,d\n",
        "user,item,weight\na,b,1\n",
        "author_id,paper_id\na,b\n",
        "user_name,movie_title\na,b\n",
        "User Name,SKU\na,b\n",
        "User-ID,Book-Title\na,b\n",
        "person,city\n" + "".join(f"{i},x{i}y\n" for i in range(10)),
        "who,what\n" + "".join(f"u{i},i{i}\n" for i in range(10)),
        "who,what,stars\na,b,5\nc,d,3\n",
        "who,what,stars\na,b,5",
        "who,what,stars\na,b,\nc,d,3\ne,f,NA\n",
        "who,what,note,stars\na,b,x,5\n",
        "who;what;stars\na;b;4,5\n",
        "who,what,since\na,b,2020-01-31\n",
        "who,what,stars,,\na,b,5,,\n",
        "user,item,,\na,b,x,5\n",
        "userID\tartistID\tweight\r\n2\t51\t13\r\n",
        "user_id:token\titem_id:token\n1\t2\n",
        "who,what\n" + "".join(f"{'xyz'[i % 3]},{'pq'[i % 2]}\n" for i in range(60)),
    ],
)
def test_header(read, content):
    assert read(content, weight=None) == read(content, weight=None, header=True)
    assert read(content, weight=None) != read(content, weight=None, header=False)


@pytest.mark.parametrize(
    "content",
    [
        "a,b\nc,d\n",
        "u v\nv w\n",
        "1,2\n3,4\n",
        "ann,Alien,5\nbob,Alien,3\n",
        "user1,item1\nuser2,item2\n",
        "INS C0001\nTP53 C0002\nBRCA1 C0003\n",
        "x,i1\nu2,i2\nx,i3\n",
        "ann,1,5\nbob,1,3\n",
        "a;b;1,5\nc;d;2,5\n",
        "a,a\nc,1\n",
        "left,left\nx,y\n",
        "person,city\n1,x\n2,y\n",
        "who,what\nu1,i1\nu2,i2\n",
        "ann,Alien\n" + "".join(f"u{i},i{i}\n" for i in range(9)),
        "ann,Alien,NA\nbob,Alien,3\n",
        "ann,Alien,\nbob,Alien,3\n",
        "ann,Alien,4,5\nbob,Alien,3,\n",
        "monkey,turnkey\nx,y\n",
        ",5,1\n1,2,3\n",
        "id,name\nx,y\n",
        "".join(f"p{'abcdefghij'[i]}q,r{'abcdefghij'[i]}s\n" for i in range(10)),
    ],
)
def test_no_header(read, content):
    options = {"weight": None} if content[0] != "," else {"weight": None, "left": 1, "right": 2}
    assert read(content, **options) == read(content, header=False, **options)


def test_header_by_choice(read):
    assert read("left,right\na,b\n", header=False) == unweighted(("left", "right"), ("a", "b"))
    assert read("c,d\na,b\n", header=True) == unweighted(("a", "b"))
    assert read("c,d\na,b\n", left="d", right="c") == unweighted(("b", "a"))
    assert read("1,2\na,b\n", left="2", right=0) == unweighted(("b", "a"))


def test_an_index_of_pandas_is_no_end(read):
    content = ",user,item\n0,ann,Alien\n1,bob,Brazil\n"
    expected = unweighted(("ann", "Alien"), ("bob", "Brazil"))
    assert read(content, left="user", right="item") == expected
    assert read(content, left=1, right=2) == expected
    again = "Unnamed: 0,user,item\n0,ann,Alien\n1,bob,Brazil\n"
    assert read(again, left="user", right="item") == expected
    assert read(again, left="Unnamed: 0", right="item") == unweighted((0, "Alien"), (1, "Brazil"))


# Columns and weights

STARS = "user,item,stars,note\nann,Alien,5,x\nbob,Brazil,3,y\n"


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, {("ann", "Alien"): 5, ("bob", "Brazil"): 3}),
        ({"weight": None}, unweighted(("ann", "Alien"), ("bob", "Brazil"))),
        ({"weight": "stars"}, {("ann", "Alien"): 5, ("bob", "Brazil"): 3}),
        ({"weight": 2}, {("ann", "Alien"): 5, ("bob", "Brazil"): 3}),
        ({"left": "item", "right": "user"}, {("Alien", "ann"): 5, ("Brazil", "bob"): 3}),
        ({"left": 3, "right": 0}, unweighted(("x", "ann"), ("y", "bob"))),
        ({"left": 3, "right": 0, "weight": 2}, {("x", "ann"): 5, ("y", "bob"): 3}),
        ({"left": "note", "right": "stars"}, unweighted(("x", 5), ("y", 3))),
        ({"right": "stars", "weight": None}, unweighted(("ann", 5), ("bob", 3))),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_columns(read, tmp_path, suffix, options, expected):
    if suffix == "csv":
        assert read(STARS, **options) == expected
        return
    table = pa.table({"user": ["ann", "bob"], "item": ["Alien", "Brazil"], "stars": [5, 3],
                      "note": ["x", "y"]})  # fmt: skip
    path = tmp_path / f"edges.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    assert edges(read_edges(path, **options)) == expected


@pytest.mark.parametrize(
    "name", ["timestamp", "time", "Date", "year", "createdTime", "rating_ts", "epoch", "unix-time"]
)
def test_a_time_is_no_weight(read, name):
    assert read(f"user,item,{name}\na,b,881250949\n") == unweighted(("a", "b"))
    assert read(f"user,item,{name}\na,b,2\n", weight=name) == {("a", "b"): 2}


@pytest.mark.parametrize("name", ["tagID", "tag_id", "id", "tagIds", "created_at", "tag_id:token"])
def test_an_id_is_no_weight(read, name):
    assert read(f"user,item,{name}\na,b,2\n") == unweighted(("a", "b"))
    assert read(f"user,item,{name}\na,b,2\n", weight=name) == {("a", "b"): 2}


@pytest.mark.parametrize(
    "name", ["weight", "rating:float", "updates", "counts", "w", "paid", "fat"]
)
def test_other_names_are_weights(read, name):
    assert read(f"user,item,{name}\na,b,2\n") == {("a", "b"): 2}


@pytest.mark.parametrize("values", [("881250949", "881250950"), ("20200131", "20191224.0")])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_values_like_times_are_no_weights(read, tmp_path, suffix, values):
    path = tmp_path / f"edges.{suffix}"
    numbers = [float(value) for value in values]

    def read_third(name):
        table = pa.table({"user": ["a", "c"], "item": ["b", "d"], name: numbers})
        if suffix == "csv":
            path.write_text(f"user,item,{name}\na,b,{values[0]}\nc,d,{values[1]}\n")
        elif suffix == "parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as out:
                out.write_table(table)
        return read_edges(path)

    assert edges(read_third("when")) == ABCD
    assert read_third("weight").weighted


def test_large_weights_among_others_stay(read):
    assert read("a,b,20000000\nc,d,5\n") == {("a", "b"): 2e7, ("c", "d"): 5}
    assert read("a,b,20000000.5\n") == {("a", "b"): 2e7}


@pytest.mark.parametrize(
    "content, expected",
    [
        ("a;b;4,5\nc;d;3\n", {("a", "b"): 4.5, ("c", "d"): 3}),
        ("a\tb\t,5\nc\td\t1,5e1\n", {("a", "b"): 0.5, ("c", "d"): 15}),
        ("a|b|0,125\nc|d|0,250\n", {("a", "b"): 0.125, ("c", "d"): 0.25}),
        ("a::b::4,5\n", {("a", "b"): 4.5}),
        ("user;item;stars\na;b;4,5\nc;d;3,0\n", {("a", "b"): 4.5, ("c", "d"): 3}),
    ],
)
def test_decimal_commas(read, content, expected):
    assert read(content) == expected
    assert read(re.sub(r"([|;\t]|::)(?=[^|;\t:]*$)", r"\1x\1", content, flags=re.M), weight=3,
                left=0, right=1) == expected  # fmt: skip


@pytest.mark.parametrize(
    "text, value", [("1e3", 1000), (".5", 0.5), ("5.", 5), (" 2 ", 2), ("+3", 3)]
)
def test_numbers(read, text, value):
    assert read(f"a,b,{text}\n") == {("a", "b"): value}


def test_words_in_the_third_column_are_no_weight(read):
    assert read("a,b,x\nc,d,y\n") == ABCD


@pytest.mark.parametrize("policy, value", [("sum", 6), ("max", 4), ("last", 1)])
def test_duplicates(read, policy, value):
    assert read("a,b,1\na,b,4\na,b,1\n", duplicates=policy) == {("a", "b"): value}


# Ids


@pytest.mark.parametrize("name", ["NA", "null", "None", "nan", "N/A", "-", "NULL", "true", "#N/A"])
def test_words_for_missing_are_ids(read, name):
    assert read(f"{name},b\nx,{name}\n") == unweighted((name, "b"), ("x", name))


@pytest.mark.parametrize(
    "ids, expected",
    [
        (["1", "2", "10"], [1, 2, 10]),
        (["-5", "0"], [-5, 0]),
        (["007", "8"], ["007", "8"]),
        (["1", "x"], ["1", "x"]),
        (["1.0", "2"], ["1.0", "2"]),
        (["+1", "2"], ["+1", "2"]),
        (["-0", "2"], ["-0", "2"]),
        (["9223372036854775807", "1"], [1, 2**63 - 1]),
        (["9223372036854775808", "1"], ["1", "9223372036854775808"]),
        (['"1"', '"2"'], [1, 2]),
    ],
)
def test_integers_only_where_nothing_is_lost(tmp_path, ids, expected):
    path = tmp_path / "edges.csv"
    path.write_text("".join(f"{name},x\n" for name in ids))
    assert list(read_edges(path, header=False).left.ids) == expected


def test_ids_are_sorted(read, tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("b,10\na,9\nä,100\nB,1\n")
    graph = read_edges(path)
    assert list(graph.left.ids) == ["B", "a", "b", "ä"]
    assert list(graph.right.ids) == [1, 9, 10, 100]


# Compression and progress

PACKED = {
    "gzip": gzip.compress(b"a,b\nc,d\n"),
    "two members": gzip.compress(b"a,b\n") + gzip.compress(b"c,d\n"),
    "zstd": pa.compress(b"a,b\nc,d\n", codec="zstd", asbytes=True),
    "bzip2": bz2.compress(b"a,b\nc,d\n"),
}


@pytest.mark.parametrize("name", ["edges.csv", "edges.csv.gz", "edges", "edges.zst"])
@pytest.mark.parametrize("kind", PACKED)
def test_compression_is_told_by_content(read, kind, name):
    assert read(PACKED[kind], name) == ABCD
    assert read(b"a,b\nc,d\n", name) == ABCD


@pytest.mark.parametrize(
    "name", ["x.csv", "x.csv.gz", "x.csv.zst", "x.mtx.gz", "x.json", "x.cmty.txt"]
)
def test_progress_ends_at_the_whole(tmp_path, name):
    n = 150_000 if "csv" in name else 100
    graph = as_graph(list(zip(range(n), np.arange(n) % 50 + 1, strict=True)))
    write_graph(graph, tmp_path / name)
    size = (tmp_path / name).stat().st_size
    calls = []
    assert read_edges(tmp_path / name, progress=lambda *call: calls.append(call)) == graph
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert calls[-1] == (size, size)
    assert {call[1] for call in calls} == {size}
    if name == "x.csv":
        assert len(set(done)) > 1


# Other formats


@pytest.mark.parametrize(
    "content, expected",
    [
        ("1 2\n3\n", [(1, 1), (2, 1), (3, 2)]),
        ("1\t2\r\n3\r\n", [(1, 1), (2, 1), (3, 2)]),
        ("1 2\n\n3", [(1, 1), (2, 1), (3, 3)]),
        ("# top\n1 2\n", [(1, 2), (2, 2)]),
        ("\ufeff# top\n\n# more\n 1  2 \n", [(1, 4), (2, 4)]),
        ("ann bob\nbob\n", [("ann", 1), ("bob", 1), ("bob", 2)]),
        ("007\n8\n", [("007", 1), ("8", 2)]),
        ('"a\n', [('"a', 1)]),
        ("a,b c\n", [("a,b", 1), ("c", 1)]),
    ],
)
def test_communities(read, content, expected):
    assert read(content, "x.cmty.txt") == unweighted(*expected)
    assert read(content, "x.txt", format="communities") == unweighted(*expected)
    assert read(gzip.compress(content.encode()), "x.cmty.txt.gz") == unweighted(*expected)


def test_a_member_named_twice_counts_twice(read):
    assert read("7 7 8\n", "x.cmty.txt") == {(7, 1): 2, (8, 1): 1}
    assert read("7 7 8\n", "x.cmty.txt", weight=None) == {(7, 1): 2, (8, 1): 1}  # as in text


@pytest.mark.parametrize(
    "lines, expected",
    [
        (["coordinate real general", "%", "2 3 2", "1 3 .5", "2 1 2"], {(1, 3): 0.5, (2, 1): 2}),
        (["coordinate pattern general", "2 2 1", "2 2"], {(2, 2): 1}),
        (["coordinate integer symmetric", "2 2 1", "2 1 3"], {(2, 1): 3, (1, 2): 3}),
        (["array real general", "2 1", "0", "4"], {(2, 1): 4}),
    ],
)  # fmt: skip
def test_matrix_market(read, lines, expected):
    assert read("%%MatrixMarket matrix " + "\n".join(lines) + "\n", "any.txt") == expected


def test_matrix_market_without_weights(read):
    lines = "%%MatrixMarket matrix {}\n"
    sparse = lines.format("coordinate real general") + "3 3 3\n1 1 0\n2 2 -5\n3 3 nan\n"
    assert read(sparse, weight=None) == unweighted((1, 1), (2, 2), (3, 3))
    dense = lines.format("array real general") + "2 1\n0\n4\n"
    assert read(dense, weight=None) == unweighted((2, 1))


def test_matrix_market_keeps_empty_rows(tmp_path):
    path = tmp_path / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 0\n")
    graph = read_edges(path)
    assert (graph.n_left, graph.n_right, graph.n_edges) == (3, 4, 0)
    assert graph.report.zero_weight == 1


def test_hif(tmp_path):
    path = tmp_path / "x.json"
    incidences = [{"node": "ann", "edge": 1, "weight": 2, "attrs": {}}, {"node": "bob", "edge": 1}]
    extra = {"network-type": "undirected", "metadata": {"name": "x"}}
    nodes = [{"node": "cid"}, {"node": "ann", "weight": 9}, {"node": "cid"}]
    path.write_text(json.dumps({"incidences": incidences, "nodes": nodes, **extra}))
    graph = read_edges(path)
    assert edges(graph) == {("ann", 1): 2, ("bob", 1): 1}
    assert list(graph.left.ids) == ["ann", "bob", "cid"]
    assert not read_edges(path, weight=None).weighted


def test_hif_without_weights(read):
    weights = [0, -1, "x", None]
    incidences = [{"node": i, "edge": 1, "weight": w} for i, w in enumerate(weights)]
    content = json.dumps({"incidences": [*incidences, {"node": 0, "edge": 1, "weight": 7}]})
    expected = {(0, 1): 2, (1, 1): 1, (2, 1): 1, (3, 1): 1}
    assert read(content, "x.json", weight=None) == expected


@pytest.mark.parametrize("name", ["x.hif", "x", "x.json.gz", "x.csv"])
def test_hif_is_told_by_its_content(read, name):
    content = '\n {"incidences": [{"node": "ann", "edge": "party"}]}'
    assert read(content, name) == unweighted(("ann", "party"))


def test_json_as_text_by_choice(read):
    assert read("[1,2]\n[3,2]\n", format="text") == unweighted(("[1", "2]"), ("[3", "2]"))


def test_hif_of_nodes_alone(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"incidences": [], "nodes": [{"node": 2}, {"node": 1}, {"node": 2}]}')
    assert list(read_edges(path).left.ids) == [1, 2]


# How it was understood


@pytest.mark.parametrize(
    "content, name, words",
    [
        ("a\tb\n", "x.txt", ["tab-separated text, 2 columns, no header",
                             "left is column 1, right 2, unweighted"]),
        (STARS, "x.txt", ["comma-separated text, 4 columns, header (user, item, stars, note)",
                          "left is column 1 ('user'), right 2 ('item'), weight 3 ('stars')"]),
        ("a;b;1,5\n", "x.txt", ["semicolon-separated text, 3 columns, no header, decimal commas",
                               "left is column 1, right 2, weight 3"]),
        ("a, b\n", "x.txt", ["comma-and-blank-separated text, 2 columns, no header",
                             "left is column 1, right 2, unweighted"]),
        ("1 2\n", "x.cmty.txt", ["communities, one a line",
                                "left is the member, right the line number, unweighted"]),
    ],
)  # fmt: skip
def test_description(tmp_path, content, name, words):
    path = tmp_path / name
    path.write_text(content)
    assert read_with_description(path)[1].split("; ") == words


def test_arrow_has_let_go_of_a_file_once_it_is_read(tmp_path, monkeypatch):
    """Or one of its threads may want the interpreter's lock while the interpreter ends."""
    path = tmp_path / "quoted.csv"
    path.write_text('"a b",x\n"c d",y\n')
    seen = []
    prepared = delimited._prepared

    def watch(*args):
        text = prepared(*args)
        seen.append(weakref.ref(text))
        return text

    monkeypatch.setattr(delimited, "_prepared", watch)
    for _ in range(200):
        read_edges(path)
    assert len(seen) == 200
    assert all(text() is None for text in seen)
