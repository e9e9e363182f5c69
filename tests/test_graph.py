"""The graph against plain references: dicts, loops and networkx."""

import pickle
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bivec.errors import InputError, UnknownIdError
from bivec.graph import DUPLICATES, BipartiteGraph

edges = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 5), st.sampled_from([0, 0.5, 1, 1, 2, 3.25])),
    max_size=40,
)


def build(rows, duplicates="sum", **ids):
    left, right, weights = zip(*rows, strict=True) if rows else ([], [], [])
    ids = ids or {"left_ids": range(7), "right_ids": range(6)}
    return BipartiteGraph(left, right, weights, duplicates=duplicates, **ids)


def merged(rows, duplicates):
    """Merge edges the plain way; weight 0 is no edge."""
    result = {}
    for left, right, weight in rows:
        old = result.get((left, right))
        if old is not None:
            weight = {"sum": old + weight, "max": max(old, weight), "last": weight}[duplicates]
        result[left, right] = weight
    return {edge: weight for edge, weight in result.items() if weight}


def stored(side):
    """List what a side holds as (row, neighbour, weight)."""
    return [
        (row, int(side.indices[e]), float(side.weights[e]))
        for row in range(len(side))
        for e in range(side.indptr[row], side.indptr[row + 1])
    ]


def naive_prune(pairs, min_left, min_right, n_left=7, n_right=6):
    left, right = set(range(n_left)), set(range(n_right))
    while True:
        pairs = {(i, j) for i, j in pairs if i in left and j in right}
        low_left = {i for i in left if sum(p[0] == i for p in pairs) < min_left}
        low_right = {j for j in right if sum(p[1] == j for p in pairs) < min_right}
        if not low_left and not low_right:
            return left, right, pairs
        left, right = left - low_left, right - low_right


# Construction


@pytest.mark.parametrize("duplicates", ["sum", "max", "last"])
@given(rows=edges)
def test_both_directions_against_a_dict(duplicates, rows):
    graph = build(rows, duplicates)
    reference = merged(rows, duplicates)
    assert stored(graph.left) == sorted((i, j, w) for (i, j), w in reference.items())
    assert stored(graph.right) == sorted((j, i, w) for (i, j), w in reference.items())
    assert graph.left.degrees.tolist() == [sum(i == n for i, _ in reference) for n in range(7)]
    assert graph.right.degrees.tolist() == [sum(j == n for _, j in reference) for n in range(6)]
    assert graph.n_edges == len(reference)
    assert graph.report.rows == len(rows)
    assert graph.report.merged == len(rows) - len({row[:2] for row in rows})
    assert graph.report.zero_weight == len({row[:2] for row in rows}) - len(reference)


@given(rows=edges)
def test_duplicates_as_an_error(rows):
    repeated = len({row[:2] for row in rows}) < len(rows)
    if repeated:
        with pytest.raises(InputError, match="is given more than once"):
            build(rows, "error")
    else:
        assert build(rows, "error") == build(rows, "sum")


def test_the_repeated_edge_is_named():
    rows = [(0, 0, 1), (1, 0, 1), (1, 1, 1), (1, 0, 1), (1, 0, 2)]
    message = r"the edge 'bob' - 'x' is .*, one of 2 rows that repeat an edge\. Remove"
    with pytest.raises(InputError, match=message):
        build(rows, "error", left_ids=["ann", "bob"], right_ids=["x", "y"])


def test_policies_are_the_published_ones():
    assert DUPLICATES == ("sum", "max", "last", "error")


def test_without_weights_repetitions_count():
    graph = BipartiteGraph([0, 0, 1], [0, 0, 0])
    assert graph.left.weights.tolist() == [2, 1]
    assert BipartiteGraph([0, 0, 1], [0, 0, 0], duplicates="max").left.weights.tolist() == [1, 1]


def test_many_small_weights_add_up():
    """In 64 bits: 32 would stop counting at 2**24."""
    weights = np.array([2**24, 1, 1], np.float32)
    assert BipartiteGraph([0] * 3, [0] * 3, weights).left.weights.tolist() == [2**24 + 2]


def test_zero_weight_keeps_the_nodes():
    graph = BipartiteGraph([0, 1], [0, 1], [0.0, 2.0])
    assert (graph.n_left, graph.n_right, graph.n_edges) == (2, 2, 1)
    assert graph.report.zero_weight == graph.summary().rows_zero_weight == 1


def test_types_are_compact():
    graph = build([(0, 1, 2.5), (3, 1, 1)])
    for side in (graph.left, graph.right):
        assert side.indptr.dtype == np.int64
        assert side.indices.dtype == np.int32
        assert side.weights.dtype == np.float32
    assert graph.left_rows().dtype == np.int32


@pytest.mark.parametrize(
    "make",
    [
        lambda graph: graph,
        lambda graph: graph.prune(1, 1),
        lambda graph: graph.subgraph(left=[0, 1]),
    ],
    ids=["built", "pruned", "subgraph"],
)
def test_arrays_are_read_only(make):
    graph = make(build([(0, 0, 1), (1, 1, 2), (1, 0, 2)]))
    for side in (graph.left, graph.right):
        for array in (side.indptr, side.indices, side.weights):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
        with pytest.raises(AttributeError):
            side.weights = None
    with pytest.raises(ValueError, match="read-only"):
        graph.to_scipy().data[0] = 7


def test_the_callers_arrays_stay_as_they_are():
    left, right, weights = np.array([1, 0, 0]), np.array([0, 0, 0]), np.array([3, 0.1, 0.2])
    BipartiteGraph(left, right, weights)
    assert (left.tolist(), right.tolist(), weights.tolist()) == (
        [1, 0, 0],
        [0, 0, 0],
        [3, 0.1, 0.2],
    )
    weights[0] = 5
    assert left.flags.writeable


def test_empty_graph():
    graph = BipartiteGraph([], [])
    assert (graph.n_left, graph.n_right, graph.n_edges) == (0, 0, 0)
    assert graph == graph.prune() == graph.subgraph()
    assert graph.components()[0] == 0
    assert graph.to_scipy().shape == (0, 0)
    summary = graph.summary().to_dict()
    assert summary["density"] == summary["weight_max"] == summary["largest_component_share"] == 0
    assert not graph.weighted


def test_one_side_only():
    graph = BipartiteGraph([], [], left_ids=["a", "b"])
    assert (graph.n_left, graph.n_right) == (2, 0)
    assert graph.components()[0] == 2
    assert graph.summary().left.isolated == 2


# Looking


def test_neighbors_by_name():
    graph = build([(0, 1, 1), (0, 0, 1), (1, 1, 1)], left_ids=["ann", "x"], right_ids=["x", "y"])
    assert graph.neighbors("ann", side="left") == ["x", "y"]
    assert graph.neighbors("x", side="left") == ["y"]
    assert graph.neighbors("x", side="right") == ["ann"]
    with pytest.raises(UnknownIdError, match="no right node 'ann'"):
        graph.neighbors("ann", side="right")


@given(rows=edges)
def test_components_against_networkx(rows):
    graph = build(rows)
    reference = nx.Graph()
    reference.add_nodes_from(("l", i) for i in range(7))
    reference.add_nodes_from(("r", j) for j in range(6))
    reference.add_edges_from((("l", i), ("r", j)) for i, j, _ in stored(graph.left))
    expected = {frozenset(component) for component in nx.connected_components(reference)}
    count, left, right = graph.components()
    found = [set() for _ in range(count)]
    for i, label in enumerate(left):
        found[label].add(("l", i))
    for j, label in enumerate(right):
        found[label].add(("r", j))
    assert {frozenset(component) for component in found} == expected
    sizes = [len(component) for component in found]
    assert sizes == sorted(sizes, reverse=True)
    summary = graph.summary()
    assert summary.components == len(expected)
    assert summary.largest_component_nodes == max(map(len, expected))
    assert summary.largest_component_share == pytest.approx(max(map(len, expected)) / 13)


def test_summary_numbers():
    rows = [(0, 0, 1), (0, 1, 2), (0, 2, 4), (1, 0, 0.5), (1, 0, 0.5), (2, 2, 0), (3, 3, 1)]
    graph = build(rows, left_ids=list("abcde"), right_ids=range(4))
    assert graph.n_edges == 5
    summary = graph.summary()
    assert summary.left.nodes == 5
    assert summary.left.isolated == 2
    assert summary.left.mean_degree == 1
    assert summary.left.degree_quantiles == {
        "0": 0, "0.25": 0, "0.5": 1, "0.75": 1, "0.9": pytest.approx(2.2), "1": 3,
    }  # fmt: skip
    assert summary.right.degree_quantiles["1"] == 2
    assert summary.density == 5 / 20
    assert (summary.weight_min, summary.weight_max, summary.weight_sum) == (1, 4, 9)
    assert summary.components == 4
    assert summary.largest_component_nodes == 5
    assert (summary.rows_read, summary.rows_merged, summary.rows_zero_weight) == (7, 1, 1)
    assert summary.weighted
    arrays = [(s.indptr, s.indices, s.weights) for s in (graph.left, graph.right)]
    ids = graph.left.ids.nbytes + graph.right.ids.nbytes
    assert summary.memory_bytes == ids + sum(a.nbytes for side in arrays for a in side)


def test_repr():
    assert repr(build([(0, 0, 1)])) == "BipartiteGraph(7 left, 6 right, 1 edges)"
    assert repr(BipartiteGraph([0], [1999], [2])).endswith("2,000 right, 1 edges, weighted)")


# Cutting


@given(rows=edges, min_left=st.integers(0, 4), min_right=st.integers(0, 4))
@example(
    rows=[(i, j, 1) for i in range(3) for j in range(3)] + [(3, 0, 1)], min_left=2, min_right=2
)
def test_prune_against_a_loop(rows, min_left, min_right):
    graph = build(rows)
    pruned = graph.prune(min_left, min_right)
    left, right, pairs = naive_prune({r[:2] for r in stored(graph.left)}, min_left, min_right)
    assert list(pruned.left.ids) == sorted(left)
    assert list(pruned.right.ids) == sorted(right)
    weights = {(i, j): w for i, j, w in stored(graph.left)}
    expected = [(pruned.left.ids.row(i), pruned.right.ids.row(j), weights[i, j]) for i, j in pairs]
    assert stored(pruned.left) == sorted(expected)
    assert stored(pruned.right) == sorted((j, i, w) for i, j, w in expected)
    assert pruned == pruned.prune(min_left, min_right)


def path_graph(n):
    nodes = np.arange(n - 1)
    return BipartiteGraph((nodes + 1) // 2, nodes // 2)


def test_prune_is_linear_on_a_path():
    """A path unravels one node at a time from both ends: rounds over all nodes would take hours."""
    path_graph(4).prune()  # compiles
    graph = path_graph(200_000)
    assert graph.n_left + graph.n_right == 200_000
    start = time.perf_counter()
    pruned = graph.prune()
    assert time.perf_counter() - start < 5
    assert (pruned.n_left, pruned.n_right) == (0, 0)


@given(rows=edges, left=st.sets(st.integers(0, 6)), right=st.sets(st.integers(0, 5)))
def test_subgraph_keeps_nodes_and_the_edges_between(rows, left, right):
    graph = build(rows)
    part = graph.subgraph(left, right)
    assert list(part.left.ids) == sorted(left)
    assert list(part.right.ids) == sorted(right)
    kept = [(i, j, w) for i, j, w in stored(graph.left) if i in left and j in right]
    named = [(part.left.ids[i], part.right.ids[j], w) for i, j, w in stored(part.left)]
    assert named == kept
    turned = [(part.left.ids[i], part.right.ids[j], w) for j, i, w in stored(part.right)]
    assert sorted(turned) == kept


def test_subgraph_of_one_side():
    graph = build([(0, 0, 1), (1, 1, 2)])
    assert graph.subgraph(left=[1]).n_right == 6
    assert graph.subgraph() == graph
    with pytest.raises(UnknownIdError, match="no left node 99"):
        graph.subgraph(left=[99])


# Comparing and handing over


@given(rows=edges, seed=st.integers(0, 99))
def test_equality_does_not_see_the_order(rows, seed):
    random = np.random.default_rng(seed)
    left, right = random.permutation(7), random.permutation(6)
    graph = build(rows)
    moved = [(int(np.flatnonzero(left == i)[0]), int(np.flatnonzero(right == j)[0]), w)
             for i, j, w in rows]  # fmt: skip
    assert build(moved, left_ids=left, right_ids=right) == graph
    assert build(moved, left_ids=map(str, left), right_ids=map(str, right)) == graph
    assert graph == build(moved, left_ids=map(str, left), right_ids=map(str, right))


@pytest.mark.parametrize(
    "other",
    [
        build([(0, 0, 1), (1, 1, 2)], left_ids="ab", right_ids=[1, 3]),
        build([(0, 0, 1), (1, 0, 2)], left_ids="ab", right_ids=[1, 2]),
        build([(0, 0, 1), (1, 1, 2.5)], left_ids="ab", right_ids=[1, 2]),
        build([(0, 0, 1)], left_ids="ab", right_ids=[1, 2]),
        build([(0, 0, 1), (1, 1, 2)], left_ids="abc", right_ids=[1, 2]),
        build([(0, 0, 1), (1, 1, 2)], left_ids="ba", right_ids=[1, 2]),
        "a graph",
    ],
    ids=["id", "edge", "weight", "fewer edges", "more nodes", "swapped", "type"],
)
def test_inequality(other):
    graph = build([(0, 0, 1), (1, 1, 2)], left_ids="ab", right_ids=[1, 2])
    assert graph != other
    assert other != graph


def test_nineteen_digits_are_equal_both_ways():
    numbers, digits = ([10**18, 5], [str(10**18), "5"])
    one = build([(0, 0, 1), (1, 0, 2)], left_ids=numbers, right_ids=[0])
    other = build([(0, 0, 1), (1, 0, 2)], left_ids=digits, right_ids=[0])
    assert one == other
    assert other == one


def test_a_graph_is_no_key():
    with pytest.raises(TypeError, match="unhashable"):
        hash(BipartiteGraph([0], [0]))


@given(rows=edges)
def test_handing_over(rows):
    graph = build(rows)
    dense = np.zeros((7, 6))
    for i, j, weight in stored(graph.left):
        dense[i, j] = weight
    assert (graph.to_scipy().toarray() == dense).all()
    table = graph.to_arrow().to_pylist()
    assert [tuple(row.values()) for row in table] == stored(graph.left)
    assert graph.left_rows().tolist() == [row["left"] for row in table]
    assert pickle.loads(pickle.dumps(graph)) == graph
