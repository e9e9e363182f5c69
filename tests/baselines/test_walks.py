"""Walks and skip-gram kernels against plain references and counted frequencies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from bivec.baselines.skipgram import SkipGram, WalkSettings, make_walks, starts
from bivec.graph import BipartiteGraph
from bivec.kernels import skipgram, walk


def alone(task, n, chunk):
    task(0, n)


def settings(**changes):
    plain = {
        "dim": 8, "n_walks": 4, "walk_length": 6, "window": 3, "n_negatives": 5, "epochs": 2,
        "learning_rate": 0.025, "weighted": True, "seed": 1,
    }  # fmt: skip
    return WalkSettings(**{**plain, **changes})


@pytest.fixture(scope="module")
def graph():
    """12 by 9 nodes with uneven weights, one isolated on each side."""
    rng = np.random.default_rng(3)
    left, right = rng.integers(0, 11, 40), rng.integers(0, 8, 40)
    return BipartiteGraph(
        left, right, rng.integers(1, 9, 40), left_ids=range(12), right_ids=range(9),
        duplicates="max",
    )  # fmt: skip


def joint(graph, weighted=True):
    """The symmetric matrix of weights over all nodes, left before right."""
    one = graph.to_scipy().toarray()
    one = one if weighted else (one > 0).astype(float)
    n = graph.n_left + graph.n_right
    matrix = np.zeros((n, n))
    matrix[: graph.n_left, graph.n_left :] = one
    return matrix + matrix.T


def walks_of(graph, s, first=0, run=alone, begin=None):
    begin = starts(graph, s.from_left) if begin is None else begin
    n = graph.n_left + graph.n_right
    sides = walk.make_sides(graph.left, graph.right, s.weighted and graph.weighted)
    tokens, windows = make_walks(sides, begin, n, s, first, run)
    return tokens.reshape(-1, s.walk_length), windows.reshape(-1, s.walk_length)


def chi_square(counts, chances):
    """The probability of counts at least as far from the chances, cells of chance 0 apart."""
    assert (counts[chances == 0] == 0).all()
    counts, chances = counts[chances > 0], chances[chances > 0]
    if len(counts) == 1:
        return 1.0
    return stats.chisquare(counts, chances / chances.sum() * counts.sum()).pvalue


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("from_left", [True, False])
def test_walks_start_at_each_node_with_an_edge_and_follow_edges(graph, weighted, from_left):
    s = settings(weighted=weighted, from_left=from_left, epochs=1)
    walks, windows = walks_of(graph, s)
    matrix = joint(graph)
    with_edges = np.flatnonzero(matrix.sum(axis=1))
    begin = with_edges[with_edges < graph.n_left] if from_left else with_edges
    np.testing.assert_array_equal(walks[:, 0], np.repeat(begin, 4))
    assert (matrix[walks[:, :-1], walks[:, 1:]] > 0).all()
    assert set(np.unique(windows)) == {1, 2, 3}


def test_a_walk_depends_on_seed_node_and_number_alone(graph):
    s = settings(n_walks=5, epochs=1)
    whole = walks_of(graph, s)[0]

    def backwards(task, n, chunk):
        for k in reversed(range(n)):
            task(k, k + 1)

    np.testing.assert_array_equal(walks_of(graph, s, run=backwards)[0], whole)
    few = starts(graph, False)[[4, 2]]
    some = walks_of(graph, s, begin=few)[0]
    np.testing.assert_array_equal(some[:5], whole[20:25])
    np.testing.assert_array_equal(some[5:], whole[10:15])
    later = walks_of(graph, settings(n_walks=5, epochs=5), first=3)[0]
    np.testing.assert_array_equal(later, whole[3::5])
    assert (walks_of(graph, settings(n_walks=5, epochs=1, seed=2))[0] != whole).any()


@pytest.mark.parametrize("weighted", [True, False])
def test_steps_go_by_weight(graph, weighted):
    walks, _ = walks_of(graph, settings(weighted=weighted, n_walks=2000, epochs=1))
    matrix = joint(graph, weighted)
    counts = np.zeros_like(matrix)
    np.add.at(counts, (walks[:, :-1].ravel(), walks[:, 1:].ravel()), 1)
    for row in np.flatnonzero(matrix.sum(axis=1)):
        assert chi_square(counts[row], matrix[row]) > 1e-5


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("p", "q"), [(0.25, 1), (4, 1), (1, 0.2), (0.5, 0.5)])
def test_second_order_steps_are_exact(graph, weighted, p, q):
    s = settings(weighted=weighted, n_walks=3000, epochs=1, p=p, q=q)
    walks, _ = walks_of(graph, s)
    matrix = joint(graph, weighted)
    counts = np.zeros((len(matrix),) * 3)
    triples = [walks[:, k : walks.shape[1] - 2 + k].ravel() for k in range(3)]
    np.add.at(counts, tuple(triples), 1)
    tried = []
    for before, now in zip(*np.nonzero(matrix), strict=True):
        bias = np.full(len(matrix), 1 / q)
        bias[before] = 1 / p  # no neighbour of `now` is one of `before`: the graph is bipartite
        tried.append(chi_square(counts[before, now], matrix[now] * bias))
    assert min(tried) > 1e-5


def test_a_dead_end_turns_back_whatever_p():
    star = BipartiteGraph([0, 1], [0, 0])
    walks, _ = walks_of(star, settings(p=100, q=0.1, epochs=1))
    np.testing.assert_array_equal(walks[:8, 1::2], 2)
    np.testing.assert_array_equal(walks[8:, ::2], 2)


def test_windows_are_uniform(graph):
    _, windows = walks_of(graph, settings(n_walks=2000, epochs=1, window=5))
    for column in windows.T:
        assert stats.chisquare(np.bincount(column, minlength=6)[1:]).pvalue > 1e-5


def test_tokens_are_found_by_node(graph):
    walks, _ = walks_of(graph, settings(epochs=1))
    n = graph.n_left + graph.n_right
    indptr, places = np.empty(n + 1, np.int64), np.empty(walks.size, np.int64)
    walk.find_nodes(walks.ravel(), indptr, places)
    np.testing.assert_array_equal(np.diff(indptr), np.bincount(walks.ravel(), minlength=n))
    np.testing.assert_array_equal(places, np.argsort(walks.ravel(), kind="stable"))


def all_pairs(walks, windows):
    """Every (centre, context) of a corpus: the window of the earlier one decides."""
    pairs = []
    for tokens, widths in zip(walks, windows, strict=True):
        for p, q in itertools.combinations(range(len(tokens)), 2):
            if q - p <= widths[p]:
                pairs += [(tokens[p], tokens[q]), (tokens[q], tokens[p])]
    return np.array(pairs)


class Visit:
    """A corpus with random tables; ``rows`` are what a visit of all nodes makes of them."""

    def __init__(self, graph, s):
        self.trainer = SkipGram(graph, s, n_jobs=1)
        self.n, self.n_left = self.trainer.n, graph.n_left
        self.trainer._table[:] = np.random.default_rng(0).normal(size=(2 * self.n, s.dim)) / 2
        self.table = self.trainer._table.astype(float)
        self.corpus, self.task = self.trainer._corpora()[0]
        shape = (-1, s.walk_length)
        self.pairs = all_pairs(self.corpus.walks.reshape(shape), self.corpus.windows.reshape(shape))

    def gradients(self, epoch=0):
        """Gradients of all rows, and losses, as the kernel has them.

        With a huge accumulator and a rate as huge, a step is the gradient.
        """
        n = self.n
        fresh, losses = np.empty((2 * n, self.table.shape[1]), np.float32), np.empty((n, 2))
        squares = np.full(2 * n, 1e20, np.float32)
        skipgram.visit_rows(
            self.corpus, self.task._replace(rate=1e10, epoch=epoch), self.trainer._table, squares,
            skipgram.room_arrays(self.table.shape[1]), fresh, losses, 0, 0, n,
        )  # fmt: skip
        rows = np.concatenate([fresh[::2], fresh[1::2]])
        return self.table - rows, losses


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("by_type", [False, True])
def test_pairs_are_counted(graph, by_type):
    visit = Visit(graph, settings(by_type=by_type))
    contexts = visit.pairs[:, 1]
    on_left = int((contexts < visit.n_left).sum())
    counts = [on_left, len(contexts) - on_left] if by_type else [len(contexts), 0]
    np.testing.assert_array_equal(visit.corpus.pairs, counts)


def test_gradient_of_pairs(graph):
    visit = Visit(graph, settings(n_negatives=0, walk_length=40, window=6))  # more than a chunk
    n, table = visit.n, visit.table
    expected, loss = np.zeros_like(table), np.zeros(n)
    for v, u in visit.pairs:
        estimate = sigmoid(table[v] @ table[n + u])
        expected[v] += (estimate - 1) * table[n + u]
        expected[n + u] += (estimate - 1) * table[v]
        loss[v] -= np.log(estimate)
    found, losses = visit.gradients()
    np.testing.assert_allclose(found, expected, atol=1e-3)
    np.testing.assert_allclose(losses[:, 0], loss, rtol=1e-4)
    np.testing.assert_array_equal(losses[:, 1], np.bincount(visit.pairs[:, 0], minlength=n))


@pytest.mark.parametrize("by_type", [False, True])
@pytest.mark.parametrize("least", [skipgram.POOL, 3])
def test_negatives_are_right_on_average(graph, by_type, least):
    """Against the exact expectation over the noise, as in the objective of skip-gram."""
    visit = Visit(graph, settings(by_type=by_type, from_left=by_type))
    visit.task = visit.task._replace(least=least)
    n, table, k = visit.n, visit.table, 5
    counts = np.bincount(visit.corpus.walks, minlength=n)
    side = np.arange(n) >= visit.n_left if by_type else np.zeros(n, bool)
    expected, loss = np.zeros_like(table), np.zeros(n)
    dots = sigmoid(table[:n] @ table[n:].T)
    for v, u in visit.pairs:
        expected[v] += (dots[v, u] - 1) * table[n + u]
        expected[n + u] += (dots[v, u] - 1) * table[v]
        noise = np.where(side == side[u], counts**0.75, 0)
        noise = k * noise / noise.sum()
        expected[v] += (noise * dots[v]) @ table[n:]
        expected[n:] += np.outer(noise * dots[v], table[v])
        loss[v] -= np.log(dots[v, u]) + noise @ np.log(1 - dots[v])
    runs = [visit.gradients(epoch) for epoch in range(1500)]
    found = np.array([gradient for gradient, _ in runs])
    error = found.mean(axis=0) - expected
    deviation = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(error) <= 6 * deviation + 2e-3).all()
    assert np.abs(error).max() < 0.03 * np.abs(expected).max()
    losses = np.mean([told[:, 0] for _, told in runs], axis=0)
    np.testing.assert_allclose(losses, loss, rtol=0.03)


def test_nodes_in_no_pair_keep_their_rows(graph):
    trainer = SkipGram(graph, settings(), n_jobs=1)
    before = trainer._table.copy()
    trainer.run()
    isolated = np.append(
        np.flatnonzero(graph.left.degrees == 0),
        graph.n_left + np.flatnonzero(graph.right.degrees == 0),
    )
    assert len(isolated) >= 2
    np.testing.assert_array_equal(trainer._table[isolated], before[isolated])
    moved = (trainer._table[: trainer.n] != before[: trainer.n]).any(axis=1)
    assert moved.sum() == trainer.n - len(isolated)


def test_more_walks_are_other_walks_but_epochs_use_them_in_turn(graph):
    s = settings(n_walks=3, epochs=6)
    assert s.steps == 1
    seen = [walks_of(graph, s, first=epoch)[0] for epoch in range(6)]
    for epoch in range(3):
        np.testing.assert_array_equal(seen[epoch], seen[epoch + 3])
        assert (seen[epoch] != seen[(epoch + 1) % 3]).any()


def corpora_of(trainer, epoch):
    trainer.epoch = epoch
    return trainer._corpora()


def test_a_fine_epoch_is_the_same_walks_in_parts(graph):
    plain, fine = (SkipGram(graph, settings(fine=fine), n_jobs=1) for fine in (False, True))
    [(whole, _)] = plain._corpora()
    corpora = fine._corpora()
    assert len(corpora) == 8
    parts = [corpus.walks.reshape(-1, 12) for corpus, _ in corpora]  # two walks of 6 a start
    for part, walks in enumerate(parts):
        np.testing.assert_array_equal(walks, whole.walks.reshape(-1, 12)[part::8])
    np.testing.assert_array_equal(corpora[0][0].noise, whole.noise)
    rates = [task.rate for epoch in range(2) for _, task in corpora_of(fine, epoch)]
    np.testing.assert_allclose(rates, 0.025 * 8 * np.linspace(1, 0, 16, endpoint=False))


def test_a_node_is_noise_as_often_in_parts_as_in_the_whole(graph):
    """What it owes in the sweeps that visit it adds up to its weight in all of them."""
    corpora = SkipGram(graph, settings(fine=True, n_walks=2), n_jobs=1)._corpora()
    visited = np.array([np.diff(corpus.indptr) > 0 for corpus, _ in corpora])
    owed = np.array([corpus.owed for corpus, _ in corpora])
    assert not visited[:, visited.any(axis=0)].all()
    np.testing.assert_allclose((visited * owed).sum(axis=0), 8 * np.diff(corpora[0][0].noise))


def test_fine_with_fewer_nodes_than_parts():
    trainer = SkipGram(BipartiteGraph([0], [0]), settings(fine=True), n_jobs=1)
    assert len(trainer._corpora()) == 2
    assert np.isfinite(trainer.run().left).all()


def test_fine_starts_near_zero(graph):
    assert 0.2 < np.abs(SkipGram(graph, settings(fine=True)).left).max() <= 2 / 8
