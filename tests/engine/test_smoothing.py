"""Smoothing within a side against a plain reference, and what it is for."""

import signal
import threading

import numpy as np
import pytest

from bivec import FOBE, HOBE, BipartiteGraph, smoothing
from bivec.datasets import southern_women
from bivec.errors import InputError
from bivec.joining import join
from bivec.lengths import DEGREE, PLAIN
from bivec.models import sampled
from bivec.parallel import Workers
from bivec.rehearsal import Rehearsed
from bivec.smoothing import (
    Shape,
    check_smoothing,
    most_steps,
    smooth,
    smooth_side,
)
from bivec.sweeps import stoppable
from bivec.twins import merge_twins

GRAPH = BipartiteGraph(
    [0, 0, 1, 1, 2, 3, 3, 4], [0, 1, 0, 2, 1, 2, 3, 3], left_ids=range(6), right_ids=range(5)
)  # left 5 and right 4 have no edges


def unit(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def plain_step(x, matrix):
    """One step of the formula in the module, with dense matrices."""
    here, there = (np.maximum(matrix.sum(axis=axis), 1) ** -0.5 for axis in (1, 0))
    w = (matrix * there).sum(axis=1)
    center = (here * w @ x) / (here @ w)
    out = x.copy()
    for i in np.flatnonzero(w):
        over = [
            there[b] * np.average(x, axis=0, weights=here * (matrix[:, b] > 0))
            for b in np.flatnonzero(matrix[i])
        ]
        y = sum(over) / w[i] - center
        out[i] = y / np.linalg.norm(y)
    return out


@pytest.mark.parametrize("dim", [3, 64, 130])
def test_steps_follow_the_formula(dim):
    matrix = GRAPH.to_scipy().toarray()
    rng = np.random.default_rng(0)
    start = [rng.standard_normal((n, dim)).astype(np.float32) for n in matrix.shape]
    tables = [table.copy() for table in start]
    done = smooth(GRAPH, *tables, (Shape(3), Shape(3)))
    assert done == ((3, 3), (PLAIN, PLAIN), False)
    for table, first, seen in zip(tables, start, (matrix, matrix.T), strict=True):
        wanted = unit(first.astype(np.float64))
        for _ in range(3):
            wanted = plain_step(wanted, seen)
        wanted[:, -1] = 0
        np.testing.assert_allclose(table[:, :-1], unit(wanted)[:, :-1], atol=2e-4)
        degrees = np.log2(1 + seen.sum(axis=1))
        np.testing.assert_allclose(table[:, -1], DEGREE * degrees, rtol=1e-6)


def test_same_bytes_for_any_number_of_threads(planted):
    made = [FOBE(dim=20, epochs=3, n_samples=9, n_jobs=jobs).fit(planted) for jobs in (1, 2, 4)]
    for other in made[1:]:
        assert other.left_embedding_.tobytes() == made[0].left_embedding_.tobytes()
        assert other.right_embedding_.tobytes() == made[0].right_embedding_.tobytes()


def test_nodes_that_share_all_neighbours_end_at_one_place():
    graph = BipartiteGraph([0, 1, 2, 3, 3, 4], [0, 0, 0, 1, 0, 1])
    model = HOBE(dim=16, epochs=3, n_samples=9, smoothing=2).fit(graph)
    assert model.smoothing_steps_ == (2, 2)
    np.testing.assert_allclose(model.left_embedding_[0], model.left_embedding_[1], atol=1e-5)
    assert not np.allclose(model.left_embedding_[0], model.left_embedding_[4], atol=0.1)


def test_communities_tighten(planted):
    """Random pairs stay apart while neighbours come close."""
    loose = FOBE(dim=32, smoothing=0).fit(planted)
    tight = FOBE(dim=32).fit(planted)

    def gap(model):
        cosines = unit(model.left_embedding_) @ unit(model.left_embedding_).T
        shared = (planted.to_scipy() @ planted.to_scipy().T).toarray() > 0
        return cosines[shared].mean() - cosines[~shared].mean()

    assert gap(tight) > gap(loose) + 0.1


def test_the_graph_decides_how_many_steps():
    sparse = BipartiteGraph(np.arange(1000), np.arange(1000) // 2)
    assert most_steps(*merge_twins(sparse.left, sparse.right)) == smoothing.MOST_STEPS
    rng = np.random.default_rng(0)
    dense = BipartiteGraph(*np.nonzero(rng.random((20, 30)) < 0.5))  # without twins
    edges, nodes = dense.n_edges, dense.n_left + dense.n_right
    assert most_steps(*merge_twins(dense.left, dense.right)) == smoothing.WORK * nodes // edges
    model = FOBE(dim=8, epochs=2, n_samples=4).fit(southern_women())
    assert all(0 < steps <= 128 for steps in model.smoothing_steps_)
    assert model.embedding_.params["smoothing_steps"] == list(model.smoothing_steps_)


@pytest.mark.parametrize("edges", [([], []), ([0], [0]), ([0, 1], [0, 0])])
def test_graphs_with_next_to_nothing_in_them(edges):
    graph = BipartiteGraph(*edges, left_ids=range(2), right_ids=range(1))
    for dim in (1, 2, 8):
        model = FOBE(dim=dim, epochs=2, n_samples=4).fit(graph)
        assert np.isfinite(model.left_embedding_).all()
        assert np.isfinite(model.right_embedding_).all()


def test_no_smoothing_leaves_the_vectors_as_they_were_learned():
    plain = FOBE(dim=8, epochs=2, n_samples=4, smoothing=0, norm=None).fit(GRAPH)
    scaled = FOBE(dim=8, epochs=2, n_samples=4, smoothing=0).fit(GRAPH)
    assert plain.smoothing_steps_ == (0, 0)
    np.testing.assert_allclose(
        scaled.left_embedding_, plain.left_embedding_ * np.float32(scaled.scales_[0]), rtol=1e-6
    )


def test_ctrl_c_ends_after_the_step_at_hand(monkeypatch):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    told = []

    def progress(step):
        told.append(step)
        if step.stage == "smoothing" and len([s for s in told if s.stage == "smoothing"]) == 1:
            signal.raise_signal(signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        model = FOBE(dim=8, epochs=2, n_samples=4, smoothing=400, progress=progress).fit(GRAPH)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert model.interrupted_
    assert model.smoothing_steps_[0] < 20
    assert np.isfinite(model.left_embedding_).all()
    with stoppable() as stop:
        assert not stop.is_set()


@pytest.mark.parametrize("bad", [-1, 1.5, "many", None, True])
def test_bad_numbers_of_steps(bad):
    with pytest.raises(InputError, match="smoothing"):
        FOBE(smoothing=bad).fit(GRAPH)


def test_what_is_good():
    assert check_smoothing("auto") is None
    assert check_smoothing(0) == 0
    assert check_smoothing(np.int64(7)) == 7


def test_smoothing_ends_where_random_pairs_are_close():
    rng = np.random.default_rng(0)
    close = np.ones((6, 4), np.float32) + rng.uniform(0, 0.01, (6, 4)).astype(np.float32)
    pairs = np.array([0, 1]), np.array([2, 3])
    left, right = merge_twins(GRAPH.left, GRAPH.right)
    with Workers(1) as workers:
        ended = smooth_side(close.copy(), left, right, 64, workers, pairs)
        assert ended in range(8, 65, 8)
        assert smooth_side(close.copy(), left, right, 64, workers) == 64


def test_sides_may_differ_in_steps():
    rng = np.random.default_rng(0)
    tables = [rng.standard_normal((n, 8)).astype(np.float32) for n in (6, 5)]
    told = []
    shapes = Shape(16), Shape(8)
    done = smooth(GRAPH, *tables, shapes, progress=lambda *step: told.append(step))
    assert done.steps == (16, 8)
    assert told == [(8, 24), (16, 24), (24, 24)]


def test_who_gives_the_steps_gets_one_length():
    model = FOBE(dim=8, epochs=2, n_samples=4, smoothing=3).fit(GRAPH)
    assert model.shortening_ == (0, 0)
    assert model.embedding_.params["shortening"] == model.embedding_.params["hubs"] == [0, 0]


@pytest.mark.parametrize("dim", [3, 40])
def test_joined_sides_have_each_others_vectors(dim):
    matrix = GRAPH.to_scipy().toarray() > 0
    rng = np.random.default_rng(0)
    start = [rng.standard_normal((n, dim)).astype(np.float32) for n in matrix.shape]
    tables = [table.copy() for table in start]
    again = [table.copy() for table in start]
    for copies, n_jobs in ((tables, 2), (again, 1)):
        with Workers(n_jobs) as workers:
            join((GRAPH.left, GRAPH.right), copies, workers)
    assert [table.tobytes() for table in tables] == [table.tobytes() for table in again]
    left, right = map(unit, start)
    for table, own, far, seen in (
        (tables[0], left, right, matrix),
        (tables[1], right, left, matrix.T),
    ):
        mean = seen @ far
        lengths = np.linalg.norm(mean, axis=1, keepdims=True)
        np.testing.assert_allclose(table, own + mean / np.where(lengths > 0, lengths, 1), atol=1e-5)


def test_sides_are_joined_where_a_rehearsal_finds_communities(planted, monkeypatch):
    cosines = []
    for communities in (True, False):
        found = Rehearsed((Shape(64), Shape(64)), 0.9, communities=communities)
        monkeypatch.setattr(sampled, "rehearse", lambda *args, found=found: found)
        model = FOBE(dim=24, epochs=2, n_samples=4).fit(planted)
        left, right = unit(model.left_embedding_[:, :-1]), unit(model.right_embedding_[:, :-1])
        ends = planted.left_rows(), planted.left.indices
        cosines.append((left[ends[0]] * right[ends[1]]).sum(axis=1).mean())
    assert cosines[0] > 0.5 > cosines[1]


def test_twins_and_joined_sides_have_the_same_bytes_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    graph = BipartiteGraph(np.arange(6000), rng.integers(1500, size=6000))
    start = [rng.standard_normal((n, 20)).astype(np.float32) for n in (6000, graph.n_right)]
    made = []
    for n_jobs in (1, 2, 4):
        tables = [table.copy() for table in start]
        smooth(graph, *tables, (Shape(9), Shape(9)), n_jobs=n_jobs, communities=True)
        made.append([table.tobytes() for table in tables])
    assert made[0] == made[1] == made[2]
