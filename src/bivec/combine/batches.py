"""What the network is shown: edges, and random pairs that are checked to be none, in batches.

Everything here is a function of the seed and of where it stands (epoch, batch, shard): Philox is
counter-based, so a batch or a dropout mask can be derived again anywhere, in any order. What is
kept is rows of nodes, never vectors: memory grows with edges, not with edges times dimension.

References
----------
Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bivec.graph import BipartiteGraph, GraphSide

Rows = npt.NDArray[np.int64]
Targets = npt.NDArray[np.float32]

_VALIDATION, _MOST_VALIDATION, _LEAST_VALIDATION = 0.1, 10_000, 10
_HELD_OUT, _NEGATIVES, _ORDER, _DROPOUT = 1, 2, 3, 4
_WINDOW, _TRIES = 64, 8


def generator(seed: int, stream: int, *place: int) -> np.random.Generator:
    """Return the random numbers of one stream at one place, such as (epoch, batch, shard)."""
    counter = [0, *reversed(place), *[0] * (3 - len(place))]
    return np.random.Generator(np.random.Philox(key=[seed, stream], counter=counter))


def dropout_mask(
    shape: tuple[int, int], dropout: float, seed: int, *place: int
) -> npt.NDArray[np.float32]:
    """Return 0 for what is dropped and ``1 / (1 - dropout)`` for what is kept.

    The share is exact to ``2**-16``, as 16 random bits decide on an entry.
    """
    bits = generator(seed, _DROPOUT, *place).bytes(2 * shape[0] * shape[1])
    kept = np.frombuffer(bits, np.uint16) >= round(dropout * 2**16)
    mask: npt.NDArray[np.float32] = kept.reshape(shape) * np.float32(1 / (1 - dropout))
    return mask


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows, and whether each is an edge: 1 or 0."""

    left: Rows
    right: Rows
    target: Targets

    def __len__(self) -> int:
        return len(self.target)

    def take(self, which: slice | Rows) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.left[which], self.right[which], self.target[which])


class Strangers:
    """Uniform draws from the nodes that a node has no edge with.

    Nodes without edges are left out on both sides: nothing is known of them. Pairs are numbered row
    by row. Before the k-th edge, of number e, there are e - k absent pairs, so the r-th absent pair
    is r plus the number of edges with e - k <= r, at any density.
    """

    def __init__(self, own: GraphSide, other: GraphSide) -> None:
        self._own, self._other = np.flatnonzero(own.degrees), np.flatnonzero(other.degrees)
        degrees = own.degrees[self._own]
        rows = np.repeat(np.arange(len(self._own)), degrees)
        self._codes = rows * len(self._other) + np.searchsorted(self._other, own.indices)
        self._before = self._codes - np.arange(len(self._codes))
        self._first = np.arange(len(self._own)) * len(self._other) - np.cumsum(degrees) + degrees
        self._many = len(self._other) - degrees

    def draw(self, n: int, draw: np.random.Generator) -> tuple[Rows, Rows]:
        """Return n draws for each node, with replacement: its row, and theirs.

        A node that has an edge with everybody has no stranger, and no draw.
        """
        nodes = np.repeat(np.flatnonzero(self._many), n)
        return self._own[nodes], self._other[self._any(nodes, draw)]

    def draw_near(
        self, n: int, own_order: Rows, other_order: Rows, draw: np.random.Generator
    ) -> tuple[Rows, Rows]:
        """Return the same as :meth:`draw`, such that nodes close in order share their strangers.

        A node that stands at some share of the one order draws from the few that follow the same
        share of the other. Orders are random, so each stranger is as likely as any other; but who
        encodes the nodes of some part of the orders meets far fewer of them.

        Parameters
        ----------
        n : int
            Draws for each node.
        own_order, other_order : array
            A random place for each row of each side.
        draw : numpy generator
            Of the draws.
        """
        nodes = np.repeat(np.flatnonzero(self._many), n)
        place = np.argsort(np.argsort(own_order[self._own]))  # among those that have edges
        others = np.argsort(other_order[self._other])
        first = place[nodes] * len(self._other) // max(len(self._own), 1)
        theirs, left = np.empty(len(nodes), np.int64), np.arange(len(nodes))
        for _ in range(_TRIES):
            step = draw.integers(_WINDOW, size=len(left))
            theirs[left] = others[(first[left] + step) % len(others)]
            left = left[self._are_edges(nodes[left], theirs[left])]
        theirs[left] = self._any(nodes[left], draw)
        return self._own[nodes], self._other[theirs]

    def _any(self, nodes: Rows, draw: np.random.Generator) -> Rows:
        rank = self._first[nodes] + draw.integers(self._many[nodes])
        pair = rank + np.searchsorted(self._before, rank, side="right")
        theirs: Rows = pair % max(len(self._other), 1)
        return theirs

    def _are_edges(self, nodes: Rows, theirs: Rows) -> npt.NDArray[np.bool_]:
        codes = nodes * len(self._other) + theirs
        found = np.searchsorted(self._codes, codes)
        there: npt.NDArray[np.bool_] = self._codes[np.minimum(found, len(self._codes) - 1)] == codes
        return there


class Batches:
    """Positives, fresh negatives in each epoch, and edges held out to tell when to stop.

    Parameters
    ----------
    graph : BipartiteGraph
        Its edges are the positives.
    n_negatives : int
        Random pairs without an edge, for each node of both sides, in each epoch.
    size : int
        Pairs of a batch.
    seed : int
        Of everything.

    Attributes
    ----------
    validation : Pairs
        A tenth of the edges, at most 10,000, that are in no batch, and as many negatives; empty
        where there would be fewer than ten.
    """

    def __init__(self, graph: BipartiteGraph, n_negatives: int, size: int, seed: int) -> None:
        self.n_negatives, self.size, self.seed = n_negatives, size, seed
        self._strangers = (Strangers(graph.left, graph.right), Strangers(graph.right, graph.left))
        self._n_nodes = (graph.n_left, graph.n_right)
        draw = generator(seed, _HELD_OUT)
        order = draw.permutation(graph.n_edges)
        n = min(int(_VALIDATION * graph.n_edges), _MOST_VALIDATION)
        n = n if n >= _LEAST_VALIDATION else 0
        left, right = (rows.astype(np.int64) for rows in (graph.left_rows(), graph.left.indices))
        held, kept = np.sort(order[:n]), np.sort(order[n:])
        self._left, self._right = left[kept], right[kept]
        lefts, theirs = self._strangers[0].draw(1, draw)
        rights, others = self._strangers[1].draw(1, draw)
        absent = np.append(lefts, others), np.append(theirs, rights)
        some = draw.permutation(len(absent[0]))[:n]
        self.validation = _pairs(left[held], right[held], *(rows[some] for rows in absent))

    def epoch(self, epoch: int) -> list[Pairs]:
        """Return the batches of an epoch: all positives and fresh negatives.

        The nodes of the larger side come in random order, each with all of its pairs, and nodes
        close in order share their negatives. So a batch has far fewer distinct nodes than with
        pairs in random order, and each is encoded once.
        """
        draw = generator(self.seed, _ORDER, epoch)
        orders = [draw.permutation(n) for n in self._n_nodes]
        absent = self._negatives(self.n_negatives, generator(self.seed, _NEGATIVES, epoch), *orders)
        pairs = _pairs(self._left, self._right, *absent)
        larger = int(self._n_nodes[1] > self._n_nodes[0])
        order = np.argsort(orders[larger][(pairs.left, pairs.right)[larger]], kind="stable")
        return [
            pairs.take(order[start : start + self.size])
            for start in range(0, len(order), self.size)
        ]

    def _negatives(
        self, n: int, draw: np.random.Generator, left_order: Rows, right_order: Rows
    ) -> tuple[Rows, Rows]:
        """Return n for each node, first of the left side, then of the right one."""
        left, theirs = self._strangers[0].draw_near(n, left_order, right_order, draw)
        right, others = self._strangers[1].draw_near(n, right_order, left_order, draw)
        return np.concatenate([left, others]), np.concatenate([theirs, right])


def _pairs(left: Rows, right: Rows, absent_left: Rows, absent_right: Rows) -> Pairs:
    """Return edges with target 1 and negatives with target 0."""
    target = np.zeros(len(left) + len(absent_left), np.float32)
    target[: len(left)] = 1
    return Pairs(np.append(left, absent_left), np.append(right, absent_right), target)
