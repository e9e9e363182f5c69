"""Training: sweeps over the nodes, block by block, each node stepping on its own row.

In a sweep (an epoch) every node takes the next few of its samples for both of its relations, with
fresh negatives, sums the gradient of its own row, and takes one step of row-wise Adagrad. Rows of a
block are computed from the tables as they were when the block began and written together, so
neither the number of threads nor their timing can change a bit. The other end of a pair is served
when it owns the pair.

A step is the gradient of the owner's samples by the owner's row alone. Paper: a sample moves all of
its rows. Here: the sampled neighbours of a cross pair are not moved by it; they move when they own
a pair themselves. So the sum over all steps is not the gradient of one common objective.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bivec import __version__
from bivec.checkpoint import Checkpoint, fingerprint
from bivec.graph import BipartiteGraph
from bivec.memory import require_memory
from bivec.sampling import graph_views
from bivec.settings import BLOCK, EpochRecord, Progress, Settings, memory_needed
from bivec.similarity import EdgeSimilarity
from bivec.sweeps import Sweeps, adopt

Table = npt.NDArray[np.float32]

_SMALLEST_BLOCK, _BLOCKS = 32, 8
_CHUNK, _WRITE = 64, 1024
"""Rows that a thread computes, and writes, at the least."""
_HINTS_FROM = 1 << 22


class Trainer(Sweeps):
    """Vectors in training.

    Parameters
    ----------
    graph : BipartiteGraph
        The graph.
    settings : Settings
        What to train and how.
    similarity : EdgeSimilarity, optional
        Needed by HOBE.
    init : pair of (ids, vectors) objects, or an embedding with ``left`` and ``right``, optional
        Vectors to go on from, by id. Nodes that it does not know start afresh.
    n_jobs : int, optional
        Threads; every core where not given.

    Attributes
    ----------
    left, right : array of float32
        The tables, one row a node.
    epoch : int
        Epochs done.
    history : list of EpochRecord
        One entry an epoch.
    interrupted : bool
        Whether :meth:`run` was stopped by Ctrl-C.
    """

    def __init__(
        self,
        graph: BipartiteGraph,
        settings: Settings,
        similarity: EdgeSimilarity | None = None,
        init: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        from bivec.kernels.rng import fill_uniform
        from bivec.kernels.vector import aligned
        from bivec.kernels.view import ROWS, WALKS

        super().__init__(settings.epochs, n_jobs)
        self.graph, self.settings = graph, settings
        require_memory(
            memory_needed(graph, settings),
            f"Training {graph.n_left + graph.n_right:,} nodes at dimension {settings.dim}",
            "Choose a smaller dim, or a graph with fewer nodes.",
        )
        self._views = graph_views(graph, settings.method, settings.draw, similarity)
        shared = ROWS if self.workers.n_jobs > 1 else 0  # rows that another core has written
        ahead = WALKS if graph.nbytes >= _HINTS_FROM else shared
        self._plans = [settings.plan(side, ahead) for side in (0, 1)]
        sizes = (graph.n_left, graph.n_right)
        self._tables = [aligned((n, settings.dim)) for n in sizes]
        self._squares = [np.zeros(n, np.float32) for n in sizes]
        for side, table in enumerate(self._tables):
            fill_uniform(table, 0, settings.seed, _STREAM + side, *settings.start)
        if init is not None:
            adopt(init, graph, self._tables)
        self.history: list[EpochRecord] = []
        self._block = 0
        self._sums = np.zeros((2, 4))
        self._local = threading.local()
        self._file: Checkpoint | None = None

    @property
    def left(self) -> Table:
        """Vectors of the left side."""
        return self._tables[0]

    @property
    def right(self) -> Table:
        """Vectors of the right side."""
        return self._tables[1]

    def run(
        self,
        progress: Callable[[Progress], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Train; with a checkpoint, go on from that file where it exists, and keep it written."""
        if checkpoint is not None:
            self._file = Checkpoint(checkpoint, self._fingerprint())
            state = self._file.load()
            if state is not None:
                self.restore(state)
        return super().run(progress)

    def _keep(self, last: bool) -> None:
        if self._file is not None:
            (self._file.save if last else self._file.offer)(self.state())

    def train_epoch(self, stop: threading.Event | None = None) -> EpochRecord | None:
        """Sweep over all nodes once; return None if told to stop before the end.

        A sweep that was stopped goes on where it was, to the same bytes.
        """
        start = time.perf_counter()
        blocks = self._blocks()
        while self._block < len(blocks):
            if stop is not None and stop.is_set():
                return None
            self._train_block(*blocks[self._block])
            self._block += 1
        sums, self._sums, self._block = self._sums, np.zeros((2, 4)), 0
        self.epoch += 1
        cross_loss, cross_pairs = sums[:, 2].sum(), sums[:, 3].sum()
        record = EpochRecord(
            self.epoch,
            float(sums[0, 0] / max(sums[0, 1], 1)),
            float(sums[1, 0] / max(sums[1, 1], 1)),
            float(cross_loss / max(cross_pairs, 1)),
            int(sums[:, 1].sum() + cross_pairs * self.settings.n_neighbors),
            time.perf_counter() - start,
        )
        self.history.append(record)
        return record

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs to go on to the same bytes; arrays are not copied."""
        return {
            "left": self._tables[0], "right": self._tables[1],
            "left_squares": self._squares[0], "right_squares": self._squares[1],
            "epoch": self.epoch, "block": self._block, "sums": self._sums,
            "history": list(self.history),
        }  # fmt: skip

    def _fingerprint(self) -> str:
        """Return what tells this training from any other, before its first epoch."""
        side = self.graph.left
        similarity = [view.similarity for view in self._views]
        start = [__version__, self.settings, side.indptr, side.indices]
        return fingerprint([*start, *similarity, *self._tables])

    def restore(self, state: dict[str, Any]) -> Trainer:
        """Take over the state of another trainer of the same graph and settings."""
        for side, name in enumerate(("left", "right")):
            self._tables[side][:] = state[name]
            self._squares[side][:] = state[f"{name}_squares"]
        self.epoch, self._block = state["epoch"], state["block"]
        self._sums, self.history = state["sums"].copy(), list(state["history"])
        return self

    def _blocks(self) -> list[tuple[int, int, int]]:
        """Return the blocks of a sweep as (side, first row, stop), from the graph alone."""
        blocks = []
        for side, table in enumerate(self._tables):
            size = max(_SMALLEST_BLOCK, min(BLOCK, len(table) // _BLOCKS))
            blocks += [
                (side, first, min(first + size, len(table))) for first in range(0, len(table), size)
            ]
        return blocks

    def _train_block(self, side: int, first: int, stop: int) -> None:
        from bivec.kernels.train import Steps, Tables, visit_rows

        view, plan = self._views[side], self._plans[side]
        own, far = self._tables[side], self._tables[1 - side]
        tables = Tables(own, far, self._squares[side])
        steps = Steps(
            self.epoch * self.settings.steps,
            self.settings.steps,
            self.settings.rate(self.epoch),
            self.settings.negative_weight,
        )
        fresh, losses = self._buffers()

        def visit(a: int, b: int) -> None:
            visit_rows(view, plan, steps, tables, *self._scratch(), fresh, losses, first, a, b)

        n = stop - first
        self.workers.run(visit, n, _CHUNK if n >= 4 * _CHUNK else max(8, n // 4), guided=True)

        def write(a: int, b: int) -> None:
            own[first + a : first + b] = fresh[a:b]

        # Those who computed rows write them: half of what others have written is in the own cache
        self.workers.run(write, n, max(_WRITE, -(-n // self.workers.n_jobs)), guided=True)
        self._sums[side] += losses[:n].sum(axis=0)

    def _buffers(self) -> tuple[Table, npt.NDArray[np.float64]]:
        """Return room for the new rows and the losses of a block."""
        from bivec.kernels.vector import aligned

        if not hasattr(self, "_room"):
            self._room = aligned((BLOCK, self.settings.dim)), np.empty((BLOCK, 4))
        return self._room

    def _scratch(self) -> tuple[Any, Any, Table]:
        """Return room for the samples of one visit, one for each thread."""
        from bivec.kernels.sample import pool_arrays
        from bivec.kernels.train import scratch_arrays
        from bivec.kernels.vector import aligned

        if not hasattr(self._local, "room"):
            plan, steps = self._plans[0], self.settings.steps
            arrays, pools = scratch_arrays(plan, steps), pool_arrays(plan, steps)
            self._local.room = arrays, pools, aligned((1, self.settings.dim))[0]
        room: tuple[Any, Any, Table] = self._local.room
        return room

    def _settled(self) -> bool:
        """Whether the loss has gained less than ``tol`` of itself in each of the last epochs."""
        tol, patience = self.settings.tol, self.settings.patience
        if tol is None or len(self.history) <= patience:
            return False
        losses = [record.loss for record in self.history]
        best_before = min(losses[:-patience])
        return min(losses[-patience:]) > best_before - tol * abs(best_before)


_STREAM = 200
"""Streams of random numbers of the first vectors, apart from those of sampling."""
