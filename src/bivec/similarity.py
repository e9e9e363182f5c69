r"""Algebraic coordinates of the nodes, and the similarity of two nodes by them.

Random coordinates are relaxed towards the mean of each node's neighbours. After a few sweeps nodes
of one neighbourhood are close in every trial, while nodes that only a hub connects are still apart:

.. math::

    a_r^{(t+1)}(v) = \lambda a_r^{(t)}(v) + (1 - \lambda)
        \frac{\sum_{u \in \Gamma(v)} a_r^{(t)}(u) |\Gamma(u)|^{-1}}
              {\sum_{u \in \Gamma(v)} |\Gamma(u)|^{-1}},
    \qquad
    s(u, v) = 1 - \frac{1}{\sqrt R} \sqrt{\sum_{r=1}^{R} (a_r(u) - a_r(v))^2}

References
----------
Sybrandt, Safro, "First- and high-order bipartite embeddings", arXiv:1905.10953.
Chen, Safro, "Algebraic distance on graphs", SIAM J. Sci. Comput. 33 (2011), doi:10.1137/090775087.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bivec.checks import check_choice, check_integer, check_number, seed_of
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.parallel import Workers

_CHUNK = 4096


@dataclass(frozen=True, eq=False, slots=True)
class AlgebraicCoordinates:
    """Coordinates of both sides: one row a node, one column a trial, all within [0, 1]."""

    left: npt.NDArray[np.float32]
    right: npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, slots=True)
class EdgeSimilarity:
    """The similarity of every edge, once in the edge order of each side.

    ``left[e]`` belongs to ``graph.left.indices[e]``, ``right[e]`` to ``graph.right.indices[e]``.
    """

    left: npt.NDArray[np.float32]
    right: npt.NDArray[np.float32]


def algebraic_coordinates(
    graph: BipartiteGraph,
    trials: int = 10,
    sweeps: int = 20,
    damping: float = 0.5,
    order: Literal["jacobi", "gauss-seidel"] = "jacobi",
    rescale: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> AlgebraicCoordinates:
    """Relax random coordinates over the graph: O(sweeps x edges x trials).

    Parameters
    ----------
    graph : BipartiteGraph
        Weights of edges do not matter; a neighbour pulls with one over its degree.
    trials : int
        Independent random starts, the paper's R.
    sweeps : int
        Rounds of relaxation, the paper's K.
    damping : float
        Share of its old coordinate that a node keeps in each round, in [0, 1).
    order : {"jacobi", "gauss-seidel"}
        Whether both sides move at once from the old coordinates, as in the paper, or the right side
        already sees the new coordinates of the left, as in the authors' published code.
    rescale : bool
        Stretch each trial to [0, 1] after each sweep, as the published code does. Without it all
        nodes of a component draw together, and the similarities of edges crowd towards 1.
    random_state : int, None, or numpy generator
        The seed. Equal seeds give equal bytes, whatever ``n_jobs``.
    n_jobs : int, optional
        Threads; every core where not given.

    Returns
    -------
    AlgebraicCoordinates

    Notes
    -----
    A node without edges keeps its random coordinates, and takes no part in the rescaling.
    Components relax independently of each other, each towards a point of its own.

    Examples
    --------
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> algebraic_coordinates(graph, trials=4).left.shape
    (3, 4)
    """
    from bivec.kernels.relax import extent, pull_of_neighbors, relax, stretch
    from bivec.kernels.rng import fill_uniform

    trials = check_integer("trials", trials, low=1)
    sweeps = check_integer("sweeps", sweeps, low=0)
    damping = check_number("damping", damping, low=0, below=1)
    check_choice("order", order, ("jacobi", "gauss-seidel"))
    seed = seed_of(random_state)

    # Start
    sides = (graph.left, graph.right)
    now = [np.empty((len(side), trials), np.float32) for side in sides]
    for relation, table in enumerate(now):
        fill_uniform(table, 0, seed, _STREAM + relation, 0.0, 1.0)
    then = [np.empty_like(table) for table in now] if order == "jacobi" else now
    pull = [1.0 / np.maximum(side.degrees, 1) for side in sides]
    factor = [column[:, None].astype(np.float32) for column in pull]
    room = np.empty((max(map(len, sides)), trials), np.float32)
    pulls = [np.empty(len(side)) for side in sides]
    for near, side in enumerate(sides):
        pull_of_neighbors(side.indptr, side.indices, pull[1 - near], pulls[near])

    # Relax
    with Workers(n_jobs) as workers:
        for _ in range(sweeps):
            for near, far in ((0, 1), (1, 0)):
                side = sides[near]
                pulled = np.multiply(now[far], factor[far], out=room[: len(sides[far])])
                arrays = (
                    side.indptr, side.indices, pulls[near], pulled, now[near], then[near], damping
                )  # fmt: skip
                workers.run(partial(relax, *arrays), len(side), _CHUNK)
            now, then = then, now
            if rescale:
                low = np.full(trials, np.inf, np.float32)
                high = np.full(trials, -np.inf, np.float32)
                for table, side in zip(now, sides, strict=True):
                    extent(table, side.indptr, low, high)
                for table, side in zip(now, sides, strict=True):
                    stretch(table, side.indptr, low, high)
    return AlgebraicCoordinates(*now)


def algebraic_similarity(
    graph: BipartiteGraph,
    coordinates: AlgebraicCoordinates | None = None,
    pairs: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    n_jobs: int | None = None,
    **parameters: Any,
) -> npt.NDArray[np.float32]:
    """Return the similarity, in [0, 1], of every edge or of any pairs.

    Parameters
    ----------
    graph : BipartiteGraph
        The graph.
    coordinates : AlgebraicCoordinates, optional
        Computed with ``parameters`` where not given.
    pairs : pair of int arrays, optional
        Left rows and right rows; every edge, in the order of ``graph.left.indices``, where not
        given.
    n_jobs : int, optional
        Threads; every core where not given.
    **parameters
        Those of :func:`algebraic_coordinates`.

    Examples
    --------
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> algebraic_similarity(graph).round(1)
    array([1., 1., 1., 1., 1.], dtype=float32)
    """
    from bivec.kernels.relax import pair_similarity

    coordinates = _coordinates(graph, coordinates, n_jobs, parameters)
    if pairs is None:
        return _edges(graph, coordinates, "left", n_jobs)
    rows, columns = _pair_rows(graph, "left", pairs[0]), _pair_rows(graph, "right", pairs[1])
    if len(rows) != len(columns):
        raise InputError(
            f"{len(rows):,} left rows but {len(columns):,} right rows",
            "Give one of each for a pair.",
        )
    out = np.empty(len(rows), np.float32)
    pair_similarity(rows, columns, coordinates.left, coordinates.right, out)
    return out


def edge_similarities(
    graph: BipartiteGraph,
    coordinates: AlgebraicCoordinates | None = None,
    n_jobs: int | None = None,
    **parameters: Any,
) -> EdgeSimilarity:
    """Return the similarity of every edge in the edge order of both sides.

    The parameters are those of :func:`algebraic_similarity`. The two arrays hold the same numbers.
    """
    coordinates = _coordinates(graph, coordinates, n_jobs, parameters)
    return EdgeSimilarity(
        _edges(graph, coordinates, "left", n_jobs), _edges(graph, coordinates, "right", n_jobs)
    )


_STREAM = 100
"""Streams of random numbers of the coordinates, apart from those of sampling."""


def _coordinates(
    graph: BipartiteGraph,
    coordinates: AlgebraicCoordinates | None,
    n_jobs: int | None,
    parameters: dict[str, Any],
) -> AlgebraicCoordinates:
    if coordinates is None:
        return algebraic_coordinates(graph, n_jobs=n_jobs, **parameters)
    if parameters:
        raise InputError(
            f"both coordinates and {', '.join(sorted(parameters))} are given",
            "Give one or the other.",
        )
    sizes = len(coordinates.left), len(coordinates.right)
    if sizes != (graph.n_left, graph.n_right):
        raise InputError(
            f"the coordinates are for {sizes[0]:,} left and {sizes[1]:,} right nodes, "
            f"the graph has {graph.n_left:,} and {graph.n_right:,}",
            "Give the coordinates of this graph.",
        )
    return coordinates


def _edges(
    graph: BipartiteGraph,
    coordinates: AlgebraicCoordinates,
    side: Literal["left", "right"],
    n_jobs: int | None,
) -> npt.NDArray[np.float32]:
    from bivec.kernels.relax import edge_similarity

    own, far = coordinates.left, coordinates.right
    if side == "right":
        own, far = far, own
    view = graph.side(side)
    out = np.empty(graph.n_edges, np.float32)
    with Workers(n_jobs) as workers:
        arrays = (view.indptr, view.indices, own, far, out)
        workers.run(partial(edge_similarity, *arrays), len(view), _CHUNK)
    return out


def _pair_rows(
    graph: BipartiteGraph, side: Literal["left", "right"], rows: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    array = np.atleast_1d(np.asarray(rows))
    n = len(graph.side(side))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"the {side} rows are no one-dimensional array of integers", side=side)
    if array.size and (array.min() < 0 or array.max() >= n):
        raise InputError(
            f"a {side} row lies outside 0 to {n - 1:,}", "Rows count from 0.", side=side
        )
    return array.astype(np.int64)
