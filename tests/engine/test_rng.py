"""Random numbers: uniform, independent of order, different for different coordinates."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bivec.kernels.rng import below, even, fill_uniform, step_key, stream, unit


@numba.njit
def draw(seed, relation, node, step, n, count):
    key = step_key(stream(seed, relation, node), step)
    out = np.empty(count, np.int64)
    for k in range(count):
        out[k] = below(key, k, n)
    return out


@numba.njit
def units(count):
    key = step_key(stream(1, 2, 3), 4)
    out = np.empty(count, np.float32)
    for k in range(count):
        out[k] = unit(key, k)
    return out


@numba.njit
def turns(node, n, count):
    key = stream(0, 0, node)
    out = np.empty(count, np.int64)
    for k in range(count):
        out[k] = even(key, k, n)
    return out


@pytest.mark.parametrize("n", [1, 3, 10])
def test_turns_are_spread_evenly(n):
    for node in range(50):
        counts = np.bincount(turns(node, n, 10 * n), minlength=n)
        assert len(counts) == n
        assert counts.min() >= 8
        assert counts.max() <= 12


def test_any_turn_is_uniform():
    for turn in (0, 7):
        values = np.array([turns(node, 5, turn + 1)[turn] for node in range(20_000)])
        counts = np.bincount(values, minlength=5)
        assert ((counts - 4000) ** 2 / 4000).sum() < 4 + 5 * np.sqrt(8)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_bounded_integers_are_uniform(n):
    values = draw(0, 0, 0, 0, n, 200_000)
    counts = np.bincount(values, minlength=n)
    assert values.min() >= 0
    assert len(counts) == n
    expected = 200_000 / n
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < n - 1 + 5 * np.sqrt(2 * max(n - 1, 1))


def test_large_bounds_are_reached():
    values = draw(0, 0, 0, 0, 1 << 40, 10_000)
    assert values.max() < 1 << 40
    assert abs(values.mean() / (1 << 39) - 1) < 0.02


def test_every_coordinate_changes_the_stream():
    base = draw(1, 2, 3, 4, 1 << 30, 50)
    for coordinates in ((2, 2, 3, 4), (1, 3, 3, 4), (1, 2, 4, 4), (1, 2, 3, 5)):
        assert (draw(*coordinates, 1 << 30, 50) == base).sum() <= 1


def test_consecutive_nodes_are_uncorrelated():
    first = np.array([draw(0, 0, node, 0, 1 << 30, 1)[0] for node in range(20_000)]) / (1 << 30)
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.03
    assert abs(first.mean() - 0.5) < 0.01


def test_units_are_in_the_unit_interval():
    values = units(100_000)
    assert values.min() >= 0
    assert values.max() < 1
    assert abs(values.mean() - 0.5) < 0.005


def test_a_row_does_not_depend_on_the_rows_around_it():
    whole, part = np.empty((10, 4), np.float32), np.empty((3, 4), np.float32)
    fill_uniform(whole, 0, 7, 1, -1.0, 1.0)
    fill_uniform(part, 5, 7, 1, -1.0, 1.0)
    assert np.array_equal(whole[5:8], part)
