"""Folding in: a new node is trained alone, against tables that stay as they are.

The samples are those of training (:mod:`bivec.kernels.sample`), drawn for a node whose edges stand
in a list of their own: no list of the graph holds it. Dots, coefficients and steps are training's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.jit import Array, inner, kernel, vector_inner
from bivec.kernels.observe import linked, seek, strongest_end
from bivec.kernels.rng import below, step_key, stream, unit
from bivec.kernels.sample import SET_TRIES, TRIES
from bivec.kernels.train import Steps, coefficients, far_dots, make_scratch, scratch_arrays
from bivec.kernels.vector import pointer, weighted_sum
from bivec.kernels.view import FOBE, HOBE, NOTHING, SET, WALK, Plan, example, look, mark

_STREAM = 300
"""Streams of random numbers of new nodes, apart from those of the graph's."""
_ZERO = np.float32(0)


class Fresh(NamedTuple):
    """New nodes: their edges to the far side as compressed rows, and what else is known of them.

    ``similarity`` is by edge (empty for FOBE), ``paths`` the running number of two-step paths
    behind each edge, ``names`` a number for each node that names its random streams.
    """

    indptr: Any
    indices: Any
    similarity: Any
    paths: Any
    names: Any


class Schedule(NamedTuple):
    """Epochs, samples of each relation in an epoch, learning rate, weight of a negative."""

    epochs: int
    steps: int
    rate: float
    weight: float


@inner
def shares(
    indices: Any, a: int, a_stop: int, others: Any, b: int, b_stop: int, cap: int, most: int
) -> int:  # pragma: no cover
    """Count the entries that a new node's list shares with a list of the graph, up to ``most``."""
    n = a_stop - a
    looks = min(n, cap)
    count = 0
    for k in range(looks):
        value = indices[a + k * n // looks]
        b = seek(others, b, b_stop, value)
        if b == b_stop:
            break
        if others[b] == value:
            count += 1
            if count == most:
                break
    return count * n // looks if looks < n else count


@inner
def strongest_shared(
    fresh: Any, start: int, stop: int, view: Any, j: int, cap: int, best: Any
) -> Any:  # pragma: no cover
    """Return ``max(best, max over shared bridges of min(s, s))`` of a new node and node j."""
    b, b_stop = view.indptr[j], view.indptr[j + 1]
    n = stop - start
    looks = min(n, cap)
    for k in range(looks):
        p = start + k * n // looks
        b = seek(view.indices, b, b_stop, fresh.indices[p])
        if b == b_stop:
            break
        if view.indices[b] == fresh.indices[p]:
            best = max(best, min(fresh.similarity[p], view.similarity[b]))
    return best


@inner
def new_two_hop(
    view: Any, plan: Any, fresh: Any, start: int, stop: int, key: Any
) -> Any:  # pragma: no cover
    """Return a node that shares a neighbour with a new node, or -1: by a walk or from the set."""
    total = fresh.paths[stop] - fresh.paths[start]
    if total == 0:
        return -1
    j = -1
    tries = SET_TRIES if plan.draw == SET else TRIES
    for attempt in range(tries):
        if plan.draw == SET:
            at = fresh.paths[start] + below(key, 2 * attempt, total)
            e = seek(fresh.paths, start, stop, at + 1) - 1
            j = view.far_indices[view.far_indptr[fresh.indices[e]] + at - fresh.paths[e]]
            ways = shares(
                fresh.indices, start, stop, view.indices, view.indptr[j], view.indptr[j + 1],
                plan.cap, -1,
            )  # fmt: skip
            if unit(key, 2 * attempt + 1) * ways < 1:
                break
            continue
        b = fresh.indices[start + below(key, 2 * attempt, stop - start)]
        first = view.far_indptr[b]
        degree = view.far_indptr[b + 1] - first
        if degree > 0:
            j = view.far_indices[first + below(key, 2 * attempt + 1, degree)]
            break
    return np.int64(j)


@inner
def new_same(
    view: Any, plan: Any, fresh: Any, r: int, word: Any, step: int, others: Any, observed: Any,
    at: int,
) -> None:  # pragma: no cover  # fmt: skip
    """Fill one same-type sample of new node r and its negatives; -1 where there is no such pair."""
    relation, name = _STREAM + 4 * plan.side, fresh.names[r]
    start, stop = fresh.indptr[r], fresh.indptr[r + 1]
    key = step_key(stream(plan.seed, relation, name), step % plan.n_samples)
    j = new_two_hop(view, plan, fresh, start, stop, key)
    others[at], observed[at] = 0, -1
    if j >= 0:
        others[at], observed[at] = j, 1
        if plan.method == HOBE:
            observed[at] = strongest_shared(fresh, start, stop, view, j, plan.cap, _ZERO)
    key = step_key(stream(plan.seed, relation + 1, name), step)
    for m in range(at + 1, at + 1 + plan.n_negatives):
        others[m], observed[m] = 0, -1
        for attempt in range(TRIES):
            j = below(key, (m - at) * TRIES + attempt, view.n)
            if view.indptr[j] == view.indptr[j + 1]:
                continue
            if view.marks[j] & word == NOTHING or not shares(
                fresh.indices, start, stop, view.indices, view.indptr[j], view.indptr[j + 1],
                plan.cap, 1,
            ):  # fmt: skip
                others[m], observed[m] = j, 0
                break


@inner
def draw_some(
    indptr: Any, indices: Any, node: int, skip: int, key: Any, counter: int, out: Any, to: int,
    n: int,
) -> None:  # pragma: no cover  # fmt: skip
    """Fill ``out[to : to + n]`` with neighbours of a node that has some, leaving out ``skip``."""
    start = indptr[node]
    degree = indptr[node + 1] - start
    whole = skip < 0 or degree < 2
    for k in range(n):
        t = start + below(key, counter + k, degree if whole else degree - 1)
        out[to + k] = indices[t] if whole or indices[t] < skip else indices[t + 1]


@inner
def new_path(view: Any, plan: Any, fresh: Any, r: int, key: Any) -> Any:  # pragma: no cover
    """Return (j, observation) of a far node over three steps from new node r; -1: there is none.

    The walk may come back to the new node, as walks of the graph's own nodes do.
    """
    start, stop = fresh.indptr[r], fresh.indptr[r + 1]
    e = start + below(key, 0, stop - start)
    b = fresh.indices[e]
    first = view.far_indptr[b]
    degree = view.far_indptr[b + 1] - first
    k = below(key, 1, degree + 1)
    if k == degree:
        t = start + below(key, 2, stop - start)
        j, best = fresh.indices[t], fresh.similarity[e]
    else:
        a = view.far_indices[first + k]
        t = view.indptr[a] + below(key, 2, view.indptr[a + 1] - view.indptr[a])
        j, best = view.indices[t], _ZERO
    j_start, j_stop = view.far_indptr[j], view.far_indptr[j + 1]
    n = stop - start
    looks = min(n, plan.cap)
    for look_at in range(looks):
        p = start + look_at * n // looks
        b = fresh.indices[p]
        bound = min(view.far_most[b], max(fresh.similarity[p], view.far_most[j]))
        if bound > best:
            best = strongest_end(
                view.far_indices, view.far_similarity, view.far_indptr[b], view.far_indptr[b + 1],
                j_start, j_stop, fresh.similarity[p], bound, plan.cap, best,
            )  # fmt: skip
    return np.int64(j) if j_stop > j_start else -1, best


@inner
def new_cross(
    view: Any, plan: Any, fresh: Any, r: int, step: int, scratch: Any, at: int
) -> None:  # pragma: no cover
    """Fill one cross-type sample of new node r and its negatives; -1 where there is none."""
    relation, name, size = _STREAM + 4 * plan.side + 2, fresh.names[r], plan.n_neighbors
    start, stop = fresh.indptr[r], fresh.indptr[r + 1]
    others, observed = scratch.cross, scratch.cross_observed
    key = step_key(stream(plan.seed, relation, name), step % plan.n_samples)
    if plan.method == HOBE:
        j, best = new_path(view, plan, fresh, r, key)
        is_edge = linked(fresh.indices, start, stop, j)
    else:
        j, best = np.int64(fresh.indices[start + below(key, 0, stop - start)]), np.float32(1)
        is_edge = True
        if view.far_indptr[j] == view.far_indptr[j + 1]:
            j = -1
    counter = 2 * SET_TRIES
    draw_some(
        fresh.indptr, fresh.indices, r, j if is_edge else -1, key, counter + size,
        scratch.far_neighbors, at * size, size,
    )  # fmt: skip
    for m in range(at, at + 1 + plan.n_negatives):
        others[m], observed[m] = fresh.indices[start], -1
        for k in range(size):
            scratch.own_neighbors[m * size + k] = 0
            scratch.far_neighbors[m * size + k] = scratch.far_neighbors[at * size + k]
    if j >= 0:
        others[at], observed[at] = j, best
        draw_some(
            view.far_indptr, view.far_indices, j, -1, key, counter,
            scratch.own_neighbors, at * size, size,
        )  # fmt: skip
    key = step_key(stream(plan.seed, relation + 1, name), step)
    for m in range(at + 1, at + 1 + plan.n_negatives):
        for attempt in range(TRIES):
            j = below(key, (m - at) * (TRIES + size) + attempt, view.n_far)
            if view.far_indptr[j] < view.far_indptr[j + 1] and not linked(
                fresh.indices, start, stop, j
            ):
                others[m], observed[m] = j, 0
                draw_some(
                    view.far_indptr, view.far_indices, j, -1, key,
                    (m - at) * (TRIES + size) + TRIES, scratch.own_neighbors, m * size, size,
                )  # fmt: skip
                break


@vector_inner
def dots_with(
    own: Any, at: int, table: Any, dim: int, rows: Any, n: int, out: Any
) -> None:  # pragma: no cover
    """Write the dots of one vector, which starts at ``own[at]``, with rows of a table."""
    for m in range(n):
        total = _ZERO
        first = rows[m] * dim
        for c in range(dim):
            total += own[at + c] * table[first + c]
        out[m] = total


@vector_inner
def step_down(
    own: Any, at: int, dim: int, gradient: Any, squares: Any, rate: float
) -> Any:  # pragma: no cover
    """Take one step of row-wise Adagrad in place; return the new accumulator."""
    total = _ZERO
    for c in range(dim):
        total += gradient[c] * gradient[c]
    squares += total / dim
    scale = np.float32(rate / np.sqrt(squares)) if squares > 0 else _ZERO
    for c in range(dim):
        own[at + c] -= scale * gradient[c]
    return squares


@inner
def begin(
    view: Any, plan: Any, fresh: Any, r: int, key: Any, table: Any, dim: int, rows: Any, at: int
) -> None:  # pragma: no cover
    """Start a new node at the mean of the nodes that walks of two steps lead to.

    Training starts at random and forgets it only in part; here nothing needs to be forgotten.
    """
    count = 0
    for c in range(dim):
        rows[at + c] = 0
    for s in range(plan.n_samples):
        j = new_two_hop(view, plan, fresh, fresh.indptr[r], fresh.indptr[r + 1], step_key(key, s))
        if j >= 0:
            count += 1
            for c in range(dim):
                rows[at + c] += table[j * dim + c]
    for c in range(dim):
        rows[at + c] /= max(count, 1)


@kernel
def fold_rows(
    graph: Any,
    plan: Any,
    schedule: Any,
    own: Array,
    far: Array,
    nodes: Any,
    arrays: Any,
    gradient: Array,
    losses: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Compute the vectors of new nodes [start, stop); those without neighbours get zeros."""
    view, scratch = look(graph), make_scratch(arrays)
    fresh = Fresh(
        pointer(nodes.indptr), pointer(nodes.indices), pointer(nodes.similarity),
        pointer(nodes.paths), pointer(nodes.names),
    )  # fmt: skip
    table, other, rows = pointer(own), pointer(far), pointer(out)
    slope, loss = pointer(gradient), pointer(losses)
    dim = own.shape[1]
    same = schedule.steps * (1 + plan.n_negatives)
    n = same * (1 + plan.n_neighbors)
    word = np.zeros(1, np.uint64)
    for r in range(start, stop):
        at = r * dim
        if nodes.indptr[r] == nodes.indptr[r + 1]:
            for c in range(dim):
                rows[at + c] = 0
            continue
        mark(pointer(nodes.indptr[r : r + 2]), fresh.indices, 1, pointer(word))
        key = stream(plan.seed, _STREAM + 8 + plan.side, nodes.names[r])
        begin(view, plan, fresh, r, key, table, dim, rows, at)
        squares = _ZERO
        for epoch in range(schedule.epochs):
            first = epoch * schedule.steps
            for s in range(schedule.steps):
                to = s * (1 + plan.n_negatives)
                new_same(
                    view, plan, fresh, r, word[0], first + s, scratch.rows, scratch.same_observed,
                    to,
                )  # fmt: skip
                new_cross(view, plan, fresh, r, first + s, scratch, to)
            dots_with(rows, at, table, dim, scratch.rows, n, scratch.x)
            far_dots(other, dim, scratch, same, plan.n_neighbors)
            steps = Steps(first, schedule.steps, 0.0, schedule.weight)
            coefficients(plan, steps, scratch, same, loss, 0)
            for c in range(dim):
                slope[c] = 0
            weighted_sum(table, dim, scratch.rows, scratch.x, n, slope)
            rate = schedule.rate * (1 - epoch / schedule.epochs)
            squares = step_down(rows, at, dim, slope, squares, rate)


def warmup() -> None:
    """Compile for the arrays of a graph with 32-bit indices."""
    graph, plan = example(), Plan(0, 0, FOBE, WALK, 1, 1, 1, 1, 0)
    nodes = Fresh(
        np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32), np.array([0, 1]),
        np.zeros(1, np.int64),
    )  # fmt: skip
    table = np.zeros((1, 8), np.float32)
    fold_rows(
        graph, plan, Schedule(1, 1, 0.1, 1.0), table, table, nodes,
        scratch_arrays(plan, 1), np.empty(8, np.float32), np.empty(4), table.copy(), 0, 1,
    )  # fmt: skip
