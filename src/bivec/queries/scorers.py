r"""How well a node of one side goes with the nodes of the other: the one place for scores.

``"blend"``
    Two regressions on the vectors, the default where there is a graph: :mod:`bivec.queries.blend`.
``"centroid"``
    :math:`s_{uj} = c_u^T v_j` with :math:`c_u = \sum_i w_{ui} v_i / \sum_i w_{ui}`, the centroid of
    the neighbours of u weighted by their edges. The paper's: the two sides need not be comparable,
    so the centroid stands in for the vector of u.
``"centroid-cosine"``
    The same with the cosine, which does not see how long the vector of j is.
``"dot"``
    :math:`s_{uj} = u^T v_j`, the product of both sides' vectors, as BiNE ranks.
``"cosine"``
    The same with the cosine.
``"popularity"``
    The number of neighbours of j, whoever asks.

A scorer is fitted once for a direction (``own`` asks, ``far`` is ranked) and then scores blocks, so
that ranking never holds a matrix of all pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bivec.errors import InputError
from bivec.graph import BipartiteGraph

Table = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Columns = Rows | slice


class Scorer(ABC):
    """Scores of far nodes for own nodes.

    A subclass implements :meth:`fit` and :meth:`block`, and :meth:`queries` where part of the work
    depends on the asking rows alone. One whose scores are products of two tables derives from
    :class:`FactorScorer` instead.
    """

    name: ClassVar[str]
    needs_graph: ClassVar[bool] = False

    @abstractmethod
    def fit(self, own: Table, far: Table, graph: BipartiteGraph | None) -> Self:
        """Take the vectors of both sides, and the graph with the asking side on its left."""

    def queries(self, rows: Rows) -> Any:
        """Return what is needed of the asking rows, computed once for all blocks."""
        return rows

    @abstractmethod
    def block(self, queries: Any, columns: Columns) -> Table:
        """Return the scores of these far rows, one row for each query."""

    def scores(self, rows: Rows, columns: Columns = slice(None)) -> Table:
        """Return a row of scores for each asking row."""
        return self.block(self.queries(rows), columns)

    def parts(self, row: int, column: int) -> npt.NDArray[np.float64] | None:
        """Return what each neighbour of an own row adds to its score of a far row.

        In the order of the graph's neighbours; None where the score is no such sum.
        """
        return None

    def far_parts(self, row: int, column: int) -> npt.NDArray[np.float64] | None:
        """Return what each neighbour of a far row adds to its score, beside :meth:`parts`.

        In the order of the graph's neighbours; None where they add nothing.
        """
        return None

    def known_scores(self, row: int) -> tuple[Rows, Table] | None:
        """Return the far rows that an own row has an edge with, and their scores.

        None where they are scored like all others.
        """
        return None

    def pairs(self, rows: Rows, columns: Rows) -> Table:
        """Return the score of each pair ``(rows[m], columns[m])``."""
        out = np.empty(len(rows), np.float32)
        for row in np.unique(rows):
            at = np.flatnonzero(rows == row)
            out[at] = self.scores(np.array([row]), columns[at])[0]
        return out


class FactorScorer(Scorer):
    """A scorer by the product of two tables: a query for each own row, a target for each far row.

    Exact results do not depend on the shape of blocks, and an approximate index can be built.
    """

    targets: Table
    _measured: tuple[Table, Table] | None = None

    @property
    def lengths(self) -> Table:
        """The lengths of the targets, computed once."""
        if self._measured is None or self._measured[0] is not self.targets:
            self._measured = (self.targets, lengths(self.targets))
        return self._measured[1]

    @abstractmethod
    def queries(self, rows: Rows) -> Table:
        """Return a vector for each asking row."""

    def block(self, queries: Table, columns: Columns) -> Table:
        """Return the products with the targets, to the rounding of BLAS."""
        product: Table = queries @ self.targets[columns].T
        return product

    def pairs(self, rows: Rows, columns: Rows) -> Table:
        """Return the products of pairs, summed in double precision and rounded once."""
        from bivec.kernels.topk import pair_dots

        wanted, inverse = np.unique(rows, return_inverse=True)
        out = np.empty(len(rows), np.float32)
        pair_dots(self.queries(wanted), self.targets, inverse, columns, out)
        return out


class Dot(FactorScorer):
    """The product of both sides' vectors."""

    name = "dot"

    def fit(self, own: Table, far: Table, graph: BipartiteGraph | None) -> Self:
        """Take the vectors as they are."""
        self.own, self.targets = own, far
        return self

    def queries(self, rows: Rows) -> Table:
        """Return the vectors of the rows."""
        return self.own[rows]


class Cosine(Dot):
    """The cosine of both sides' vectors."""

    name = "cosine"

    def fit(self, own: Table, far: Table, graph: BipartiteGraph | None) -> Self:
        """Bring the far vectors to length 1."""
        self.own, self.targets = own, unit(far)
        return self

    def queries(self, rows: Rows) -> Table:
        """Return the vectors of the rows at length 1."""
        return unit(self.own[rows])


class Centroid(FactorScorer):
    """The paper's: the centroid of a node's neighbours stands in for the node."""

    name = "centroid"
    needs_graph = True

    def fit(self, own: Table, far: Table, graph: BipartiteGraph | None) -> Self:
        """Take the far vectors and the edges; centroids are computed for those who ask."""
        if graph is None:
            raise needs_a_graph(f"the scorer {self.name!r}")
        self.side, self.far = graph.left, far
        self.targets = self._targets(far)
        return self

    def _targets(self, far: Table) -> Table:
        return far

    def queries(self, rows: Rows) -> Table:
        """Return the weighted mean of the neighbours' vectors; zeros without neighbours."""
        from bivec.kernels.topk import centroids

        out = np.empty((len(rows), self.far.shape[1]), np.float32)
        side = self.side
        centroids(side.indptr, side.indices, side.weights, rows, self.far, out)
        return out

    def parts(self, row: int, column: int) -> npt.NDArray[np.float64]:
        """Return the terms of the centroid's product: each neighbour's, by its weight."""
        span = slice(self.side.indptr[row], self.side.indptr[row + 1])
        weights = self.side.weights[span].astype(np.float64)
        terms = self.far[self.side.indices[span]] @ self.targets[column].astype(np.float64)
        return np.asarray(weights * terms / max(weights.sum(), 1e-300))


class CentroidCosine(Centroid):
    """The centroid against far vectors of length 1."""

    name = "centroid-cosine"

    def _targets(self, far: Table) -> Table:
        return unit(far)


class Popularity(Scorer):
    """The number of neighbours, the same for all: what is left for a node without edges."""

    name = "popularity"
    needs_graph = True

    def fit(self, own: Table, far: Table, graph: BipartiteGraph | None) -> Self:
        """Count the edges of the far side."""
        if graph is None:
            raise needs_a_graph(f"the scorer {self.name!r}")
        self.degrees = graph.right.degrees.astype(np.float32)
        return self

    def block(self, queries: Any, columns: Columns) -> Table:
        """Return the same row for every query."""
        degrees = self.degrees[columns]
        return np.repeat(degrees[None], len(queries), axis=0)


def unit(table: Table) -> Table:
    """Return the vectors at length 1; a zero vector stays zero."""
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    return np.asarray(table / np.where(norms > 0, norms, 1), np.float32)


def lengths(table: Table) -> Table:
    """Return the length of each vector."""
    squares = np.einsum("ij,ij->i", table, table, dtype=np.float64)
    return np.asarray(np.sqrt(squares), np.float32)


def needs_a_graph(what: str) -> InputError:
    """Return the error of asking something that only the graph can tell."""
    return InputError(
        f"{what} needs the graph, and this embedding has none",
        "Save embeddings with graph=True, or make one with bivec.Embedding(..., graph=graph).",
    )
