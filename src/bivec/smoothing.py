r"""Smoothing: vectors move towards those they share neighbours with, within their side.

.. math::

    y_i = \frac{1}{w_i} \sum_{b \in \Gamma(i)} v_b \,
          \frac{\sum_{j \in \Gamma(b)} v_j x_j}{\sum_{j \in \Gamma(b)} v_j}, \qquad
    w_i = \sum_{b \in \Gamma(i)} v_b, \qquad
    x_i \leftarrow \frac{y_i - \bar x}{\|y_i - \bar x\|}, \qquad
    \bar x = \frac{\sum_i v_i w_i x_i}{\sum_i v_i w_i}

with voices :math:`v = d^{-1/2}` on both sides. A step is a walk over a bridge: niche bridges before
hubs, and on the other end nodes of few bridges before those of many, as they say more about the
bridge. The walk is reversible and stays where :math:`v w` says, so :math:`\bar x` is what all
vectors would end at; without it they never do, and many steps lead to the slow directions of the
walk: the communities of the graph, coarser with each step. Nodes of one community come close enough
that a classifier which has seen one of them knows the others. Nodes with the same neighbours are
one row (:mod:`bivec.twins`).

In sparse graphs vectors may then come to places, where rehearsals say so (:mod:`bivec.places`). At
the end they get an entry and a length that say how many edges a node has (:mod:`bivec.lengths`).
How many steps to take at most and which lengths, :mod:`bivec.rehearsal` tries out on the graph.
When random pairs come close, vectors are about to say nothing else, and it ends, unless the
rehearsal has found communities: then directions are evened between steps instead
(:mod:`bivec.evening`).

References
----------
Zhou, Huang, Schölkopf, "Learning with hypergraphs: clustering, classification, and embedding",
NIPS 2006, whose walk on a hypergraph this is, but for the voices of nodes. Wu et al., "Simplifying
graph convolutional networks", arXiv:1902.07153: many smoothing steps and no other layer.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bivec.checks import check_integer
from bivec.errors import InputError
from bivec.evening import Evening
from bivec.graph import BipartiteGraph, GraphSide
from bivec.joining import join
from bivec.lengths import Length, hub_degree, to_length_one, to_one, write_degrees
from bivec.parallel import Workers, one_blas_thread
from bivec.places import Places
from bivec.sharpening import sharpen
from bivec.sweeps import stoppable
from bivec.twins import Kinds, merge_twins

Table = npt.NDArray[np.float32]
Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

MOST_STEPS, WORK = 1024, 384
"""Steps where there are few edges; with more than WORK / MOST_STEPS edges a node, as many as keep
the work for a node the same. Edges of twins count once."""
_CHECK, _PAIRS = 8, 8192
_KERNEL, _CLOSE = 5.0, 0.08
"""A random pair, drawn by degree, is as close as ``exp(-_KERNEL * (1 - cosine))``: the value of an
RBF kernel of gamma 0.1 at norm 5. Where nobody gave the steps, smoothing ends when their mean is
``_CLOSE``."""
_COLUMNS, _CHUNK = 64, 1024
"""Columns of a step at a time; rows of a part."""
_STREAM = 230


def check_smoothing(smoothing: Any) -> int | None:
    """Return the number of steps, or None for as many as the graph calls for."""
    if isinstance(smoothing, str) and smoothing == "auto":
        return None
    if isinstance(smoothing, str):
        raise InputError(f"smoothing={smoothing!r} is no number", 'Give a number, or "auto".')
    return check_integer("smoothing", smoothing, low=0, high=100_000)


class Walk(NamedTuple):
    """By which powers of their degrees nodes count less: at the end of a bridge, and as one."""

    ends: float = 0.5
    bridges: float = 0.5


WALK = Walk()


class Shape(NamedTuple):
    """How vectors of a side are smoothed.

    The number of steps, the power of degrees that vectors are divided by at the end, their norm,
    whether hubs are at one place (:mod:`bivec.lengths`), and whether directions are evened between
    steps (:mod:`bivec.evening`). Where ``place`` is not 0, smoothed vectors are brought to places
    of at most that share of the side (:mod:`bivec.places`).
    """

    steps: int
    power: float = 0.0
    norm: float = 5.0
    hubs: bool = False
    evened: bool = False
    place: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether popularity has no say in it."""
        return not (self.power or self.hubs)

    def length(self, degrees: npt.NDArray[Any]) -> Length:
        """Return how long vectors of a side of these degrees are."""
        return Length(self.power, hub_degree(degrees) if self.hubs else 0)


class Smoothed(NamedTuple):
    """Steps done on each side, how long vectors are then, and whether Ctrl-C ended it."""

    steps: tuple[int, int]
    lengths: tuple[Length, Length]
    interrupted: bool


def smooth(
    graph: BipartiteGraph,
    left: Table,
    right: Table,
    shapes: tuple[Shape, Shape],
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    communities: bool = False,
    until_close: bool = False,
) -> Smoothed:
    """Smooth the vectors of both sides in place, and write their degrees.

    Ctrl-C ends it after the step at hand; a second one interrupts at once.

    Parameters
    ----------
    graph : BipartiteGraph
        The graph; weights of edges do not matter.
    left, right : array of float32
        Vectors of its nodes. Afterwards they have length 1 but for the last entry, or a length by
        their degree.
    shapes : pair of Shape
        How many steps for each side, and how long vectors are.
    seed : int
        Of random pairs and landmarks.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called every few steps with the steps done, of both sides together, and how many there are.
    communities : bool
        Whether communities are what there is to find: then the two sides begin in one space, see
        :mod:`bivec.joining`, and are sharpened at the end, see :mod:`bivec.sharpening`.
    until_close : bool
        Whether a side is done when random pairs of it are close, if that comes first.
    """
    sides, tables = Sides(graph.left, graph.right), (left, right)
    with Workers(n_jobs) as workers, stoppable() as stop, one_blas_thread():
        done = smooth_both(
            sides, tables, shapes, seed, workers, communities, until_close, stop, progress
        )
    lengths = shapes[0].length(graph.left.degrees), shapes[1].length(graph.right.degrees)
    for table, side, length in zip(tables, sides, lengths, strict=True):
        write_degrees(table, side.degrees, length)
    return Smoothed(done, lengths, stop.is_set())


class Sides(NamedTuple):
    """Both sides of a graph."""

    left: GraphSide
    right: GraphSide


def smooth_both(
    sides: Sides,
    tables: tuple[Table, Table],
    shapes: tuple[Shape, Shape],
    seed: int,
    workers: Workers,
    communities: bool = False,
    until_close: bool = False,
    stop: Event | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[int, int]:
    """Smooth the vectors of both sides as :func:`smooth` does; return the steps done.

    Degrees are not written.
    """
    kinds = merge_twins(*sides)
    places = Places(*sides, seed)
    if communities:
        join(sides, tables, workers)
    marks = [  # before smoothing: what is smoothed says less
        places.marks(side, shape.place, tables[places.groups_side]) if shape.place else None
        for side, shape in enumerate(shapes)
    ]
    steps, done = [shape.steps for shape in shapes], list[int]()
    for side, (table, nodes, shape) in enumerate(zip(tables, sides, shapes, strict=True)):
        own, far = kinds[side], kinds[1 - side]
        pairs = _random_pairs(nodes, seed) if until_close else None
        evening = Evening(own, table.shape[1], seed) if shape.evened else None
        tell = counting_on(progress, sum(steps[:side]), sum(steps))
        done.append(smooth_side(table, own, far, shape.steps, workers, pairs, evening, stop, tell))
        if communities and not (stop is not None and stop.is_set()):
            sharpen(table, own, seed, workers)
        goal = marks[side]
        if goal is not None:
            places.settle(side, table, goal)
    return done[0], done[1]


def counting_on(
    progress: Callable[[int, int], object] | None, before: int, steps: int
) -> Callable[[int], object] | None:
    """Return how to tell of steps of one side, with those before them, of so many in all."""
    return None if progress is None else lambda done: progress(before + done, steps)


def most_steps(own: Kinds, far: Kinds) -> int:
    """Return how many steps there are at most where the graph decides."""
    nodes, edges = float(own.sizes.sum() + far.sizes.sum()), int(own.indptr[-1])
    return max(1, min(MOST_STEPS, int(WORK * nodes) // max(edges, 1)))


def smooth_side(
    table: Table,
    own: Kinds,
    far: Kinds,
    steps: int,
    workers: Workers,
    pairs: Pairs | None = None,
    evening: Evening | None = None,
    stop: Event | None = None,
    progress: Callable[[int], object] | None = None,
    walk: Walk | None = None,
) -> int:
    """Smooth the vectors of one side in place; return the steps done.

    Needs room for 64 columns of the other side. A vector of which nothing is left, as in a graph of
    one edge, stays zero. With ``pairs`` it ends when those are close.
    """
    from bivec.kernels.smooth import from_bridges, to_bridges
    from bivec.kernels.vector import aligned

    to_length_one(table)
    if not own.indptr[-1] or not steps:
        return 0
    rows = own.gather(table)
    n, dim = rows.shape
    ends, bridges_by = walk or WALK
    votes = voices(own.degrees, ends) * own.sizes
    pull = voices(far.degrees, bridges_by) * far.sizes
    weight = sums_over(own.indptr, own.indices, pull)
    share = np.divide(1, weight, out=np.zeros(n), where=weight > 0).astype(np.float32)
    whole = float(weight @ votes)
    heard = sums_over(far.indptr, far.indices, votes)
    mean = (pull / np.where(heard > 0, heard, 1)).astype(np.float32)
    del weight, heard
    bridges = aligned((len(far), min(_COLUMNS, dim)))
    totals = np.empty((-(-len(far) // _CHUNK), min(_COLUMNS, dim)), np.float32)
    alone = (np.diff(own.indptr) == 0).astype(np.float32)
    scales: Table = np.ones(n, np.float32)  # of the rows, which have length 1 only times these
    if pairs is not None:
        pairs = own.rows(pairs[0]), own.rows(pairs[1])

    def columns(first: int, counted: Table, squares: Table) -> None:
        width = min(_COLUMNS, dim - first)

        def there(a: int, b: int) -> None:
            total = totals[a // _CHUNK, :width]
            to_bridges(far.indptr, far.indices, rows, counted, first, pull, bridges, total, a, b)

        def back(a: int, b: int) -> None:
            from_bridges(
                own.indptr, own.indices, bridges, mean, share, center, rows, first, squares, a, b
            )

        workers.run(there, len(far), _CHUNK)
        center = (totals[:, :width].sum(axis=0, dtype=np.float64) / whole).astype(np.float32)
        workers.run(back, n, _CHUNK)

    done = 0
    while done < steps:
        counted, squares = scales * votes, alone.copy()
        for first in range(0, dim, _COLUMNS):
            columns(first, counted, squares)
        scales = to_one(squares)
        done += 1
        if stop is not None and stop.is_set():
            break
        if evening is not None and done % evening.often(steps) == 0:
            evening(rows, scales, squares, workers)
            scales = to_one(squares)
        if done % _CHECK == 0:
            if progress is not None:
                progress(done)
            if pairs is not None and _closeness(rows, scales, pairs) > _CLOSE:
                break
    rows *= scales[:, None]
    own.scatter(table)
    return done


def voices(degrees: npt.NDArray[Any], power: float = 0.5) -> Table:
    """Return how much nodes of these degrees count, as bridges or at the end of one.

    >>> voices(np.array([0, 1, 4]))
    array([1. , 1. , 0.5], dtype=float32)
    """
    voice: Table = (np.maximum(degrees, 1) ** -float(power)).astype(np.float32)
    return voice


def sums_over(
    indptr: npt.NDArray[np.int64], indices: npt.NDArray[Any], values: Table
) -> npt.NDArray[np.float64]:
    """Return the sum of the values of each node's neighbours: zero where there are none."""
    running = np.concatenate([[0.0], np.cumsum(values[indices], dtype=np.float64)])
    sums: npt.NDArray[np.float64] = running[indptr[1:]] - running[indptr[:-1]]
    sums[np.diff(indptr) == 0] = 0
    return sums


def _random_pairs(own: GraphSide, seed: int) -> Pairs:
    """Return rows of random pairs, drawn by degree: the ends of random edges."""
    draw = np.random.Generator(np.random.Philox(key=[seed, _STREAM]))
    edges = int(own.indptr[-1])
    if not edges:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    ends = np.searchsorted(own.indptr, draw.integers(edges, size=2 * _PAIRS), side="right") - 1
    a, b = ends[:_PAIRS], ends[_PAIRS:]
    return a[a != b], b[a != b]


def _closeness(table: Table, scales: Table, pairs: Pairs) -> float:
    cosines = np.einsum("ij,ij->i", table[pairs[0]], table[pairs[1]])
    cosines *= scales[pairs[0]] * scales[pairs[1]]
    return float(np.exp(_KERNEL * (cosines - 1)).mean()) if len(cosines) else 0.0
