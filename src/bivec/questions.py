"""Questions of a rehearsal: what machines of nodes are asked about edges left out, and strangers.

As in the task itself, links are asked of those who have lost them, mostly nodes of many edges, and
strangers of anyone, mostly nodes of few.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from bivec.graph import GraphSide
from bivec.parallel import Workers

Table = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Answers = npt.NDArray[np.float64]

EXAMPLES, FEWEST = 16, 50
"""Neighbours that a machine sees at most; how many edges to ask about it takes to tell anything."""
_MACHINES, _FEWER, _LARGE, _EDGES = 1000, 350, 10_000, 16
"""How many edges are asked about at most; in graphs of less than 10,000 edges, which should take no
time; and for how many edges one, if that is less."""
C, GAMMA, TOLERANCE = 1.0, 0.1, 1e-3
"""The paper's machine; the tolerance is the one at which scikit-learn's SVC stops, too."""
NEGATIVES = 5
"""Negatives for each neighbour."""
_PAIRS = 10_000
"""Pairs that popularity is asked about."""
_STREAM, _POPULARITY, _ROOM, _CHUNK = 231, 233, 1 << 20, 64


class Questions:
    """Machines of the nodes of one side; what they are trained on and what they are asked.

    Parameters
    ----------
    own : GraphSide
        The side asked about, without the edges left out.
    far : GraphSide
        The side of those asked, without them.
    known : GraphSide
        The side asked about, with all edges: a stranger is none of them.
    lost, owners : array of int64
        Ends of the edges left out.
    draw : Generator
        Of which edges, strangers and examples are taken.
    """

    def __init__(
        self,
        own: GraphSide,
        far: GraphSide,
        known: GraphSide,
        lost: Rows,
        owners: Rows,
        draw: np.random.Generator,
    ) -> None:
        answerable = np.flatnonzero((own.degrees[lost] > 0) & (far.degrees[owners] > 0))
        edges = len(known.indices)
        most = min(_MACHINES if edges >= _LARGE else _FEWER, edges // _EDGES)
        some = draw.permutation(answerable)[:most]
        strangers = draw.integers(len(own), size=len(some))
        anyone = np.flatnonzero(far.degrees)
        others = anyone[draw.integers(max(len(anyone), 1), size=len(some))]
        apart = ~linked(known, strangers, others)
        some, strangers, others = some[apart], strangers[apart], others[apart]
        self._seed = int(draw.integers(2**31))
        self._asked = np.concatenate([lost[some], strangers])
        machines = np.concatenate([owners[some], others])
        self._indptr, self._indices = some_neighbors(far, machines, draw)

    def __len__(self) -> int:
        return len(self._asked) // 2

    def ask(self, table: Table, part: slice, workers: Workers) -> Answers:
        """Return the share of right answers about some links, and as many strangers with them."""
        from bivec.kernels.personal import personalize

        nodes = np.arange(2 * len(self)).reshape(2, -1)[:, part].ravel()
        decisions, trained = np.empty(len(nodes)), np.zeros(len(nodes), bool)
        asked, places = self._asked[nodes], np.arange(len(nodes) + 1)
        local = threading.local()

        def run(start: int, stop: int) -> None:
            if not hasattr(local, "marks"):
                local.marks = np.full(len(table), -1, np.int64)
            personalize(
                self._indptr, self._indices, table, nodes, places, asked, self._seed,
                _STREAM, NEGATIVES, C, GAMMA, TOLERANCE, _ROOM, local.marks, start, stop,
                decisions, trained,
            )  # fmt: skip

        workers.run(run, len(nodes), _CHUNK)
        links, strangers = (decisions > 0).reshape(2, -1)
        answers: Answers = (links + 1.0 - strangers) / 2
        return answers


def told_by_popularity(
    left: GraphSide, right: GraphSide, known: GraphSide, lefts: Rows, rights: Rows, seed: int
) -> float:
    """Return the share of edges left out, and of strangers, that degrees tell apart."""
    there = np.flatnonzero((left.degrees[lefts] > 0) & (right.degrees[rights] > 0))
    if len(there) < FEWEST:
        return float("nan")
    draw = np.random.Generator(np.random.Philox(key=[seed, _POPULARITY]))
    there = draw.permutation(there)[:_PAIRS]
    pairs = draw.integers((len(left), len(right)), size=(len(there), 2))
    pairs = pairs[~linked(known, pairs[:, 0], pairs[:, 1])]

    def products(a: Rows, b: Rows) -> npt.NDArray[np.int64]:
        product: npt.NDArray[np.int64] = np.sort(left.degrees[a] * right.degrees[b])
        return product

    edges, strangers = products(lefts[there], rights[there]), products(pairs[:, 0], pairs[:, 1])
    cuts = np.concatenate([[-1], edges])  # links are above
    above = 1 - np.searchsorted(edges, cuts, side="right") / len(edges)
    below = np.searchsorted(strangers, cuts, side="right") / max(len(strangers), 1)
    return float((above + below).max() / 2)


def linked(side: GraphSide, rows: Rows, others: Rows) -> npt.NDArray[np.bool_]:
    """Return which of these pairs are edges."""
    found = np.zeros(len(rows), bool)
    for k, (row, other) in enumerate(zip(rows.tolist(), others.tolist(), strict=True)):
        neighbors = side.indices[side.indptr[row] : side.indptr[row + 1]]
        at = np.searchsorted(neighbors, other)
        found[k] = at < len(neighbors) and neighbors[at] == other
    return found


def some_neighbors(side: GraphSide, rows: Rows, draw: np.random.Generator) -> tuple[Rows, Rows]:
    """Return neighbours of rows, evenly spaced where there are many, as pointers and neighbours."""
    degrees = side.degrees[rows]
    counts = np.minimum(degrees, EXAMPLES)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    first = np.repeat(draw.integers(degrees), counts)
    steps = np.arange(indptr[-1]) - np.repeat(indptr[:-1], counts)
    spread = steps * np.repeat(degrees, counts) // np.repeat(counts, counts)
    at = (first + spread) % np.repeat(degrees, counts)
    return indptr, side.indices[np.repeat(side.indptr[rows], counts) + at].astype(np.int64)
