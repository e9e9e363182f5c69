"""Bridges between a left and a right node: all paths of three edges, the strongest kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.observe import seek
from bivec.kernels.vector import pointer


@inner
def likeness(a: Any, i: int, b: Any, j: int, trials: int) -> Any:  # pragma: no cover
    """Return the algebraic similarity of two nodes by their coordinates."""
    total = 0.0
    for r in range(trials):
        gap = np.float64(a[i * trials + r]) - np.float64(b[j * trials + r])
        total += gap * gap
    return np.float32(1 - np.sqrt(total / trials))


@inner
def place(
    strengths: Any, terms: Any, keys: Any, count: int, strength: Any, term: Any, key: int
) -> int:  # pragma: no cover
    """Put a path where it belongs in lists of the strongest; return their new length.

    Equal strengths are common, as paths share edges: the larger term goes first, then the lower
    key.
    """
    to = count
    while to > 0:
        k = to - 1
        if strengths[k] > strength or (
            strengths[k] == strength and (terms[k] > term or (terms[k] == term and keys[k] < key))
        ):
            break
        if to < keys.size:
            strengths[to], terms[to], keys[to] = strengths[k], terms[k], keys[k]
        to = k
    if to < keys.size:
        strengths[to], terms[to], keys[to] = strength, term, key
        count = min(count + 1, keys.size)
    return count


@kernel
def find_bridges(
    indptr: Array,
    indices: Array,
    far_indptr: Array,
    far_indices: Array,
    own: Array,
    far: Array,
    i: int,
    j: int,
    p: Array,
    q: Array,
    strengths: Array,
    terms: Array,
    keys: Array,
) -> Any:  # pragma: no cover
    """Find the paths i - b - a - j that do not use the edge i - j itself.

    ``own`` and ``far`` are algebraic coordinates. ``p[k]`` is the estimate of i with the k-th
    neighbour of j, ``q[k]`` that of j with the k-th neighbour of i. The strongest paths go to
    ``strengths``, ``terms`` (their products of estimates) and ``keys`` (the place of b among the
    neighbours of i, times the degree of j, plus the place of a among the neighbours of j).

    Returns
    -------
    (number of paths, sum of their products of estimates)
    """
    trials = own.shape[1]
    x, y, lists, back = pointer(own), pointer(far), pointer(indices), pointer(far_indices)
    i_start, i_stop = indptr[i], indptr[i + 1]
    j_start, j_stop = far_indptr[j], far_indptr[j + 1]
    degree = j_stop - j_start
    count, paths, total = 0, 0, 0.0
    for e in range(i_start, i_stop):
        b = lists[e]
        if b == j:
            continue
        near = likeness(x, i, y, b, trials)
        # Walk the shorter of the lists of b and j, look up in the longer.
        s, s_stop, t, t_stop = far_indptr[b], far_indptr[b + 1], j_start, j_stop
        swapped = s_stop - s > t_stop - t
        if swapped:
            s, s_stop, t, t_stop = t, t_stop, s, s_stop
        while s < s_stop:
            a = back[s]
            t = seek(back, t, t_stop, a)
            if t == t_stop:
                break
            if back[t] == a and a != i:
                k = (s if swapped else t) - j_start
                middle = likeness(x, a, y, b, trials)
                end = likeness(x, a, y, j, trials)
                strength = min(middle, max(near, end))
                term = p[k] * q[e - i_start]
                paths += 1
                total += term
                key = (e - i_start) * degree + k
                count = place(strengths, terms, keys, count, strength, term, key)
            s += 1
    return paths, total


def warmup() -> None:
    """Compile for a graph with 32-bit indices."""
    indptr, indices = np.array([0, 1], np.int64), np.zeros(1, np.int32)
    for array in (indptr, indices):
        array.flags.writeable = False
    table, one = np.zeros((1, 1), np.float32), np.ones(1)
    find_bridges(
        indptr, indices, indptr, indices, table, table, 0, 0, one, one,
        np.empty(1, np.float32), np.empty(1), np.empty(1, np.int64),
    )  # fmt: skip
