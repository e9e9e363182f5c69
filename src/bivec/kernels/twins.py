"""Nodes with the same neighbours: to find them, and to put their vectors together."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, kernel

_SPREAD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


@kernel
def hash_rows(indptr: Array, indices: Array, out: Array) -> None:  # pragma: no cover
    """Write a number for each row that depends on its entries alone."""
    for i in range(out.size):
        word = _MIX + np.uint64(indptr[i + 1] - indptr[i]) * _SPREAD
        for e in range(indptr[i], indptr[i + 1]):
            word = (word ^ np.uint64(indices[e])) * _SPREAD
            word = (word ^ (word >> _SHIFT)) * _MIX
        out[i] = word


@kernel
def same_rows(indptr: Array, indices: Array, others: Array) -> bool:  # pragma: no cover
    """Whether each row i has the very entries of row ``others[i]``."""
    for i in range(others.size):
        first, other = indptr[i], indptr[others[i]]
        n = indptr[i + 1] - first
        if indptr[others[i] + 1] - other != n:
            return False
        for e in range(n):
            if indices[first + e] != indices[other + e]:
                return False
    return True


@kernel
def gather(table: Array, group: Array, sizes: Array) -> None:  # pragma: no cover
    """Write the mean of each group of rows to the row of its number, in place.

    Groups are numbered in the order of their first rows, so that a row is read before it is
    written.
    """
    known = 0
    for i in range(group.size):
        g = group[i]
        share = np.float32(1) / sizes[g]
        if g == known:
            known += 1
            for c in range(table.shape[1]):
                table[g, c] = share * table[i, c]
        else:
            for c in range(table.shape[1]):
                table[g, c] += share * table[i, c]


@kernel
def scatter(table: Array, group: Array) -> None:  # pragma: no cover
    """Write the row of its group to each row, in place: the last one first."""
    for i in range(group.size - 1, -1, -1):
        if group[i] != i:
            for c in range(table.shape[1]):
                table[i, c] = table[group[i], c]


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    from bivec.kernels.view import example

    graph = example()
    zero = np.zeros(1, np.int64)
    hash_rows(graph.indptr, graph.indices, np.empty(1, np.uint64))
    same_rows(graph.indptr, graph.indices, zero)
    gather(np.ones((1, 2), np.float32), zero, np.ones(1, np.float32))
    scatter(np.ones((1, 2), np.float32), zero)
