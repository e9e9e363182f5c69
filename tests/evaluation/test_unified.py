"""The network of unified link prediction."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bivec.errors import InputError
from bivec.evaluation import unified
from bivec.evaluation.unified import AbsentPairs, Network, fit_unified, score_unified, sigmoid
from bivec.graph import BipartiteGraph


def network_and_batch(n=20):
    draw = np.random.default_rng(0)
    network = Network(6, 5, draw, dtype=np.float64)
    network.weights[1] = draw.normal(size=5)
    network.weights[3] = draw.normal(size=1)
    return network, draw.normal(size=(n, 6)), draw.integers(0, 2, n).astype(float)


def test_gradients_against_finite_differences():
    network, inputs, targets = network_and_batch()
    loss, gradients = network.gradients(inputs, targets)
    assert loss == pytest.approx(np.mean((sigmoid(network.logits(inputs)) - targets) ** 2))
    step = 1e-6
    for array, gradient in zip(network.weights, gradients, strict=True):
        assert gradient.shape == array.shape
        for place in itertools.product(*map(range, array.shape)):
            array[place] += step
            above = network.gradients(inputs, targets)[0]
            array[place] -= 2 * step
            below = network.gradients(inputs, targets)[0]
            array[place] += step
            assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-8)


def test_parts_of_a_batch_add_up():
    network, inputs, targets = network_and_batch()
    loss, whole = network.gradients(inputs, targets)
    parts = [network.gradients(inputs[s], targets[s], of=20) for s in (slice(7), slice(7, 20))]
    assert loss == pytest.approx(parts[0][0] + parts[1][0])
    for total, a, b in zip(whole, parts[0][1], parts[1][1], strict=True):
        np.testing.assert_allclose(total, a + b, atol=1e-15)


def test_step_is_adagrad():
    network, _, _ = network_and_batch()
    before = network.copy()
    gradients = [np.full_like(array, 0.5) for array in before]
    network.step(gradients, rate=0.1)
    network.step(gradients, rate=0.1)
    for old, new in zip(before, network.weights, strict=True):
        np.testing.assert_allclose(old - new, 0.1 * (1 + 1 / np.sqrt(2)), rtol=1e-5)


def test_absent_pairs_are_all_that_is_absent_and_nothing_else():
    rng = np.random.default_rng(2)
    graph = BipartiteGraph(
        rng.integers(1, 6, 18), rng.integers(0, 4, 18),
        left_ids=range(7), right_ids=range(6), duplicates="max",
    )  # fmt: skip
    lefts, rights = AbsentPairs(graph).draw(20_000, rng)
    dense = graph.to_scipy().toarray() > 0
    expected = {
        (i, j) for i, j in zip(*np.nonzero(~dense), strict=True) if dense[i].any()
        and dense[:, j].any()
    }  # fmt: skip
    pairs, counts = np.unique(np.stack([lefts, rights]), axis=1, return_counts=True)
    assert {tuple(pair) for pair in pairs.T} == expected
    share = 1 / len(expected)
    assert np.abs(counts / 20_000 - share).max() < 5 * np.sqrt(share / 20_000)


def blocks(n_left=120, n_right=60, n_pairs=900, seed=0):
    """Edges inside of two blocks; a vector's first two entries say which block, by turns."""
    rng = np.random.default_rng(seed)
    lefts, rights = rng.integers(0, n_left, n_pairs), rng.integers(0, n_right, n_pairs)
    inside = lefts % 2 == rights % 2
    graph = BipartiteGraph(
        lefts[inside], rights[inside], left_ids=range(n_left), right_ids=range(n_right),
        duplicates="max",
    )  # fmt: skip
    tables = []
    for n in (n_left, n_right):
        table = rng.normal(size=(n, 8)).astype(np.float32) * 0.3
        table[np.arange(n), np.arange(n) % 2] += 1
        tables.append(table)
    return graph, *tables


def test_learns_what_a_linear_model_cannot():
    graph, left, right = blocks()
    fitted = fit_unified(graph, left, right, seed=1)
    lefts, rights = (array.ravel() for array in np.meshgrid(np.arange(120), np.arange(60)))
    same = lefts % 2 == rights % 2
    logits = score_unified(fitted, left, right, lefts, rights)
    assert ((logits > 0) == same).mean() > 0.9
    inputs = np.hstack([left[lefts], right[rights]])
    assert LogisticRegression().fit(inputs, same).score(inputs, same) < 0.6


def test_a_network_that_saturates_begins_anew(monkeypatch):
    graph, left, right = blocks()
    left, right = (np.hstack([t, np.ones((len(t), 24), np.float32)]) for t in (left, right))
    fitted = fit_unified(graph, left, right, learning_rate=0.2, epochs=100)
    monkeypatch.setattr(unified, "TRIES", 1)
    dead = fit_unified(graph, left, right, learning_rate=0.2, epochs=100)
    assert min(dead.validation) == pytest.approx(0.5, abs=1e-3)  # one answer to everything
    assert min(fitted.validation) < 0.25


def test_a_gentle_start_keeps_units_alive_on_long_vectors(monkeypatch):
    graph, left, right = blocks(2000, 1000, 20_000)
    left, right = (2 * np.hstack([t, np.ones((len(t), 24), np.float32)]) for t in (left, right))
    monkeypatch.setattr(unified, "TRIES", 1)
    gentle = fit_unified(graph, left, right, epochs=10)
    monkeypatch.setattr(unified, "RISE", 1)
    rash = fit_unified(graph, left, right, epochs=10)
    assert min(gentle.validation) < 0.22
    assert min(rash.validation) == pytest.approx(0.5, abs=1e-3)


def test_validation_picks_the_weights_and_stops():
    graph, left, right = blocks()
    fitted = fit_unified(graph, left, right, seed=1, epochs=200, patience=2)
    assert len(fitted.validation) == fitted.epochs < 200
    best = int(np.argmin(fitted.validation)) + 1
    again = fit_unified(graph, left, right, seed=1, epochs=best, patience=2)
    for a, b in zip(fitted.network.weights, again.network.weights, strict=True):
        np.testing.assert_array_equal(a, b)


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(unified, "SHARD", 64)
    graph, left, right = blocks()
    once, more = (fit_unified(graph, left, right, epochs=3, n_jobs=n) for n in (1, 3))
    other = fit_unified(graph, left, right, epochs=3, seed=9)
    for a, b, c in zip(
        once.network.weights, more.network.weights, other.network.weights, strict=True
    ):
        np.testing.assert_array_equal(a, b)
        assert (a != c).any()


def test_few_edges_go_without_validation():
    graph = BipartiteGraph([0, 1, 2], [0, 1, 1])
    table = np.eye(3, dtype=np.float32)
    fitted = fit_unified(graph, table, table[:2], epochs=4)
    assert (fitted.validation, fitted.epochs) == ([], 4)


def test_a_complete_graph_has_nothing_to_tell_apart():
    graph = BipartiteGraph([0, 0, 1, 1], [0, 1, 0, 1])
    table = np.eye(2, dtype=np.float32)
    with pytest.raises(InputError, match="every possible edge"):
        fit_unified(graph, table, table)
