"""Pairs by a similarity of VERSE: neighbours, ends of walks, meetings of walks.

Rows of both sides are numbered in one go, left before right. Every draw is a function of its key,
and no similarity is ever written down: a draw costs the steps of its walk.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.jit import Array, inner
from bivec.kernels.rng import below, unit
from bivec.kernels.vector import pointer
from bivec.kernels.walk import fine_unit

EDGE, PAGERANK, SIMRANK = 0, 1, 2
"""How a pair is drawn."""
TRIES = 8
"""Draws before a pair that cannot be had (a walk always back to its start) is given up."""
_ZERO, _ONE = np.float32(0), np.float32(1)


class Sides(NamedTuple):
    """The graph from both sides; the sums are running sums of weights, empty where all are 1."""

    indptr: Any
    indices: Any
    sums: Any
    far_indptr: Any
    far_indices: Any
    far_sums: Any
    n: int
    n_far: int
    weighted: int


@inner
def see(sides: Any) -> Any:  # pragma: no cover
    """Return the graph as pointers; the arrays must outlive them."""
    return Sides(
        pointer(sides.indptr), pointer(sides.indices), pointer(sides.sums),
        pointer(sides.far_indptr), pointer(sides.far_indices), pointer(sides.far_sums),
        sides.n, sides.n_far, sides.weighted,
    )  # fmt: skip


@inner
def draw_by_sums(
    sums: Any, start: int, stop: int, key: Any, counter: int
) -> int:  # pragma: no cover
    """Return e in [start, stop) with a probability in proportion to ``sums[e + 1] - sums[e]``."""
    goal = sums[start] + fine_unit(key, counter) * (sums[stop] - sums[start])
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle + 1] <= goal:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def walk_step(view: Any, row: int, key: Any, counter: int) -> Any:  # pragma: no cover
    """Return a neighbour of a row, by weight; both are numbers in the table of both sides."""
    if row < view.n:
        start, stop = view.indptr[row], view.indptr[row + 1]
        if view.weighted:
            return view.n + view.indices[draw_by_sums(view.sums, start, stop, key, counter)]
        return view.n + view.indices[start + below(key, counter, stop - start)]
    start, stop = view.far_indptr[row - view.n], view.far_indptr[row - view.n + 1]
    if view.weighted:
        return np.int64(view.far_indices[draw_by_sums(view.far_sums, start, stop, key, counter)])
    return np.int64(view.far_indices[start + below(key, counter, stop - start)])


@inner
def strength(view: Any, row: int) -> float:  # pragma: no cover
    """Return the sum of the weights of a row's edges."""
    if row < view.n:
        start, stop = view.indptr[row], view.indptr[row + 1]
        return view.sums[stop] - view.sums[start] if view.weighted else np.float64(stop - start)
    start, stop = view.far_indptr[row - view.n], view.far_indptr[row - view.n + 1]
    return view.far_sums[stop] - view.far_sums[start] if view.weighted else np.float64(stop - start)


@inner
def draw_pair(view: Any, plan: Any, row: int, key: Any) -> Any:  # pragma: no cover
    """Return (other row, weight of the pair); weight 0 if none was found.

    PageRank: the end of a walk that goes on with probability ``stay`` after each step, under the
    condition that it is another node. SimRank: l steps to w, then l steps to v, with l geometric;
    reversed, the second half is a walk from v to w times the ratio of their strengths, the weight.
    """
    if plan.kind == EDGE:
        return walk_step(view, row, key, 0), _ONE
    counter = 0
    for _ in range(TRIES):
        end, length = row, 0
        while length == 0 or unit(key, counter - 1) < plan.stay:
            end = walk_step(view, end, key, counter)
            counter += 2
            length += 1
        weight = _ONE
        if plan.kind == SIMRANK:
            middle = strength(view, end)
            for _ in range(length):
                end = walk_step(view, end, key, counter)
                counter += 2
            weight = np.float32(middle / strength(view, end))
        if end != row:
            return end, weight
    return row, _ZERO


def make_sides(left: Any, right: Any, weighted: bool) -> Sides:
    """Return both sides of a graph, with running sums of their weights where they matter."""
    none = np.zeros(1, np.float64)
    sums = [_running(side.weights) if weighted else none for side in (left, right)]
    return Sides(
        left.indptr, left.indices, sums[0], right.indptr, right.indices, sums[1],
        len(left.indptr) - 1, len(right.indptr) - 1, int(weighted),
    )  # fmt: skip


def _running(weights: Array) -> Array:
    sums = np.zeros(len(weights) + 1)
    np.cumsum(weights, dtype=np.float64, out=sums[1:])
    return sums
