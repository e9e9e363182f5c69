"""Evening of directions against a plain reference, and what it is for."""

import numpy as np
import pytest

from bivec import FOBE, BipartiteGraph
from bivec.evening import EVENNESS, Evening
from bivec.lengths import to_one
from bivec.models import sampled
from bivec.parallel import Workers
from bivec.rehearsal import Rehearsed
from bivec.smoothing import Shape, smooth_side
from bivec.twins import merge_twins


def unit(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def evened(graph, table, n_jobs=1, seed=0):
    left, _ = merge_twins(graph.left, graph.right)
    table = table.copy()
    rows, squares = left.gather(table), np.ones(len(left), np.float32)
    with Workers(n_jobs) as workers:
        Evening(left, table.shape[1], seed)(rows, np.ones_like(squares), squares, workers)
    rows *= to_one(squares)[:, None]
    left.scatter(table)
    return table


def loose(n, dim=5):
    """Left nodes with two edges each and no twins, and vectors that have much in common."""
    graph = BipartiteGraph(np.repeat(np.arange(n), 2), np.arange(2 * n) // 2 + np.arange(2 * n) % 2)
    rng = np.random.default_rng(0)
    table = rng.standard_normal((n, dim)) * 2.0 ** -np.arange(dim) + np.eye(1, dim)
    return graph, unit(table).astype(np.float32)


def test_it_follows_the_formula():
    graph, table = loose(300)
    x = table.astype(np.float64)
    values, directions = np.linalg.eigh(x.T @ x / len(x))
    expected = unit(x @ (directions * values ** (-EVENNESS / 2)) @ directions.T)
    np.testing.assert_allclose(evened(graph, table), expected, atol=1e-5)


def test_again_and_again_it_makes_all_directions_equal():
    graph, table = loose(300)
    before = np.linalg.eigvalsh(table.T @ table / len(table))
    for _ in range(60):
        table = evened(graph, table)
    after = np.linalg.eigvalsh(table.T @ table / len(table))
    assert before[-1] / before[0] > 50
    assert after[-1] / after[0] < 1.5


def test_twins_count_as_often_as_there_are_of_them():
    many = BipartiteGraph(np.arange(60), np.arange(60) // 30)  # two kinds
    table = np.repeat(np.float32([[1, 0, 0], [0, 1, 0]]), 30, axis=0)
    table[:30, 1] = 0.5
    one = evened(many, unit(table))
    x = unit(table).astype(np.float64)
    values, directions = np.linalg.eigh(x.T @ x / len(x))
    values = np.maximum(values, values[-1] * 1e-4)
    expected = unit(x @ (directions * values ** (-EVENNESS / 2)) @ directions.T)
    np.testing.assert_allclose(one, expected, atol=1e-5)


def test_nodes_without_edges_stay_and_do_not_count():
    graph, table = loose(300)
    more = BipartiteGraph(
        graph.left_rows(), graph.left.indices, left_ids=range(310), right_ids=range(301)
    )
    extra = unit(np.ones((10, 5), np.float32))
    done = evened(more, np.vstack([table, extra]))
    np.testing.assert_allclose(done[:300], evened(graph, table), atol=1e-6)
    np.testing.assert_array_equal(done[300:], extra)


def test_the_same_bytes_for_any_number_of_threads():
    graph, table = loose(9000)  # more than are looked at
    made = [evened(graph, table, n_jobs=n).tobytes() for n in (1, 2, 4)]
    assert made[0] == made[1] == made[2]
    assert made[0] != evened(graph, table, seed=1).tobytes()


@pytest.mark.parametrize("table", [np.zeros((8, 3), np.float32), np.eye(8, 1, dtype=np.float32)])
def test_vectors_of_which_nothing_is_left_stay_finite(table):
    graph = BipartiteGraph(np.arange(8), np.arange(8) // 2)
    assert np.isfinite(evened(graph, table)).all()


def test_a_large_community_does_not_swallow_the_small_ones():
    """A ring of communities, one of them large: after many steps only evened vectors tell them."""
    rng = np.random.default_rng(0)
    sizes = [400] + [40] * 10
    group = np.repeat(np.arange(11), sizes)
    first = np.concatenate([[0], np.cumsum(sizes)])
    edges = [(i, first[g] + rng.integers(sizes[g])) for i, g in enumerate(group) for _ in range(6)]
    edges += [
        (int(rng.integers(first[g], first[g + 1])), int(first[(g + 1) % 11])) for g in range(11)
    ] * 3
    graph = BipartiteGraph(*np.unique(np.array(edges), axis=0).T)
    left, right = merge_twins(graph.left, graph.right)
    told = []
    for even in (False, True):
        table = np.random.default_rng(1).standard_normal((graph.n_left, 24)).astype(np.float32)
        with Workers(1) as workers:
            evening = Evening(left, 24, 0) if even else None
            smooth_side(table, left, right, 128, workers, evening=evening)
        close = table @ table.T > 0.9
        np.fill_diagonal(close, False)
        told.append((group[:, None] == group)[close].mean())
    assert told[1] > told[0] + 0.2


def test_it_is_done_where_a_rehearsal_says_so(planted, monkeypatch):
    seen = []
    monkeypatch.setattr(Evening, "matrix", lambda self, _: seen.append(1) or np.eye(8, dtype="f4"))
    for shape in (Shape(16, evened=True), Shape(16)):
        found = Rehearsed((shape, Shape(16)), 0.9, communities=True)
        monkeypatch.setattr(sampled, "rehearse", lambda *args, found=found: found)
        FOBE(dim=8, epochs=2, n_samples=4).fit(planted)
    assert len(seen) == 8
