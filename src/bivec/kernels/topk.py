"""The best of many scores, block by block: heaps that grow while blocks of columns come in.

A heap holds the best seen so far, the worst of them at its root. Of equal scores the lower row is
better, so the result is one and the same whatever the blocks and the threads.

Blocks come from BLAS, which rounds differently for every shape of a block. Where the tables of
vectors are at hand, a block's score only says who may be among the best, with a margin for that
rounding; who is, is decided by a dot in double precision, rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.observe import linked
from bivec.kernels.vector import pointer

_LOOK = 32
"""Scores that are compared with the worst of the best at once."""
_ULP = np.float32(2.0**-24)
_NEVER = np.float32(-np.inf)


@inner
def exact_dot(a: Any, i: int, b: Any, j: int, dim: int) -> Any:  # pragma: no cover
    """Return a dot of two float32 rows: exact products, four sums in double precision."""
    x, y = i * dim, j * dim
    s0 = s1 = s2 = s3 = 0.0
    whole = dim - dim % 4
    for c in range(0, whole, 4):
        s0 += np.float64(a[x + c]) * np.float64(b[y + c])
        s1 += np.float64(a[x + c + 1]) * np.float64(b[y + c + 1])
        s2 += np.float64(a[x + c + 2]) * np.float64(b[y + c + 2])
        s3 += np.float64(a[x + c + 3]) * np.float64(b[y + c + 3])
    for c in range(whole, dim):
        s0 += np.float64(a[x + c]) * np.float64(b[y + c])
    return np.float32((s0 + s1) + (s2 + s3))


@inner
def worse(score: Any, key: int, than: Any, than_key: int) -> bool:  # pragma: no cover
    """Whether a score comes after another; of equals the one with the higher key does."""
    return bool(score < than or (score == than and key > than_key))


@inner
def sink(scores: Any, keys: Any, at: int, n: int, place: int) -> None:  # pragma: no cover
    """Move the entry at a place of a heap of n entries down to where it belongs."""
    score, key = scores[at + place], keys[at + place]
    while True:
        child = 2 * place + 1
        if child >= n:
            break
        if child + 1 < n and worse(
            scores[at + child + 1], keys[at + child + 1], scores[at + child], keys[at + child]
        ):
            child += 1
        if not worse(scores[at + child], keys[at + child], score, key):
            break
        scores[at + place], keys[at + place] = scores[at + child], keys[at + child]
        place = child
    scores[at + place], keys[at + place] = score, key


@inner
def offer(
    scores: Any, keys: Any, at: int, count: int, room: int, score: Any, key: int
) -> int:  # pragma: no cover
    """Put an entry into a heap if it is among the best ``room``; return the heap's new size."""
    if count == room:
        if worse(scores[at], keys[at], score, key):
            scores[at], keys[at] = score, key
            sink(scores, keys, at, count, 0)
        return count
    place = count
    while place > 0:
        parent = (place - 1) >> 1
        if not worse(score, key, scores[at + parent], keys[at + parent]):
            break
        scores[at + place], keys[at + place] = scores[at + parent], keys[at + parent]
        place = parent
    scores[at + place], keys[at + place] = score, key
    return count + 1


@inner
def margin_of(length: Any, widest: Any, dim: int) -> Any:  # pragma: no cover
    """Return by how much a block's score may be off: 0 where the block is final.

    Where single precision may overflow on the way, it is no bound at all.
    """
    if dim == 0:
        return np.float32(0)
    product = np.float64(length) * np.float64(widest)
    return np.float32(2 * (dim + 2) * _ULP * product) if product < 1e37 else np.float32(np.inf)


@inner
def any_above(block: Any, start: int, stop: int, limit: Any) -> bool:  # pragma: no cover
    """Whether any score may reach the limit; without a branch, so that it runs in lanes.

    What is no number may: products too long for single precision are left to the exact dot.
    """
    below = 0
    for c in range(start, stop):
        below += block[c] < limit
    return below < stop - start


@kernel
def take_block(
    block: Array,
    columns: Array,
    queries: Array,
    targets: Array,
    norms: Array,
    reach: Array,
    rows: Array,
    known_indptr: Array,
    known_indices: Array,
    masked: bool,
    barred: Array,
    top: Array,
    items: Array,
    counts: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Let a block of scores compete for the places of rows [start, stop) of it.

    Column c of the block stands for node ``columns[c]``, ascending over all blocks. ``rows`` are
    the nodes that ask: their known neighbours are left out where ``masked``; a node that is
    ``barred`` (empty: none is) is left out for all. ``queries`` and ``targets`` have the vectors
    (empty: the block is final), ``norms`` the lengths of the targets, ``reach`` the lengths of the
    queries.
    """
    room, width, dim = items.shape[1], block.shape[1], queries.shape[1]
    exact, bars = dim > 0, barred.size > 0
    data, query, target = pointer(block), pointer(queries), pointer(targets)
    best, found, known = pointer(top), pointer(items), pointer(known_indices)
    widest = np.float32(0)
    if exact:
        for c in range(width):
            widest = max(widest, norms[columns[c]])
    for r in range(start, stop):
        row, at, count = rows[r], r * room, counts[r]
        slack = margin_of(reach[r], widest, dim)
        limit = best[at] - slack if count == room else _NEVER
        for first in range(0, width, _LOOK):
            last = min(first + _LOOK, width)
            if count == room and not any_above(data, r * width + first, r * width + last, limit):
                continue
            for c in range(first, last):
                item, score = columns[c], data[r * width + c]
                if count == room and score < limit:
                    continue
                if bars and barred[item]:
                    continue
                if masked and linked(known, known_indptr[row], known_indptr[row + 1], item):
                    continue
                if exact:
                    score = exact_dot(query, r, target, item, dim)
                if not score >= _NEVER:  # no number
                    score = _NEVER
                count = offer(best, found, at, count, room, score, item)
                if count == room:
                    limit = best[at] - slack
        counts[r] = count


@kernel
def take_listed(
    listed: Array,
    lengths: Array,
    queries: Array,
    targets: Array,
    rows: Array,
    known_indptr: Array,
    known_indices: Array,
    barred: Array,
    top: Array,
    items: Array,
    counts: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Let the first ``lengths[r]`` nodes of each list compete for the places of its row.

    The rest is as for :func:`take_block`, with known neighbours left out for all.
    """
    room, dim = items.shape[1], queries.shape[1]
    query, target, known = pointer(queries), pointer(targets), pointer(known_indices)
    best, found = pointer(top), pointer(items)
    for r in range(start, stop):
        row, count = rows[r], counts[r]
        for k in range(lengths[r]):
            item = int(listed[r, k])
            if barred.size > 0 and barred[item]:
                continue
            if linked(known, known_indptr[row], known_indptr[row + 1], item):
                continue
            score = exact_dot(query, r, target, item, dim)
            if not score >= _NEVER:
                score = _NEVER
            count = offer(best, found, r * room, count, room, score, item)
        counts[r] = count


@kernel
def take_pairs(
    block: Array,
    columns: Array,
    queries: Array,
    targets: Array,
    norms: Array,
    reach: Array,
    rows: Array,
    known_indptr: Array,
    known_indices: Array,
    top: Array,
    keys: Array,
    count: int,
    n_columns: int,
) -> int:  # pragma: no cover
    """Let all pairs of a block compete for one list of pairs; return its new length.

    A pair is ``row * n_columns + column``. Edges are no candidates.
    """
    room, width, dim = top.size, block.shape[1], queries.shape[1]
    exact = dim > 0
    data, query, target = pointer(block), pointer(queries), pointer(targets)
    best, found, known = pointer(top), pointer(keys), pointer(known_indices)
    widest = np.float32(0)
    if exact:
        for c in range(width):
            widest = max(widest, norms[columns[c]])
    for r in range(block.shape[0]):
        row = rows[r]
        slack = margin_of(reach[r], widest, dim)
        for first in range(0, width, _LOOK):
            last = min(first + _LOOK, width)
            if count == room and not any_above(
                data, r * width + first, r * width + last, best[0] - slack
            ):
                continue
            for c in range(first, last):
                item, score = columns[c], data[r * width + c]
                if count == room and score < best[0] - slack:
                    continue
                if linked(known, known_indptr[row], known_indptr[row + 1], item):
                    continue
                if exact:
                    score = exact_dot(query, r, target, item, dim)
                if not score >= _NEVER:
                    score = _NEVER
                count = offer(best, found, 0, count, room, score, row * n_columns + item)
    return count


@kernel
def settle(top: Array, keys: Array, counts: Array) -> None:  # pragma: no cover
    """Turn each heap into a list, best first."""
    room = top.shape[1]
    scores, found = pointer(top), pointer(keys)
    for r in range(top.shape[0]):
        at = r * room
        for n in range(counts[r] - 1, 0, -1):
            scores[at], scores[at + n] = scores[at + n], scores[at]
            found[at], found[at + n] = found[at + n], found[at]
            sink(scores, found, at, n, 0)


@kernel
def pair_dots(
    queries: Array, targets: Array, rows: Array, columns: Array, out: Array
) -> None:  # pragma: no cover
    """Write the dot of row ``rows[m]`` of the queries and ``columns[m]`` of the targets."""
    query, target = pointer(queries), pointer(targets)
    for m in range(rows.size):
        out[m] = exact_dot(query, rows[m], target, columns[m], queries.shape[1])


@kernel
def centroids(
    indptr: Array, indices: Array, weights: Array, rows: Array, table: Array, out: Array
) -> None:  # pragma: no cover
    """Write the weighted mean of the neighbours' vectors of each row; zeros without neighbours."""
    dim = table.shape[1]
    total = np.empty(dim)
    for r in range(rows.size):
        total[:] = 0
        weight = 0.0
        for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
            w = np.float64(weights[e])
            weight += w
            for c in range(dim):
                total[c] += w * np.float64(table[indices[e], c])
        for c in range(dim):
            out[r, c] = total[c] / weight if weight > 0 else 0.0


def warmup() -> None:
    """Compile for tables of float32 and a graph with 32-bit indices."""
    table, rows = np.zeros((1, 4), np.float32), np.zeros(1, np.int64)
    block, norms, counts = np.zeros((1, 1), np.float32), np.zeros(1, np.float32), rows.copy()
    indptr, indices = np.array([0, 1], np.int64), np.zeros(1, np.int32)
    weights = np.ones(1, np.float32)
    for array in (indptr, indices, weights):
        array.flags.writeable = False
    top, items = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.int64)
    arrays = (block, rows, table, table, norms, norms, rows, indptr, indices)
    take_block(*arrays, True, np.zeros(1, np.bool_), top, items, counts, 0, 1)
    take_pairs(*arrays, top[0], items[0], 0, 1)
    take_listed(
        np.zeros((1, 1), np.uint64), rows, table, table, rows, indptr, indices,
        np.zeros(1, np.bool_), top, items, counts, 0, 1,
    )  # fmt: skip
    settle(top, items, counts)
    pair_dots(table, table, rows, rows, norms)
    centroids(indptr, indices, weights, rows, table, table.copy())
