"""LINE, and the training by pairs against noise that it shares with others."""

from __future__ import annotations

import numpy as np
import pytest

from bivec.baselines.contrast import (
    ContrastSettings,
    ContrastTrainer,
    Task,
    met_as_noise,
    start_tables,
    strengths,
)
from bivec.baselines.line import LINE
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.kernels.contrast import ALL, FAR, SAME, sample_pairs, scratch_arrays
from bivec.kernels.verse import EDGE


def visits(graph, kind=EDGE, span=FAR, noise=None, n_samples=4000, n_negatives=2, **task):
    """Return rows and weights of one long visit of every row, by (row, step, pair and noise)."""
    [table] = start_tables(graph, 0, [4])
    noise = np.ones(len(table)) if noise is None else noise
    settings = ContrastSettings(4, n_samples, n_negatives, 1, 0.1, seed=7)
    trainer = ContrastTrainer(graph, settings, [Task(table, table, kind, span, noise, 10, **task)])
    shape = (len(table), n_samples, 1 + n_negatives)
    rows, weights = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    sample_pairs(
        trainer.sides, trainer._plan(trainer.tasks[0]), trainer.tables[0],
        scratch_arrays(n_samples, n_negatives, 4), rows.reshape(-1), weights.reshape(-1),
    )  # fmt: skip
    return rows, weights


def adjacency(graph):
    """Return the matrix of all nodes, left before right."""
    w = graph.to_scipy().toarray().astype(np.float64)
    n, m = w.shape
    return np.block([[np.zeros((n, n)), w], [w.T, np.zeros((m, m))]])


def frequencies(rows, weights):
    """Return how often each row drew each other, by weight, as rows that add up to 1."""
    n = len(rows)
    counts = np.zeros((n, n))
    for i in range(n):
        np.add.at(counts[i], rows[i, :, 0], weights[i, :, 0])
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)


def test_edges_are_drawn_by_weight(weighted):
    matrix = adjacency(weighted)
    expected = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    drawn = frequencies(*visits(weighted))
    np.testing.assert_allclose(drawn, expected, atol=0.05)
    assert (drawn[expected == 0] == 0).all()
    np.testing.assert_allclose(strengths(weighted), matrix.sum(axis=1))


@pytest.mark.parametrize("span", [ALL, FAR, SAME])
def test_noise_keeps_to_its_side_and_leaves_out_owner_and_pair(weighted, span):
    noise = np.arange(1.0, 22.0)
    rows, weights = visits(weighted, span=span, noise=noise)
    for i in range(21):
        met = rows[i, :, 1:][weights[i, :, 1:] < 0]
        if not met.size:
            continue
        assert (met != i).all()
        assert (met != np.repeat(rows[i, :, :1], 2, axis=1)[weights[i, :, 1:] < 0]).all()
        left = met < 12
        if span != ALL:
            assert (left == ((i < 12) == (span == SAME))).all()
    assert (weights[11] == 0).all()  # isolated
    assert (weights[20] == 0).all()


def test_noise_has_its_distribution():
    """Every row of the left takes noise from a pool of its own run; many steps, many pools."""
    graph = BipartiteGraph(np.repeat(np.arange(5000), 1), np.arange(5000) % 10)
    noise = np.r_[np.ones(5000), np.arange(1.0, 11.0)]
    rows, weights = visits(graph, noise=noise, n_samples=2, n_negatives=3)
    chunks = []
    for epoch in range(60):
        [table] = start_tables(graph, 0, [4])
        settings = ContrastSettings(4, 120, 3, 60, 0.1, seed=1)
        trainer = ContrastTrainer(graph, settings, [Task(table, table, EDGE, FAR, noise, 10)])
        trainer.epoch = epoch
        sample_pairs(
            trainer.sides, trainer._plan(trainer.tasks[0]), trainer.tables[0],
            scratch_arrays(2, 3, 4), rows.reshape(-1), weights.reshape(-1),
        )  # fmt: skip
        chunks.append(np.bincount(rows[:5000, :, 1:][weights[:5000, :, 1:] < 0] - 5000))
    drawn = np.sum(chunks, axis=0) / np.sum(chunks)
    # what is drawn as the pair is left out of its noise: one of ten, alike for all
    share = noise[5000:] / noise[5000:].sum()
    np.testing.assert_allclose(drawn, share, atol=0.02)


def test_gradient_against_finite_differences(weighted):
    """A step of Adagrad with an empty accumulator has the length that was asked for."""
    rng = np.random.default_rng(1)
    own = rng.normal(0, 0.5, (21, 6)).astype(np.float32)
    other = rng.normal(0, 0.5, (21, 6)).astype(np.float32)
    settings = ContrastSettings(6, 8, 3, 1, 0.01, seed=2)
    weights = rng.uniform(0.5, 2, 21)
    before = own.copy()
    task = Task(own, other, EDGE, ALL, np.ones(21), 10, weights, offset=0.7)
    trainer = ContrastTrainer(weighted, settings, [task], n_jobs=1)
    rows, pair_weights = np.zeros((21, 8, 4), np.int64), np.zeros((21, 8, 4), np.float32)
    sample_pairs(
        trainer.sides, trainer._plan(task), trainer.tables[0], scratch_arrays(8, 3, 6),
        rows.reshape(-1), pair_weights.reshape(-1),
    )  # fmt: skip

    def loss(i, vector):
        x = other[rows[i].ravel()].astype(np.float64) @ vector - 0.7
        w = pair_weights[i].ravel()
        p = 1 / (1 + np.exp(-x))
        return -(w[w > 0] * np.log(p[w > 0])).sum() + (w[w < 0] * np.log(1 - p[w < 0])).sum()

    record = trainer.train_epoch()
    assert record.pairs == (pair_weights != 0).sum()
    for i in range(21):
        gradient = np.array(
            [(loss(i, before[i] + h) - loss(i, before[i] - h)) / 2e-4 for h in 1e-4 * np.eye(6)]
        )
        if not gradient.any():
            np.testing.assert_array_equal(own[i], before[i])
            continue
        step = 0.01 * gradient / np.linalg.norm(gradient)
        np.testing.assert_allclose(before[i] - own[i], step, atol=2e-5)


def test_rows_meet_as_much_noise_as_others_draw():
    degrees = np.array([1.0, 4.0, 0.0, 2.0, 2.0])
    noise = degrees**0.75
    ratio = met_as_noise(noise, degrees, [slice(3), slice(3, None)])
    drawn = noise[:3] / noise[:3].sum() * 5
    np.testing.assert_allclose(ratio, [drawn[0] / 1, drawn[1] / 4, 0, 1, 1])


@pytest.mark.parametrize("order", ["first", "second", "both"])
def test_planted_blocks_are_recovered(planted, same_block, order):
    model = LINE(order=order).fit(planted)
    assert same_block(model.left_embedding_) > 0.9
    assert same_block(model.right_embedding_) > 0.9
    assert model.history_[-1].loss < 0.8 * model.history_[0].loss


def test_orders_are_trained_apart_and_stand_side_by_side(planted):
    both = LINE(dim=9, n_samples=20).fit(planted)
    first = LINE(dim=4, order="first", n_samples=20).fit(planted)
    np.testing.assert_array_equal(both.left_embedding_[:, :4], first.left_embedding_)


def test_few_samples_in_all_leave_most_nodes_alone(planted):
    few = LINE(dim=8, order="first", total_samples=90, epochs=3).fit(planted)
    fresh = LINE(dim=8, order="first", total_samples=1, epochs=1, learning_rate=1e-9).fit(planted)
    moved = (few.left_embedding_ != fresh.left_embedding_).any(axis=1).sum()
    moved += (few.right_embedding_ != fresh.right_embedding_).any(axis=1).sum()
    assert 50 < moved < 130


def test_goes_on_from_vectors_and_isolated_nodes_keep_their_start(weighted):
    first = LINE(dim=6, n_samples=20).fit(weighted)
    again = LINE(dim=6, n_samples=20, learning_rate=1e-7).fit(weighted, init=first.embedding_)
    np.testing.assert_allclose(again.left_embedding_, first.left_embedding_, atol=1e-4)
    other = LINE(dim=6, n_samples=40).fit(weighted)
    np.testing.assert_array_equal(first.left_embedding_[11], other.left_embedding_[11])
    assert first.left_embedding_[11].any()


@pytest.mark.parametrize(
    "parameters",
    [{"order": "third"}, {"dim": 1}, {"total_samples": 0}, {"n_samples": 0}, {"n_negatives": 0},
     {"epochs": 0}, {"learning_rate": 0}, {"norm": -1}, {"n_jobs": 0}],
)  # fmt: skip
def test_bad_parameters_are_named(planted, parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        LINE(**parameters).fit(planted)


def test_predicts_links(links_of_dblp):
    assert links_of_dblp(LINE(n_samples=100)) > 0.65
