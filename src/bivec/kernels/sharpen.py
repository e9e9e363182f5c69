"""Sharpening: a row moves to the mean of the landmarks around it, and keeps its length."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.vector import dots_between, pointer, weighted_sum

_ONE, _ZERO = np.float32(1), np.float32(0)
_FAR = np.float32(-12)
"""Logarithm of a weight that would change nothing."""


@inner
def _near(
    cosines: Any, weights: Any, m: int, sharpness: Any, near: Any, pulls: Any
) -> int:  # pragma: no cover
    """List the landmarks that count, and how much; return how many."""
    count = 0
    for k in range(m):
        exponent = sharpness * (cosines[k] - _ONE)
        if exponent > _FAR:
            near[count] = k
            pulls[count] = weights[k] * np.exp(exponent)
            count += 1
    return count


@kernel
def pull(
    table: Array,
    landmarks: Array,
    weights: Array,
    every: Array,
    sharpness: float,
    own: float,
    alone: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Pull rows [start, stop) of length 1 to the landmarks near them; those alone stay.

    A landmark counts by its weight times ``exp(sharpness * (cosine - 1))``, the row by ``own``.
    ``every`` is 0, 1, 2 and so on, one for each landmark.
    """
    m, dim = landmarks.shape
    rows, marks, order = pointer(table), pointer(landmarks), pointer(every)
    places = np.empty(m, np.int64)
    numbers = np.empty((2, m), np.float32)
    room = np.empty(dim, np.float32)
    near, cosines, pulls, sums = (
        pointer(places), pointer(numbers[0]), pointer(numbers[1]), pointer(room),
    )  # fmt: skip
    steep, itself = np.float32(sharpness), np.float32(own)
    for i in range(start, stop):
        if alone[i]:
            continue
        dots_between(rows, i * dim, marks, dim, order, 0, m, cosines)
        count = _near(cosines, pointer(weights), m, steep, near, pulls)
        for c in range(dim):
            sums[c] = itself * rows[i * dim + c]
        weighted_sum(marks, dim, near, pulls, count, sums)
        square = _ZERO
        for c in range(dim):
            square += sums[c] * sums[c]
        scale = _ONE / np.sqrt(square) if square > 0 else _ONE
        for c in range(dim):
            rows[i * dim + c] = sums[c] * scale


def warmup() -> None:
    """Compile for tables of float32."""
    one = np.ones(1, np.float32)
    table = np.ones((1, 2), np.float32)
    pull(table, table.copy(), one, np.zeros(1, np.int64), 1.0, 1.0, np.zeros(1, bool), 0, 1)
