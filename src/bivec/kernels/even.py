"""Evening: rows of a table times a small matrix."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, kernel
from bivec.kernels.vector import pointer, weighted_sum

_ZERO = np.float32(0)


@kernel
def turn(
    table: Array,
    scales: Array,
    matrix: Array,
    every: Array,
    alone: Array,
    squares: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Write ``scales[i] * table[i] @ matrix`` to rows [start, stop); those alone stay.

    The square of what was written goes to ``squares``. ``every`` is 0, 1, 2 and so on, one for each
    column.
    """
    dim = table.shape[1]
    rows, columns, order = pointer(table), pointer(matrix), pointer(every)
    numbers = np.empty((2, dim), np.float32)
    old, new = pointer(numbers[0]), pointer(numbers[1])
    for i in range(start, stop):
        if alone[i]:
            continue
        at, square = i * dim, _ZERO
        for c in range(dim):
            old[c] = scales[i] * rows[at + c]
            new[c] = _ZERO
        weighted_sum(columns, dim, order, old, dim, new)
        for c in range(dim):
            rows[at + c] = new[c]
            square += new[c] * new[c]
        squares[i] = square


def warmup() -> None:
    """Compile for tables of any size."""
    one = np.ones(1, np.float32)
    table, alone = np.ones((1, 1), np.float32), np.zeros(1, bool)
    turn(table, one, np.ones((1, 1), np.float32), np.zeros(1, np.int64), alone, one.copy(), 0, 1)
