r"""Smoothing: vectors move towards those they share neighbours with, within their side.

.. math::

    y_i = \frac{1}{w_i} \sum_{b \in \Gamma(i)} \frac{1}{d_b} \,
          \frac{1}{d_b} \sum_{j \in \Gamma(b)} x_j, \qquad
    w_i = \sum_{b \in \Gamma(i)} \frac{1}{d_b}, \qquad
    x_i \leftarrow \frac{y_i - \bar x}{\|y_i - \bar x\|}, \qquad
    \bar x = \frac{\sum_i w_i x_i}{\sum_i w_i}

A step is a walk over a bridge, niche bridges before hubs. The walk is reversible and stays where
:math:`w` says, so :math:`\bar x` is what all vectors would end at; without it they never do, and
many steps lead to the slow directions of the walk: the communities of the graph, coarser with each
step. Nodes of one community come close enough that a classifier which has seen one of them knows
the others.

References
----------
Zhou, Huang, Schölkopf, "Learning with hypergraphs: clustering, classification, and embedding",
NIPS 2006, whose walk on a hypergraph this is. Wu et al., "Simplifying graph convolutional
networks", arXiv:1902.07153: many smoothing steps and no other layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_integer
from bivec.errors import InputError
from bivec.graph import BipartiteGraph, GraphSide
from bivec.parallel import Workers

Table = npt.NDArray[np.float32]

MOST_STEPS, WORK = 128, 384
"""Steps where there are few edges; with more than WORK / MOST_STEPS edges a node, as many as keep
the work for a node the same."""
_CHECK, _PAIRS = 8, 8192
_KERNEL, _CLOSE = 5.0, 0.08
"""A random pair, drawn by degree, is as close as ``exp(-_KERNEL * (1 - cosine))``: the value of an
RBF kernel of gamma 0.1 at norm 5. Smoothing ends when their mean is ``_CLOSE``."""
OWN = 0.05
"""What is left of a vector's own beside the smoothed one: it tells nodes of one spot apart."""
DEGREE = 0.06
"""Of the logarithm of the degree, to base 2, in the last entry of a vector of length 1."""
_STREAM = 230


def check_smoothing(smoothing: Any) -> int | None:
    """Return the number of steps, or None for as many as the graph calls for."""
    if smoothing == "auto":
        return None
    if isinstance(smoothing, str):
        raise InputError(f"smoothing={smoothing!r} is no number", 'Give a number, or "auto".')
    return check_integer("smoothing", smoothing, low=0, high=100_000)


def smooth_side(
    table: Table,
    own: GraphSide,
    far: GraphSide,
    steps: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[Table, int]:
    """Return smoothed vectors of one side, of length 1 but for their degree, and the steps taken.

    Parameters
    ----------
    table : array of float32
        Vectors of the nodes of ``own``; they are not changed.
    own, far : GraphSide
        The graph from this side and from the other.
    steps : int, optional
        By default up to 128, fewer on graphs of many edges, and until random pairs come close.
    seed : int
        Of those pairs.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    """
    from bivec.kernels.smooth import gather, recenter
    from bivec.kernels.train import aligned

    n, dim = table.shape
    if n == 0:
        return table.copy(), 0
    limit = steps
    if steps is None:
        limit = max(1, min(MOST_STEPS, WORK * (n + len(far)) // max(own.indptr[-1], 1)))
    pull = (1 / np.maximum(far.degrees, 1)).astype(np.float32)
    weight = _sums(own, pull)
    share = np.divide(1, weight, out=np.zeros(n), where=weight > 0).astype(np.float32)
    part = (weight / max(weight.sum(), 1e-300)).astype(np.float32)
    first = _unit(table)
    now, then, bridges = aligned((n, dim)), aligned((n, dim)), aligned((len(far), dim))
    now[:] = first
    pairs = _random_pairs(own, seed) if steps is None else None
    done = 0
    with Workers(n_jobs) as workers:
        while done < (limit or 0):
            center = part @ now

            def to_bridges(a: int, b: int, now: Table = now) -> None:
                gather(far.indptr, far.indices, now, pull * pull, bridges, a, b)

            def back(a: int, b: int, now: Table = now, then: Table = then,
                     center: Table = center) -> None:  # fmt: skip
                gather(own.indptr, own.indices, bridges, share, then, a, b)
                recenter(then, center, now, own.degrees, a, b)

            workers.run(to_bridges, len(far), 256)
            workers.run(back, n, 256)
            now, then = then, now
            done += 1
            if pairs is not None and done % _CHECK == 0 and _closeness(now, pairs) > _CLOSE:
                break
    mixed = _unit(now + np.float32(OWN) * first)
    return mixed, done


def with_degrees(table: Table, degrees: npt.NDArray[np.int64]) -> Table:
    """Return vectors of length 1 whose last entry gave way to the logarithm of the degree."""
    if table.shape[1] < 2:
        return table
    table = table.copy()
    table[:, -1] = 0
    table = _unit(table)
    table[:, -1] = DEGREE * np.log2(1 + degrees)
    return table


def smooth(
    graph: BipartiteGraph,
    left: Table,
    right: Table,
    steps: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[Table, Table, tuple[int, int]]:
    """Return the smoothed vectors of both sides with their degrees, and the steps taken on each."""
    a, left_steps = smooth_side(left, graph.left, graph.right, steps, seed, n_jobs)
    b, right_steps = smooth_side(right, graph.right, graph.left, steps, seed, n_jobs)
    return (
        with_degrees(a, graph.left.degrees),
        with_degrees(b, graph.right.degrees),
        (left_steps, right_steps),
    )


def _sums(own: GraphSide, pull: Table) -> npt.NDArray[np.float64]:
    running = np.concatenate([[0.0], np.cumsum(pull[own.indices], dtype=np.float64)])
    sums: npt.NDArray[np.float64] = running[own.indptr[1:]] - running[own.indptr[:-1]]
    sums[own.degrees == 0] = 0
    return sums


def _unit(table: Table) -> Table:
    lengths = np.sqrt(np.einsum("ij,ij->i", table, table, dtype=np.float32))
    unit: Table = table / np.where(lengths > 0, lengths, 1)[:, None]
    return unit


def _random_pairs(own: GraphSide, seed: int) -> tuple[Any, Any] | None:
    """Return rows of random pairs, drawn by degree: the ends of random edges."""
    edges = int(own.indptr[-1])
    if edges == 0:
        return None
    draw = np.random.Generator(np.random.Philox(key=[seed, _STREAM]))
    ends = np.searchsorted(own.indptr, draw.integers(edges, size=2 * _PAIRS), side="right") - 1
    a, b = ends[:_PAIRS], ends[_PAIRS:]
    return a[a != b], b[a != b]


def _closeness(table: Table, pairs: tuple[Any, Any]) -> float:
    cosines = np.einsum("ij,ij->i", table[pairs[0]], table[pairs[1]])
    return float(np.exp(_KERNEL * (cosines - 1)).mean()) if len(cosines) else 0.0
