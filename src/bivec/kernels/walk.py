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


class Roads(NamedTuple):
    """The graph from both sides; ``weights`` add up along each row, or are empty for uniform steps.

    Row i of a side ends at ``weights[indptr[i + 1] - 1]`` with its total.
    """

    indptr: Array
    indices: Array
    weights: Array
    far_indptr: Array
    far_indices: Array
    far_weights: Array


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
def draw_edge(
    indptr: Any, weights: Any, weighted: bool, node: int, key: Any, counter: int
) -> int:  # pragma: no cover
    """Return an edge of a node, drawn uniformly or by weight."""
    start, stop = indptr[node], indptr[node + 1]
    if weighted:
        return first_above(weights, start, stop, fine_unit(key, counter) * weights[stop - 1])
    return start + below(key, counter, stop - start)  # type: ignore[no-any-return]


@kernel
def walk_rows(
    roads: Any, course: Any, starts: Array, walks: Array, windows: Array, start: int, stop: int
) -> None:  # pragma: no cover
    """Write the walks of the starts [start, stop), and the window drawn for each of their tokens.

    A step of second order is drawn by rejection: propose by the weights of the edges, and keep the
    proposal with probability ``back`` or ``on`` over the larger of the two. Without triangles no
    proposal is a neighbour of where the walk came from, so there is no third case. A window is
    uniform in 1 to ``course.window``.
    """
    indptr, indices = pointer(roads.indptr), pointer(roads.indices)
    far_indptr, far_indices = pointer(roads.far_indptr), pointer(roads.far_indices)
    weights, far_weights = pointer(roads.weights), pointer(roads.far_weights)
    weighted = roads.weights.size > 0
    n_left = roads.indptr.size - 1
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
                left = node < n_left
                while True:
                    if left:
                        e = draw_edge(indptr, weights, weighted, node, key, counter)
                        other = n_left + np.int64(indices[e])
                    else:
                        e = draw_edge(
                            far_indptr, far_weights, weighted, node - n_left, key, counter
                        )
                        other = np.int64(far_indices[e])
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


def example_roads() -> Roads:
    """Return the graph of one edge, with which kernels are compiled."""
    indptr, indices = read_only(np.array([0, 1], np.int64)), read_only(np.zeros(1, np.int32))
    weights = read_only(np.ones(1))
    return Roads(indptr, indices, weights, indptr, indices, weights)


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    walks, windows = np.empty(2, np.int32), np.empty(2, np.uint8)
    course = Course(0, 1, 0, 1, 2, 1, 1.0, 1.0)
    walk_rows(example_roads(), course, np.zeros(1, np.int64), walks, windows, 0, 1)
    find_nodes(walks, np.empty(3, np.int64), np.empty(2, np.int64))
