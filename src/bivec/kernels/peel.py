"""Peeling: remove nodes of low degree until none is left, each edge looked at once."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]


@numba.njit(cache=True, nogil=True)
def peel(
    left_indptr: IntArray,
    left_indices: IntArray,
    right_indptr: IntArray,
    right_indices: IntArray,
    min_left: int,
    min_right: int,
    left_kept: BoolArray,
    right_kept: BoolArray,
) -> None:
    """Mark the nodes of the largest subgraph whose degrees reach the two minima.

    ``left_kept`` and ``right_kept`` are boolean arrays that the kernel fills. A queue of removed
    nodes, left rows as they are and right rows behind them, visits each node and edge at most once.
    """
    n_left = left_indptr.size - 1
    n_right = right_indptr.size - 1
    left_degree = left_indptr[1:] - left_indptr[:-1]
    right_degree = right_indptr[1:] - right_indptr[:-1]
    queue = np.empty(n_left + n_right, np.int64)
    tail = 0
    for i in range(n_left):
        left_kept[i] = left_degree[i] >= min_left
        if not left_kept[i]:
            queue[tail] = i
            tail += 1
    for j in range(n_right):
        right_kept[j] = right_degree[j] >= min_right
        if not right_kept[j]:
            queue[tail] = n_left + j
            tail += 1
    head = 0
    while head < tail:
        node = queue[head]
        head += 1
        if node < n_left:
            for e in range(left_indptr[node], left_indptr[node + 1]):
                j = left_indices[e]
                right_degree[j] -= 1
                if right_kept[j] and right_degree[j] < min_right:
                    right_kept[j] = False
                    queue[tail] = n_left + j
                    tail += 1
        else:
            for e in range(right_indptr[node - n_left], right_indptr[node - n_left + 1]):
                i = right_indices[e]
                left_degree[i] -= 1
                if left_kept[i] and left_degree[i] < min_left:
                    left_kept[i] = False
                    queue[tail] = i
                    tail += 1


def warmup() -> None:
    """Compile for both index types that a graph can have."""
    for dtype in (np.int32, np.int64):
        indptr = np.array([0, 1], dtype=np.int64)
        indices: IntArray = np.zeros(1, dtype=dtype)
        indices.flags.writeable = False
        indptr.flags.writeable = False
        kept = np.empty(1, dtype=bool)
        peel(indptr, indices, indptr, indices, 1, 1, kept, kept.copy())
