"""Ranking and measuring a block of users: each score is read once, no full sort."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, kernel


@kernel
def best(
    scores: Array, candidates: Array, known_indptr: Array, known_indices: Array, users: Array,
    masked: bool, items: Array,
) -> int:  # pragma: no cover  # fmt: skip
    """Fill each row of ``items`` with the candidates of the highest scores, best first.

    A row has room for k items; what stays free is -1. Of equal scores the one that comes first
    among the candidates wins: it is placed first and never displaced by its equals. Where
    ``masked``, the known items of the row's user are left out.

    Returns
    -------
    int
        The position of a NaN among the flattened scores, -1 if no candidate's score is one.
    """
    k = items.shape[1]
    top = np.empty(k, scores.dtype)
    left_out = np.zeros(scores.shape[1], np.bool_)
    for row in range(scores.shape[0]):
        user = users[row]
        if masked:
            for e in range(known_indptr[user], known_indptr[user + 1]):
                left_out[known_indices[e]] = True
        count = 0
        for item in candidates:
            score = scores[row, item]
            if np.isnan(score):
                return row * scores.shape[1] + item  # type: ignore[no-any-return]
            if left_out[item] or (count == k and not score > top[k - 1]):
                continue
            place = min(count, k - 1)
            while place > 0 and top[place - 1] < score:
                top[place] = top[place - 1]
                items[row, place] = items[row, place - 1]
                place -= 1
            top[place] = score
            items[row, place] = item
            count = min(count + 1, k)
        items[row, count:] = -1
        if masked:
            for e in range(known_indptr[user], known_indptr[user + 1]):
                left_out[known_indices[e]] = False
    return -1


@kernel
def measure(
    items: Array, first: int, truth_indptr: Array, truth: Array, n_items: int, out: Array
) -> None:  # pragma: no cover
    """Measure ranked lists, the first of which is that of user ``first`` of the ground truth.

    ``out`` has a row a user: precision, recall, NDCG, average precision, reciprocal rank.
    """
    k = items.shape[1]
    relevant = np.zeros(n_items, np.bool_)
    for row in range(items.shape[0]):
        start, stop = truth_indptr[first + row], truth_indptr[first + row + 1]
        for t in range(start, stop):
            relevant[truth[t]] = True
        hits, gain, ideal, precisions, reciprocal = 0, 0.0, 0.0, 0.0, 0.0
        for place in range(k):
            discount = 1.0 / np.log2(place + 2.0)
            if place < stop - start:
                ideal += discount
            if items[row, place] >= 0 and relevant[items[row, place]]:
                hits += 1
                gain += discount
                precisions += hits / (place + 1.0)
                if hits == 1:
                    reciprocal = 1.0 / (place + 1.0)
        out[row, 0] = hits / k
        out[row, 1] = hits / (stop - start)
        out[row, 2] = gain / ideal
        out[row, 3] = precisions / (stop - start)
        out[row, 4] = reciprocal
        for t in range(start, stop):
            relevant[truth[t]] = False


def warmup() -> None:
    """Compile for both index types that a graph can have."""
    scores, rows = np.zeros((1, 1), np.float32), np.zeros(1, np.int64)
    items, indptr = np.zeros((1, 1), np.int64), np.array([0, 1])
    fixed = indptr.copy()
    fixed.flags.writeable = False
    for dtype in (np.int32, np.int64):
        known = np.zeros(1, dtype)
        known.flags.writeable = False
        best(scores, rows, fixed, known, rows, True, items)
    measure(items, 0, indptr, rows, 1, np.empty((1, 5)))
