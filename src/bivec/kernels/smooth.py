"""Smoothing of vectors within a side: means over bridges, and back to their members."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, kernel
from bivec.kernels.vector import pointer, prefetch_row

_AHEAD = 4
"""Rows between asking for one and its use."""
_ZERO, _ONE = np.float32(0), np.float32(1)


@kernel
def gather(
    indptr: Array, indices: Array, table: Array, shares: Array, out: Array, start: int, stop: int
) -> None:  # pragma: no cover
    """Write ``shares[i] * sum over neighbours j of table[j]`` for rows [start, stop)."""
    dim = table.shape[1]
    rows, to = pointer(table), pointer(out)
    last = indptr[stop] - 1
    for i in range(start, stop):
        for c in range(dim):
            to[i * dim + c] = _ZERO
        for e in range(indptr[i], indptr[i + 1]):
            prefetch_row(rows, dim, np.int64(indices[min(e + _AHEAD, last)]))
            j = np.int64(indices[e]) * dim
            for c in range(dim):
                to[i * dim + c] += rows[j + c]
        for c in range(dim):
            to[i * dim + c] *= shares[i]


@kernel
def recenter(
    table: Array, center: Array, old: Array, degrees: Array, start: int, stop: int
) -> None:  # pragma: no cover
    """Take the centre from rows [start, stop) and bring them to length 1.

    A row without edges, or one of which nothing is left, stays as it was in ``old``.
    """
    dim = table.shape[1]
    for i in range(start, stop):
        total = _ZERO
        for c in range(dim):
            table[i, c] -= center[c]
            total += table[i, c] * table[i, c]
        if degrees[i] == 0 or total < 1e-20:
            for c in range(dim):
                table[i, c] = old[i, c]
            continue
        scale = _ONE / np.sqrt(total)
        for c in range(dim):
            table[i, c] *= scale


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    from bivec.kernels.train import aligned
    from bivec.kernels.view import example

    graph = example()
    tables = [aligned((1, 2)) for _ in range(2)]
    for table in tables:
        table[:] = 1
    ones = np.ones(1, np.float32)
    gather(graph.indptr, graph.indices, tables[0], ones, tables[1], 0, 1)
    recenter(tables[1], np.zeros(2, np.float32), tables[0], np.ones(1, np.int64), 0, 1)
