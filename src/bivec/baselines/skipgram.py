r"""Skip-gram with negative sampling over random walks: what DeepWalk and its heirs share.

.. math::

    \max \sum_{(v, u)} \Bigl( \log \sigma(x_v^\top y_u)
        + k \, \mathbb{E}_{u' \sim P} \log \sigma(-x_v^\top y_{u'}) \Bigr),
    \qquad P(u) \propto \#(u)^{3/4}

over the pairs (v, u) of nodes within a window of each other on a walk (Mikolov et al. 2013,
arXiv:1310.4546). The vectors are the x; the y are thrown away.

Paper: pair after pair takes a step on both rows, which has to be done in order, or by threads that
overwrite each other. Here: a sweep makes a few walks from every node; each node finds its places in
them, sums the gradients of its own two rows over all of its pairs, and takes one step

.. math:: x \leftarrow x - \eta\, g_t / \sqrt{1 + \tfrac{1}{c} \sum_{s \le t} \overline{g_s^2}}

with the mean over the entries of g, and c = ``CALM``. For a node in few pairs that is the sum of
the steps of word2vec; for a hub, whose thousands of pairs would carry it away, it is row-wise
Adagrad. The result does not depend on the number of threads.

With few walks the order of word2vec matters: there a node's vectors have moved many times before
its last pair. So methods of few walks are ``fine``: the walks of an epoch are cut into ``PARTS``
parts with a sweep for each, on fewer negatives, and the vectors start near 0, as word2vec's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bivec.checks import check_integer, check_number
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.memory import require_memory
from bivec.models.base import BipartiteEstimator, Learned
from bivec.settings import BLOCK, LossRecord
from bivec.sweeps import Sweeps, adopt

Table = npt.NDArray[np.float32]

_SMALLEST_BLOCK, _BLOCKS, _CHUNK = 32, 8, 64
_WALK_CHUNK = 256
_NOISE_POWER = 0.75
CALM = 64.0
"""Sum of squares from which on a row's steps shrink; Adagrad's accumulators start there. With 0,
rare nodes step as far as hubs: link prediction on DBLP-BiNE after 10 short walks falls by 0.05."""
PARTS = 8
"""Sweeps of an epoch of a fine method."""
FINE_START = 2.0
"""Its first entries are within this over the dimension; word2vec's within 0.5. On edges held out of
training edges 0.5 costs 0.03 in the right-personalized task of MadGrades."""
_STREAM = 304
"""Stream of random numbers of the first vectors."""


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """What to walk and how to train, checked; the fields are parameters of the estimators.

    ``by_type`` draws negatives from the side of the context; ``from_left`` starts walks on the left
    alone; ``fine`` sweeps several times an epoch, from a small start.
    """

    dim: int
    n_walks: int
    walk_length: int
    window: int
    n_negatives: int
    epochs: int
    learning_rate: float
    weighted: bool
    seed: int
    p: float = 1.0
    q: float = 1.0
    by_type: bool = False
    from_left: bool = False
    fine: bool = False

    def __post_init__(self) -> None:
        check_integer("dim", self.dim, low=1, high=1 << 16)
        check_integer("n_walks", self.n_walks, low=1)
        check_integer("walk_length", self.walk_length, low=2)
        check_integer("window", self.window, low=1, high=255)
        check_integer("n_negatives", self.n_negatives, low=0)
        check_integer("epochs", self.epochs, low=1)
        check_number("learning_rate", self.learning_rate, above=0)
        if not isinstance(self.weighted, (bool, np.bool_)):
            raise InputError(f"weighted={self.weighted!r} is neither True nor False")
        for name in ("p", "q"):
            check_number(name, getattr(self, name), low=1e-3, below=1000.001)

    @property
    def steps(self) -> int:
        """Walks of each node in one epoch."""
        return -(-self.n_walks // self.epochs)

    @property
    def parts(self) -> int:
        """Sweeps of one epoch."""
        return PARTS if self.fine else 1

    @property
    def width(self) -> float:
        """Bound of the entries of the first vectors."""
        return FINE_START / self.dim if self.fine else 0.6 * self.dim**-0.5

    def memory_needed(self, graph: BipartiteGraph) -> int:
        """Return the bytes that training takes beyond the graph."""
        nodes = graph.n_left + graph.n_right
        starts = graph.n_left if self.from_left else nodes
        tokens = starts * self.steps * self.walk_length
        edges = 16 * graph.n_edges if self.weighted and graph.weighted else 0
        tables = nodes * 2 * (4 * self.dim + 4)
        return tables + edges + 13 * tokens + (24 + 16 * self.parts) * nodes + 8 * BLOCK * self.dim


class SkipGram(Sweeps):
    """Vectors in training over walks; see :class:`bivec.training.Trainer` for the idea.

    Attributes
    ----------
    left, right : array of float32
        The input tables, one row a node.
    """

    def __init__(
        self,
        graph: BipartiteGraph,
        settings: WalkSettings,
        init: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        from bivec.kernels.rng import fill_uniform
        from bivec.kernels.vector import aligned
        from bivec.kernels.walk import make_sides

        super().__init__(settings.epochs, n_jobs)
        self.graph, self.settings = graph, settings
        self.n = graph.n_left + graph.n_right
        require_memory(
            settings.memory_needed(graph),
            f"Training {self.n:,} nodes at dimension {settings.dim}",
            "Choose a smaller dim, fewer walks in each epoch, or a graph with fewer nodes.",
        )
        self._sides = make_sides(graph.left, graph.right, settings.weighted and graph.weighted)
        self._starts = starts(graph, settings.from_left)
        self._table = aligned((2 * self.n, settings.dim))
        self._squares = np.full(2 * self.n, CALM, np.float32)
        width = settings.width
        fill_uniform(self._table[: self.n], 0, settings.seed, _STREAM, -width, width)
        self._table[self.n :] = 0
        if init is not None:
            adopt(init, graph, (self.left, self.right))
        self.history: list[LossRecord] = []
        self._fresh, self._losses = aligned((2 * BLOCK, settings.dim)), np.empty((BLOCK, 2))
        self._local = threading.local()

    @property
    def left(self) -> Table:
        """Vectors of the left side."""
        return self._table[: self.graph.n_left]

    @property
    def right(self) -> Table:
        """Vectors of the right side."""
        return self._table[self.graph.n_left : self.n]

    def train_epoch(self, stop: threading.Event | None = None) -> LossRecord | None:
        """Walk and sweep over all nodes; return None if told to stop before the end."""
        start = time.perf_counter()
        sums = np.zeros(2)
        for corpus in self._corpora():
            for first, last in self._blocks():
                if stop is not None and stop.is_set():
                    return None
                sums += self._train_block(corpus, first, last)
        self.epoch += 1
        loss, pairs = float(sums[0] / max(sums[1], 1)), int(2 * sums[1])
        record = LossRecord(self.epoch, loss, pairs, time.perf_counter() - start)
        self.history.append(record)
        return record

    def _corpora(self) -> list[tuple[Any, Any]]:
        """Return the walks of each sweep of this epoch with all that is counted, and what to do.

        Negatives go by how often nodes occur in the whole epoch. A node is visited in the sweeps
        that it occurs in, and there makes up for the noise of the others.
        """
        from bivec.kernels import skipgram, walk

        s = self.settings
        parts = min(s.parts, len(self._starts))
        if parts == 0:
            return []
        walked, counts = [], np.empty((parts, self.n), np.int64)
        for part in range(parts):
            walks, windows = make_walks(
                self._sides, self._starts[part::parts], self.n, s, self.epoch * s.steps,
                self.workers.run,
            )  # fmt: skip
            indptr, places = np.empty(self.n + 1, np.int64), np.empty(walks.size, np.int64)
            walk.find_nodes(walks, indptr, places)
            walked.append((walks, windows, indptr, places))
            counts[part] = np.diff(indptr)
        weights = counts.sum(axis=0) ** _NOISE_POWER
        noise = np.append(0, np.cumsum(weights))
        owed = weights * parts / np.maximum((counts > 0).sum(axis=0), 1)
        corpora = []
        for part, found in enumerate(walked):
            corpus = skipgram.Corpus(*found, noise, owed, np.zeros(2, np.int64))
            rate = s.learning_rate * (1 - (self.epoch + part / parts) / s.epochs)
            task = skipgram.Task(
                s.seed, self.epoch * parts + part, self.graph.n_left, s.walk_length, s.window,
                s.n_negatives, 2 if s.by_type else 1, rate * CALM**0.5, skipgram.POOL // s.parts,
            )  # fmt: skip
            skipgram.count_pairs(corpus, task)
            corpora.append((corpus, task))
        return corpora

    def _blocks(self) -> list[tuple[int, int]]:
        """Return the blocks of a sweep as (first node, stop), from the graph alone."""
        blocks = []
        for low, high in ((0, self.graph.n_left), (self.graph.n_left, self.n)):
            size = max(_SMALLEST_BLOCK, min(BLOCK, (high - low) // _BLOCKS))
            blocks += [(first, min(first + size, high)) for first in range(low, high, size)]
        return blocks

    def _train_block(
        self, corpus: tuple[Any, Any], first: int, stop: int
    ) -> npt.NDArray[np.float64]:
        from bivec.kernels.skipgram import room_arrays, visit_rows

        def visit(a: int, b: int) -> None:
            if not hasattr(self._local, "room"):
                self._local.room = room_arrays(self.settings.dim)
            visit_rows(
                *corpus, self._table, self._squares, self._local.room, self._fresh, self._losses,
                first, a, b,
            )  # fmt: skip

        n = stop - first
        self.workers.run(visit, n, _CHUNK if n >= 4 * _CHUNK else max(8, n // 4), guided=True)
        self._table[first:stop] = self._fresh[: 2 * n : 2]
        self._table[self.n + first : self.n + stop] = self._fresh[1 : 2 * n : 2]
        sums: npt.NDArray[np.float64] = self._losses[:n].sum(axis=0)
        return sums


def starts(graph: BipartiteGraph, from_left: bool) -> npt.NDArray[np.int64]:
    """Return the nodes that walks start from: those with an edge, in the order of their rows."""
    nodes = np.flatnonzero(graph.left.degrees)
    if not from_left:
        nodes = np.append(nodes, graph.n_left + np.flatnonzero(graph.right.degrees))
    return nodes.astype(np.int64)


def make_walks(
    sides: Any,
    starts: npt.NDArray[np.int64],
    n: int,
    settings: WalkSettings,
    first: int,
    run: Callable[[Callable[[int, int], object], int, int], None],
) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8]]:
    """Return walks from these nodes, end to end, and the windows of their tokens."""
    from bivec.kernels.walk import Course, walk_rows

    course = Course(
        settings.seed, settings.n_walks, first, settings.steps, settings.walk_length,
        settings.window, 1 / settings.p, 1 / settings.q,
    )  # fmt: skip
    size = len(starts) * settings.steps * settings.walk_length
    walks = np.empty(size, np.int32 if n < 1 << 31 else np.int64)
    windows = np.empty(size, np.uint8)
    run(
        lambda a, b: walk_rows(sides, course, starts, walks, windows, a, b),
        len(starts),
        _WALK_CHUNK,
    )
    return walks, windows


class WalkEstimator(BipartiteEstimator):
    """An estimator that trains by skip-gram over walks."""

    fixed: ClassVar[dict[str, bool]] = {}
    """Settings of walks that are no parameters."""

    def _settings(self, seed: int) -> WalkSettings:
        given = {
            f.name: getattr(self, f.name) for f in fields(WalkSettings) if hasattr(self, f.name)
        }
        return WalkSettings(**given, **self.fixed, seed=seed)

    def _learn(self, graph: BipartiteGraph, settings: WalkSettings, init: Any) -> Learned:
        trainer = SkipGram(graph, settings, init, getattr(self, "n_jobs", None))
        trainer.run(getattr(self, "progress", None))
        return Learned(
            trainer.left.copy(), trainer.right.copy(), trainer.history, trainer.epoch,
            trainer.interrupted,
        )  # fmt: skip
