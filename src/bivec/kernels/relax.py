"""Relaxation of algebraic coordinates, and the similarity of pairs of them."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, kernel
from bivec.kernels.vector import pointer, prefetch

_AHEAD = 16
"""Edges between asking for a neighbour's coordinates and their use."""


@kernel
def pull_of_neighbors(
    indptr: Array, indices: Array, far_pull: Array, out: Array
) -> None:  # pragma: no cover
    """Write the sum of the neighbours' pulls for each row."""
    for i in range(out.size):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += far_pull[indices[e]]
        out[i] = total


@kernel
def relax(
    indptr: Array,
    indices: Array,
    pulls: Array,
    pulled: Array,
    own: Array,
    out: Array,
    damping: float,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Move rows [start, stop) of one side towards the weighted mean of their neighbours.

    ``out = damping * own + (1 - damping) * sum(pulled) / pulls``. ``pulled`` holds the coordinates
    of the far side times their pull, which is one over the degree, and ``pulls`` the sum of the
    pulls on each row. Sums are in double precision, so that a hub's mean does not depend on how its
    neighbours are numbered. A row without neighbours stays. ``out`` may be ``own``.
    """
    trials = own.shape[1]
    total = np.empty(trials, np.float64)
    data = pointer(pulled)
    last_edge = indptr[stop] - 1
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        if first == last:
            for r in range(trials):
                out[i, r] = own[i, r]
            continue
        total[:] = 0.0
        for e in range(first, last):
            ahead = np.int64(indices[min(e + _AHEAD, last_edge)]) * trials
            prefetch(data, ahead)
            prefetch(data, ahead + trials - 1)  # a row may lie across two cache lines
            j = np.int64(indices[e]) * trials
            for r in range(trials):
                total[r] += data[j + r]
        for r in range(trials):
            out[i, r] = damping * own[i, r] + (1.0 - damping) * total[r] / pulls[i]


@kernel
def extent(coordinates: Array, indptr: Array, low: Array, high: Array) -> None:  # pragma: no cover
    """Widen [low, high] of each trial to hold the rows that have neighbours."""
    for i in range(coordinates.shape[0]):
        if indptr[i] < indptr[i + 1]:
            for r in range(coordinates.shape[1]):
                low[r] = min(low[r], coordinates[i, r])
                high[r] = max(high[r], coordinates[i, r])


@kernel
def stretch(coordinates: Array, indptr: Array, low: Array, high: Array) -> None:  # pragma: no cover
    """Map [low, high] of each trial onto [0, 1]; a trial without extent stays."""
    for i in range(coordinates.shape[0]):
        if indptr[i] < indptr[i + 1]:
            for r in range(coordinates.shape[1]):
                if high[r] > low[r]:
                    coordinates[i, r] = (coordinates[i, r] - low[r]) / (high[r] - low[r])


@kernel
def edge_similarity(
    indptr: Array, indices: Array, own: Array, far: Array, out: Array, start: int, stop: int
) -> None:  # pragma: no cover
    """Write the similarity of each edge of rows [start, stop), in the order of ``indices``."""
    trials = own.shape[1]
    scale = np.sqrt(np.float32(trials))
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            square = np.float32(0)
            for r in range(trials):
                gap = own[i, r] - far[j, r]
                square += gap * gap
            out[e] = max(np.float32(0), (scale - np.sqrt(square)) / scale)


@kernel
def pair_similarity(
    rows: Array, columns: Array, own: Array, far: Array, out: Array
) -> None:  # pragma: no cover
    """Write the similarity of any pairs of rows."""
    trials = own.shape[1]
    scale = np.sqrt(np.float32(trials))
    for m in range(rows.size):
        square = np.float32(0)
        for r in range(trials):
            gap = own[rows[m], r] - far[columns[m], r]
            square += gap * gap
        out[m] = max(np.float32(0), (scale - np.sqrt(square)) / scale)


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    indptr, indices = np.array([0, 1], np.int64), np.zeros(1, np.int32)
    indptr.flags.writeable = indices.flags.writeable = False
    own, low, high = np.zeros((1, 1), np.float32), np.zeros(1, np.float32), np.ones(1, np.float32)
    pulls = np.ones(1, np.float64)
    pull_of_neighbors(indptr, indices, pulls, pulls)
    relax(indptr, indices, pulls, own, own, own.copy(), 0.5, 0, 1)
    extent(own, indptr, low, high)
    stretch(own, indptr, low, high)
    edge_similarity(indptr, indices, own, own, low, 0, 1)
    rows = np.zeros(1, np.int64)
    pair_similarity(rows, rows, own, own, low)
