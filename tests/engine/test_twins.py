"""Nodes with the same neighbours as one row: what smoothing makes of them stays the same."""

import numpy as np
import pytest

from bivec import BipartiteGraph, twins
from bivec.kernels import twins as kernels
from bivec.smoothing import Shape, smooth
from bivec.twins import merge_twins


def leaves(seed=0):
    """Return a sparse graph, most of whose left nodes have one edge; left 0 and 9 have none."""
    rng = np.random.default_rng(seed)
    left, right = np.arange(10, 400), rng.integers(20, size=390)
    more = rng.integers(1, 60, size=80), rng.integers(20, size=80)
    keep = more[0] != 9
    return BipartiteGraph(
        np.append(left, more[0][keep]), np.append(right, more[1][keep]),
        left_ids=range(400), right_ids=range(21), duplicates="max",
    )  # fmt: skip


def members(side, row):
    return tuple(side.indices[side.indptr[row] : side.indptr[row + 1]].tolist())


def test_a_kind_is_a_set_of_neighbours():
    graph = leaves()
    left, right = merge_twins(graph.left, graph.right)
    assert len(left) < 200 < 400 == left.sizes.sum()
    known = {}
    for node, row in enumerate(left.group):
        name = members(graph.left, node) or node  # without neighbours: a kind of its own
        assert known.setdefault(name, row) == row
        assert members(left, row) == members(graph.left, node)
        assert left.degrees[row] == graph.left.degrees[node]
    assert len(known) == len(left)
    assert list(known.values()) == sorted(known.values())  # in the order of first nodes
    assert right.group is None
    for row in range(len(right)):
        assert set(members(right, row)) == {left.group[n] for n in members(graph.right, row)}
        assert left.sizes[list(members(right, row))].sum() == graph.right.degrees[row]


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("dim", [5, 70])
def test_smoothing_is_what_it_is_without_merging(monkeypatch, flip, dim):
    graph = leaves().flipped() if flip else leaves()
    rng = np.random.default_rng(1)
    start = [
        rng.standard_normal((n, dim)).astype(np.float32) for n in (graph.n_left, graph.n_right)
    ]
    results = []
    for worth in (0.8, -1.0):
        monkeypatch.setattr(twins, "_WORTH", worth)
        merged = any(side.group is not None for side in merge_twins(graph.left, graph.right))
        assert merged == (worth > 0)
        tables = [table.copy() for table in start]
        smooth(graph, *tables, (Shape(5, 0.3), Shape(6)))
        results.append(tables)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4)


def test_rows_come_back_in_place():
    graph = leaves()
    left, _ = merge_twins(graph.left, graph.right)
    table = np.random.default_rng(0).standard_normal((400, 3)).astype(np.float32)
    first = table.copy()
    rows = left.gather(table)
    wanted = np.stack([first[left.group == k].mean(axis=0) for k in range(len(left))])
    np.testing.assert_allclose(rows, wanted, atol=1e-5)
    left.scatter(table)
    np.testing.assert_allclose(table, wanted[left.group], atol=1e-5)
    np.testing.assert_array_equal(left.spread(left.pick(table)), table)
    assert left.pick(table).shape == (len(left), 3)


def test_names_that_are_not_telling_merge_nothing(monkeypatch):
    graph = leaves()
    monkeypatch.setattr(kernels, "hash_rows", lambda indptr, indices, out: out.fill(7))
    left, right = merge_twins(graph.left, graph.right)
    assert left.group is right.group is None


@pytest.mark.parametrize("edges", [([], []), ([0], [0]), ([0, 1], [0, 0])])
def test_small_graphs(edges):
    graph = BipartiteGraph(*edges, left_ids=range(2), right_ids=range(1))
    left, right = merge_twins(graph.left, graph.right)
    assert left.sizes.sum() == 2
    assert right.sizes.sum() == 1
    empty = BipartiteGraph([], [], left_ids=[], right_ids=[])
    assert len(merge_twins(empty.left, empty.right)[0]) == 0
