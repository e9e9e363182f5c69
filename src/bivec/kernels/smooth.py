"""The two halves of a step of smoothing: from nodes to the bridges between them, and back.

Both sum rows of a table that stand anywhere in it, so rows are asked for some edges ahead of their
use. Vectors are kept with a scale of their own instead of being brought to length 1 after each
step, which would be another pass over the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import Array, inner, kernel, vector_inner
from bivec.kernels.vector import pointer, prefetch

_ZERO = np.float32(0)
_AHEAD, _LINE = 32, 16
"""Edges between asking for a row and its use, and numbers in a cache line."""


@inner
def _ask(rows: Any, start: Any, width: int) -> None:  # pragma: no cover
    for c in range(0, width, _LINE):
        prefetch(rows, start + c)


@vector_inner
def _add_row(sums: Any, scale: Any, rows: Any, start: Any, width: int) -> None:  # pragma: no cover
    for c in range(width):
        sums[c] += scale * rows[start + c]


@inner
def _sum_rows(
    rows: Any, dim: int, first: int, width: int, edges: Any, begin: int, end: int, last: int,
    scales: Any, sums: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Write the sum of the scaled rows at the edges [begin, end); others follow up to ``last``.

    One row at a time: rows that come one by one are waited for less than four at once.
    """
    for c in range(width):
        sums[c] = _ZERO
    for e in range(begin, end):
        if e + _AHEAD < last:
            ahead = np.int64(edges[e + _AHEAD])
            _ask(rows, ahead * dim + first, width)
            prefetch(scales, ahead)
        j = np.int64(edges[e])
        _add_row(sums, scales[j], rows, j * dim + first, width)


@kernel
def to_bridges(
    indptr: Array,
    indices: Array,
    table: Array,
    scales: Array,
    first: int,
    shares: Array,
    bridges: Array,
    total: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Write ``sum over neighbours j of scales[j] * table[j]`` for bridges [start, stop).

    As many columns as ``total`` has, of ``table`` from ``first`` on. To ``total`` goes the sum of
    what was written, by ``shares``.
    """
    width, dim = len(total), table.shape[1]
    rows, out, edges, weights = (
        pointer(table), pointer(bridges), pointer(indices), pointer(scales),
    )  # fmt: skip
    room = np.empty(width, np.float32)
    sums = pointer(room)
    last = indptr[stop]
    for c in range(width):
        total[c] = _ZERO
    for b in range(start, stop):
        begin, end = indptr[b], indptr[b + 1]
        _sum_rows(rows, dim, first, width, edges, begin, end, last, weights, sums)
        share, at = shares[b], b * bridges.shape[1]
        for c in range(width):
            out[at + c] = sums[c]
            total[c] += share * sums[c]


@kernel
def from_bridges(
    indptr: Array,
    indices: Array,
    bridges: Array,
    scales: Array,
    shares: Array,
    center: Array,
    table: Array,
    first: int,
    squares: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Write ``shares[i] * sum over neighbours b of scales[b] * bridges[b] - center``.

    For nodes [start, stop). As many columns as ``center`` has, to ``table`` from ``first`` on. The
    squares of what was written are added to ``squares``. Nodes without neighbours stay.
    """
    width, dim, stride = len(center), table.shape[1], bridges.shape[1]
    rows, out, edges, weights = (
        pointer(bridges), pointer(table), pointer(indices), pointer(scales),
    )  # fmt: skip
    room = np.empty(width, np.float32)
    sums = pointer(room)
    last = indptr[stop]
    for i in range(start, stop):
        begin, end = indptr[i], indptr[i + 1]
        if begin == end:
            continue
        _sum_rows(rows, stride, 0, width, edges, begin, end, last, weights, sums)
        at, square = i * dim + first, _ZERO
        for c in range(width):
            value = sums[c] * shares[i] - center[c]
            out[at + c] = value
            square += value * value
        squares[i] += square


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    from bivec.kernels.view import example

    graph = example()
    table, bridges = np.ones((1, 2), np.float32), np.ones((1, 2), np.float32)
    one, two = np.ones(1, np.float32), np.zeros(2, np.float32)
    to_bridges(graph.far_indptr, graph.far_indices, table, one, 0, one, bridges, two, 0, 1)
    from_bridges(graph.indptr, graph.indices, bridges, one, one, two, table, 0, one.copy(), 0, 1)
