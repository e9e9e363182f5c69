"""Twins: nodes with the same neighbours, which smoothing cannot tell apart after its first step.

In a sparse graph most nodes have one edge, and all that have it in common are twins. One row for
each kind of them, counted as often as there are of it, gives the vectors that all rows would have,
for a fraction of the work. The same goes for bridges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bivec.graph import GraphSide

Rows = npt.NDArray[np.int64]

_WORTH = 0.8
"""Share of the nodes that are left, above which twins are not worth the trouble."""


class Kinds(NamedTuple):
    """A side of a graph with one row for each kind of node, as smoothing reads it.

    ``indptr`` and ``indices`` lead to the kinds of the other side. A row stands for ``sizes``
    nodes, each of which has ``degrees`` neighbours. ``group`` has the row of each node, or is None
    where nodes are their own rows; rows are in the order of the first node of their kind.
    """

    indptr: Rows
    indices: npt.NDArray[np.integer[Any]]
    degrees: Rows
    sizes: npt.NDArray[np.float32]
    group: Rows | None

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, nodes: Rows) -> Rows:
        """Return the rows of nodes."""
        return nodes if self.group is None else self.group[nodes]

    def gather(self, table: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the first rows of a table, with the means of each kind of node written to them."""
        from bivec.kernels.twins import gather

        if self.group is None:
            return table
        gather(table, self.group, self.sizes)
        return table[: len(self)]

    def scatter(self, table: npt.NDArray[np.float32]) -> None:
        """Give every node of a table the vector that stands for its kind."""
        from bivec.kernels.twins import scatter

        if self.group is not None:
            scatter(table, self.group)

    def pick(self, table: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return a copy of one vector for each kind, of a table in which twins have the same."""
        return table.copy() if self.group is None else table[_firsts(self.group)]

    def sample(self, most: int, seed: int, stream: int) -> tuple[Rows, npt.NDArray[np.float32]]:
        """Return the rows of so many random nodes that have edges, and how often each counts.

        All of them where there are fewer, each as often as there are nodes of its kind.
        """
        sizes = np.where(np.diff(self.indptr) == 0, 0, self.sizes).astype(np.int64)
        total = int(sizes.sum())
        if total <= most:
            chosen = np.flatnonzero(sizes)
            return chosen, sizes[chosen].astype(np.float32)
        draw = np.random.Generator(np.random.Philox(key=[seed, stream]))
        nodes = draw.integers(total, size=most)
        chosen = np.searchsorted(np.cumsum(sizes), nodes, side="right")
        return np.sort(chosen), np.ones(most, np.float32)

    def spread(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return a table of all nodes from one vector for each kind, a copy."""
        return rows.copy() if self.group is None else rows[self.group]


def merge_twins(left: GraphSide, right: GraphSide) -> tuple[Kinds, Kinds]:
    """Return both sides of a graph by the kinds of their nodes.

    Nodes without neighbours are not twins of each other: they keep their vectors.
    """
    groups = _groups(left), _groups(right)
    return _merged(left, *groups), _merged(right, *groups[::-1])


def _groups(side: GraphSide) -> Rows | None:
    """Return the kind of each node, or None where there are nearly as many as nodes."""
    from bivec.kernels.twins import hash_rows, same_rows

    n = len(side)
    names = np.empty(n, np.uint64)
    hash_rows(side.indptr, side.indices, names)
    order = np.argsort(names, kind="stable")
    names = names[order]
    first = np.append(True, names[1:] != names[:-1])[:n] | (side.degrees[order] == 0)
    firsts = order[first]  # the first node of each kind, as the order is stable
    if len(firsts) > _WORTH * n:
        return None
    numbers = np.empty(len(firsts), np.int64)
    numbers[np.argsort(firsts)] = np.arange(len(firsts))
    group = np.empty(n, np.int64)
    group[order] = numbers[np.cumsum(first) - 1]
    firsts.sort()
    # Two kinds of one name are all but impossible; their nodes must not be taken for each other.
    return group if same_rows(side.indptr, side.indices, firsts[group]) else None


def _merged(side: GraphSide, group: Rows | None, far_group: Rows | None) -> Kinds:
    """Return a side with the first node of each kind, and of its neighbours the first of theirs."""
    from bivec.kernels.view import read_only

    indptr, indices, degrees = side.indptr, side.indices, side.degrees
    if far_group is not None:
        kept = _firsts(far_group)[indices]
        indptr = _pointers(kept)[indptr]
        indices = far_group[indices[kept]].astype(indices.dtype)
    sizes = np.ones(len(side), np.float32)
    if group is not None:
        first, counts = _firsts(group), np.diff(indptr)
        indices = indices[np.repeat(first, counts)]
        indptr, degrees = _pointers(counts[first]), degrees[first]
        sizes = np.bincount(group).astype(np.float32)
    return Kinds(read_only(indptr), read_only(indices), degrees, sizes, group)


def _firsts(group: Rows) -> npt.NDArray[np.bool_]:
    """Return which nodes are the first of their kind: those whose number is new."""
    first: npt.NDArray[np.bool_] = np.append(-1, np.maximum.accumulate(group))[:-1] < group
    return first


def _pointers(counts: npt.NDArray[Any]) -> Rows:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
