"""FOBE's coefficients: from dots and observations to the loss and its derivative by each dot.

With p the estimate of a pair, the loss is the Bernoulli KL divergence of the observation o from it,
``-o log p - w (1 - o) log(1 - p)`` with a weight w of negatives. A same-type estimate is
``sigmoid(x)``; a cross estimate is the product of two means of sigmoids, of which only the first
depends on the owner's row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import inner, vector_inner

_TINY = np.float32(1e-7)
"""Least probability whose logarithm is taken, about the resolution of the estimates."""
_LOG_EVERY = 32
"""Factors between logarithms: 1e-7 to the power of 32 is still far from underflow."""
_HALF, _ONE, _LIMIT = np.float32(0.5), np.float32(1), np.float32(8)
_P = tuple(
    np.float32(c)
    for c in (
        -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
        1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03,
    )
)  # fmt: skip
_Q = tuple(
    np.float32(c)
    for c in (
        1.19825839466702e-06,
        1.18534705686654e-04,
        2.26843463243900e-03,
        4.89352518554385e-03,
    )
)
_P0, _P1, _P2, _P3, _P4, _P5, _P6 = _P
_Q0, _Q1, _Q2, _Q3 = _Q


@vector_inner
def sigmoids(x: Any, start: int, stop: int) -> None:  # pragma: no cover
    """Replace numbers by their sigmoids, as ``(1 + tanh(x / 2)) / 2``.

    The hyperbolic tangent is the rational function of Eigen's single-precision version, within
    1e-7 of the exact one: no branch and no call, so the loop runs in lanes.
    """
    for m in range(start, stop):
        t = max(-_LIMIT, min(_LIMIT, _HALF * x[m]))
        s = t * t
        p = (((((_P0 * s + _P1) * s + _P2) * s + _P3) * s + _P4) * s + _P5) * s + _P6
        q = ((_Q0 * s + _Q1) * s + _Q2) * s + _Q3
        x[m] = _HALF + _HALF * (t * p / q)


@inner
def same_coefficients(x: Any, observed: Any, n: int, weight: Any) -> Any:  # pragma: no cover
    """Turn n same-type dots into derivatives of the loss; return (loss, number of pairs)."""
    sigmoids(x, 0, n)
    loss, count = 0.0, 0
    product: Any = 1.0
    negative_product: Any = 1.0
    for m in range(n):
        if observed[m] < 0:
            x[m] = 0
            continue
        p = x[m]
        if observed[m] > 0:
            x[m] = p - _ONE
            product *= max(p, _TINY)
        else:
            x[m] = weight * p
            negative_product *= max(_ONE - p, _TINY)
        count += 1
        if count % _LOG_EVERY == 0:
            loss -= np.log(product) + weight * np.log(negative_product)
            product = negative_product = 1.0
    return loss - np.log(product) - weight * np.log(negative_product), count


@inner
def cross_coefficients(
    x: Any, at: int, y: Any, observed: Any, n: int, size: int, weight: Any
) -> Any:  # pragma: no cover
    """Turn the owner's dots ``x[at:]`` into derivatives of the loss; return (loss, pairs).

    ``size`` dots x, and as many y of the far side, belong to each of n pairs. With p and q the two
    means, the derivative by a dot of p is ``-1 / p`` or, for a negative, ``w q / (1 - p q)``, times
    ``sigmoid'(x) / size``.
    """
    sigmoids(x, at, at + n * size)
    sigmoids(y, 0, n * size)
    loss, count = 0.0, 0
    product: Any = 1.0
    negative_product: Any = 1.0
    share = _ONE / np.float32(size)
    for m in range(n):
        first = at + m * size
        if observed[m] < 0:
            for k in range(first, first + size):
                x[k] = 0
            continue
        p = q = np.float32(0)
        for k in range(size):
            p += x[first + k]
            q += y[m * size + k]
        p = max(p * share, _TINY)
        q = max(q * share, _TINY)
        rest = max(_ONE - p * q, _TINY)
        if observed[m] > 0:
            slope = -share / p
            product *= max(p * q, _TINY)
        else:
            slope = weight * share * q / rest
            negative_product *= rest
        for k in range(first, first + size):
            x[k] = slope * x[k] * (_ONE - x[k])
        count += 1
        if count % _LOG_EVERY == 0:
            loss -= np.log(product) + weight * np.log(negative_product)
            product = negative_product = 1.0
    return loss - np.log(product) - weight * np.log(negative_product), count
