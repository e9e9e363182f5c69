"""Machines of nodes: which rows each is trained on, and its decisions on the node's pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.rng import below, step_key, stream
from bivec.kernels.svm import classify_inner


@inner
def _draw_absent(
    key: Any, marks: Array, stamp: int, n_absent: int, n: int, out: Array
) -> None:  # pragma: no cover
    """Write n distinct unmarked rows to ``out``, uniformly; there are ``n_absent`` of them.

    Draws that hit a marked row are repeated. Where that would take long, all unmarked rows are
    listed, shuffled as far as needed, and cut.
    """
    size = len(marks)
    if 2 * n <= n_absent:
        counter = 0
        for k in range(n):
            row = below(key, counter, size)
            counter += 1
            while marks[row] == stamp:
                row = below(key, counter, size)
                counter += 1
            marks[row] = stamp
            out[k] = row
        return
    pool = np.empty(n_absent, np.int64)
    m = 0
    for row in range(size):
        if marks[row] != stamp:
            pool[m] = row
            m += 1
    for k in range(n):
        other = k + below(key, k, n_absent - k)
        pool[k], pool[other] = pool[other], pool[k]
        out[k] = pool[k]


@inner
def _copy_row(source: Array, row: int, target: Array, to: int) -> None:  # pragma: no cover
    for c in range(source.shape[1]):
        target[to, c] = source[row, c]


@inner
def _rows_of(
    indptr: Array, indices: Array, node: int, seed: Any, relation: int, ratio: int, marks: Array,
    stamp: int,
) -> Array:  # fmt: skip  # pragma: no cover
    """Return the neighbours of a node and then its negatives."""
    first, degree = indptr[node], indptr[node + 1] - indptr[node]
    absent = len(marks) - degree
    n = degree + min(ratio * degree, absent)
    rows = np.empty(n, np.int64)
    for k in range(degree):
        rows[k] = indices[first + k]
        marks[rows[k]] = stamp
    key = step_key(stream(seed, relation, node), 0)
    _draw_absent(key, marks, stamp, absent, n - degree, rows[degree:])
    return rows


@kernel
def training_rows(
    indptr: Array, indices: Array, n_other: int, node: int, seed: Any, relation: int, ratio: int
) -> Array:  # pragma: no cover
    """Return what the machine of a node is trained on: neighbours, then negatives."""
    marks = np.full(n_other, -1, np.int64)
    return _rows_of(indptr, indices, node, seed, relation, ratio, marks, 0)


@kernel
def personalize(
    indptr: Array, indices: Array, table: Array, nodes: Array, pair_ptr: Array, pair_rows: Array,
    seed: Any, relation: int, ratio: int, c: float, gamma: float, tol: float, room: int,
    marks: Array, start: int, stop: int, out: Array, trained: Array,
) -> None:  # fmt: skip  # pragma: no cover
    """Train a machine for each of ``nodes[start:stop]`` and decide on its pairs.

    Parameters
    ----------
    indptr, indices
        The training graph, seen from the side of the nodes; int64.
    table
        Vectors of the other side, float32 and contiguous.
    nodes, pair_ptr, pair_rows
        Node m has the pairs ``pair_rows[pair_ptr[m]:pair_ptr[m + 1]]``, rows of the table.
    seed, relation, ratio
        Negatives: ``ratio`` for each neighbour, distinct, drawn from the stream of the node.
    marks
        Scratch, one int64 for each row of the table, of one thread; below zero at first.
    out, trained
        A decision for each pair; whether there was a machine to train for each node.
    """
    dim = table.shape[1]
    for m in range(start, stop):
        node = nodes[m]
        degree = indptr[node + 1] - indptr[node]
        rows = _rows_of(indptr, indices, node, seed, relation, ratio, marks, m)
        n = len(rows)
        points, labels = np.empty((n, dim), np.float32), np.empty(n, np.float64)
        for k in range(n):
            _copy_row(table, rows[k], points, k)
            labels[k] = 1.0 if k < degree else -1.0
        a, b = pair_ptr[m], pair_ptr[m + 1]
        queries = np.empty((b - a, dim), np.float32)
        for q in range(b - a):
            _copy_row(table, pair_rows[a + q], queries, q)
        trained[m] = classify_inner(points, labels, queries, c, gamma, tol, room, out[a:b])


def warmup() -> None:
    """Compile for float32 tables and int64 rows."""
    table = np.zeros((2, 1), np.float32)
    indptr, row = np.array([0, 1], np.int64), np.zeros(1, np.int64)
    indptr.flags.writeable = False
    training_rows(indptr, row, 2, 0, 0, 0, 5)
    personalize(
        indptr, row, table, row, np.array([0, 1], np.int64), row, 0, 0, 5, 1.0, 0.1, 1e-3, 64,
        np.full(2, -1, np.int64), 0, 1, np.empty(1), np.zeros(1, bool),
    )  # fmt: skip
