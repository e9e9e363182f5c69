"""The graph as kernels see it from one side, and what they are to draw from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.vector import pointer

FOBE, HOBE = 0, 1
WALK, SET = 0, 1

NOTHING = np.uint64(0)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Graph(NamedTuple):
    """The graph seen from the side whose nodes own the samples; all arrays read-only.

    ``indptr, indices`` lead from the own to the far side, ``far_indptr, far_indices`` back.
    ``similarity`` is by edge (empty for FOBE). ``paths`` holds, for draws from the set, the running
    number of two-step paths behind each edge, ``reach`` that of three-step paths (empty otherwise).
    ``marks`` and ``far_marks`` have a word a node in which each neighbour sets one bit: nodes
    without a common bit have no common neighbour, which spares most negatives, and most bridges of
    a path, the look at their neighbours. ``most`` and ``far_most`` have the largest similarity
    of each node's edges (empty for FOBE): no path through the node is stronger.
    """

    indptr: Array
    indices: Array
    similarity: Array
    paths: Array
    reach: Array
    far_indptr: Array
    far_indices: Array
    far_similarity: Array
    far_paths: Array
    marks: Array
    far_marks: Array
    most: Array
    far_most: Array


class View(NamedTuple):
    """The same as pointers, with the number of nodes of both sides."""

    indptr: Any
    indices: Any
    similarity: Any
    paths: Any
    reach: Any
    far_indptr: Any
    far_indices: Any
    far_similarity: Any
    far_paths: Any
    marks: Any
    far_marks: Any
    most: Any
    far_most: Any
    n: int
    n_far: int


ROWS, WALKS = 1, 2
"""What is asked for ahead of its use: rows of tables, and what walks of later nodes will read."""


class Plan(NamedTuple):
    """What to draw, as integers."""

    seed: int
    side: int
    method: int
    draw: int
    n_samples: int
    n_neighbors: int
    n_negatives: int
    cap: int
    ahead: int


@inner
def look(graph: Any) -> Any:  # pragma: no cover
    """Return the view of a graph; the graph must outlive it."""
    return View(
        pointer(graph.indptr), pointer(graph.indices), pointer(graph.similarity),
        pointer(graph.paths), pointer(graph.reach), pointer(graph.far_indptr),
        pointer(graph.far_indices), pointer(graph.far_similarity), pointer(graph.far_paths),
        pointer(graph.marks), pointer(graph.far_marks), pointer(graph.most),
        pointer(graph.far_most),
        graph.indptr.size - 1, graph.far_indptr.size - 1,
    )  # fmt: skip


@inner
def bit(node: int) -> Any:  # pragma: no cover
    """Return the bit that a node sets in the marks of its neighbours, by a multiplicative hash."""
    return np.uint64(1) << ((np.uint64(node) * _SPREAD) >> np.uint64(58))


@inner
def mark(indptr: Any, indices: Any, n: int, marks: Any) -> None:  # pragma: no cover
    """Set one bit for each neighbour."""
    for i in range(n):
        word = NOTHING
        for e in range(indptr[i], indptr[i + 1]):
            word |= bit(indices[e])
        marks[i] = word


@kernel
def mark_neighbors(indptr: Array, indices: Array, marks: Array) -> None:  # pragma: no cover
    """Fill the marks of one side."""
    mark(pointer(indptr), pointer(indices), indptr.size - 1, pointer(marks))


def read_only(array: Array) -> Array:
    """Return a view that cannot be written, the one kind of array that graphs and kernels share."""
    view = array.view()
    view.flags.writeable = False
    return view


def example() -> Graph:
    """Return the graph of one edge, with which kernels are compiled."""
    indptr, indices = read_only(np.array([0, 1], np.int64)), read_only(np.zeros(1, np.int32))
    ones, none = read_only(np.ones(1, np.float32)), read_only(np.zeros(2, np.int64))
    marks = read_only(np.ones(1, np.uint64))
    return Graph(
        indptr, indices, ones, none, none, indptr, indices, ones, none, marks, marks, ones, ones
    )


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    graph = example()
    mark_neighbors(graph.indptr, graph.indices, np.empty(1, np.uint64))
