"""Procedure 1 of the paper, one node at a time: pairs, their sampled neighbourhoods, observations.

Every function is a pure function of (seed, relation, node, step), so training derives the samples
that :func:`bivec.sample_observations` shows without storing any. Nothing two-hop is ever built: a
pair costs a walk of two or three steps whatever the degrees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.observe import (
    count_paths,
    count_shared,
    linked,
    may_lead_beyond,
    seek,
    strongest_bridge,
    strongest_path,
)
from bivec.kernels.rng import below, bits, even, step_key, stream, unit
from bivec.kernels.vector import aligned, pointer
from bivec.kernels.view import FOBE, HOBE, NOTHING, SET, WALK, Plan, example, look

_POOLS, _BRIDGES, _WALKS = 100, 120, 124
"""Streams of random numbers of pools, bridges and walks, apart from those of the samples."""
TRIES = 8
"""Draws before a pair that cannot be had (no second neighbour, no unobserved node) is given up."""
SET_TRIES = 32
"""Paths before a draw from the set settles for the last one."""
SET_CAP = 32
"""Neighbours of a node that counting the paths to a draw from the three-step set looks at."""
POOL = 64
"""Candidates for negatives, a power of two: with their neighbours they fit in the cache of a core.
"""
SHARING, ROUND = 1024, 4
"""Consecutive nodes, and steps, that take their negatives from one pool."""
TURNS = 50
"""Turns of a node, among which its steps are shared out: one neighbour has a turn."""
_SLOT = np.uint64(POOL - 1)
_LANES = 8
"""Slots of the pool in the bits of one random number."""


class Pool(NamedTuple):
    """Candidates for negatives of either relation, -1 for a node without edges (pointers).

    Each owner draws from the pool on its own, so for any one row its negatives are as good as drawn
    from all nodes; what owners share is the cost of fetching them. ``neighbors`` has a sampled
    neighbourhood of each candidate of the far side. The pools of several rounds of steps, from
    ``first`` on, follow each other. ``key`` is that of the draws which they hold.
    """

    same: Any
    cross: Any
    neighbors: Any
    key: Any
    first: int


@inner
def make_pool(arrays: Any, step: int) -> Any:  # pragma: no cover
    """Return the pointers of the arrays, which must outlive them; ``step`` is the first to come."""
    return Pool(
        pointer(arrays.same), pointer(arrays.cross), pointer(arrays.neighbors),
        pointer(arrays.key), step // ROUND,
    )  # fmt: skip


@inner
def fill_pool(view: Any, plan: Any, i: int, stop: int, pool: Any) -> None:  # pragma: no cover
    """See to it that the pools are those from which node i takes its negatives to step ``stop``."""
    size, relation = plan.n_neighbors, _POOLS + 4 * plan.side
    last = (stop - 1) // ROUND
    key = step_key(step_key(stream(plan.seed, relation, i // SHARING), pool.first), last)
    if plan.n_negatives == 0 or pool.key[0] == key:
        return
    pool.key[0] = key
    for number in range(pool.first, last + 1):
        same = step_key(stream(plan.seed, relation, i // SHARING), number)
        cross = step_key(stream(plan.seed, relation + 2, i // SHARING), number)
        for k in range(POOL):
            to = (number - pool.first) * POOL + k
            j = below(same, k, view.n)
            pool.same[to] = j if view.indptr[j] < view.indptr[j + 1] else -1
            j = below(cross, k, view.n_far)
            pool.cross[to] = -1
            if view.far_indptr[j] < view.far_indptr[j + 1]:
                pool.cross[to] = j
                draw_neighbors(
                    view.far_indptr, view.far_indices, j, -1, cross, POOL + k * size,
                    pool.neighbors, to * size, size,
                )  # fmt: skip


@inner
def draw_slot(pool: Any, key: Any, step: int, m: int, attempt: int) -> Any:  # pragma: no cover
    """Return the slot of the pool that the m-th negative of a step tries."""
    word = bits(key, (m // _LANES) * TRIES + attempt)
    slot = (word >> np.uint64(_LANES * (m % _LANES))) & _SLOT
    return (step // ROUND - pool.first) * POOL + np.int64(slot)


@inner
def turn(plan: Any, step: int, most: int) -> Any:  # pragma: no cover
    """Return the turn that a step belongs to, of at most so many steps."""
    return step % plan.n_samples // max(1, min(most, plan.n_samples // TURNS))


@inner
def bridge(view: Any, plan: Any, i: int, step: int) -> Any:  # pragma: no cover
    """Return the edge of node i that the pairs of a step begin with.

    Any is as likely. Consecutive steps share it, so that what lies behind it is fetched once for
    all of them, and turns go evenly over all neighbours.
    """
    start = view.indptr[i]
    key = stream(plan.seed, _BRIDGES + plan.side, i)
    return start + even(key, turn(plan, step, ROUND), view.indptr[i + 1] - start)


@inner
def walk_key(plan: Any, i: int, step: int) -> Any:  # pragma: no cover
    """Return the key of a walk of three steps, which two steps in a row share."""
    return step_key(stream(plan.seed, _WALKS + plan.side, i), turn(plan, step, ROUND // 2))


@inner
def draw_two_hop(view: Any, plan: Any, i: int, step: int, key: Any) -> Any:  # pragma: no cover
    """Return (j, edge i - b, edge b - j) for a node j that shares neighbour b with i, or j = -1.

    A walk takes the bridge of the step to a neighbour b, and a uniform other neighbour j of it. A
    draw from the set takes a uniform *path* and keeps its end with probability one over the number
    of paths that lead there.
    """
    start, stop = view.indptr[i], view.indptr[i + 1]
    if start == stop:
        return -1, start, start
    if plan.draw == SET:
        total = view.paths[stop] - view.paths[start]
        if total == 0:
            return -1, start, start
        j, e, t = -1, start, start
        for attempt in range(SET_TRIES):
            at = view.paths[start] + below(key, 2 * attempt, total)
            e = seek(view.paths, start, stop, at + 1) - 1
            t = view.far_indptr[view.indices[e]] + at - view.paths[e]
            if view.far_indices[t] >= i:
                t += 1
            j = int(view.far_indices[t])
            ways = count_shared(
                view.indices, start, stop, view.indptr[j], view.indptr[j + 1], plan.cap, -1
            )
            if unit(key, 2 * attempt + 1) * ways < 1:
                break
        return j, e, t
    for attempt in range(TRIES):
        e = bridge(view, plan, i, step)
        if attempt > 0:
            e = start + below(key, 2 * attempt, stop - start)
        b = view.indices[e]
        first = view.far_indptr[b]
        others = view.far_indptr[b + 1] - first - 1
        if others > 0:
            t = first + below(key, 2 * attempt + 1, others)
            # The list is ascending and holds i: stepping over i leaves the others uniform.
            if view.far_indices[t] >= i:
                t += 1
            return np.int64(view.far_indices[t]), e, t
    return -1, start, start


@inner
def draw_three_hop(view: Any, plan: Any, i: int, step: int, key: Any) -> Any:  # pragma: no cover
    """Return (j, edge i - b, edge b - a, edge a - j) of a path, as :func:`draw_two_hop` does."""
    start, stop = view.indptr[i], view.indptr[i + 1]
    j, e, f, t = -1, start, start, start
    if plan.draw == SET:
        total = view.reach[stop] - view.reach[start]
        for attempt in range(SET_TRIES):
            at = view.reach[start] + below(key, 2 * attempt, total)
            e = seek(view.reach, start, stop, at + 1) - 1
            b = view.indices[e]
            # Behind edge e lie the paths through each neighbour a of b, one for each of its
            # neighbours: those other than b, which far_paths counts, and b.
            first = view.far_indptr[b]
            at -= view.reach[e]
            low, high = first, view.far_indptr[b + 1]
            while low < high:
                middle = (low + high) >> 1
                if view.far_paths[middle + 1] - view.far_paths[first] + middle + 1 - first <= at:
                    low = middle + 1
                else:
                    high = middle
            f = low
            at -= view.far_paths[f] - view.far_paths[first] + f - first
            t = view.indptr[view.far_indices[f]] + at
            j = int(view.indices[t])
            ways = count_paths(view, i, j, min(plan.cap, SET_CAP))
            if unit(key, 2 * attempt + 1) * ways < 1 or ways >= total:
                break
        return j, e, f, t
    e = bridge(view, plan, i, step)
    key = walk_key(plan, i, step)
    b = view.indices[e]
    f = view.far_indptr[b] + below(key, 1, view.far_indptr[b + 1] - view.far_indptr[b])
    a = view.far_indices[f]
    t = view.indptr[a] + below(key, 2, view.indptr[a + 1] - view.indptr[a])
    return np.int64(view.indices[t]), e, f, t


@inner
def draw_neighbors(
    indptr: Any,
    indices: Any,
    node: int,
    skip: int,
    key: Any,
    counter: int,
    out: Any,
    to: int,
    n: int,
) -> None:  # pragma: no cover
    """Fill ``out[to : to + n]`` with neighbours of a node, with replacement, leaving out ``skip``.

    ``skip`` is the other end of the pair if the two are linked, else -1. Where it is the only
    neighbour it is drawn after all.
    """
    start = indptr[node]
    degree = indptr[node + 1] - start
    if skip >= 0 and degree > 1:
        for k in range(n):
            t = start + below(key, counter + k, degree - 1)
            out[to + k] = indices[t + 1] if indices[t] >= skip else indices[t]
    else:
        for k in range(n):
            out[to + k] = indices[start + below(key, counter + k, degree)]


@inner
def sample_same(
    view: Any, plan: Any, pool: Any, i: int, step: int, others: Any, observed: Any, at: int
) -> None:  # pragma: no cover
    """Fill one same-type sample of node i and its negatives, from position ``at`` on.

    The first is the positive. ``observed`` is -1 where there is no such pair; ``others`` is then i
    itself.
    """
    relation = 4 * plan.side
    start, stop = view.indptr[i], view.indptr[i + 1]
    key = step_key(stream(plan.seed, relation, i), step % plan.n_samples)
    j, e, t = draw_two_hop(view, plan, i, step, key)
    others[at] = i
    observed[at] = -1
    if j >= 0:
        others[at] = j
        observed[at] = 1
        if plan.method == HOBE:
            observed[at] = min(view.similarity[e], view.far_similarity[t])
            if may_lead_beyond(
                view.indices, view.similarity, start, stop, e, view.marks[j], observed[at]
            ):
                observed[at] = strongest_bridge(
                    view.indices, view.similarity, start, stop, view.indptr[j], view.indptr[j + 1],
                    min(view.most[i], view.most[j]), plan.cap, observed[at],
                )  # fmt: skip
    marks = view.marks[i]
    key = step_key(stream(plan.seed, relation + 1, i), step)
    for m in range(at + 1, at + 1 + plan.n_negatives):
        others[m] = i
        observed[m] = -1
        for attempt in range(TRIES):
            j = pool.same[draw_slot(pool, key, step, m - at - 1, attempt)]
            if j == i or j < 0:
                continue
            if view.marks[j] & marks == NOTHING or not count_shared(
                view.indices, start, stop, view.indptr[j], view.indptr[j + 1], plan.cap, 1
            ):
                others[m] = j
                observed[m] = 0
                break


@inner
def sample_cross(
    view: Any,
    plan: Any,
    pool: Any,
    i: int,
    step: int,
    others: Any,
    observed: Any,
    at: int,
    own_neighbors: Any,
    far_neighbors: Any,
) -> None:  # pragma: no cover
    """Fill one cross-type sample of node i and its negatives, from position ``at`` on.

    Row m of ``own_neighbors`` holds sampled neighbours of the far node ``others[m]`` (they are of
    i's side), row m of ``far_neighbors`` those of i; negatives share those of their positive. Where
    there is no such pair ``observed`` is -1 and the entries point at i and at its first neighbour.
    """
    relation = 4 * plan.side + 2
    size = plan.n_neighbors
    start, stop = view.indptr[i], view.indptr[i + 1]
    key = step_key(stream(plan.seed, relation, i), step % plan.n_samples)
    if plan.method == HOBE:
        j, e, f, t = draw_three_hop(view, plan, i, step, key)
        observed[at] = strongest_path(
            view, i, j, f, plan.cap,
            min(view.far_similarity[f], max(view.similarity[e], view.similarity[t])),
        )  # fmt: skip
        is_edge = linked(view.indices, start, stop, j)
    else:
        j = np.int64(view.indices[bridge(view, plan, i, step)])
        observed[at] = 1
        is_edge = True
    others[at] = j
    counter = 2 * SET_TRIES
    draw_neighbors(
        view.far_indptr, view.far_indices, j, i if is_edge else -1, key, counter,
        own_neighbors, at * size, size,
    )  # fmt: skip
    draw_neighbors(
        view.indptr, view.indices, i, j if is_edge else -1, key, counter + size,
        far_neighbors, at * size, size,
    )  # fmt: skip
    key = step_key(stream(plan.seed, relation + 1, i), step)
    for m in range(at + 1, at + 1 + plan.n_negatives):
        others[m] = view.indices[start]
        observed[m] = -1
        for k in range(size):
            own_neighbors[m * size + k] = i
            far_neighbors[m * size + k] = far_neighbors[at * size + k]
        for attempt in range(TRIES):
            slot = draw_slot(pool, key, step, m - at - 1, attempt)
            j = pool.cross[slot]
            if j >= 0 and not linked(view.indices, start, stop, j):
                others[m] = j
                observed[m] = 0
                for k in range(size):
                    own_neighbors[m * size + k] = pool.neighbors[slot * size + k]
                break


@kernel
def sample_rows(
    graph: Any,
    plan: Any,
    arrays: Any,
    same: Array,
    same_observed: Array,
    cross: Array,
    cross_observed: Array,
    own_neighbors: Array,
    far_neighbors: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Fill all samples of rows [start, stop); a row without neighbours has none (observed -1).

    The arrays are flat: by node, step, and pair, and the last two by neighbour as well.
    """
    view, pool = look(graph), make_pool(arrays, 0)
    each = 1 + plan.n_negatives
    for i in range(start, stop):
        fill_pool(view, plan, i, plan.n_samples, pool)
        for s in range(plan.n_samples):
            at = (i * plan.n_samples + s) * each
            if view.indptr[i] == view.indptr[i + 1]:
                same_observed[at : at + each] = -1
                cross_observed[at : at + each] = -1
                continue
            sample_same(view, plan, pool, i, s, pointer(same), pointer(same_observed), at)
            sample_cross(
                view, plan, pool, i, s, pointer(cross), pointer(cross_observed), at,
                pointer(own_neighbors), pointer(far_neighbors),
            )  # fmt: skip


def pool_arrays(plan: Plan, steps: int) -> Pool:
    """Return room for the pools of some consecutive steps; each thread needs its own."""
    n = POOL * (-(-steps // ROUND) + 1)
    same, cross, neighbors, key = (
        aligned((size,), kind)
        for size, kind in (
            (n, np.int64), (n, np.int64), (n * plan.n_neighbors, np.int64), (1, np.uint64),
        )
    )  # fmt: skip
    key[0] = 0
    return Pool(same, cross, neighbors, key, 0)


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    rows, observed = np.empty(1, np.int64), np.empty(1, np.float32)
    plan = Plan(0, 0, FOBE, WALK, 1, 1, 0, 1, 0)
    sample_rows(
        example(), plan, pool_arrays(plan, 1), rows, observed, rows, observed, rows, rows, 0, 1
    )
