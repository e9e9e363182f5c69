"""One visit of training: a node draws its samples, and its own row takes one step.

The owner computes: other rows are read and never written, so the rows of a block can be computed by
any threads in any order. New rows go to a buffer, which the caller copies into the table when the
whole block is done. A visit has four parts, which a cluster can run apart: sample, dots,
coefficients, apply.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels import fobe, hobe
from bivec.kernels.ahead import hints
from bivec.kernels.jit import Array, inner, kernel, vector_inner
from bivec.kernels.sample import (
    TRIES,
    fill_pool,
    make_pool,
    pool_arrays,
    sample_cross,
    sample_same,
)
from bivec.kernels.vector import AHEAD, aligned, dots, pointer, prefetch_row, weighted_sum
from bivec.kernels.view import FOBE, HOBE, ROWS, WALK, Plan, example, look

_fobe_same, _fobe_cross = fobe.same_coefficients, fobe.cross_coefficients
_hobe_same, _hobe_cross = hobe.same_coefficients, hobe.cross_coefficients
_ZERO = np.float32(0)


class Tables(NamedTuple):
    """Vectors of the owners' side and of the far side, and the owners' Adagrad accumulators."""

    own: Array
    far: Array
    squares: Array


class Steps(NamedTuple):
    """The steps of one visit, the learning rate, and FOBE's weight of a negative."""

    first: int
    number: int
    rate: float
    weight: float


class Scratch(NamedTuple):
    """Room for the samples of one visit (pointers inside kernels).

    The rows that meet the owner's row stand in one list: same-type samples, then ``own_neighbors``,
    the sampled neighbours of the far node of each cross sample.
    """

    rows: Any
    same_observed: Any
    cross: Any
    cross_observed: Any
    own_neighbors: Any
    far_neighbors: Any
    x: Any
    y: Any


@inner
def make_scratch(arrays: Any) -> Any:  # pragma: no cover
    """Return the pointers of the scratch arrays, which must outlive them."""
    return Scratch(
        pointer(arrays.rows), pointer(arrays.same_observed), pointer(arrays.cross),
        pointer(arrays.cross_observed), pointer(arrays.own_neighbors),
        pointer(arrays.far_neighbors), pointer(arrays.x), pointer(arrays.y),
    )  # fmt: skip


@inner
def sample_visit(
    view: Any, plan: Any, pool: Any, steps: Any, own: Any, far: Any, dim: int, i: int, scratch: Any
) -> None:  # pragma: no cover
    """Part one: the samples of node i.

    On a large graph the rows of neighbours are asked for before, those of positives as they are
    drawn: by the time they are needed they have come. Those of negatives are in the pool.
    """
    if plan.ahead:
        start = view.indptr[i]
        for e in range(start, min(view.indptr[i + 1], start + TRIES)):
            prefetch_row(far, dim, view.indices[e])
    for s in range(steps.number):
        sample_same(
            view, plan, pool, i, steps.first + s, scratch.rows, scratch.same_observed,
            s * (1 + plan.n_negatives),
        )  # fmt: skip
        sample_cross(
            view, plan, pool, i, steps.first + s, scratch.cross, scratch.cross_observed,
            s * (1 + plan.n_negatives), scratch.own_neighbors, scratch.far_neighbors,
        )  # fmt: skip
        if plan.ahead:
            at = s * (1 + plan.n_negatives)
            prefetch_row(own, dim, scratch.rows[at])
            prefetch_row(far, dim, scratch.cross[at])
            for k in range(at * plan.n_neighbors, (at + 1) * plan.n_neighbors):
                prefetch_row(own, dim, scratch.own_neighbors[k])


@inner
def far_dots(table: Any, dim: int, scratch: Any, n: int, size: int) -> None:  # pragma: no cover
    """Write the dots of the far node of each of n cross samples with neighbours of the owner."""
    for m in range(n):
        if m + 1 < n:
            prefetch_row(table, dim, scratch.cross[m + 1])
        dots(
            table, dim, scratch.cross[m], scratch.far_neighbors, m * size, (m + 1) * size, scratch.y
        )


@inner
def coefficients(
    plan: Any, steps: Any, scratch: Any, n: int, losses: Any, at: int
) -> None:  # pragma: no cover
    """Part three: from dots to the derivative of the loss by each of the owner's dots, in place.

    There are n pairs of either relation.
    Loss and number of pairs of the same-type and of the cross relation go to ``losses[at : at +
    4]``.
    """
    x, y, size = scratch.x, scratch.y, plan.n_neighbors
    weight = np.float32(steps.weight)
    if plan.method == FOBE:
        same_loss, same_pairs = _fobe_same(x, scratch.same_observed, n, weight)
        cross_loss, cross_pairs = _fobe_cross(x, n, y, scratch.cross_observed, n, size, weight)
    else:
        same_loss, same_pairs = _hobe_same(x, scratch.same_observed, n)
        cross_loss, cross_pairs = _hobe_cross(x, n, y, scratch.cross_observed, n, size)
    losses[at] = same_loss
    losses[at + 1] = same_pairs
    losses[at + 2] = cross_loss
    losses[at + 3] = cross_pairs


@inner
def row_gradient(
    view: Any,
    plan: Any,
    pool: Any,
    steps: Any,
    own: Any,
    far: Any,
    dim: int,
    i: int,
    scratch: Any,
    gradient: Any,
    losses: Any,
    at: int,
) -> None:  # pragma: no cover
    """Write the gradient of node i's row, of the loss over the samples of one visit.

    Where a sampled row is the owner's own, both factors of the dot are the owner's: twice the
    gradient.
    """
    same = steps.number * (1 + plan.n_negatives)
    n = same * (1 + plan.n_neighbors)
    sample_visit(view, plan, pool, steps, own, far, dim, i, scratch)
    for m in range(min(AHEAD, n)):
        prefetch_row(own, dim, scratch.rows[m])
    prefetch_row(far, dim, scratch.cross[0])
    dots(own, dim, i, scratch.rows, 0, n, scratch.x)
    far_dots(far, dim, scratch, same, plan.n_neighbors)
    coefficients(plan, steps, scratch, same, losses, at)
    for m in range(n):
        if scratch.rows[m] == i:
            scratch.x[m] *= 2
    for c in range(dim):
        gradient[c] = 0
    weighted_sum(own, dim, scratch.rows, scratch.x, n, gradient)


@vector_inner
def adagrad(
    table: Any, dim: int, i: int, gradient: Any, squares: Any, rate: float, out: Any, r: int
) -> None:  # pragma: no cover
    """Write row i after one step of row-wise Adagrad to row r of ``out``.

    The accumulator is the sum over the steps of the mean square of the gradient's entries.
    """
    total = _ZERO
    for c in range(dim):
        total += gradient[c] * gradient[c]
    squares[i] += total / dim
    scale = np.float32(rate / np.sqrt(squares[i])) if squares[i] > 0 else _ZERO
    for c in range(dim):
        out[r * dim + c] = table[i * dim + c] - scale * gradient[c]


@kernel
def visit_rows(
    graph: Any,
    plan: Any,
    steps: Any,
    tables: Any,
    arrays: Any,
    pools: Any,
    gradient: Array,
    fresh: Array,
    losses: Array,
    first: int,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Compute new rows of nodes ``first + start`` to ``first + stop`` into ``fresh[start:stop]``.

    A node without neighbours keeps its row.
    """
    view, scratch = look(graph), make_scratch(arrays)
    pool = make_pool(pools, steps.first)
    own, far, squares = pointer(tables.own), pointer(tables.far), pointer(tables.squares)
    slope, out, loss = pointer(gradient), pointer(fresh), pointer(losses)
    dim = tables.own.shape[1]
    for r in range(start, stop):
        i = first + r
        fill_pool(view, plan, i, steps.first + steps.number, pool)
        if view.indptr[i] == view.indptr[i + 1]:
            for c in range(dim):
                out[r * dim + c] = own[i * dim + c]
            for c in range(4):
                loss[4 * r + c] = 0
            continue
        if plan.ahead > ROWS:
            hints(view, plan, steps, i, stop - 1 - r)
        row_gradient(view, plan, pool, steps, own, far, dim, i, scratch, slope, loss, 4 * r)
        adagrad(own, dim, i, slope, squares, steps.rate, out, r)


@kernel
def visit_chosen(
    graph: Any,
    plan: Any,
    steps: Any,
    tables: Any,
    arrays: Any,
    pools: Any,
    gradient: Array,
    fresh: Array,
    losses: Array,
    chosen: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Compute new rows of nodes ``chosen[start:stop]``, ascending, into ``fresh[start:stop]``.

    Each takes the samples, and so the step, that :func:`visit_rows` would take.
    """
    view, scratch = look(graph), make_scratch(arrays)
    pool = make_pool(pools, steps.first)
    own, far, squares = pointer(tables.own), pointer(tables.far), pointer(tables.squares)
    slope, out, loss = pointer(gradient), pointer(fresh), pointer(losses)
    dim = tables.own.shape[1]
    for r in range(start, stop):
        i = chosen[r]
        fill_pool(view, plan, i, steps.first + steps.number, pool)
        if view.indptr[i] == view.indptr[i + 1]:
            for c in range(dim):
                out[r * dim + c] = own[i * dim + c]
            for c in range(4):
                loss[4 * r + c] = 0
            continue
        row_gradient(view, plan, pool, steps, own, far, dim, i, scratch, slope, loss, 4 * r)
        adagrad(own, dim, i, slope, squares, steps.rate, out, r)


def scratch_arrays(plan: Plan, count: int, dtype: Any = np.float32) -> Scratch:
    """Return room for the samples of a visit of ``count`` steps; each thread needs its own."""
    same = count * (1 + plan.n_negatives)
    n = same * plan.n_neighbors
    rows = aligned((same + n,), np.int64)
    return Scratch(
        rows, aligned((same,)), aligned((same,), np.int64), aligned((same,)), rows[same:],
        aligned((n,), np.int64), aligned((same + n,), dtype), aligned((n,), dtype),
    )  # fmt: skip


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    plan = Plan(0, 0, HOBE, WALK, 1, 1, 1, 1, 0)
    tables = Tables(aligned((1, 8)), aligned((1, 8)), np.zeros(1, np.float32))
    for table in tables[:2]:
        table[:] = 0
    visit_rows(
        example(), plan, Steps(0, 1, 0.1, 1.0), tables, scratch_arrays(plan, 1),
        pool_arrays(plan, 1), np.empty(8, np.float32), aligned((1, 8)), np.empty((1, 4)), 0, 0, 1,
    )  # fmt: skip
    visit_chosen(
        example(), plan, Steps(0, 1, 0.1, 1.0), tables, scratch_arrays(plan, 1),
        pool_arrays(plan, 1), np.empty(8, np.float32), aligned((1, 8)), np.empty((1, 4)),
        np.zeros(1, np.int64), 0, 1,
    )  # fmt: skip
