"""Observations: what the graph says about a pair of nodes.

Lists are spans of ``indices``, a pointer (:mod:`bivec.kernels.vector`). All functions walk two
ascending lists of neighbours, the shorter one entry by entry and the longer one by galloping. A
list of more than ``cap`` neighbours is thinned to ``cap`` of them, evenly spaced: results are exact
up to there, and a pair of hubs costs no more than a bounded number of steps beyond.
"""

from __future__ import annotations

from typing import Any

from bivec.kernels.jit import inner
from bivec.kernels.view import NOTHING, bit

_TELLING = 64
"""Entries up to which marks are worth a look: with more than bits, most of them are set."""
_AT_HAND = 4
"""How many times the neighbours of the far end are looked at rather, if they are the owner's."""


@inner
def seek(indices: Any, low: int, high: int, value: int) -> int:  # pragma: no cover
    """Return the first position in [low, high) whose entry is not below ``value``, or ``high``."""
    step = 1
    probe = low
    while probe < high and indices[probe] < value:
        low = probe + 1
        probe = low + step
        step += step
    if probe < high:
        high = probe
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def linked(indices: Any, start: int, stop: int, value: int) -> bool:  # pragma: no cover
    """Whether an ascending list holds a value."""
    low, high = start, stop
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < stop and bool(indices[low] == value)


@inner
def count_shared(
    indices: Any, a: int, a_stop: int, b: int, b_stop: int, cap: int, most: int
) -> int:  # pragma: no cover
    """Count the entries that two lists share, up to ``most`` of them.

    Beyond the cap the count over the thinned list is scaled back up.
    """
    if a_stop - a > b_stop - b:
        a, a_stop, b, b_stop = b, b_stop, a, a_stop
    n = a_stop - a
    if a == b:
        return n
    looks = min(n, cap)
    count = 0
    for k in range(looks):
        value = indices[a + k * n // looks]
        b = seek(indices, b, b_stop, value)
        if b == b_stop:
            break
        if indices[b] == value:
            count += 1
            if count == most:
                break
    return count * n // looks if looks < n else count


@inner
def strongest_bridge(
    indices: Any,
    similarity: Any,
    a: int,
    a_stop: int,
    b: int,
    b_stop: int,
    bound: Any,
    cap: int,
    best: Any,
) -> Any:  # pragma: no cover
    """Return ``max(best, max over shared bridges of min(s, s))``: the paper's S'_A and S'_B.

    No bridge is stronger than ``bound``, so the search ends where one is as strong.
    """
    if a_stop - a > b_stop - b:
        a, a_stop, b, b_stop = b, b_stop, a, a_stop
    n = a_stop - a
    looks = min(n, cap)
    for k in range(looks):
        if best >= bound:
            break
        p = a + k * n // looks
        if similarity[p] <= best:
            continue
        b = seek(indices, b, b_stop, indices[p])
        if b == b_stop:
            break
        if indices[b] == indices[p]:
            best = max(best, min(similarity[p], similarity[b]))
    return best


@inner
def may_lead_beyond(
    indices: Any, similarity: Any, start: int, stop: int, known: int, marks: Any, best: Any
) -> bool:  # pragma: no cover
    """Whether an entry other than ``known``, stronger than ``best``, may be in another list.

    Told by the marks of the other list, without a look at it; of many entries nothing can be told.
    """
    if stop - start > _TELLING:
        return True
    for e in range(start, stop):
        if similarity[e] > best and e != known and marks & bit(indices[e]) != NOTHING:
            return True
    return False


@inner
def strongest_end(
    indices: Any,
    similarity: Any,
    a: int,
    a_stop: int,
    b: int,
    b_stop: int,
    near: Any,
    bound: Any,
    cap: int,
    best: Any,
) -> Any:  # pragma: no cover
    """Return ``max(best, max over shared entries of min(s_a, max(near, s_b)))``.

    List a belongs to the bridge next to one end of the path, ``near`` is the similarity of that
    step, and list b belongs to the other end. No path is stronger than ``bound``.
    """
    swapped = a_stop - a > b_stop - b
    if swapped:
        a, a_stop, b, b_stop = b, b_stop, a, a_stop
    n = a_stop - a
    looks = min(n, cap)
    for k in range(looks):
        if best >= bound:
            break
        p = a + k * n // looks
        # Of list a the entry alone can be too weak; of list b only where the near step is, too.
        if similarity[p] <= best and not (swapped and near > best):
            continue
        b = seek(indices, b, b_stop, indices[p])
        if b == b_stop:
            break
        if indices[b] == indices[p]:
            middle, end = similarity[p], similarity[b]
            if swapped:
                middle, end = end, middle
            best = max(best, min(middle, max(near, end)))
    return best


@inner
def strongest_path(
    view: Any, i: int, j: int, known: int, cap: int, best: Any
) -> Any:  # pragma: no cover
    """Return ``max(best, S'_V(i, j))`` for node i of the view's own side and j of the far side.

    The two maxima of the paper run over the same paths i - b - a - j: the first takes
    ``min(s(i, b), s(b, a))``, the second ``min(s(b, a), s(a, j))``. So their maximum is
    ``min(s(b, a), max(s(i, b), s(a, j)))``, maximised over the paths. Node i is expanded, whose
    neighbours are at hand for all its samples, or j where it has far fewer; a neighbour that
    shares none with the other end, or whose strongest edges cannot lead beyond the best so far, is
    left out. ``best`` is the strength of a path whose middle edge, from the far side, is ``known``.
    """
    i_start, i_stop = view.indptr[i], view.indptr[i + 1]
    j_start, j_stop = view.far_indptr[j], view.far_indptr[j + 1]
    if i_stop - i_start <= _AT_HAND * (j_stop - j_start):
        n = i_stop - i_start
        looks = min(n, cap)
        marks = view.far_marks[j]
        for k in range(looks):
            e = i_start + k * n // looks
            b = view.indices[e]
            if view.far_marks[b] & marks == NOTHING or not may_lead_beyond(
                view.far_indices, view.far_similarity, view.far_indptr[b], view.far_indptr[b + 1],
                known, marks, best,
            ):  # fmt: skip
                continue
            bound = min(view.far_most[b], max(view.similarity[e], view.far_most[j]))
            if bound > best:
                best = strongest_end(
                    view.far_indices, view.far_similarity, view.far_indptr[b],
                    view.far_indptr[b + 1], j_start, j_stop, view.similarity[e], bound, cap, best,
                )  # fmt: skip
    else:
        n = j_stop - j_start
        looks = min(n, cap)
        for k in range(looks):
            e = j_start + k * n // looks
            a = view.far_indices[e]
            bound = min(view.most[a], max(view.far_similarity[e], view.most[i]))
            if bound > best and view.marks[a] & view.marks[i] != NOTHING:
                best = strongest_end(
                    view.indices, view.similarity, view.indptr[a], view.indptr[a + 1],
                    i_start, i_stop, view.far_similarity[e], bound, cap, best,
                )  # fmt: skip
    return best


@inner
def count_paths(view: Any, i: int, j: int, cap: int) -> int:  # pragma: no cover
    """Count the paths i - b - a - j; the end with fewer neighbours is expanded."""
    i_start, i_stop = view.indptr[i], view.indptr[i + 1]
    j_start, j_stop = view.far_indptr[j], view.far_indptr[j + 1]
    total = 0
    if i_stop - i_start <= j_stop - j_start:
        n = i_stop - i_start
        looks = min(n, cap)
        for k in range(looks):
            b = view.indices[i_start + k * n // looks]
            total += count_shared(
                view.far_indices,
                view.far_indptr[b],
                view.far_indptr[b + 1],
                j_start,
                j_stop,
                cap,
                -1,
            )
    else:
        n = j_stop - j_start
        looks = min(n, cap)
        for k in range(looks):
            a = view.far_indices[j_start + k * n // looks]
            total += count_shared(
                view.indices, view.indptr[a], view.indptr[a + 1], i_start, i_stop, cap, -1
            )
    return total * n // looks if looks < n else total
