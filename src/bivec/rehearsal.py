"""Rehearsal: how far to smooth, and how much popularity is to say, tried out on the graph itself.

A tenth of the edges is left out, of those whose ends both have others. Random vectors, smoothed on
the rest, are as good as trained ones for what is asked here, have not seen those edges, and are
cheap, as 32 columns will do. They are tried after 8, 16, 32 ... steps, at one length, with popular
nodes shorter and with hubs at one place (:mod:`bivec.lengths`): for each edge left out the machine
of one end, trained on what it has left, is asked about the other end, and that of any node about a
stranger (:mod:`bivec.questions`; the machine is that of :mod:`bivec.evaluation.personalized`:
support vectors, an RBF kernel of gamma 0.1). The answers decide (:mod:`bivec.choosing`); what is
not beyond doubt leaves it at 8 steps and one length. The norm is 5, or larger where popular nodes
are shorter, which then come as close to each other as before and keep away from the rest.

In a large graph where few edges can be left out, nearly a forest, it is three tenths of them, and
as many steps as there may be are the usual; where there are next to none, popularity is all there
is to know, and hubs are at one place. A graph of less than 1,000 edges gets 8 steps and one length:
there would be too few questions.

Where both sides want many steps, communities are what there is to find. Vectors are then evened
between steps (:mod:`bivec.evening`) and sharpened at the end (:mod:`bivec.sharpening`).

In sparse graphs vectors are at last brought to places (:mod:`bivec.places`): random ones, smoothed
as was found, evened and sharpened, are asked once more against what they are at places of several
sizes, at all lengths. Places are taken where they are ahead by half a standard error, or two where
answers are few; where answers were by chance they are not tried. The norm is asked again.

Beside the answers stands what popularity alone would have told: whether an edge left out has a
larger product of degrees than a pair of strangers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bivec.choosing import CHANCE, DOUBT, at_lengths, before_lengths, choose
from bivec.graph import BipartiteGraph, GraphSide
from bivec.parallel import Workers, one_blas_thread
from bivec.places import SHARES, Places
from bivec.questions import FEWEST, Questions, Table, told_by_popularity
from bivec.smoothing import (
    MOST_STEPS,
    Shape,
    Sides,
    counting_on,
    most_steps,
    smooth_both,
    smooth_side,
)
from bivec.twins import Kinds, merge_twins

_LEFT_OUT, _MORE_LEFT_OUT, _FEW = 0.1, 0.3, 100
"""Share of the edges; where that is less than so many, the share instead."""
SMALL = 1_000
"""Edges from which on a graph is rehearsed."""
_COLUMNS, _FIRST_STEPS = 32, 8
_FOREST, _UNASKED = Shape(MOST_STEPS), Shape(MOST_STEPS, norm=7.0, hubs=True)
"""The usual shape where few edges can be left out, and what is taken where there are none."""
TOLD, MANY_STEPS = 0.6, 32
"""Share of right answers below which a rehearsal has told little; steps to communities."""
CLEAR = 0.55
"""Share of right answers below which they are by chance, and say nothing of places."""
_MARGIN = 0.1
"""Share of answers by which popularity must be ahead to tell more."""
_STREAM, _PLACES = 231, 236


class Rehearsed(NamedTuple):
    """How vectors of both sides should be smoothed, and which share of the answers was right.

    The share is the mean of both sides; one half, as by chance, where there is nothing to ask
    about, and not a number for a graph too small to be rehearsed. ``popular`` is the share that the
    product of degrees alone would have got right, with the best threshold. ``few`` says that the
    graph is nearly a forest, with few edges to ask about, and ``communities`` that vectors should
    have one space and be sharpened.
    """

    shapes: tuple[Shape, Shape]
    correct: float
    popular: float = float("nan")
    few: bool = False
    communities: bool = False

    @property
    def told(self) -> bool:
        """Whether answers, not just a few, were clearly better than chance, or none was asked."""
        return not (self.few or self.correct < TOLD)

    @property
    def popularity_tells_more(self) -> bool:
        """Whether degrees say clearly more about edges left out than vectors do."""
        return self.popular - self.correct > _MARGIN


Rehearse = Callable[..., Rehearsed]
"""A function with the parameters of :func:`rehearse`."""


def rehearse(
    graph: BipartiteGraph,
    seed: int = 0,
    dim: int = _COLUMNS,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Rehearsed:
    """Return how vectors of the left and of the right side should be smoothed.

    Parameters
    ----------
    graph : BipartiteGraph
        The graph that vectors are trained on; weights of edges do not matter.
    seed : int
        Of what is left out, of random vectors and strangers.
    dim : int
        The dimension of the vectors to be; the rehearsal takes 32 at most.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with the steps of smoothing done, of both sides together, and how many there are.
    """
    from bivec.kernels.vector import aligned

    if graph.n_edges < SMALL:
        return Rehearsed((Shape(_FIRST_STEPS), Shape(_FIRST_STEPS)), float("nan"))
    lefts, rights = graph.left_rows(), graph.left.indices
    out = _left_out(graph, lefts, rights, seed)
    few = int(out.sum()) < _FEW
    share = _MORE_LEFT_OUT if few else _LEFT_OUT
    if few:
        out = _left_out(graph, lefts, rights, seed, share)
    left = _without(graph.left, out)
    asked = lefts[out].astype(np.int64), rights[out].astype(np.int64)
    lefts, rights = graph.right.indices, graph.flipped().left_rows()
    right = _without(graph.right, _left_out(graph, lefts, rights, seed, share))
    draw = np.random.Generator(np.random.Philox(key=[seed, _STREAM]))
    kinds = merge_twins(left, right)
    most = most_steps(*kinds), most_steps(*kinds[::-1])
    chosen: list[tuple[Shape, float]] = []
    asked_of: list[Questions] = []
    with Workers(n_jobs) as workers:
        for own, far, known, pairs in (
            (left, right, graph.left, asked),
            (right, left, graph.right, asked[::-1]),
        ):
            side = len(chosen)
            questions = Questions(own, far, known, *pairs, draw)
            asked_of.append(questions)
            table: Table = aligned((len(own), min(dim, _COLUMNS)))
            draw.standard_normal(dtype=np.float32, out=table)
            tell = counting_on(progress, sum(most[:side]), sum(most))
            mine, theirs = kinds[side], kinds[1 - side]
            if len(questions) < FEWEST:
                chosen.append((_UNASKED._replace(steps=most[side]), 0.5))
                continue
            usual = _FOREST if few else Shape(_FIRST_STEPS)
            usual = usual._replace(steps=min(usual.steps, most[side]))
            tables = _smoothed(table, mine, theirs, most[side], workers, tell)
            shapes = at_lengths(tables)
            safe = max(shape.steps for shape in tables)
            chosen.append(choose(shapes, tables, own, mine, questions, workers, usual, safe))
            del tables
    (left_shape, left_share), (right_shape, right_share) = chosen
    popular = told_by_popularity(left, right, graph.left, *asked, seed)
    correct = (left_share + right_share) / 2
    found = Rehearsed((left_shape, right_shape), correct, popular, few)
    found = with_communities(found, most)
    return with_places(found, Sides(left, right), kinds, asked_of, seed, min(dim, _COLUMNS), n_jobs)


def remembering() -> Rehearse:
    """Return :func:`rehearse` for several models of one graph: what was tried is not tried again.

    >>> from bivec.datasets import southern_women
    >>> graph, once = southern_women(), remembering()
    >>> once(graph, 0, 64) is once(graph, 0, 32)
    True
    """
    known: dict[tuple[int, int], Rehearsed] = {}

    def once(
        graph: BipartiteGraph, seed: int = 0, dim: int = _COLUMNS, *args: Any, **kwargs: Any
    ) -> Rehearsed:
        key = seed, min(dim, _COLUMNS)
        if key not in known:
            known[key] = rehearse(graph, seed, dim, *args, **kwargs)
        return known[key]

    return once


def with_communities(found: Rehearsed, most: tuple[int, int]) -> Rehearsed:
    """Return a rehearsal that says whether there are communities, and if so, how to part them.

    There are where both sides want many steps, answers bear that out, and popularity is not what
    matters: one side goes without it, or it alone would not tell more. Sides are evened unless they
    take as many steps as there may be: those would have taken more, and larger communities.
    """
    left, right = found.shapes
    many = min(left.steps, right.steps) >= MANY_STEPS
    other = left.plain or right.plain or not found.popularity_tells_more
    if not (found.told and many and other):
        return found
    shapes = (
        left._replace(evened=left.steps < most[0]),
        right._replace(evened=right.steps < most[1]),
    )
    return found._replace(shapes=shapes, communities=True)


def with_places(
    found: Rehearsed,
    sides: Sides,
    kinds: tuple[Kinds, Kinds],
    questions: list[Questions],
    seed: int,
    dim: int,
    n_jobs: int | None,
) -> Rehearsed:
    """Return a rehearsal that says whether smoothed vectors come to places.

    Random vectors are smoothed as was found, from the first step to the last, and brought to places
    of several sizes, at all lengths; the answers to the same questions decide once more. Few
    answers choose places beyond doubt only, and no other lengths.
    """
    places = Places(*sides, seed)
    if not places.sparse or found.correct < CLEAR:
        return found
    draw = np.random.Generator(np.random.Philox(key=[seed, _PLACES]))
    left, right = (draw.standard_normal((len(side), dim), dtype=np.float32) for side in sides)
    tables, groups = (left, right), (left, right)[places.groups_side].copy()
    shapes = list(found.shapes)
    with Workers(n_jobs) as workers, one_blas_thread():
        smooth_both(
            sides, tables, found.shapes, seed, workers, found.communities, not found.communities
        )
        for side, (usual, table) in enumerate(zip(found.shapes, tables, strict=True)):
            if len(questions[side]) < FEWEST:
                continue
            smoothed, made = before_lengths(usual), {}
            for share in SHARES:
                placed = table.copy()
                places.settle(side, placed, places.marks(side, share, groups))
                made[smoothed._replace(place=share)] = kinds[side].pick(placed)
            usually = [usual._replace(place=share) for share in SHARES]
            tried = [usual, *(usually if found.few else at_lengths(made))]
            made[smoothed] = kinds[side].pick(table)
            arguments = tried, made, sides[side], kinds[side], questions[side], workers, usual
            shapes[side] = choose(*arguments, doubt=DOUBT if found.few else CHANCE)[0]
    return found._replace(shapes=(shapes[0], shapes[1]))


def _smoothed(
    table: Table,
    own: Kinds,
    far: Kinds,
    most: int,
    workers: Workers,
    tell: Callable[[int], object] | None,
) -> dict[Shape, Table]:
    """Return vectors after 8, 16, 32 ... steps of smoothing, one for each kind of node."""
    tables: dict[Shape, Table] = {}
    done, target = 0, min(_FIRST_STEPS, most)
    while done < target:
        smooth_side(table, own, far, target - done, workers)
        tables[Shape(target)] = own.pick(table)
        done, target = target, min(2 * target, most)
        if tell is not None:
            tell(done)
    return tables


def _left_out(
    graph: BipartiteGraph,
    lefts: npt.NDArray[Any],
    rights: npt.NDArray[Any],
    seed: int,
    share: float = _LEFT_OUT,
) -> npt.NDArray[np.bool_]:
    """Return which edges are left out: a function of their ends, so of any order of edges.

    That share of those whose ends both have another.
    """
    may = (graph.left.degrees > 1)[lefts] & (graph.right.degrees > 1)[rights]
    bits = lefts.astype(np.uint64) << np.uint64(32)
    bits ^= rights.astype(np.uint64)
    bits += np.uint64((seed * 0x9E3779B97F4A7C15 + _STREAM) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    out: npt.NDArray[np.bool_] = may & (bits < np.uint64(share * 2**64))
    return out


def _without(side: GraphSide, out: npt.NDArray[np.bool_]) -> GraphSide:
    """Return a side without some of its edges, and without weights."""
    from bivec.kernels.view import read_only

    kept = np.concatenate([[0], np.cumsum(~out)])[side.indptr]
    indices = side.indices[~out]
    return GraphSide(side.ids, read_only(kept), read_only(indices), np.empty(0, np.float32))
