"""Algebraic coordinates and similarity against the formulas in plain Python."""

from __future__ import annotations

import numpy as np
import plain_reference as reference
import pytest

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.similarity import (
    AlgebraicCoordinates,
    algebraic_coordinates,
    algebraic_similarity,
    edge_similarities,
)


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("sweeps", [0, 1, 5])
def test_jacobi_matches_the_formula(small, sweeps, damping):
    start = algebraic_coordinates(small, trials=3, sweeps=0, random_state=1)
    result = algebraic_coordinates(small, trials=3, sweeps=sweeps, damping=damping, random_state=1)
    for r in range(3):
        left, right = reference.relax(small, (start.left[:, r], start.right[:, r]), sweeps, damping)
        np.testing.assert_allclose(result.left[:, r], left, atol=1e-6)
        np.testing.assert_allclose(result.right[:, r], right, atol=1e-6)


def test_gauss_seidel_lets_the_right_side_see_the_new_left(small):
    start = algebraic_coordinates(small, trials=1, sweeps=0)
    jacobi = algebraic_coordinates(small, trials=1, sweeps=1)
    seidel = algebraic_coordinates(small, trials=1, sweeps=1, order="gauss-seidel")
    np.testing.assert_array_equal(seidel.left, jacobi.left)
    _, right = reference.relax(small, (jacobi.left[:, 0], start.right[:, 0]), 1, 0.5)
    np.testing.assert_allclose(seidel.right[:, 0], right, atol=1e-6)


def test_rescaling_fills_the_unit_interval(small):
    result = algebraic_coordinates(small, trials=4, rescale=True)
    linked = np.concatenate(
        [result.left[small.left.degrees > 0], result.right[small.right.degrees > 0]]
    )
    np.testing.assert_allclose(linked.min(axis=0), 0)
    np.testing.assert_allclose(linked.max(axis=0), 1)


def test_similarity_is_the_formula_in_every_order(small):
    coordinates = algebraic_coordinates(small, trials=5)
    both = edge_similarities(small, coordinates)
    rows = small.left_rows()
    gap = coordinates.left[rows] - coordinates.right[small.left.indices]
    expected = 1 - np.sqrt((gap**2).sum(axis=1)) / np.sqrt(5)
    np.testing.assert_allclose(both.left, expected, atol=1e-6)
    np.testing.assert_array_equal(both.left, algebraic_similarity(small, coordinates))
    pairs = algebraic_similarity(small, coordinates, pairs=(rows, small.left.indices))
    np.testing.assert_allclose(pairs, expected, atol=1e-6)
    by_pair = dict(
        zip(zip(rows.tolist(), small.left.indices.tolist(), strict=True), both.left, strict=True)
    )
    right_rows = np.repeat(np.arange(small.n_right), small.right.degrees)
    for b, a, s in zip(right_rows, small.right.indices, both.right, strict=True):
        assert by_pair[int(a), int(b)] == s


def test_isolated_nodes_stay_and_components_are_independent(small):
    start = algebraic_coordinates(small, sweeps=0, random_state=3)
    after = algebraic_coordinates(small, random_state=3)
    lone = small.left.degrees == 0
    assert lone.any()
    np.testing.assert_array_equal(start.left[lone], after.left[lone])
    two = BipartiteGraph([0, 0, 1], [0, 1, 2])
    shuffled = BipartiteGraph([0, 0, 1, 1], [0, 1, 2, 3])
    a, b = (algebraic_coordinates(g, random_state=3) for g in (two, shuffled))
    np.testing.assert_array_equal(a.left[0], b.left[0])


@pytest.mark.parametrize("order", ["jacobi", "gauss-seidel"])
def test_threads_do_not_change_a_bit(order):
    rng = np.random.default_rng(0)
    graph = BipartiteGraph(rng.integers(0, 20_000, 60_000), rng.integers(0, 9_000, 60_000))
    one, two, four = (
        algebraic_coordinates(graph, order=order, rescale=True, n_jobs=n) for n in (1, 2, 4)
    )
    for other in (two, four):
        assert one.left.tobytes() == other.left.tobytes()
        assert one.right.tobytes() == other.right.tobytes()
    assert edge_similarities(graph, one, n_jobs=1).right.tobytes() == (
        edge_similarities(graph, one, n_jobs=4).right.tobytes()
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"trials": 0}, {"trials": 1.5}, {"sweeps": -1}, {"damping": 1.0}, {"damping": float("nan")},
        {"order": "sideways"}, {"random_state": -1}, {"random_state": "seed"}, {"n_jobs": 0},
    ],
)  # fmt: skip
def test_bad_parameters_name_themselves(small, parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        algebraic_coordinates(small, **parameters)


def test_bad_pairs_and_foreign_coordinates(small):
    with pytest.raises(InputError, match="outside"):
        algebraic_similarity(small, pairs=([0], [99]))
    with pytest.raises(InputError, match="2 left rows but 1 right"):
        algebraic_similarity(small, pairs=([0, 1], [0]))
    with pytest.raises(InputError, match="coordinates are for"):
        algebraic_similarity(small, AlgebraicCoordinates(np.zeros((1, 1)), np.zeros((1, 1))))
    with pytest.raises(InputError, match="both coordinates and trials"):
        algebraic_similarity(small, algebraic_coordinates(small), trials=3)


def test_empty_graph():
    graph = BipartiteGraph([], [])
    assert algebraic_coordinates(graph).left.shape == (0, 10)
    assert algebraic_similarity(graph).shape == (0,)
