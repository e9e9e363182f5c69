"""VERSE: what is drawn is the similarity, and the vectors show it."""

from __future__ import annotations

import numpy as np
import pytest

from bivec.baselines.contrast import ContrastSettings, ContrastTrainer, Task, start_tables
from bivec.baselines.verse import VERSE
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.kernels.contrast import SAME, sample_pairs, scratch_arrays
from bivec.kernels.verse import PAGERANK, SIMRANK


def drawn(graph, kind, stay, n_samples=20_000):
    """Return the distribution that each row draws from, by weight."""
    [table] = start_tables(graph, 0, [4])
    n = len(table)
    settings = ContrastSettings(4, n_samples, 1, 1, 0.1, seed=3)
    task = Task(table, table, kind, SAME, np.ones(n), 10, stay=stay)
    trainer = ContrastTrainer(graph, settings, [task])
    rows, weights = np.zeros((n, n_samples, 2), np.int64), np.zeros((n, n_samples, 2), np.float32)
    sample_pairs(
        trainer.sides, trainer._plan(task), trainer.tables[0], scratch_arrays(n_samples, 1, 4),
        rows.reshape(-1), weights.reshape(-1),
    )  # fmt: skip
    counts = np.zeros((n, n))
    for i in range(n):
        np.add.at(counts[i], rows[i, :, 0], weights[i, :, 0])
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)


def steps(graph):
    """Return the matrix of one step of a walk over all nodes."""
    w = graph.to_scipy().toarray().astype(np.float64)
    n, m = w.shape
    matrix = np.block([[np.zeros((n, n)), w], [w.T, np.zeros((m, m))]])
    return matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)


def without_self(similarity):
    similarity = similarity - np.diag(np.diag(similarity))
    return similarity / np.maximum(similarity.sum(axis=1, keepdims=True), 1e-300)


def test_pagerank_is_what_is_drawn(weighted):
    step, alpha = steps(weighted), 0.85
    pagerank = np.linalg.inv(np.eye(21) - alpha * step)
    np.testing.assert_allclose(drawn(weighted, PAGERANK, alpha), without_self(pagerank), atol=0.02)


def test_linear_simrank_is_what_is_drawn(weighted):
    step, decay = steps(weighted), 0.6
    simrank, power = np.zeros((21, 21)), np.eye(21)
    for length in range(1, 60):
        power = power @ step
        simrank += decay**length * power @ power.T
    found = drawn(weighted, SIMRANK, decay)
    np.testing.assert_allclose(found, without_self(simrank), atol=0.03)
    assert (found[:12, 12:] == 0).all()  # walks from both sides never meet


@pytest.mark.parametrize("similarity", ["pagerank", "adjacency", "simrank"])
def test_planted_blocks_are_recovered(planted, same_block, similarity):
    model = VERSE(dim=32, similarity=similarity, n_samples=100).fit(planted)
    assert same_block(model.left_embedding_) > 0.9
    assert same_block(model.right_embedding_) > 0.9
    assert model.history_[-1].loss < 0.8 * model.history_[0].loss


@pytest.mark.parametrize("similarity", ["pagerank", "simrank"])
def test_same_bytes_for_any_number_of_threads(planted, similarity):
    one, two = (
        VERSE(dim=20, similarity=similarity, n_samples=20, n_jobs=n).fit(planted) for n in (1, 3)
    )
    assert one.left_embedding_.tobytes() == two.left_embedding_.tobytes()
    assert one.right_embedding_.tobytes() == two.right_embedding_.tobytes()


def test_weights_matter_and_their_unit_does_not(weighted):
    left, right = weighted.left_rows(), weighted.left.indices
    ids = {"left_ids": range(12), "right_ids": range(9)}
    plain = BipartiteGraph(left, right, **ids)
    twice = BipartiteGraph(left, right, 2 * weighted.left.weights, **ids)
    settings = {"dim": 8, "n_samples": 20}
    vectors = VERSE(**settings).fit(weighted).left_embedding_
    np.testing.assert_array_equal(vectors, VERSE(**settings).fit(twice).left_embedding_)
    assert (vectors[:11] != VERSE(**settings).fit(plain).left_embedding_[:11]).any()


def test_isolated_nodes_keep_their_start(weighted):
    short, long = (VERSE(dim=8, n_samples=n).fit(weighted) for n in (10, 50))
    np.testing.assert_array_equal(short.right_embedding_[8], long.right_embedding_[8])
    assert (short.right_embedding_[0] != long.right_embedding_[0]).any()


@pytest.mark.parametrize("similarity", ["pagerank", "adjacency", "simrank"])
def test_one_edge_alone(similarity):
    model = VERSE(dim=4, similarity=similarity, n_samples=10, epochs=5).fit(
        BipartiteGraph([0], [0])
    )
    assert np.isfinite(model.left_embedding_).all()


@pytest.mark.parametrize(
    "parameters", [{"similarity": "cosine"}, {"alpha": 1}, {"decay": -0.1}, {"n_negatives": 0}]
)
def test_bad_parameters_are_named(planted, parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        VERSE(**parameters).fit(planted)


def test_predicts_links(links_of_dblp):
    assert links_of_dblp(VERSE(n_samples=100)) > 0.8
