"""BiNE: walks within a side, pairs from their windows, and both relations of a row at once.

Two nodes of a side are linked in its projection by the weight sum over k of w_ik w_jk. A step of a
walk on it is two steps on the graph, to k by w_ik times the strength of k, then to j by w_jk; the
projection is never built. Walks are kept in one list of rows, walk after walk with -1 in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.contrast import (
    SHARING,
    add_term,
    draw_noise,
    example,
    fill_pool,
    keep_row,
    room,
)
from bivec.kernels.jit import Array, inner, kernel, vector_inner
from bivec.kernels.observe import seek
from bivec.kernels.rng import below, mix, step_key, stream
from bivec.kernels.vector import aligned, pointer
from bivec.kernels.walk import draw_by_sums, fine_unit, see, walk_step

_WALKS = 80
"""Stream of random numbers of the walks."""
_TRIES = 16
"""Steps back to where the walk stands before it is taken for stuck."""
FURTHEST = 1.0
"""Length of the longest step of a row."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ONE, _ZERO, _NO_OFFSET, _TINY = np.float32(1), np.float32(0), np.float32(0), 1e-30


class Corpus(NamedTuple):
    """Walks, and by row where it stands in them.

    ``positions[starts[i]:starts[i + 1]]`` are the places of row i in ``walks``; ``sums`` runs over
    the numbers of contexts at these places. ``bucket`` is a hash of neighbours.
    """

    walks: Any
    starts: Any
    positions: Any
    sums: Any
    bucket: Any
    window: int


class Balance(NamedTuple):
    """What the relations of a row weigh: all its contexts together, and an edge of weight 1.

    ``far`` is the table that edges lead to.
    """

    implicit: Array
    explicit: float
    far: Array


@inner
def project_step(
    view: Any, reach: Any, far_reach: Any, row: int, key: Any, counter: int
) -> Any:  # pragma: no cover
    """Return a row of the same side by projected weight, or -1 if none is found."""
    for attempt in range(_TRIES):
        at = counter + 2 * attempt
        if row < view.n:
            e = draw_by_sums(reach, view.indptr[row], view.indptr[row + 1], key, at)
            middle = view.n + view.indices[e]
        else:
            i = row - view.n
            e = draw_by_sums(far_reach, view.far_indptr[i], view.far_indptr[i + 1], key, at)
            middle = np.int64(view.far_indices[e])
        j = walk_step(view, middle, key, at + 1)
        if j != row:
            return j
    return -1


@kernel
def walk_rows(
    sides: Any, reach: Array, far_reach: Array, seed: int, stop_probability: float, counts: Array,
    offsets: Array, walks: Array, fill: bool, first: int, last: int,
) -> None:  # fmt: skip  # pragma: no cover
    """Walk from rows [first, last), ``counts`` times each.

    Without ``fill`` the room of each row's walks goes to ``offsets[row + 1]``; with it, ``offsets``
    are where they begin, and the walks are written.
    """
    view, by, far_by = see(sides), pointer(reach), pointer(far_reach)
    for row in range(first, last):
        at = offsets[row] if fill else 0
        for number in range(counts[row]):
            key = step_key(stream(seed, _WALKS, row), number)
            place, counter = row, 0
            while place >= 0:
                if fill:
                    walks[at] = place
                at += 1
                if fine_unit(key, counter) < stop_probability:
                    break
                place = project_step(view, by, far_by, place, key, counter + 1)
                counter += 1 + 2 * _TRIES
            if fill:
                walks[at] = -1
            at += 1
        if not fill:
            offsets[row + 1] = at


@inner
def window_start(walks: Any, at: int, window: int) -> int:  # pragma: no cover
    """Return the first place of the window around a place."""
    start = at
    while start > 0 and at - start < window and walks[start - 1] >= 0:
        start -= 1
    return start


@kernel
def count_contexts(walks: Array, window: int, out: Array) -> None:  # pragma: no cover
    """Write how many contexts each place has: the others of its walk within the window."""
    for at in range(walks.size):
        out[at] = 0
        if walks[at] >= 0:
            stop = at
            while stop + 1 < walks.size and stop - at < window and walks[stop + 1] >= 0:
                stop += 1
            out[at] = stop - window_start(walks, at, window)


@kernel
def hash_neighbors(sides: Any, out: Array) -> None:  # pragma: no cover
    """Write the least hash of each row's neighbours.

    Two rows share it with the probability that is the Jaccard similarity of their neighbourhoods
    (Broder, "On the resemblance and containment of documents", SEQUENCES 1997).
    """
    view = see(sides)
    for row in range(out.size):
        least = np.uint64(0xFFFFFFFFFFFFFFFF)
        if row < view.n:
            for e in range(view.indptr[row], view.indptr[row + 1]):
                least = min(least, mix(_GOLDEN * np.uint64(view.indices[e] + 1)))
        else:
            for e in range(view.far_indptr[row - view.n], view.far_indptr[row - view.n + 1]):
                least = min(least, mix(_GOLDEN * np.uint64(view.far_indices[e] + 1)))
        out[row] = least


@inner
def draw_context(corpus: Any, row: int, key: Any) -> Any:  # pragma: no cover
    """Return a uniform one of all contexts of a row, which has some."""
    first, last = corpus.starts[row], corpus.starts[row + 1]
    goal = corpus.sums[first] + below(key, 0, corpus.sums[last] - corpus.sums[first])
    entry = seek(corpus.sums, first, last, goal + 1) - 1
    at = corpus.positions[entry]
    place = window_start(corpus.walks, at, corpus.window) + goal - corpus.sums[entry]
    return np.int64(corpus.walks[place + 1 if place >= at else place])


@inner
def sample_implicit(
    plan: Any, corpus: Any, row: int, weight: Any, scratch: Any
) -> Any:  # pragma: no cover
    """Write the contexts and noise of a visit; noise of the row's own bucket has no weight."""
    pairs = stream(plan.seed, plan.relation, row)
    key = step_key(stream(plan.seed, plan.relation + 2, row), plan.first)
    each = 1 + plan.n_negatives
    for s in range(plan.number):
        at = s * each
        scratch.rows[at] = draw_context(corpus, row, step_key(pairs, plan.first + s))
        scratch.weights[at] = _ONE
        draw_noise(plan, scratch.pool, row, key, s, at, weight, scratch.rows, scratch.weights)
        for m in range(at + 1, at + each):
            if corpus.bucket[scratch.rows[m]] == corpus.bucket[row]:
                scratch.weights[m] = _ZERO
    return plan.number * each


@inner
def edges_of(view: Any, row: int) -> Any:  # pragma: no cover
    """Return where the edges of a row begin and end, in the lists of its side."""
    if row < view.n:
        return view.indptr[row], view.indptr[row + 1]
    return view.far_indptr[row - view.n], view.far_indptr[row - view.n + 1]


@inner
def see_edges(view: Any, row: int, e: int, n: int, scratch: Any) -> None:  # pragma: no cover
    """Write the other ends and weights of n edges of a row, from edge e on."""
    for m in range(n):
        if row < view.n:
            scratch.rows[m] = view.n + view.indices[e + m]
            weight = view.sums[e + m + 1] - view.sums[e + m] if view.weighted else 1.0
        else:
            scratch.rows[m] = view.far_indices[e + m]
            weight = view.far_sums[e + m + 1] - view.far_sums[e + m] if view.weighted else 1.0
        scratch.weights[m] = np.float32(weight)


@vector_inner
def bounded_step(
    gradient: Any, dim: int, step: float, out: Any, r: int
) -> None:  # pragma: no cover
    """Move row r of ``out`` down the gradient, by no more than ``FURTHEST``."""
    total = _ZERO
    for c in range(dim):
        total += gradient[c] * gradient[c]
    scale = np.float32(min(step, FURTHEST / max(np.sqrt(total), _TINY)))
    for c in range(dim):
        out[r * dim + c] -= scale * gradient[c]


@kernel
def bine_rows(
    sides: Any, plan: Any, tables: Any, arrays: Any, store: Any, balance: Any, fresh: Array,
    losses: Array, first: int, start: int, stop: int,
) -> None:  # fmt: skip  # pragma: no cover
    """Compute new rows ``first + start`` to ``first + stop`` into ``fresh[start:stop]``.

    The gradient is that of all edges, without noise, plus that of some contexts and their noise,
    as large as all of them would be. Edges have no optimum: how far a row gets is a matter of how
    many it has and how often it steps. Adagrad, which would level that, is not used.
    """
    view, scratch = see(sides), room(arrays)
    corpus = Corpus(
        pointer(store.walks), pointer(store.starts), pointer(store.positions), pointer(store.sums),
        pointer(store.bucket), store.window,
    )  # fmt: skip
    own, other = pointer(tables.own), pointer(tables.other)
    far, noise = pointer(balance.far), pointer(tables.noise)
    out, loss = pointer(fresh), pointer(losses)
    dim, total = tables.own.shape[1], tables.own.shape[0]
    room_for = plan.number * (1 + plan.n_negatives)
    for r in range(start, stop):
        row = first + r
        if r == start or row == view.n or row % SHARING == 0:
            fill_pool(noise, plan, view.n, total, row, scratch.pool)
        keep_row(own, dim, row, out, r, loss)
        for c in range(dim):
            scratch.gradient[c] = _ZERO
        if balance.implicit[row] > 0:
            weight = tables.weights[row if tables.weights.size > 1 else 0]
            n = sample_implicit(plan, corpus, row, weight, scratch)
            each = np.float32(balance.implicit[row] / plan.number)
            part, count = add_term(own, row, other, dim, scratch, n, _NO_OFFSET, each)
            loss[2 * r] += part
            loss[2 * r + 1] += count
        if balance.explicit > 0:
            e, stop_edge = edges_of(view, row)
            while e < stop_edge:
                n = min(room_for, stop_edge - e)
                see_edges(view, row, e, n, scratch)
                part, count = add_term(
                    own, row, far, dim, scratch, n, _NO_OFFSET, np.float32(balance.explicit)
                )
                loss[2 * r] += part
                loss[2 * r + 1] += count
                e += n
        bounded_step(scratch.gradient, dim, plan.rate, out, r)


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    sides, plan, tables, scratch = example()
    sums = np.array([0.0, 1.0])
    walks, offsets, ones = np.zeros(2, np.int32), np.zeros(3, np.int64), np.ones(2, np.int64)
    walk_rows(sides, sums, sums, 0, 0.5, ones, offsets, walks, False, 0, 2)
    bucket, contexts = np.zeros(2, np.uint64), np.zeros(2, np.int64)
    count_contexts(walks, 1, contexts)
    hash_neighbors(sides, bucket)
    corpus = Corpus(walks, np.zeros(3, np.int64), contexts, np.zeros(3, np.int64), bucket, 1)
    balance = Balance(np.zeros(2), 0.1, tables.own)
    bine_rows(
        sides, plan, tables, scratch, corpus, balance, aligned((2, 8)), np.empty((2, 2)), 0, 0, 2
    )
