"""Sharpening: vectors move to where many are, as plain numpy has it."""

import numpy as np
import pytest

from bivec import FOBE, BipartiteGraph
from bivec.models import sampled
from bivec.parallel import Workers
from bivec.rehearsal import Rehearsed
from bivec.sharpening import OWN, SHARPNESS, sharpen
from bivec.smoothing import Shape
from bivec.twins import Kinds, merge_twins

GRAPH = BipartiteGraph(
    [0, 0, 1, 1, 2, 3, 4, 5, 6], [0, 1, 1, 2, 2, 3, 3, 3, 4], left_ids=range(8), right_ids=range(5)
)
"""Left 3, 4 and 5 are twins, 7 is alone."""


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def bundles(n, dim=6, seed=0):
    """Return vectors of length 1 that scatter around two places, those of twins alike."""
    rng = np.random.default_rng(seed)
    table = unit(np.eye(2, dim)[np.arange(n) % 2] + 0.2 * rng.standard_normal((n, dim)))
    return table.astype(np.float32)


def sharpened(graph, table, seed=0, n_jobs=1):
    table = table.copy()
    left, _ = merge_twins(graph.left, graph.right)
    with Workers(n_jobs) as workers:
        sharpen(table, left, seed, workers)
    return table


def test_it_is_a_step_of_mean_shift():
    table = bundles(8)
    table[4] = table[5] = table[3]
    expected = table.astype(np.float64)
    pulls = np.exp(SHARPNESS * (expected @ expected.T - 1))
    pulls[:, 7] = 0
    expected = unit(OWN * expected + pulls @ expected)
    expected[7] = table[7]
    np.testing.assert_allclose(sharpened(GRAPH, table), expected, atol=1e-5)


def test_vectors_of_one_place_come_closer_and_places_stay_apart():
    graph = BipartiteGraph(np.arange(400), np.arange(400))  # without twins
    start = bundles(400)
    done = sharpened(graph, start)
    even = np.arange(400) % 2 == 0
    scattered, tight = (1 - (table[even] @ table[even].T).mean() for table in (start, done))
    assert tight < 0.7 * scattered
    assert (done[even] @ done[~even].T).mean() < 0.2
    np.testing.assert_allclose(np.linalg.norm(done, axis=1), 1, rtol=1e-5)


def test_landmarks_are_nodes_with_edges_drawn_by_a_seed():
    sizes = np.array([5, 3000, 2, 1, 999], np.float32)
    edges = np.array([0, 0, 1, 1, 2, 3])  # rows 0 and 2 have none
    kinds = Kinds(edges, np.zeros(3, np.int32), np.diff(edges), sizes, None)
    chosen, weights = kinds.sample(1024, 1, 232)
    assert len(chosen) == len(weights) == 1024
    assert set(chosen) <= {1, 3, 4}
    assert abs((chosen == 1).mean() - 0.75) < 0.06
    other, _ = kinds.sample(1024, 2, 232)
    assert not np.array_equal(chosen, other)
    few, counts = kinds.sample(5000, 1, 232)
    assert few.tolist() == [1, 3, 4]
    assert counts.tolist() == [3000, 1, 999]


def test_the_same_bytes_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    graph = BipartiteGraph(np.arange(5000), rng.integers(1200, size=5000))
    start = unit(rng.standard_normal((5000, 7))).astype(np.float32)
    made = [sharpened(graph, start, n_jobs=n).tobytes() for n in (1, 2, 4)]
    assert made[0] == made[1] == made[2]
    assert made[0] != sharpened(graph, start, seed=1).tobytes()


@pytest.mark.parametrize("table", [np.zeros((8, 3), np.float32), np.eye(8, 1, dtype=np.float32)])
def test_vectors_of_which_nothing_is_left_stay_finite(table):
    assert np.isfinite(sharpened(GRAPH, table)).all()


def test_a_graph_without_edges_stays_as_it_is():
    graph = BipartiteGraph([], [], left_ids=range(3), right_ids=range(2))
    table = bundles(3)
    assert sharpened(graph, table).tobytes() == table.tobytes()


def test_it_follows_where_a_rehearsal_finds_communities(planted, monkeypatch):
    seen = []
    monkeypatch.setattr("bivec.smoothing.sharpen", lambda table, *_: seen.append(len(table)))
    for communities in (True, False):
        found = Rehearsed((Shape(8), Shape(8)), 0.9, communities=communities)
        monkeypatch.setattr(sampled, "rehearse", lambda *args, found=found: found)
        FOBE(dim=8, epochs=2, n_samples=4).fit(planted)
    assert seen == [planted.n_left, planted.n_right]
