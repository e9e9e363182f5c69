"""The bipartite graph that every other part of bivec works on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from scipy.sparse import csgraph

from bivec.arrow import from_numpy
from bivec.errors import InputError, shown
from bivec.graph.assemble import (
    BuildReport,
    Compressed,
    DuplicateEdge,
    compress,
    index_dtype,
    transpose,
)
from bivec.graph.checks import check_ids, check_rows, check_weights
from bivec.graph.side import GraphSide, Side
from bivec.graph.summary import GraphSummary, summarize
from bivec.ids import Id, Vocabulary


class BipartiteGraph:
    """A weighted bipartite graph with ids on both sides.

    Edges are stored twice, as compressed rows of the left and of the right side, so that the
    neighbourhood of any node is a slice. A node without an edge keeps its row. The same id may
    stand on both sides: it names two different nodes. A graph is never changed; methods such as
    :meth:`prune` return a new one.

    Most graphs come from :func:`bivec.read_edges` or :func:`bivec.as_graph`; this is the way in
    for arrays.

    Parameters
    ----------
    left_rows, right_rows : array of int
        The two ends of each edge, as row numbers.
    weights : array of float, optional
        Finite and not negative; 1 where not given. A row with weight 0 is no edge.
    left_ids, right_ids : sequence of str or int, optional
        One id a row, in row order; the row numbers where not given.
    duplicates : {"sum", "max", "last", "error"}
        What becomes of an edge that is given more than once.

    Attributes
    ----------
    left, right : GraphSide
        The two sides.
    report : BuildReport
        How many rows were given, merged or left out.

    Examples
    --------
    >>> graph = BipartiteGraph([0, 0, 1], [0, 1, 1], left_ids=["ann", "bob"],
    ...                        right_ids=["Alien", "Brazil"])
    >>> graph
    BipartiteGraph(2 left, 2 right, 3 edges)
    >>> graph.neighbors("ann", side="left")
    ['Alien', 'Brazil']
    """

    __slots__ = ("left", "report", "right")

    def __init__(
        self,
        left_rows: npt.ArrayLike,
        right_rows: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        *,
        left_ids: Iterable[Id] | Vocabulary | None = None,
        right_ids: Iterable[Id] | Vocabulary | None = None,
        duplicates: str = "sum",
    ) -> None:
        left, right = check_rows(left_rows, "left"), check_rows(right_rows, "right")
        if len(left) != len(right):
            raise InputError(
                f"{len(left):,} left ends but {len(right):,} right ends",
                "Give one left row and one right row for each edge.",
            )
        left_vocabulary = check_ids(left_ids, left, "left")
        right_vocabulary = check_ids(right_ids, right, "right")
        values = check_weights(weights, len(left))
        try:
            forward, backward, report = compress(
                left, right, values, len(left_vocabulary), len(right_vocabulary), duplicates
            )
        except DuplicateEdge as repeat:
            rows = repeat.merged
            others = f", one of {rows:,} rows that repeat an edge" if rows > 1 else ""
            raise InputError(
                f"the edge {shown(left_vocabulary[repeat.left])} - "
                f"{shown(right_vocabulary[repeat.right])} "
                f"is given more than once{others}",
                "Remove the repetition, or choose duplicates='sum', 'max' or 'last'.",
            ) from None
        self._set(left_vocabulary, right_vocabulary, forward, backward, report)
        pa.default_memory_pool().release_unused()  # what sorting ids took, for who comes next

    def _set(
        self,
        left_ids: Vocabulary,
        right_ids: Vocabulary,
        forward: Compressed,
        backward: Compressed,
        report: BuildReport,
    ) -> None:
        for array in (*forward, *backward):
            array.flags.writeable = False
        self.left = GraphSide(left_ids, *forward)
        self.right = GraphSide(right_ids, *backward)
        self.report = report

    # Sizes

    @property
    def n_left(self) -> int:
        """Number of nodes on the left."""
        return len(self.left)

    @property
    def n_right(self) -> int:
        """Number of nodes on the right."""
        return len(self.right)

    @property
    def n_edges(self) -> int:
        """Number of distinct edges."""
        return len(self.left.indices)

    @property
    def weighted(self) -> bool:
        """Whether any edge has a weight other than 1."""
        return bool((self.left.weights != 1).any())

    @property
    def nbytes(self) -> int:
        """Memory of both views and the ids."""
        return self.left.nbytes + self.right.nbytes

    # Looking

    def side(self, side: Side) -> GraphSide:
        """Return one side by its name."""
        if side not in ("left", "right"):
            raise InputError(f"{side!r} is no side", "A side is 'left' or 'right'.")
        return self.left if side == "left" else self.right

    def neighbors(self, node: Id, side: Side) -> list[Id]:
        """Return the ids of a node's neighbours, in the order of their rows."""
        own = self.side(side)
        other = self.right if side == "left" else self.left
        row = own.ids.row(node)
        rows = own.indices[own.indptr[row] : own.indptr[row + 1]]
        return list(other.ids.take(rows))

    def components(self) -> tuple[int, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Find the connected components; 0 is the largest, and isolated nodes are each their own.

        Returns
        -------
        n : int
            Number of components.
        left, right : array of int
            The component of each row.
        """
        n = self.n_left + self.n_right
        # Rows of the left side point to columns behind it; the right side's rows are empty.
        indptr = np.concatenate(
            [self.left.indptr, np.full(self.n_right, self.n_edges, dtype=np.int64)]
        )
        columns = self.left.indices.astype(index_dtype(n)) + self.n_left
        joined = sparse.csr_array((self.left.weights, columns, indptr), shape=(n, n))
        if n == 0:
            return 0, np.empty(0, np.int32), np.empty(0, np.int32)
        count, labels = csgraph.connected_components(joined, directed=False)
        rank = np.empty(count, dtype=np.int32)
        rank[np.argsort(-np.bincount(labels), kind="stable")] = np.arange(count, dtype=np.int32)
        return count, rank[labels[: self.n_left]], rank[labels[self.n_left :]]

    def summary(self) -> GraphSummary:
        """Sum the graph up: sizes, density, degree quantiles, components, memory."""
        return summarize(self)

    def flipped(self) -> BipartiteGraph:
        """Return the same graph with its sides exchanged, without copying anything."""
        graph = BipartiteGraph.__new__(BipartiteGraph)
        graph.left, graph.right, graph.report = self.right, self.left, self.report
        return graph

    # Cutting

    def prune(self, left: int = 2, right: int = 2) -> BipartiteGraph:
        """Remove nodes of low degree, again and again, until every degree is high enough.

        With the default this is the paper's cleaning: nodes of degree 1 (or 0) go until none
        remain. The result is unique whatever the order of removal.

        Parameters
        ----------
        left, right : int
            The least number of neighbours that a node of that side must have.
        """
        from bivec.kernels.peel import peel

        left_kept = np.empty(self.n_left, dtype=bool)
        right_kept = np.empty(self.n_right, dtype=bool)
        peel(
            self.left.indptr, self.left.indices, self.right.indptr, self.right.indices,
            left, right, left_kept, right_kept,
        )  # fmt: skip
        return self._select(np.flatnonzero(left_kept), np.flatnonzero(right_kept))

    def subgraph(
        self, left: Iterable[Id] | None = None, right: Iterable[Id] | None = None
    ) -> BipartiteGraph:
        """Keep these nodes (None keeps the whole side) and the edges between them.

        Nodes stay in the order of this graph, and stay even if they lose all their edges.
        """
        return self._select(
            np.arange(self.n_left) if left is None else np.unique(self.left.ids.rows(left)),
            np.arange(self.n_right) if right is None else np.unique(self.right.ids.rows(right)),
        )

    def _select(
        self, left: npt.NDArray[np.integer[Any]], right: npt.NDArray[np.integer[Any]]
    ) -> BipartiteGraph:
        """Return the graph of these ascending rows."""
        kept = self.to_scipy()[left]
        renumber = np.full(self.n_right, -1, dtype=index_dtype(self.n_right))
        renumber[right] = np.arange(len(right))
        columns = renumber[kept.indices]
        inside = columns >= 0
        indptr = np.zeros(len(left) + 1, dtype=np.int64)
        np.cumsum(np.diff(np.append(0, np.cumsum(inside))[kept.indptr]), out=indptr[1:])
        forward = Compressed(
            indptr,
            columns[inside].astype(index_dtype(len(right)), copy=False),
            kept.data[inside],
        )
        graph = BipartiteGraph.__new__(BipartiteGraph)
        graph._set(
            self.left.ids.take(left),
            self.right.ids.take(right),
            forward,
            transpose(forward, len(right)),
            BuildReport(rows=len(forward.indices)),
        )
        return graph

    # Handing over

    def to_scipy(self) -> sparse.csr_array:
        """Return the biadjacency matrix (left rows, right columns) without copying the edges."""
        shape = (self.n_left, self.n_right)
        return sparse.csr_array(
            (self.left.weights, self.left.indices, self.left.indptr), shape=shape
        )

    def left_rows(self) -> npt.NDArray[np.integer[Any]]:
        """Return the left row of each edge, in the order of ``left.indices``."""
        rows = np.arange(self.n_left, dtype=index_dtype(self.n_left))
        return np.repeat(rows, self.left.degrees)

    def to_arrow(self) -> pa.Table:
        """Return the edges as an Arrow table with columns left, right and weight."""

        def named(rows: npt.NDArray[np.integer[Any]], ids: Vocabulary) -> pa.Array:
            return pa.DictionaryArray.from_arrays(from_numpy(rows), ids.to_arrow())

        return pa.table(
            {
                "left": named(self.left_rows(), self.left.ids),
                "right": named(self.left.indices, self.right.ids),
                "weight": from_numpy(self.left.weights),
            }
        )

    def __eq__(self, other: object) -> bool:
        """Compare as labelled graphs: same ids, same edges, same weights, in any row order.

        As everywhere, digits and the integer they write name the same node.
        """
        if not isinstance(other, BipartiteGraph):
            return NotImplemented
        if (self.n_left, self.n_right, self.n_edges) != (
            other.n_left,
            other.n_right,
            other.n_edges,
        ):
            return False
        left = _matching_rows(self.left.ids, other.left.ids)
        right = _matching_rows(self.right.ids, other.right.ids)
        if left is None or right is None:
            return False
        mine = self.to_scipy()[left]
        indices, weights = mine.indices, mine.data
        if not np.array_equal(right, np.arange(self.n_right)):
            column = np.empty(self.n_right, dtype=np.int64)
            column[right] = np.arange(self.n_right)
            mine = sparse.csr_array((weights, column[indices], mine.indptr), shape=mine.shape)
            mine.sort_indices()
            indices, weights = mine.indices, mine.data
        return (
            np.array_equal(mine.indptr, other.left.indptr)
            and np.array_equal(indices, other.left.indices)
            and np.array_equal(weights, other.left.weights)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        weighted = ", weighted" if self.weighted else ""
        return (
            f"BipartiteGraph({self.n_left:,} left, {self.n_right:,} right, "
            f"{self.n_edges:,} edges{weighted})"
        )


def _matching_rows(mine: Vocabulary, theirs: Vocabulary) -> npt.NDArray[np.int64] | None:
    """Return my row for each of their rows, or None where the ids differ."""
    if mine == theirs:
        return np.arange(len(mine))
    rows = mine.find(theirs)
    return rows if (rows >= 0).all() else None
