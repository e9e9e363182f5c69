"""Which clusters are closest: inner loops of agglomeration (:mod:`bivec.places`)."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, kernel

_SPREAD, _MIX, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(29)
_TINY = 1e-12


@kernel
def closest(
    a: Array, b: Array, weights: Array, sizes: Array, partner: Array, best: Array, ties: Array
) -> None:  # pragma: no cover
    """Write the closest neighbour of each cluster, and how close it is; -1 where there is none.

    Link k is between clusters ``a[k] < b[k]``, which are as close as its weight over the product
    of their sizes. Of equally close ones the pair with the smallest hash counts, for both ends.
    """
    partner[:] = -1
    best[:] = 0
    for k in range(a.size):
        i, j = a[k], b[k]
        close = weights[k] / (sizes[i] * sizes[j])
        tie = (np.uint64(i) * _SPREAD) ^ (np.uint64(j) * _MIX)
        tie = (tie ^ (tie >> _SHIFT)) * _SPREAD
        for _ in range(2):
            if close > best[i] or (close == best[i] and tie < ties[i]):
                partner[i], best[i], ties[i] = j, close, tie
            i, j = j, i


@kernel
def absorb(
    order: Array, partner: Array, best: Array, sizes: Array, room: Array, share: float, to: Array
) -> None:  # pragma: no cover
    """Write the cluster that each one becomes a part of: itself, or one it is closest to.

    Two that are closest to each other become one. Those behind them follow in this order while the
    sizes of what comes together stay below ``room``, if they are closer to one of the two than
    ``share`` times what the two are to each other.
    """
    for i in range(to.size):
        j = partner[i]
        to[i] = j if j >= 0 and j < i and partner[j] == i else i
        if to[i] != i:
            room[j] -= sizes[i]
    for k in range(order.size):
        i = order[k]
        j = partner[i]
        if j < 0 or partner[j] == i or partner[partner[j]] != j:
            continue
        head = min(j, partner[j])
        if best[i] > share * best[j] and sizes[i] <= room[head]:
            to[i] = head
            room[head] -= sizes[i]


@kernel
def move(
    indptr: Array,
    indices: Array,
    weights: Array,
    sizes: Array,
    ends: Array,
    most: float,
    clusters: Array,
    held: Array,
    heard: Array,
    near: Array,
) -> int:  # pragma: no cover
    """Move each node in turn to the cluster where it gains most; return how many moved.

    A cluster gains its share of the weights, and loses its share of their ends times its size.

    Parameters
    ----------
    indptr, indices, weights : array
        The neighbours of each node, and shares of the weights between them.
    sizes, ends : array of float
        Of each node: its size, and the share of the ends of weights that are at it.
    most : float
        What a cluster may hold at most.
    clusters, held, heard : array
        The cluster of each node, and the sizes and ends of each cluster; written.
    near : array of float
        Room for a number for each cluster, all zeros.
    """
    moved = 0
    for i in range(clusters.size):
        old = clusters[i]
        held[old] -= sizes[i]
        heard[old] -= ends[i]
        for k in range(indptr[i], indptr[i + 1]):
            near[clusters[indices[k]]] += weights[k]
        best, most_gain = old, near[old] - ends[i] * held[old] - sizes[i] * heard[old] + _TINY
        for k in range(indptr[i], indptr[i + 1]):
            new = clusters[indices[k]]
            gain = near[new] - ends[i] * held[new] - sizes[i] * heard[new]
            if gain > most_gain and held[new] + sizes[i] <= most:
                best, most_gain = new, gain
        for k in range(indptr[i], indptr[i + 1]):
            near[clusters[indices[k]]] = 0
        held[best] += sizes[i]
        heard[best] += ends[i]
        clusters[i] = best
        moved += best != old
    return moved


def warmup() -> None:
    """Compile for links between clusters numbered in 64 bits."""
    one, none = np.ones(1), np.zeros(0, np.int64)
    partner = np.zeros(1, np.int64)
    closest(none, none, np.zeros(0), one, partner, one.copy(), np.zeros(1, np.uint64))
    absorb(none, partner, one, one, one.copy(), 0.5, np.zeros(1, np.int64))
    start, room = np.zeros(2, np.int64), np.zeros(1)
    move(start, none, room[:0], one, one, 0.5, partner.copy(), one.copy(), one.copy(), room)
