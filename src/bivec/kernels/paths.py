"""Paths of three edges between the ends of a pair: what item-kNN knows about it."""

from __future__ import annotations

import math

import numpy as np

from bivec.kernels.jit import Array, kernel


@kernel
def knn_scores(
    left_indptr: Array, left_indices: Array, right_indptr: Array, right_indices: Array,
    lefts: Array, rights: Array, marks: Array, start: int, stop: int, out: Array,
) -> None:  # fmt: skip  # pragma: no cover
    """Write the item-kNN score of each pair in [start, stop), its own edge left out.

    With the neighbours of the left end l and the cosine of two right nodes,

        score(l, r) = sum over j in N(l), j != r of |N(j) & N(r)| / sqrt(|N(j)| |N(r)|),

    where l does not count in N(r): a pair that is an edge is scored as if it were none. ``marks``
    is scratch of one thread, one int64 for each right node, below zero at first.
    """
    for p in range(start, stop):
        left, right = lefts[p], rights[p]
        for e in range(left_indptr[left], left_indptr[left + 1]):
            marks[left_indices[e]] = p
        edge = marks[right] == p
        marks[right] = -1
        degree = right_indptr[right + 1] - right_indptr[right] - edge
        total = 0.0
        for e in range(right_indptr[right], right_indptr[right + 1]):
            k = right_indices[e]
            if k == left:
                continue
            for f in range(left_indptr[k], left_indptr[k + 1]):
                j = left_indices[f]
                if marks[j] == p:
                    total += 1.0 / math.sqrt(right_indptr[j + 1] - right_indptr[j])
        out[p] = total / math.sqrt(degree) if degree > 0 else 0.0


def warmup() -> None:
    """Compile for int64 rows."""
    indptr, row = np.array([0, 1], np.int64), np.zeros(1, np.int64)
    indptr.flags.writeable = False
    knn_scores(indptr, row, indptr, row, row, row, np.full(1, -1, np.int64), 0, 1, np.empty(1))
