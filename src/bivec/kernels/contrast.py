"""Pairs against noise: a row is pulled to rows drawn with it and pushed from rows drawn at random.

With x the dot of the owner's row and a row of another table (or of the same one), w the weight of
the pair and b an offset, the loss is the logistic one,

    -w log sigmoid(x - b) for a drawn pair, -w log(1 - sigmoid(x - b)) for noise,

and its derivative by x is w (sigmoid(x - b) - 1) or w sigmoid(x - b). What tells methods apart is
how pairs are drawn and what the noise is. Rows of both sides stand in one table, left before right.

The owner computes, as in :mod:`bivec.kernels.train`: other rows are read and never written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.fobe import sigmoids
from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.rng import bits, step_key, stream
from bivec.kernels.train import adagrad
from bivec.kernels.vector import AHEAD, aligned, dots_between, pointer, prefetch_row, weighted_sum
from bivec.kernels.verse import EDGE, draw_pair
from bivec.kernels.walk import Sides, draw_by_sums, example_sides, fine_unit, see, strength

ALL, FAR, SAME = 0, 1, 2
"""Which nodes are noise: all, those of the other side, those of the own side."""
POOL, SHARING = 64, 1024
"""Noise in a pool, a power of two, and consecutive owners that draw from one pool in a visit."""
_POOLS, _NOISE, _VISITS = 1, 2, 3
"""Streams of random numbers beside that of the pairs."""
_SLOT = np.uint64(POOL - 1)
_LOG_EVERY = 16
_ZERO, _ONE, _TINY = np.float32(0), np.float32(1), np.float32(1e-7)


class Plan(NamedTuple):
    """What to draw and how far to step.

    ``stay`` is the probability that a walk goes on, ``share`` that of a visit at all. A visit takes
    the steps from ``first`` on, ``number`` of them, each a pair and ``n_negatives`` of noise.
    """

    seed: int
    relation: int
    kind: int
    span: int
    n_negatives: int
    stay: float
    offset: float
    first: int
    number: int
    share: float
    rate: float


class Tables(NamedTuple):
    """The owners' table and accumulators, the table they meet, running sums of the noise.

    ``weights`` has the weight of noise by row, or one number for all.
    """

    own: Array
    other: Array
    squares: Array
    noise: Array
    weights: Array


class Scratch(NamedTuple):
    """Rows, weights (negative for noise) and dots of the pairs of a visit; pool, gradient."""

    rows: Any
    weights: Any
    x: Any
    pool: Any
    gradient: Any


@inner
def room(arrays: Any) -> Any:  # pragma: no cover
    """Return the scratch arrays as pointers."""
    return Scratch(
        pointer(arrays.rows), pointer(arrays.weights), pointer(arrays.x), pointer(arrays.pool),
        pointer(arrays.gradient),
    )  # fmt: skip


@inner
def fill_pool(
    noise: Any, plan: Any, n: int, total: int, row: int, pool: Any
) -> None:  # pragma: no cover
    """Draw the noise that a run of owners shares in one visit; -1 where there is none."""
    low, high = 0, total
    if plan.span != ALL:
        if (row < n) == (plan.span == SAME):
            high = n
        else:
            low = n
    key = step_key(
        stream(plan.seed, plan.relation + _POOLS, row // SHARING), 2 * plan.first + (row < n)
    )
    for k in range(POOL):
        pool[k] = -1
        if noise[high] > noise[low]:
            pool[k] = draw_by_sums(noise, low, high, key, k)


@inner
def draw_noise(
    plan: Any, pool: Any, row: int, key: Any, s: int, at: int, weight: Any, rows: Any, weights: Any
) -> None:  # pragma: no cover
    """Fill the noise of one step behind its pair at ``at``: neither the owner nor the pair."""
    for m in range(plan.n_negatives):
        slot = bits(key, s * plan.n_negatives + m) & _SLOT
        j = pool[np.int64(slot)]
        rows[at + 1 + m] = j
        weights[at + 1 + m] = -weight
        if j < 0 or j == row or j == rows[at]:
            rows[at + 1 + m] = rows[at]
            weights[at + 1 + m] = _ZERO


@inner
def coefficients(x: Any, weights: Any, n: int, offset: Any) -> Any:  # pragma: no cover
    """Turn n dots into derivatives of the loss, in place; return (loss without weights, pairs)."""
    for m in range(n):
        x[m] -= offset
    sigmoids(x, 0, n)
    loss, count, factor = 0.0, 0, 1.0
    for m in range(n):
        w = weights[m]
        p = x[m]
        if w > 0:
            x[m] = w * (p - _ONE)
            factor *= max(p, _TINY)
            count += 1
        elif w < 0:
            x[m] = -w * p
            factor *= max(_ONE - p, _TINY)
            count += 1
        else:
            x[m] = _ZERO
        if m % _LOG_EVERY == 0:
            loss -= np.log(factor)
            factor = 1.0
    return loss - np.log(factor), count


@inner
def add_term(
    own: Any, row: int, other: Any, dim: int, scratch: Any, n: int, offset: Any, scale: Any
) -> Any:  # pragma: no cover
    """Add the gradient of n pairs by the owner's row; return (loss, pairs)."""
    for m in range(min(AHEAD, n)):
        prefetch_row(other, dim, scratch.rows[m])
    dots_between(own, row * dim, other, dim, scratch.rows, 0, n, scratch.x)
    loss, count = coefficients(scratch.x, scratch.weights, n, offset)
    for m in range(n):
        scratch.x[m] *= scale
    weighted_sum(other, dim, scratch.rows, scratch.x, n, scratch.gradient)
    return loss, count


@inner
def sample_visit(
    view: Any, plan: Any, row: int, weight: Any, scratch: Any
) -> Any:  # pragma: no cover
    """Write rows and weights of all pairs of a visit; return their number.

    The weight of a pair, which corrects how it was drawn, is that of its noise as well: the ratio
    of both is the method's.
    """
    pairs = stream(plan.seed, plan.relation, row)
    key = step_key(stream(plan.seed, plan.relation + _NOISE, row), plan.first)
    each = 1 + plan.n_negatives
    for s in range(plan.number):
        at = s * each
        j, w = draw_pair(view, plan, row, step_key(pairs, plan.first + s))
        scratch.rows[at] = j
        scratch.weights[at] = w
        draw_noise(plan, scratch.pool, row, key, s, at, w * weight, scratch.rows, scratch.weights)
    return plan.number * each


@inner
def keep_row(
    own: Any, dim: int, row: int, out: Any, r: int, losses: Any
) -> None:  # pragma: no cover
    """Leave a row as it is."""
    for c in range(dim):
        out[r * dim + c] = own[row * dim + c]
    losses[2 * r] = 0
    losses[2 * r + 1] = 0


@inner
def skipped(plan: Any, row: int) -> Any:  # pragma: no cover
    """Whether a row is not visited this time."""
    if plan.share >= 1:
        return False
    key = step_key(stream(plan.seed, plan.relation + _VISITS, row), plan.first)
    return fine_unit(key, 0) >= plan.share


@kernel
def contrast_rows(
    sides: Any, plan: Any, tables: Any, arrays: Any, fresh: Array, losses: Array, first: int,
    start: int, stop: int,
) -> None:  # fmt: skip  # pragma: no cover
    """Compute new rows ``first + start`` to ``first + stop`` into ``fresh[start:stop]``.

    A node without edges keeps its row. Loss and number of pairs go to ``losses``.
    """
    view, scratch = see(sides), room(arrays)
    own, other, squares = pointer(tables.own), pointer(tables.other), pointer(tables.squares)
    noise, out, loss = pointer(tables.noise), pointer(fresh), pointer(losses)
    dim, total = tables.own.shape[1], tables.own.shape[0]
    for r in range(start, stop):
        row = first + r
        if r == start or row == view.n or row % SHARING == 0:
            fill_pool(noise, plan, view.n, total, row, scratch.pool)
        if strength(view, row) == 0 or skipped(plan, row):
            keep_row(own, dim, row, out, r, loss)
            continue
        weight = tables.weights[row if tables.weights.size > 1 else 0]
        n = sample_visit(view, plan, row, weight, scratch)
        for c in range(dim):
            scratch.gradient[c] = _ZERO
        loss[2 * r], loss[2 * r + 1] = add_term(
            own, row, other, dim, scratch, n, np.float32(plan.offset), _ONE
        )
        adagrad(own, dim, row, scratch.gradient, squares, plan.rate, out, r)


@kernel
def sample_pairs(
    sides: Any, plan: Any, tables: Any, arrays: Any, rows: Array, weights: Array
) -> None:  # pragma: no cover
    """Write the pairs and noise of one visit of every row, flat: what training sees."""
    view, scratch = see(sides), room(arrays)
    noise, total = pointer(tables.noise), tables.own.shape[0]
    each = plan.number * (1 + plan.n_negatives)
    for row in range(total):
        if row == 0 or row == view.n or row % SHARING == 0:
            fill_pool(noise, plan, view.n, total, row, scratch.pool)
        for m in range(each):
            weights[row * each + m] = 0
        if strength(view, row) == 0:
            continue
        weight = tables.weights[row if tables.weights.size > 1 else 0]
        sample_visit(view, plan, row, weight, scratch)
        for m in range(each):
            rows[row * each + m] = scratch.rows[m]
            weights[row * each + m] = scratch.weights[m]


def scratch_arrays(number: int, n_negatives: int, dim: int) -> Scratch:
    """Return room for the pairs of one visit; each thread needs its own."""
    n = number * (1 + n_negatives)
    return Scratch(
        np.zeros(n, np.int64), np.empty(n, np.float32), np.empty(n, np.float32),
        np.empty(POOL, np.int64), np.empty(dim, np.float32),
    )  # fmt: skip


def example() -> tuple[Sides, Plan, Tables, Scratch]:
    """Return the arguments for a graph of one edge, with which kernels are compiled."""
    table = aligned((2, 8))
    table[:] = 0
    return (
        example_sides(),
        Plan(0, 0, EDGE, FAR, 1, 0.5, 0.0, 0, 1, 1.0, 0.1),
        Tables(table, table, np.zeros(2, np.float32), np.arange(3.0), np.ones(1, np.float32)),
        scratch_arrays(1, 1, 8),
    )


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    sides, plan, tables, scratch = example()
    contrast_rows(sides, plan, tables, scratch, aligned((2, 8)), np.empty((2, 2)), 0, 0, 2)
