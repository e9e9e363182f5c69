"""Asking for memory before it is needed: what the next nodes will read of a large graph.

A walk is a chain of reads, each of which tells where the next one is; from main memory every link
costs as much as some hundred additions. While one node is at work, the walks of the nodes behind it
are therefore made again, one link further for each node nearer, and the next link is only asked
for. Draws cost next to nothing, and asking changes no result.
"""

from __future__ import annotations

from typing import Any

from bivec.kernels.jit import inner
from bivec.kernels.rng import below, step_key, stream
from bivec.kernels.sample import SET_TRIES, TRIES, bridge, walk_key
from bivec.kernels.vector import prefetch
from bivec.kernels.view import HOBE, WALK

LINKS = 6
"""Reads on the walk of three steps to the neighbours of its end."""


@inner
def hint_neighbors(view: Any, i: int, stage: int) -> None:  # pragma: no cover
    """Ask ahead for the row pointers (stage 0) and first neighbours (stage 1) of neighbours.

    HOBE looks at all of them for the strongest path.
    """
    start = view.indptr[i]
    for e in range(start, min(view.indptr[i + 1], start + TRIES)):
        b = view.indices[e]
        if stage == 0:
            prefetch(view.far_indptr, b)
            prefetch(view.far_most, b)
            prefetch(view.far_marks, b)
        else:
            prefetch(view.far_indices, view.far_indptr[b])
            prefetch(view.far_similarity, view.far_indptr[b])


@inner
def hint(view: Any, plan: Any, i: int, step: int, stage: int) -> None:  # pragma: no cover
    """Ask ahead for the parts of the graph that one step of node i will read.

    Stage 0 asks for the row pointer of the node that the bridge leads to, stage 1 reads it and asks
    for the neighbours drawn there. Draws cost next to nothing, so they are made again.
    """
    if view.indptr[i] == view.indptr[i + 1]:
        return
    b = view.indices[bridge(view, plan, i, step)]
    if stage == 0:
        prefetch(view.far_indptr, b)
        return
    first = view.far_indptr[b]
    degree = view.far_indptr[b + 1] - first
    relation = 4 * plan.side
    if degree > 1:
        key = step_key(stream(plan.seed, relation, i), step % plan.n_samples)
        t = first + below(key, 1, degree - 1)
        prefetch(view.far_indices, t)
        if plan.method == HOBE:
            prefetch(view.far_similarity, t)
    if plan.method != HOBE:
        key = step_key(stream(plan.seed, relation + 2, i), step % plan.n_samples)
        for k in range(plan.n_neighbors):
            prefetch(view.far_indices, first + below(key, 2 * SET_TRIES + k, degree))


@inner
def hint_bridge(view: Any, plan: Any, i: int, step: int) -> None:  # pragma: no cover
    """Follow the walk of two steps from node i, and ask for the marks of its end."""
    start, stop = view.indptr[i], view.indptr[i + 1]
    if start == stop:
        return
    key = step_key(stream(plan.seed, 4 * plan.side, i), step % plan.n_samples)
    b = view.indices[bridge(view, plan, i, step)]
    first = view.far_indptr[b]
    others = view.far_indptr[b + 1] - first - 1
    if others > 0:
        t = first + below(key, 1, others)
        if view.far_indices[t] >= i:
            t += 1
        prefetch(view.marks, view.far_indices[t])


@inner
def hint_path(view: Any, plan: Any, i: int, step: int, links: int) -> None:  # pragma: no cover
    """Follow the walk of three steps from node i over some links, and ask for the next one."""
    start, stop = view.indptr[i], view.indptr[i + 1]
    if start == stop:
        return
    key = walk_key(plan, i, step)
    b = view.indices[bridge(view, plan, i, step)]
    if links == 0:
        prefetch(view.far_indptr, b)
        return
    f = view.far_indptr[b] + below(key, 1, view.far_indptr[b + 1] - view.far_indptr[b])
    if links == 1:
        prefetch(view.far_indices, f)
        prefetch(view.far_similarity, f)
        return
    a = view.far_indices[f]
    if links == 2:
        prefetch(view.indptr, a)
        return
    t = view.indptr[a] + below(key, 2, view.indptr[a + 1] - view.indptr[a])
    if links == 3:
        prefetch(view.indices, t)
        prefetch(view.similarity, t)
        return
    j = view.indices[t]
    if links == 4:
        prefetch(view.far_indptr, j)
        prefetch(view.far_marks, j)
        return
    prefetch(view.far_indices, view.far_indptr[j])
    prefetch(view.far_similarity, view.far_indptr[j])


@inner
def hints(view: Any, plan: Any, steps: Any, i: int, more: int) -> None:  # pragma: no cover
    """Ask, at node i, for what the nodes behind it will read; there are ``more`` of them."""
    if plan.method == HOBE and more >= 2:
        hint_neighbors(view, i + 2, 0)
    if plan.method == HOBE and more >= 1:
        hint_neighbors(view, i + 1, 1)
    if more >= 3:  # all steps of a visit go over the same few bridges: one is enough
        hint(view, plan, i + 3, steps.first, 0)
    for s in range(steps.first, steps.first + steps.number):
        if more >= 2:
            hint(view, plan, i + 2, s, 1)
        if plan.method == HOBE and plan.draw == WALK:
            if more >= 1:
                hint_bridge(view, plan, i + 1, s)
            for links in range(max(0, LINKS - more), LINKS):
                hint_path(view, plan, i + LINKS - links, s, links)
