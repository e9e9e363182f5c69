r"""Folding in where vectors are smoothed: a new node takes one step of smoothing.

.. math::

    x_{new} \propto \frac{\sum_{b \in \Gamma} (d_b + 1)^{-1/2} m_b}
        {\sum_{b \in \Gamma} (d_b + 1)^{-1/2}} - \bar x

with :math:`m_b` the mean vector of the old neighbours of bridge b, by their voices, and the rest as
in :mod:`bivec.smoothing`. Where vectors have places (:mod:`bivec.places`), there is no mean to
subtract: those around the new node are at the places it belongs to. No training, no random numbers:
the same neighbours give the same vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.graph import BipartiteGraph, GraphSide, Side
from bivec.lengths import write_degrees
from bivec.queries.parts import Vectors, is_placed, length_of, side_of
from bivec.smoothing import sums_over, voices

if TYPE_CHECKING:
    from bivec.queries.fold import NewNodes

Table = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]


def fold_smoothed(
    vectors: Vectors,
    graph: BipartiteGraph,
    nodes: NewNodes,
    side: Side,
    scale: float,
) -> Table:
    """Return a vector for each new node; a node without known neighbours has a zero vector.

    Parameters
    ----------
    vectors : Vectors
        Smoothed, with a graph.
    graph : BipartiteGraph
        The same with the side of the new nodes on the left.
    nodes : NewNodes
        The new nodes.
    side : {"left", "right"}
        Their side.
    scale : float
        What the vectors of that side were multiplied by.
    """
    known = f"means over bridges to the {side}"
    if known not in vectors.cache:
        table = without_degrees(side_of(vectors, side).vectors)
        vectors.cache[known] = (
            means(graph.right, graph.left, table),
            center(graph, table, is_placed(vectors, side)),
        )
    bridges: Table = vectors.cache[known][0]
    middle: Table = vectors.cache[known][1]
    degrees = np.diff(nodes.indptr)
    links = sparse.csr_array(
        (voices(graph.right.degrees[nodes.indices] + 1), nodes.indices, nodes.indptr),
        shape=(len(degrees), graph.n_right),
    )
    out = pulled(links, bridges) - middle
    write_degrees(out, degrees, length_of(vectors, side))
    out[degrees == 0] = 0
    out *= np.float32(scale)
    return out


def without_degrees(table: Table) -> Table:
    """Return the part of smoothed vectors that smoothing sees, at length 1."""
    bare = table.copy()
    write_degrees(bare, np.zeros(len(bare), np.int64))
    return bare


def center(graph: BipartiteGraph, table: Table, placed: bool) -> Table:
    """Return the mean of the left vectors as smoothing weighs them; zeros, if they have places."""
    if placed:
        return np.zeros(table.shape[1], np.float32)
    weight = voices(graph.left.degrees) * sums_over(
        graph.left.indptr, graph.left.indices, voices(graph.right.degrees)
    )
    return np.asarray((weight / max(weight.sum(), 1e-300)) @ table, np.float32)


def means(bridges: GraphSide, ends: GraphSide, table: Table, rows: Rows | None = None) -> Table:
    """Return the mean vector of the ends of each bridge, or of some of them, by their voices."""
    matrix = sparse.csr_array(
        (voices(ends.degrees)[bridges.indices], bridges.indices, bridges.indptr),
        shape=(len(bridges), len(table)),
    )
    return pulled(matrix if rows is None else matrix[rows], table)


def pulled(links: sparse.csr_array, bridges: Table) -> Table:
    """Return the mean over the bridges of each row, each by the value of its link."""
    total = np.asarray(links.sum(axis=1)).ravel()
    return np.asarray(links @ bridges / np.where(total > 0, total, 1)[:, None], np.float32)
