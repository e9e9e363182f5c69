"""Products of two tables at the entries of a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import Array, kernel, vector_inner
from bivec.kernels.vector import pointer


@vector_inner
def _dot(first: Any, at: int, second: Any, place: int, dim: int) -> Any:  # pragma: no cover
    total = np.float32(0)
    for k in range(dim):
        total += first[at + k] * second[place + k]
    return total


@kernel
def entry_dots(
    indptr: Array, indices: Array, first: Array, second: Array, start: int, stop: int, out: Array
) -> None:  # pragma: no cover
    """Write, for each entry of rows [start, stop), row of one table times column of the other.

    The tables are contiguous and of one width.
    """
    dim, a, b = first.shape[1], pointer(first), pointer(second)
    for row in range(start, stop):
        for e in range(indptr[row], indptr[row + 1]):
            out[e] = _dot(a, row * dim, b, np.int64(indices[e]) * dim, dim)


def warmup() -> None:
    """Compile for float32 tables and both kinds of indices, as scipy has them."""
    table = np.zeros((1, 2), np.float32)
    for kind in (np.int32, np.int64):
        ends, places = np.array([0, 1], kind), np.zeros(1, kind)
        entry_dots(ends, places, table, table, 0, 1, np.empty(1))
