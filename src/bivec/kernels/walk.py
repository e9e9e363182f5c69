"""Random walks on a bipartite graph, and where each node stands in them.

Nodes of both sides are counted through: left node i is i, right node j is ``n_left + j``. A walk is
a pure function of (seed, start, number of the walk): any walk can be had again anywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.rng import below, bits, step_key, stream, unit
from bivec.kernels.vector import pointer
from bivec.kernels.view import read_only

_WALKS, _WINDOWS = 300, 301
"""Streams of random numbers, apart from those of other methods."""
_S11 = np.uint64(11)
_FINE = 2.0**-53


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


class Course(NamedTuple):
    """How to walk: walks ``first`` to ``first + number``, counted modulo ``n_walks``.

    ``back`` is the weight of the way back to where the walk came from, ``on`` that of every other.
    """

    seed: int
    n_walks: int
    first: int
    number: int
    length: int
    window: int
    back: float
    on: float


@inner
def fine_unit(key: Any, counter: int) -> float:  # pragma: no cover
    """Return a uniform float64 in [0, 1), a multiple of ``2**-53``."""
    return float(np.float64(bits(key, counter) >> _S11) * _FINE)


@inner
def first_above(sums: Any, start: int, stop: int, value: float) -> int:  # pragma: no cover
    """Return the first position in [start, stop - 1] whose ascending sum is above the value."""
    stop -= 1
    while start < stop:
        middle = (start + stop) >> 1
        if sums[middle] > value:
            stop = middle
        else:
            start = middle + 1
    return start


@inner
def draw_by_sums(
    sums: Any, start: int, stop: int, key: Any, counter: int
) -> int:  # pragma: no cover
    """Return e in [start, stop) with a probability in proportion to ``sums[e + 1] - sums[e]``."""
    goal = sums[start] + fine_unit(key, counter) * (sums[stop] - sums[start])
    return first_above(sums, start + 1, stop + 1, goal) - 1


@inner
def see(sides: Any) -> Any:  # pragma: no cover
    """Return the graph as pointers; the arrays must outlive them."""
    return Sides(
        pointer(sides.indptr), pointer(sides.indices), pointer(sides.sums),
        pointer(sides.far_indptr), pointer(sides.far_indices), pointer(sides.far_sums),
        sides.n, sides.n_far, sides.weighted,
    )  # fmt: skip


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


@kernel
def walk_rows(
    sides: Any, course: Any, starts: Array, walks: Array, windows: Array, start: int, stop: int
) -> None:  # pragma: no cover
    """Write the walks of the starts [start, stop), and the window drawn for each of their tokens.

    A step of second order is drawn by rejection: propose by the weights of the edges, and keep the
    proposal with probability ``back`` or ``on`` over the larger of the two. Without triangles no
    proposal is a neighbour of where the walk came from, so there is no third case. A window is
    uniform in 1 to ``course.window``.
    """
    view = see(sides)
    most = max(course.back, course.on)
    plain = course.back == course.on
    back, on = np.float32(course.back / most), np.float32(course.on / most)
    out, width = pointer(walks), pointer(windows)
    at = start * course.number * course.length
    for r in range(start, stop):
        for k in range(course.first, course.first + course.number):
            node = starts[r]
            key = step_key(stream(course.seed, _WALKS, node), k % course.n_walks)
            window_key = step_key(stream(course.seed, _WINDOWS, node), k)
            previous, counter = -1, 0
            for t in range(course.length):
                out[at] = node
                width[at] = 1 + below(window_key, t, course.window)
                at += 1
                if t + 1 == course.length:
                    break
                while True:
                    other = walk_step(view, node, key, counter)
                    counter += 1
                    if plain or previous < 0:
                        break
                    counter += 1
                    if unit(key, counter - 1) < (back if other == previous else on):
                        break
                previous, node = node, other


@kernel
def find_nodes(walks: Array, indptr: Array, places: Array) -> None:  # pragma: no cover
    """Sort the tokens of all walks by node: those of node v are ``places[indptr[v] :][:count]``.

    Within a node they ascend. ``indptr`` has one entry more than there are nodes.
    """
    tokens, ends, to = pointer(walks), pointer(indptr), pointer(places)
    n = indptr.size - 1
    for v in range(n + 1):
        ends[v] = 0
    for t in range(walks.size):
        ends[tokens[t] + 1] += 1
    for v in range(n):
        ends[v + 1] += ends[v]
    # Filling moves each start to its end, that is to the next start; then all move back by one.
    for t in range(walks.size):
        v = tokens[t]
        to[ends[v]] = t
        ends[v] += 1
    for v in range(n, 0, -1):
        ends[v] = ends[v - 1]
    ends[0] = 0


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


def example_sides() -> Sides:
    """Return the graph of one edge, with which kernels are compiled."""
    indptr, indices = read_only(np.array([0, 1], np.int64)), read_only(np.zeros(1, np.int32))
    sums = np.array([0.0, 1.0])
    return Sides(indptr, indices, sums, indptr, indices, sums, 1, 1, 0)


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    walks, windows = np.empty(2, np.int32), np.empty(2, np.uint8)
    course = Course(0, 1, 0, 1, 2, 1, 1.0, 1.0)
    walk_rows(example_sides(), course, np.zeros(1, np.int64), walks, windows, 0, 1)
    find_nodes(walks, np.empty(3, np.int64), np.empty(2, np.int64))
