"""HOBE's coefficients: squared error between the algebraic observation and a ReLU estimate.

A same-type estimate is ``max(0, x)``; a cross estimate is the product of two means of them, of
which only the first depends on the owner's row. A dot at or below 0 passes no gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import inner

_ZERO, _TWO = np.float32(0), np.float32(2)


@inner
def same_coefficients(x: Any, observed: Any, n: int) -> Any:  # pragma: no cover
    """Turn n same-type dots into derivatives of the loss; return (loss, number of pairs)."""
    loss, count = 0.0, 0
    for m in range(n):
        if observed[m] < 0:
            x[m] = 0
            continue
        gap = max(x[m], _ZERO) - observed[m]
        loss += gap * gap
        x[m] = _TWO * gap if x[m] > 0 else _ZERO
        count += 1
    return loss, count


@inner
def cross_coefficients(
    x: Any, at: int, y: Any, observed: Any, n: int, size: int
) -> Any:  # pragma: no cover
    """Turn the owner's dots ``x[at:]`` into derivatives of the loss; return (loss, pairs).

    ``size`` dots x, and as many y of the far side, belong to each of n pairs.
    """
    loss, count = 0.0, 0
    share = np.float32(1) / np.float32(size)
    for m in range(n):
        first = at + m * size
        if observed[m] < 0:
            for k in range(first, first + size):
                x[k] = 0
            continue
        p = q = _ZERO
        for k in range(size):
            p += max(x[first + k], _ZERO)
            q += max(y[m * size + k], _ZERO)
        p *= share
        q *= share
        gap = p * q - observed[m]
        loss += gap * gap
        slope = _TWO * gap * q * share
        for k in range(first, first + size):
            x[k] = slope if x[k] > 0 else _ZERO
        count += 1
    return loss, count
