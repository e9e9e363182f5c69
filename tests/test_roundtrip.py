"""A graph survives write and read in every format, and comes the same way from everywhere."""

import random

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bivec.errors import SaveError
from bivec.graph import BipartiteGraph
from bivec.io import as_graph, read_edges, write_graph

TEXT = ("csv", "tsv", "csv.gz", "csv.zst", "tsv.zst")
WITH_ISOLATED = ("parquet", "arrow", "feather", "mtx", "mtx.gz", "json")

NASTY = [
    " ", "  lead", "trail ", "a\tb", "a\nb", "a\r\nb", "a\rb", "\n", "\r", "\t", '"', '""', '"a"',
    "'",
    ",", ";", "a,b", "a::b", "a|b", "\\", "\\N", "\0", "a\0", "\x1e", "\x1f", "\x0b", "\x85",
    "\u2028",
    "\ufeff", "\ufeffa", "😀", "👩‍👩‍👧", "שלום", "e\u0301", "é", "Ünï", "日本", "\U0010ffff",
    "#", "#a", "# a", "##", "%", "% a", "%%MatrixMarket", "%left", "PAR1", "{", "[",
    "0", "1", "-1", "007", "+5", "-0", "1.0", "1e5", "9" * 18, "9" * 19, "9" * 40, "１２",
    str(2**63),
    "NA", "N/A", "null", "NULL", "None", "nan", "NaN", "inf", "true", "left", "right", "weight",
]  # fmt: skip
LARGEST = float(np.finfo(np.float32).max)
texts = st.one_of(
    st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
)
integers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9))
weights = st.one_of(st.just(1.0), st.integers(1, 5), st.floats(2**-149, LARGEST, width=32))


@st.composite
def graphs(draw, isolated=False):
    sides = [
        draw(
            st.lists(draw(st.sampled_from([texts, integers])), min_size=1, max_size=6, unique=True)
        )
        for _ in range(2)
    ]
    pairs = draw(st.lists(st.tuples(*(st.sampled_from(side) for side in sides)), unique=True,
                          min_size=0 if isolated else 1, max_size=9))  # fmt: skip
    if not isolated:
        sides = [sorted({pair[i] for pair in pairs}) for i in (0, 1)]
    values = draw(st.one_of(st.none(), st.lists(weights, min_size=len(pairs), max_size=len(pairs))))
    return BipartiteGraph(
        [sides[0].index(left) for left, _ in pairs],
        [sides[1].index(right) for _, right in pairs],
        values,
        left_ids=sides[0],
        right_ids=sides[1],
    )


def same(one, other):
    """Compare row by row, byte by byte."""
    for mine, theirs in ((one.left, other.left), (one.right, other.right)):
        if mine.ids != theirs.ids:
            return False
        for name in ("indptr", "indices", "weights"):
            a, b = getattr(mine, name), getattr(theirs, name)
            if a.dtype != b.dtype or a.tobytes() != b.tobytes():
                return False
    return True


def as_text(graph):
    """Return the edges with ids as text, for a comparison that owes nothing to the graph's own."""
    table = graph.to_arrow().to_pylist()
    return {(str(row["left"]), str(row["right"])): row["weight"] for row in table}


def survives(graph, path):
    write_graph(graph, path)
    back = read_edges(path)
    assert back == graph
    assert as_text(back) == as_text(graph)
    assert (back.n_left, back.n_right) == (graph.n_left, graph.n_right)
    return back


@pytest.mark.parametrize("suffix", TEXT)
@given(graph=graphs())
def test_text(suffix, tmp_path, graph):
    survives(graph, tmp_path / f"graph.{suffix}")


@pytest.mark.parametrize("suffix", WITH_ISOLATED)
@given(graph=graphs(isolated=True))
def test_with_isolated_nodes(suffix, tmp_path, graph):
    back = survives(graph, tmp_path / f"graph.{suffix}")
    for side in ("left", "right"):
        if graph.n_edges and suffix != "mtx":
            assert back.side(side).ids.is_integer == graph.side(side).ids.is_integer


@given(members=st.dictionaries(texts, st.sets(st.integers(1, 3), min_size=1), min_size=1))
@example(members={"\ufeffa": {1}})
@example(members={"\x0b": {1}})
def test_communities(tmp_path, members):
    graph = as_graph([(left, group) for left, groups in members.items() for group in groups])
    path = tmp_path / "graph.cmty.txt"
    path.unlink(missing_ok=True)
    try:
        survives(graph, path)
    except SaveError:
        numbered = list(graph.right.ids) == list(range(1, graph.n_right + 1))
        assert not numbered or any(
            name[0] in "#%\ufeff" or min(name) <= " " or "\x7f" in name for name in members
        )
        assert not path.exists()


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_one_edge_of_a_nasty_id(suffix, name, tmp_path):
    survives(as_graph([(name, name)]), tmp_path / f"graph.{suffix}")
    survives(as_graph([(name, "x", 0.1), ("other", name, 1e-30)]), tmp_path / f"graph.{suffix}")


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz"])
def test_cells_wrapped_over_many_lines(suffix, tmp_path):
    """The sample that the layout is guessed from ends in the middle of a cell."""
    lines = "first last\n" * 7
    survives(
        as_graph([(f"{lines}{i}", f"a b{i % 9}") for i in range(999)]), tmp_path / f"g.{suffix}"
    )


def test_large_text(tmp_path):
    """Several blocks of text, quoted and not."""
    n = 120_000
    graph = BipartiteGraph(np.arange(n), np.arange(n) % 1000, np.arange(n) % 7 + 0.1,
                           right_ids=[f"item, {i}" for i in range(1000)])  # fmt: skip
    survives(graph, tmp_path / "graph.csv")


def test_integers_stay_integers(tmp_path):
    """All 64 bits of them; one that does not fit makes its side text."""
    edges = [(2**63 - 1, 0), (-(2**63), 5)]
    back = survives(as_graph(edges), tmp_path / "graph.csv")
    assert sorted(back.left.ids) == [-(2**63), 2**63 - 1]
    back = survives(as_graph([(str(2**63), "0"), ("5", "1")]), tmp_path / "graph.csv")
    assert list(back.left.ids) == ["5", str(2**63)]
    assert list(back.right.ids) == [0, 1]


rows = st.lists(
    st.tuples(
        st.sampled_from("abcdé"), st.integers(0, 5), st.sampled_from([0.1, 0.7, 1, 1e-9, 3e7])
    ),
    min_size=1,
    max_size=30,
)


@given(rows=rows, seed=st.integers(0, 9), policy=st.sampled_from(["sum", "max"]))
@example(rows=[("a", 0, w) for w in (1, 2**-24, 2**-53, 2**-53)], seed=1, policy="sum")
def test_order_of_rows_does_not_matter(tmp_path, rows, seed, policy):
    graphs = []
    for order in (rows, rows[::-1], random.Random(seed).sample(rows, len(rows))):
        path = tmp_path / "rows.csv"
        path.write_text("".join(f"{left},{right},{weight}\n" for left, right, weight in order))
        graphs.append(read_edges(path, header=False, weight=2, duplicates=policy))
        graphs.append(as_graph(order, duplicates=policy))
    assert all(same(graphs[0], other) for other in graphs[1:])


@given(rows=rows)
def test_every_object_gives_the_same_graph(rows):
    rows = list({row[:2]: row for row in rows}.values())
    left, right, weight = (list(column) for column in zip(*rows, strict=True))
    columns = {"u": left, "i": right, "weight": [float(w) for w in weight]}
    network = nx.Graph()
    network.add_nodes_from([(f"L{name}", {"bipartite": 0}) for name in left])
    network.add_nodes_from([(number, {"bipartite": 1}) for number in right])
    network.add_weighted_edges_from((f"L{row[0]}", row[1], row[2]) for row in rows)
    graph = as_graph(rows)
    frames = [
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype({"u": "category"}),
        pl.DataFrame(columns),
        pl.DataFrame(columns).lazy(),
        pl.DataFrame(columns).with_columns(pl.col("u").cast(pl.Categorical)),
        pa.table(columns),
        pa.record_batch(columns),
        pa.table({**columns, "u": pa.array(left).dictionary_encode()}),
        pa.table({**columns, "u": pa.array(left, "string_view"), "i": pa.array(right, "u1")}),
        iter(rows),
    ]
    assert all(same(as_graph(frame), graph) for frame in frames)
    renamed = BipartiteGraph(
        graph.left_rows(), graph.left.indices, graph.left.weights,
        left_ids=[f"L{name}" for name in graph.left.ids], right_ids=graph.right.ids,
    )  # fmt: skip
    assert same(as_graph(network), renamed)
    matrix = graph.to_scipy()
    ids = {"left_ids": list(graph.left.ids), "right_ids": list(graph.right.ids)}
    for kind in (matrix, matrix.tocsc(), matrix.tocoo(), matrix.tolil(), matrix.toarray()):
        assert same(as_graph(kind, **ids), graph)
    groups = {number: {row[0] for row in rows if row[1] == number} for number in right}
    assert same(as_graph(groups), as_graph([row[:2] for row in rows]))
