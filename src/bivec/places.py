r"""Places: communities put together from below, none of them too large to be learned.

.. math::

    s(A, B) = \frac{1}{|A| \, |B|} \sum_{i \in A} \sum_{j \in B} w_{ij}, \qquad
    w_{ij} = \sum_{m \in \Gamma(i) \cap \Gamma(j)} \frac{1}{d_m - 1}

In a sparse graph most nodes have one edge, and what tells communities apart are the few nodes with
more. There smoothed vectors (:mod:`bivec.smoothing`) are either scattered or have run together. So
nodes of the smaller side, *groups*, are merged, the closest first (average linkage), as long as
what comes together holds no more than a share p of the side that vectors are for. Then groups move,
one by one, to the cluster C where they make the most of

.. math:: \sum_C \Bigl( \frac{w(C)}{w} - a_C \, x_C \Bigr),

with w(C) the weights within, a the share of the ends of weights and x the share of the side: of
links, the share with both ends there, less that of strangers who are met there by chance. A
classifier that has seen five strangers for each example accepts a place of less than a fifth of
them, and with one example, none of five strangers at the place must have been drawn: so p matters,
and :mod:`bivec.rehearsal` tries it out. Groups of a cluster come to the mean of the vectors that
they had before smoothing; nodes of the larger side, *members*, to the mean of their groups' places:

.. math::

    x_i \leftarrow \hat m_{C(i)} + \omega x_i, \qquad
    x_m \leftarrow \hat y_m + \omega' x_m, \qquad
    y_m = \sum_{i \in \Gamma(m)} \hat m_{C(i)}, \qquad
    m_C = \sum_{i \in C} (z_i - \bar z),

at length 1, with z the vectors before smoothing, x those after it. What is left of a node's own
vector tells those of one place apart.

References
----------
Sokal, Michener, "A statistical method for evaluating systematic relationships", University of
Kansas Science Bulletin 38, 1958 (average linkage). Newman, Girvan, "Finding and evaluating
community structure in networks", doi:10.1103/PhysRevE.69.026113 (what moves make larger is a
modularity whose second factor counts nodes). Murtagh, "A survey of recent advances in
hierarchical clustering algorithms", doi:10.1093/comjnl/26.4.354: whose closest is each other's may
be merged in any order.
"""

from __future__ import annotations

from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.graph import GraphSide
from bivec.lengths import to_length_one

Table = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Links = tuple[Rows, Rows, npt.NDArray[np.float64]]

SHARES = (0.02, 0.05, 0.15)
"""Shares of a side that places may hold at most: what is tried."""
SPARSE = 3.0
"""Edges a node, of the larger side, from which on places are not tried."""
OWN, OWN_OF_MEMBERS = 0.2, 0.01
"""The omega of the formula, of groups and of members."""
_NEAR = 4
"""Neighbours of a node that each of its neighbours is linked to, before and behind it."""
_EXACT, _ALL = 50, 150
"""Rounds in which only two that are closest to each other are merged, and until all that are
closest to one of them come along."""
_MOVES = 5
"""Rounds in which every group may move."""
_STREAM, _CHUNK = 235, 1 << 16


class Places:
    """Clusters of the smaller side of a graph, and vectors by them for both sides.

    Parameters
    ----------
    left, right : GraphSide
        The graph.
    seed : int
        Of the order of neighbours of nodes with more than nine.
    """

    def __init__(self, left: GraphSide, right: GraphSide, seed: int) -> None:
        self.groups_side = int(np.count_nonzero(right.degrees) <= np.count_nonzero(left.degrees))
        """0 where groups are left nodes, 1 where they are right ones."""
        sides = left, right
        self._groups, self._members = sides[self.groups_side], sides[1 - self.groups_side]
        self._seed = seed

    @property
    def sparse(self) -> bool:
        """Whether the graph is sparse enough for places to be tried."""
        members = np.count_nonzero(self._members.degrees)
        return bool(len(self._members.indices) < SPARSE * members)

    @cached_property
    def _links(self) -> Links:
        return link(self._members, len(self._groups), self._seed)

    def clusters(self, side: int, share: float) -> Rows:
        """Return the cluster of each group, for vectors of a side (0 or 1)."""
        degrees = self._groups.degrees.astype(np.float64)
        held = np.minimum(degrees, 1) if side == self.groups_side else degrees
        nodes = (self._groups, self._members)[side != self.groups_side]
        sizes = held / max(int(np.count_nonzero(nodes.degrees)), 1)
        clusters = agglomerate(*self._links, sizes, share)
        refine(*self._links, sizes, share, clusters)
        return clusters

    def marks(self, side: int, share: float, groups: Table) -> Table:
        """Return where each group has its place, of length 1, given vectors of groups.

        Groups without edges have none: zeros.
        """
        clusters, degrees = self.clusters(side, share), self._groups.degrees
        linked = degrees > 0
        middle = (degrees / max(len(self._groups.indices), 1)) @ groups
        centered = groups - np.asarray(middle, np.float32)
        sums = np.zeros((int(clusters.max(initial=-1)) + 1, groups.shape[1]), np.float32)
        np.add.at(sums, clusters[linked], centered[linked])
        to_length_one(sums)
        marks: Table = sums[clusters]
        marks[~linked] = 0
        return marks

    def settle(self, side: int, table: Table, marks: Table) -> None:
        """Bring smoothed vectors of a side to their places, in place; nodes without edges stay."""
        to_length_one(table)
        if side == self.groups_side:
            nodes, own, links = self._groups, OWN, None
        else:
            nodes, own = self._members, OWN_OF_MEMBERS
            ones = np.ones(len(nodes.indices), np.float32)
            shape = len(nodes), len(self._groups)
            links = sparse.csr_array((ones, nodes.indices, nodes.indptr), shape=shape)
        linked = nodes.degrees > 0
        for start in range(0, len(table), _CHUNK):
            rows = slice(start, start + _CHUNK)
            placed = marks[rows].copy() if links is None else np.asarray(links[rows] @ marks)
            to_length_one(placed)
            placed += np.float32(own) * table[rows]
            to_length_one(placed)
            table[rows][linked[rows]] = placed[linked[rows]]


def link(members: GraphSide, n_groups: int, seed: int) -> Links:
    """Return which groups share members, and how much, as links of the smaller to the larger row.

    The neighbours of a member are linked in pairs, d / 2 by weight in all. Where they are more than
    nine they form a ring in random order, and each is linked to the four before and behind it.
    """
    degrees = members.degrees.astype(np.int64)
    rows = np.repeat(np.arange(len(degrees)), degrees)
    draw = np.random.Generator(np.random.Philox(key=[seed, _STREAM]))
    ring = members.indices[np.lexsort((draw.random(len(rows)), rows))].astype(np.int64)
    degree, first = degrees[rows], members.indptr[rows]
    at = np.arange(len(rows)) - first
    found = []
    for step in range(1, _NEAR + 1):
        # Half way around an even ring each pair is met twice.
        here = np.flatnonzero((2 * step < degree) | ((2 * step == degree) & (at < step)))
        other = first[here] + (at[here] + step) % degree[here]
        pairs = degree[here] * np.minimum((degree[here] - 1) / 2, _NEAR)
        found.append((ring[here], ring[other], degree[here] / 2 / pairs))
    a = np.concatenate([pair[0] for pair in found])
    b = np.concatenate([pair[1] for pair in found])
    weights = np.concatenate([pair[2] for pair in found])
    return _added(np.minimum(a, b), np.maximum(a, b), weights, n_groups)


def agglomerate(
    a: Rows, b: Rows, weights: npt.NDArray[np.float64], sizes: npt.NDArray[Any], most: float
) -> Rows:
    """Return the cluster of each node, numbered in the order of their first ones.

    Parameters
    ----------
    a, b, weights
        Links between nodes, each pair once.
    sizes : array of float
        Of the nodes. Two clusters are as close as the sum of the weights between them over the
        product of their sizes, and the closest are merged first.
    most : float
        What a cluster may hold at most; nodes beyond that stay alone.
    """
    from bivec.kernels.merge import absorb, closest

    clusters = np.arange(len(sizes))
    sizes = np.array(sizes, np.float64)
    for done in count():
        fit = sizes[a] + sizes[b] <= most
        a, b, weights = a[fit], b[fit], weights[fit]
        if not len(a):
            break
        n = len(sizes)
        partner, best, ties = np.empty(n, np.int64), np.empty(n), np.empty(n, np.uint64)
        closest(a, b, weights, sizes, partner, best, ties)
        to, behind = np.empty(n, np.int64), (_ALL - done) / (_ALL - _EXACT)
        absorb(np.argsort(-best, kind="stable"), partner, best, sizes, most - sizes, behind, to)
        to = np.unique(to, return_inverse=True)[1]
        clusters, sizes = to[clusters], np.bincount(to, weights=sizes)
        a, b = to[a], to[b]
        apart = a != b
        a, b, weights = a[apart], b[apart], weights[apart]
        a, b, weights = _added(np.minimum(a, b), np.maximum(a, b), weights, len(sizes))
    return clusters


def refine(
    a: Rows,
    b: Rows,
    weights: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.float64],
    most: float,
    clusters: Rows,
) -> None:
    """Move nodes between clusters, in place, one by one, as long as they are better off.

    What nodes and links are is said in :func:`agglomerate`.
    """
    from bivec.kernels.merge import move

    n, total = len(sizes), weights.sum()
    if not total:
        return
    ends = np.bincount(np.concatenate([a, b]), np.tile(weights, 2), n) / (2 * total)
    pairs = np.concatenate([a, b]), np.concatenate([b, a])
    links = sparse.csr_array((np.tile(weights / total, 2), pairs), shape=(n, n))
    held = np.bincount(clusters, sizes, n)
    heard = np.bincount(clusters, ends, n)
    arrays = links.indptr.astype(np.int64), links.indices.astype(np.int64), links.data
    for _ in range(_MOVES):
        if not move(*arrays, sizes, ends, most, clusters, held, heard, np.zeros(n)):
            break


def _added(a: Rows, b: Rows, weights: npt.NDArray[np.float64], n: int) -> Links:
    """Return each pair once, with the sum of its weights."""
    codes, place = np.unique(a * n + b, return_inverse=True)
    sums = np.bincount(place, weights=weights, minlength=len(codes)).astype(np.float64)
    return codes // n, codes % n, sums
