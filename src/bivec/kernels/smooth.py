"""Sums over neighbours, for smoothing within a side: one kernel for both halves of a step."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, kernel
from bivec.kernels.vector import pointer

_ZERO = np.float32(0)


@kernel
def gather(
    indptr: Array,
    indices: Array,
    table: Array,
    first: int,
    shares: Array,
    offset: Array,
    out: Array,
    to: int,
    squares: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Write ``shares[i] * sum over neighbours j of table[j] - offset`` for rows [start, stop).

    As many columns as ``offset`` has: of ``table`` from ``first`` on, of ``out`` from ``to`` on.
    The squares of what was written are added to ``squares``. Rows without neighbours stay.
    """
    width, dim = len(offset), table.shape[1]
    rows = pointer(table)
    row = np.empty(width, np.float32)
    sums = pointer(row)
    for i in range(start, stop):
        begin, end = indptr[i], indptr[i + 1]
        if begin == end:
            continue
        for c in range(width):
            sums[c] = _ZERO
        for e in range(begin, end):
            j = np.int64(indices[e]) * dim + first
            for c in range(width):
                sums[c] += rows[j + c]
        total = _ZERO
        for c in range(width):
            value = row[c] * shares[i] - offset[c]
            out[i, to + c] = value
            total += value * value
        squares[i] += total


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    from bivec.kernels.view import example

    graph = example()
    table, out, ones = np.ones((1, 2), np.float32), np.ones((1, 2), np.float32), np.ones(1)
    share, offset = ones.astype(np.float32), np.zeros(2, np.float32)
    gather(graph.indptr, graph.indices, table, 0, share, offset, out, 0, share.copy(), 0, 1)
