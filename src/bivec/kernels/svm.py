"""Support vector machines with an RBF kernel, made for very many small problems.

The dual of the soft-margin machine, with labels y of +1 and -1,

    min  1/2 sum_ij y_i y_j a_i a_j K_ij - sum_i a_i,   0 <= a_i <= C,  sum_i y_i a_i = 0,
    K_ij = exp(-gamma |x_i - x_j|^2),

is solved by sequential minimal optimisation: in each step the pair that violates the optimality
conditions most, by second-order information, is moved as far as it pays. With the errors
``f_i = y_i - sum_j y_j a_j K_ij`` everything is a matter of f: i maximises f over the points whose
``y a`` may grow, j is chosen among those whose ``y a`` may shrink, and the machine is done when the
largest f of the first kind exceeds the smallest of the second by less than ``tol``. Pair
choice, stopping rule and offset are those that LIBSVM documents (it shrinks the problem on the
way, this does not), so the decision values agree up to ``tol``; the tests hold that.

Rows of K are computed when asked for and kept while there is room, so memory is bounded.

References
----------
Fan, Chen, Lin, "Working set selection using second order information for training support vector
machines", JMLR 6, 2005.
Chang, Lin, "LIBSVM: a library for support vector machines", doi:10.1145/1961189.1961199.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivec.kernels.jit import Array, inner, kernel, vector_inner
from bivec.kernels.vector import pointer

_ZERO = np.float32(0)
_TINY = 1e-12
_LEAST_ROWS = 2


@vector_inner
def _squared_distances(
    own: Any, points: Any, dim: int, n: int, out: Any
) -> None:  # pragma: no cover
    """Write ``out[m] = |own - points[m]|^2``, four points at a time.

    Differences instead of norms and dots: nothing cancels, however long the vectors.
    """
    whole = n - n % 4
    for m in range(0, whole, 4):
        r0 = m * dim
        r1, r2, r3 = r0 + dim, r0 + 2 * dim, r0 + 3 * dim
        s0 = s1 = s2 = s3 = _ZERO
        for c in range(dim):
            x = own[c]
            d0, d1 = x - points[r0 + c], x - points[r1 + c]
            d2, d3 = x - points[r2 + c], x - points[r3 + c]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
        out[m] = s0
        out[m + 1] = s1
        out[m + 2] = s2
        out[m + 3] = s3
    for m in range(whole, n):
        r0 = m * dim
        s0 = _ZERO
        for c in range(dim):
            d0 = own[c] - points[r0 + c]
            s0 += d0 * d0
        out[m] = s0


@inner
def _kernel_row(own: Array, points: Array, n: int, gamma: float, out: Array) -> None:
    # pragma: no cover
    """Write ``out[m] = exp(-gamma |own - points[m]|^2)`` for the first n points."""
    _squared_distances(pointer(own), pointer(points), points.shape[1], n, pointer(out))
    for m in range(n):
        out[m] = np.float32(math.exp(-gamma * out[m]))


@inner
def _row(
    i: int, points: Array, gamma: float, slots: Array, owners: Array, used: Array, clock: int,
    rows: Array,
) -> int:  # fmt: skip  # pragma: no cover
    """Return the slot that holds row i of K, computing it over the longest unused one if absent."""
    slot = slots[i]
    if slot < 0:
        slot = 0
        for s in range(len(owners)):
            if owners[s] < 0:
                slot = s
                break
            if used[s] < used[slot]:
                slot = s
        if owners[slot] >= 0:
            slots[owners[slot]] = -1
        slots[i] = slot
        owners[slot] = i
        _kernel_row(points[i], points, len(points), gamma, rows[slot])
    used[slot] = clock
    return slot  # type: ignore[no-any-return]


@inner
def _train(
    points: Array, labels: Array, c: float, gamma: float, tol: float, room: int, signed: Array
) -> float:  # pragma: no cover
    """Write ``y a`` of each point to ``signed`` and return the offset; both labels must occur."""
    n = len(points)
    kept = max(_LEAST_ROWS, min(n, room // (4 * n)))
    rows = np.empty((kept, n), np.float32)
    owners, used, slots = np.empty(kept, np.int64), np.empty(kept, np.int64), np.empty(n, np.int64)
    for s in range(kept):
        owners[s], used[s] = -1, 0
    error = np.empty(n, np.float64)
    low, high = np.empty(n, np.float64), np.empty(n, np.float64)
    for k in range(n):  # y a lies in [0, C] or in [-C, 0]
        slots[k] = -1
        signed[k] = 0.0
        error[k] = labels[k]
        low[k], high[k] = min(0.0, labels[k] * c), max(0.0, labels[k] * c)

    for clock in range(1, max(10_000_000, 100 * n)):
        i = -1
        top = -np.inf
        for k in range(n):
            if signed[k] < high[k] and error[k] >= top:
                top, i = error[k], k
        first = rows[_row(i, points, gamma, slots, owners, used, clock, rows)]
        j = -1
        bottom, best = np.inf, 0.0
        for k in range(n):
            if signed[k] > low[k]:
                bottom = min(bottom, error[k])
                gap = top - error[k]
                if gap > 0:
                    gain = gap * gap / max(2.0 - 2.0 * first[k], _TINY)
                    if gain >= best:
                        best, j = gain, k
        if j < 0 or top - bottom < tol:
            break
        second = rows[_row(j, points, gamma, slots, owners, used, clock, rows)]
        step = (top - error[j]) / max(2.0 - 2.0 * first[j], _TINY)
        room_i, room_j = high[i] - signed[i], signed[j] - low[j]
        step = min(step, room_i, room_j)
        # A bound is reached exactly, not up to rounding: what is at a bound is asked for by ==.
        signed[i] = high[i] if step == room_i else signed[i] + step
        signed[j] = low[j] if step == room_j else signed[j] - step
        for k in range(n):
            error[k] -= step * (np.float64(first[k]) - np.float64(second[k]))

    total, free = 0.0, 0
    top, bottom = -np.inf, np.inf
    for k in range(n):
        if low[k] < signed[k] < high[k]:
            total += error[k]
            free += 1
        elif signed[k] < high[k]:
            top = max(top, error[k])
        else:
            bottom = min(bottom, error[k])
    return total / free if free else (top + bottom) / 2


@inner
def _decide(
    points: Array, signed: Array, offset: float, gamma: float, queries: Array, row: Array,
    out: Array,
) -> None:  # fmt: skip  # pragma: no cover
    """Write ``sum_i y_i a_i K(x_i, query) + offset`` of each query, over support vectors only."""
    n = 0
    for k in range(len(points)):
        if signed[k] != 0.0:
            if n < k:
                for c in range(points.shape[1]):
                    points[n, c] = points[k, c]
                signed[n] = signed[k]
            n += 1
    for q in range(len(queries)):
        _kernel_row(queries[q], points, n, gamma, row)
        total = offset
        for m in range(n):
            total += signed[m] * row[m]
        out[q] = total


@inner
def classify_inner(
    points: Array, labels: Array, queries: Array, c: float, gamma: float, tol: float, room: int,
    out: Array,
) -> bool:  # fmt: skip  # pragma: no cover
    """Train on points, which are overwritten, and decide on queries; False if one label is absent.

    With points of a single label there is nothing to separate: every decision is that label. With
    no points at all it is -1.
    """
    positives = 0
    for k in range(len(labels)):
        positives += labels[k] > 0
    if positives == 0 or positives == len(labels):
        for q in range(len(out)):
            out[q] = 1.0 if positives else -1.0
        return False
    signed = np.empty(len(points), np.float64)
    offset = _train(points, labels, c, gamma, tol, room, signed)
    _decide(points, signed, offset, gamma, queries, np.empty(len(points), np.float32), out)
    return True


@kernel
def classify(
    points: Array, labels: Array, queries: Array, c: float, gamma: float, tol: float, room: int,
    out: Array,
) -> bool:  # fmt: skip  # pragma: no cover
    """Train one machine and write its decision values; ``points`` (float32) are overwritten.

    ``room`` is the bytes that rows of K may take; at least two rows are kept.
    """
    return classify_inner(points, labels, queries, c, gamma, tol, room, out)


def warmup() -> None:
    """Compile for float32 tables."""
    table = np.zeros((2, 1), np.float32)
    classify(table.copy(), np.array([1.0, -1.0]), table, 1.0, 0.1, 1e-3, 64, np.empty(2))
