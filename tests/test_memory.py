"""Graphs from objects in memory."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bivec.graph import BipartiteGraph
from bivec.io import as_graph


def edges(graph):
    return {(row["left"], row["right"]): row["weight"] for row in graph.to_arrow().to_pylist()}


def test_a_graph_is_returned_as_it_is():
    graph = BipartiteGraph([0], [0])
    assert as_graph(graph) is graph


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_a_path_is_read(tmp_path, kind):
    path = tmp_path / "edges.csv"
    path.write_text("movie,user\nAlien,ann\n")
    assert edges(as_graph(kind(path), left="user", right="movie")) == {("ann", "Alien"): 1}


# Pairs


@pytest.mark.parametrize(
    "pairs, expected",
    [
        ([("a", "b"), ("c", "d")], {("a", "b"): 1, ("c", "d"): 1}),
        ([["a", 1]], {("a", 1): 1}),
        ({("a", "b")}, {("a", "b"): 1}),
        ([("a", "b", 2), ("a", "c")], {("a", "b"): 2, ("a", "c"): 1}),
        ([("a", "b", np.float32(0.5)), ("a", "c", 3)], {("a", "b"): 0.5, ("a", "c"): 3}),
        ([("a", "b", 2), ("a", "b", 3)], {("a", "b"): 5}),
        ([("a", "b", 0), ("a", "c", 1)], {("a", "c"): 1}),
        ([("007", "7")], {("007", "7"): 1}),
        ([("x", "x")], {("x", "x"): 1}),
    ],
)
def test_pairs(pairs, expected):
    assert edges(as_graph(pairs)) == expected
    assert edges(as_graph(iter(pairs))) == expected


def test_pairs_without_weights():
    triples = [("a", "b", -1), ("a", "c", "x"), ("a", "b", 0)]
    assert edges(as_graph(triples, weight=None)) == {("a", "b"): 2, ("a", "c"): 1}


def test_pairs_of_an_array():
    pairs = np.array([[1, 2], [3, 4], [5, 6]])
    assert edges(as_graph(list(map(tuple, pairs)))) == {(1, 2): 1, (3, 4): 1, (5, 6): 1}
    assert as_graph(sparse.csr_array(pairs)).n_edges == 6
    assert as_graph(pairs, right_ids=["x", "y"]).n_edges == 6
    assert as_graph(pairs.astype(float)).n_edges == 6
    assert as_graph(pairs[:2]).n_edges == 4


def test_digits_in_memory_stay_text():
    assert list(as_graph([("1", 2)]).left.ids) == ["1"]


# Hypergraphs


@pytest.mark.parametrize(
    "members", [{"ann", "bob"}, ["bob", "ann"], ("ann", "bob"), np.array(["ann", "bob"]),
                frozenset(["ann", "bob"]), {"ann": 1, "bob": 2}.keys()],
    ids=lambda members: type(members).__name__,
)  # fmt: skip
def test_hypergraph(members):
    graph = as_graph({"party": members, "choir": {"bob"}, "empty": []})
    assert edges(graph) == {("ann", "party"): 1, ("bob", "party"): 1, ("bob", "choir"): 1}
    assert list(graph.right.ids) == ["choir", "empty", "party"]


def test_hypergraph_of_iterators():
    graph = as_graph({1: (name for name in "ab"), 2: iter(())})
    assert edges(graph) == {("a", 1): 1, ("b", 1): 1}
    assert list(graph.right.ids) == [1, 2]


def test_hypergraph_without_members():
    graph = as_graph({"a": [], "b": []})
    assert (graph.n_left, graph.n_right, graph.n_edges) == (0, 2, 0)


# Frames


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_columns_of_a_frame(library):
    frame = library({"day": [1, 2], "user": ["a", "b"], "item": [7, 8], "n": [2.0, 0.5]})
    chosen = as_graph(frame, left="user", right="item", weight="n")
    assert edges(chosen) == {("a", 7): 2, ("b", 8): 0.5}
    assert edges(as_graph(frame, left=1, right=2)) == {("a", 7): 1, ("b", 8): 1}
    assert edges(as_graph(frame, left="user", right=0)) == {("a", 1): 7, ("b", 2): 8}
    assert edges(as_graph(frame, left="user", right=0, weight=None)) == {("a", 1): 1, ("b", 2): 1}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_time_is_no_weight(library):
    frame = library({"u": ["a"], "i": ["b"], "timestamp": [881250949]})
    assert edges(as_graph(frame)) == {("a", "b"): 1}
    for values in ([881250949, 881250950], [881250949.0, 20200131.0]):
        frame = library({"u": ["a", "c"], "i": ["b", "d"], "when": values})
        assert not as_graph(frame).weighted
        assert as_graph(frame, weight="when").weighted


@pytest.mark.parametrize("kind", ["string", "category", "string[pyarrow]", object])
def test_kinds_of_pandas_text(kind):
    frame = pd.DataFrame({"u": ["b", "a", "b"], "i": [1, 2, 3]}).astype({"u": kind})
    assert list(as_graph(frame).left.ids) == ["a", "b"]


def test_a_category_without_rows_is_no_node():
    column = pd.Categorical(["a", "c"], categories=["a", "b", "c", "d"])
    assert list(as_graph(pd.DataFrame({"u": column, "i": [1, 2]})).left.ids) == ["a", "c"]


def test_the_index_of_a_frame_does_not_matter():
    frame = pd.DataFrame({"u": ["a", "b"], "i": [1, 2]}, index=[5, 5])
    assert edges(as_graph(frame)) == {("a", 1): 1, ("b", 2): 1}


def test_numbers_as_column_names():
    frame = pd.DataFrame([["a", "x"], ["b", "y"]])
    assert edges(as_graph(frame)) == {("a", "x"): 1, ("b", "y"): 1}
    assert edges(as_graph(frame, left="1", right="0")) == {("x", "a"): 1, ("y", "b"): 1}


@pytest.mark.parametrize("kind", ["u1", "i8", "f4", "f2", "f8", pa.decimal128(21, 2)])
def test_kinds_of_weights(kind):
    weights = pa.array([2, 3]).cast(kind)
    table = pa.table({"u": ["a", "b"], "i": [1, 2], "w": weights})
    assert edges(as_graph(table, weight="w")) == {("a", 1): 2, ("b", 2): 3}


def test_chunks_with_their_own_dictionaries():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    table = pa.table({"u": pa.chunked_array(chunks), "i": [1, 2, 3, 4]})
    assert edges(as_graph(table)) == {("a", 1): 1, ("b", 2): 1, ("c", 3): 1, ("a", 4): 1}


def test_a_dictionary_that_repeats_itself():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "a"]))
    graph = as_graph(pa.table({"u": column, "i": [1, 1, 1]}))
    assert edges(graph) == {("a", 1): 2, ("b", 1): 1}


# Matrices

MATRIX = np.array([[0, 2, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    "kind",
    [np.array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_array,
     sparse.dok_array, sparse.bsr_array, sparse.dia_array],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
def test_matrices(kind, dtype):
    graph = as_graph(kind(MATRIX.astype(dtype)))
    assert edges(graph) == {(0, 1): 1 if dtype == "bool" else 2, (1, 0): 1}
    assert (graph.n_left, graph.n_right) == (2, 3)


def test_half_precision_which_scipy_does_not_know():
    assert edges(as_graph(MATRIX.astype(np.float16))) == {(0, 1): 2, (1, 0): 1}


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_a_matrix_without_weights(kind):
    graph = as_graph(kind([[0, np.nan, 0], [-1, 0, 2]]), weight=None)
    assert edges(graph) == {(0, 1): 1, (1, 0): 1, (1, 2): 1}
    assert (graph.n_left, graph.n_right) == (2, 3)
    assert edges(as_graph(kind(MATRIX.astype(np.float32)), weight=None)) == {(0, 1): 1, (1, 0): 1}


def test_stored_zeros_are_no_edges_without_weights():
    matrix = sparse.coo_array(([0.0, 3.0], ([0, 1], [0, 0])), shape=(2, 1))
    assert edges(as_graph(matrix, weight=None)) == {(1, 0): 1}


def test_a_graph_without_weights():
    graph = BipartiteGraph([0, 1], [0, 0], [2, 3], left_ids=["a", "b"], right_ids=["x"])
    assert edges(as_graph(graph, weight=None)) == {("a", "x"): 1, ("b", "x"): 1}


@pytest.mark.parametrize("weight, value", [({}, 2), ({"weight": None}, 1)])
def test_masked_entries_are_no_edges(weight, value):
    matrix = np.ma.masked_array(MATRIX, mask=[[0, 0, 1], [1, 0, 0]])
    assert edges(as_graph(matrix, **weight)) == {(0, 1): value}


def test_ids_of_a_matrix_keep_their_order():
    graph = as_graph(MATRIX, left_ids=["z", "a"], right_ids=[3, 1, 2])
    assert edges(graph) == {("z", 1): 2, ("a", 3): 1}
    assert list(graph.left.ids) == ["z", "a"]
    assert list(graph.right.ids) == [3, 1, 2]


def test_entries_of_a_matrix_given_twice_and_zeros():
    matrix = sparse.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [0, 0, 0])), shape=(2, 1))
    assert edges(as_graph(matrix)) == {(0, 0): 3}
    assert edges(as_graph(matrix, duplicates="max")) == {(0, 0): 2}
    report = as_graph(matrix).report
    assert (report.rows, report.merged, report.zero_weight) == (3, 1, 1)


def test_a_matrix_is_not_changed():
    matrix = sparse.csr_array(MATRIX.astype(np.float32))
    graph = as_graph(matrix)
    matrix.data[:] = 9
    assert edges(graph) == {(0, 1): 2, (1, 0): 1}


# networkx


def test_networkx_by_attribute():
    graph = nx.Graph()
    graph.add_nodes_from(["x", "y", "alone"], bipartite=1)
    graph.add_nodes_from(["ann", "bob"], bipartite=0)
    graph.add_weighted_edges_from([("x", "ann", 2), ("bob", "y", 0.5)])
    result = as_graph(graph)
    assert edges(result) == {("ann", "x"): 2, ("bob", "y"): 0.5}
    assert list(result.right.ids) == ["alone", "x", "y"]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_by_colour_and_by_choice(kind):
    graph = kind([(1, 2), (3, 2), (3, 4)])
    assert edges(as_graph(graph)) == {(1, 2): 1, (3, 2): 1, (3, 4): 1}
    assert edges(as_graph(graph, left_ids=[4, 2])) == {(2, 1): 1, (2, 3): 1, (4, 3): 1}


def test_networkx_weights_by_choice():
    graph = nx.Graph([(1, 2, {"n": 5, "weight": "x"}), (3, 2)])
    assert edges(as_graph(graph, weight="n")) == {(1, 2): 5, (3, 2): 1}
    assert edges(as_graph(graph, weight=None)) == {(1, 2): 1, (3, 2): 1}


def test_networkx_of_two_components_by_choice():
    graph = nx.Graph([(1, 2), (3, 4)])
    graph.add_node(5)
    result = as_graph(graph, left_ids=[1, 4, 5])
    assert edges(result) == {(1, 2): 1, (4, 3): 1}
    assert list(result.left.ids) == [1, 4, 5]


def test_parallel_edges_follow_the_policy():
    graph = nx.MultiGraph([("a", "b", {"weight": 2}), ("a", "b", {"weight": 3})])
    assert edges(as_graph(graph)) == {("a", "b"): 5}
    assert edges(as_graph(graph, duplicates="max")) == {("a", "b"): 3}


def test_southern_women():
    graph = as_graph(nx.davis_southern_women_graph())
    assert (graph.n_left, graph.n_right, graph.n_edges) == (18, 14, 89)
