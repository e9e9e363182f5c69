"""Training by pairs against noise: what LINE, VERSE and BiNE share.

One table holds the rows of both sides, left before right. In a sweep every row takes a few drawn
pairs and their noise and makes one step of row-wise Adagrad; rows of a block are computed from the
tables as they were when the block began and written together, so that neither the number of threads
nor their timing can change a bit. Row-wise Adagrad does not see how large the gradients of a row
are on the whole. So every row may take equally many samples, whatever its degree, as long as its
own pairs and its own noise are in the proportion that the objective has.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_integer, check_number
from bivec.graph import BipartiteGraph
from bivec.memory import require_memory
from bivec.models.base import Learned
from bivec.settings import BLOCK, LossRecord
from bivec.sweeps import Sweeps, adopt

Table = npt.NDArray[np.float32]

_SMALLEST_BLOCK, _BLOCKS, _CHUNK = 32, 16, 64
_STREAM = 300
"""Streams of random numbers of the first vectors, apart from those of pairs."""


@dataclass(frozen=True, slots=True)
class ContrastSettings:
    """What these methods have in common, checked; the fields are parameters of the estimators."""

    dim: int
    n_samples: int
    n_negatives: int
    epochs: int
    learning_rate: float
    seed: int

    def __post_init__(self) -> None:
        check_integer("dim", self.dim, low=1, high=1 << 16)
        check_integer("n_samples", self.n_samples, low=1)
        check_integer("n_negatives", self.n_negatives, low=1, high=1 << 10)
        check_integer("epochs", self.epochs, low=1)
        check_number("learning_rate", self.learning_rate, above=0)

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch; it falls linearly on top of Adagrad's own decay."""
        return self.learning_rate * (1 - epoch / self.epochs)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One table in training: what its rows meet, how pairs are drawn, what the noise is.

    ``noise`` is the probability of each node as noise, up to a factor; ``weights`` the weight of
    noise by row. ``stream`` names the task's random numbers; tasks are ten apart.
    """

    own: Table
    other: Table
    kind: int
    span: int
    noise: npt.NDArray[np.float64]
    stream: int
    weights: npt.NDArray[np.float64] | float = 1.0
    stay: float = 0.0
    offset: float = 0.0
    extra: Any = None


class ContrastTrainer(Sweeps):
    """Tables in training, each by a task.

    Parameters
    ----------
    graph : BipartiteGraph
        The graph.
    settings : ContrastSettings
        How to train.
    tasks : sequence of Task
        In the order in which a sweep serves them.
    mean_samples : float, optional
        Samples of a row over all epochs, if not ``settings.n_samples``; may be less than one.
    n_jobs : int, optional
        Threads; every core where not given.
    """

    def __init__(
        self,
        graph: BipartiteGraph,
        settings: ContrastSettings,
        tasks: Sequence[Task],
        mean_samples: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        from bivec.kernels.contrast import Tables
        from bivec.kernels.walk import make_sides

        super().__init__(settings.epochs, n_jobs)
        self.settings, self.tasks = settings, tasks
        self.history: list[LossRecord] = []
        each = (settings.n_samples if mean_samples is None else mean_samples) / settings.epochs
        self.number = max(1, int(np.ceil(each)))
        self.share = each / self.number
        self.sides = make_sides(graph.left, graph.right, graph.weighted)
        self.tables = [
            Tables(
                task.own,
                task.other,
                np.zeros(len(task.own), np.float32),
                np.concatenate([[0.0], np.cumsum(task.noise)]),
                np.atleast_1d(np.asarray(task.weights, np.float32)),
            )
            for task in tasks
        ]
        self._room: dict[int, tuple[Table, npt.NDArray[np.float64]]] = {}
        self._local = threading.local()

    def train_epoch(self, stop: threading.Event | None = None) -> LossRecord | None:
        """Sweep over the rows of all tables once; return None if told to stop before the end."""
        start, sums = time.perf_counter(), np.zeros(2)
        for task, tables in zip(self.tasks, self.tables, strict=True):
            for first, end in self._blocks(len(task.own)):
                if stop is not None and stop.is_set():
                    return None
                sums += self._train_block(task, tables, first, end)
        self.epoch += 1
        seconds = time.perf_counter() - start
        record = LossRecord(self.epoch, float(sums[0] / max(sums[1], 1)), int(sums[1]), seconds)
        self.history.append(record)
        return record

    @staticmethod
    def _blocks(rows: int) -> list[tuple[int, int]]:
        """Return the blocks of a table as (first row, stop), from its size alone."""
        size = max(_SMALLEST_BLOCK, min(BLOCK, rows // _BLOCKS))
        return [(first, min(first + size, rows)) for first in range(0, rows, size)]

    def _train_block(
        self, task: Task, tables: Any, first: int, stop: int
    ) -> npt.NDArray[np.float64]:
        """Write the rows of a block; return loss and number of pairs."""
        plan = self._plan(task)
        fresh, losses = self._buffers(task.own.shape[1])

        def visit(a: int, b: int) -> None:
            self._visit(task, tables, plan, (fresh, losses), (first, a, b))

        n = stop - first
        self.workers.run(visit, n, _CHUNK if n >= 4 * _CHUNK else max(8, n // 4), guided=True)
        task.own[first:stop] = fresh[:n]
        total: npt.NDArray[np.float64] = losses[:n].sum(axis=0)
        return total

    def _visit(self, task: Task, tables: Any, plan: Any, out: Any, rows: Any) -> None:
        """Compute new rows and losses into ``out``; rows: the first of the block, start, stop."""
        from bivec.kernels.contrast import contrast_rows

        scratch = self._scratch(task.own.shape[1])
        contrast_rows(self.sides, plan, tables, scratch, *out, *rows)

    def _plan(self, task: Task) -> Any:
        from bivec.kernels.contrast import Plan

        return Plan(
            self.settings.seed, task.stream, task.kind, task.span, self.settings.n_negatives,
            float(task.stay), float(task.offset), self.epoch * self.number, self.number,
            float(self.share), self._rate(task),
        )  # fmt: skip

    def _rate(self, task: Task) -> float:
        """Return the rate at which a first step of Adagrad has the length that was asked for."""
        return self.settings.rate(self.epoch) / float(np.sqrt(task.own.shape[1]))

    def _buffers(self, dim: int) -> tuple[Table, npt.NDArray[np.float64]]:
        """Return room for the new rows and the losses of a block."""
        from bivec.kernels.vector import aligned

        if dim not in self._room:
            self._room[dim] = aligned((BLOCK, dim)), np.empty((BLOCK, 2))
        return self._room[dim]

    def _scratch(self, dim: int) -> Any:
        """Return room for the pairs of one visit, one for each thread and dimension."""
        from bivec.kernels.contrast import scratch_arrays

        rooms = self._local.__dict__.setdefault("rooms", {})
        if dim not in rooms:
            rooms[dim] = scratch_arrays(self.number, self.settings.n_negatives, dim)
        return rooms[dim]


def start_tables(
    graph: BipartiteGraph, seed: int, dims: Sequence[int], low: float = -0.5, high: float = 0.5
) -> list[Table]:
    """Return a table of both sides for each dimension, uniform in [low, high) over its root."""
    from bivec.kernels.rng import fill_uniform
    from bivec.kernels.vector import aligned

    rows = graph.n_left + graph.n_right
    require_memory(
        rows * (4 * sum(dims) + 16 * len(dims)) + graph.n_edges * 16 * graph.weighted,
        f"Training {rows:,} nodes with tables of dimension {', '.join(map(str, dims))}",
        "Choose a smaller dim, or a graph with fewer nodes.",
    )
    tables = []
    for number, dim in enumerate(dims):
        table: Table = aligned((rows, dim))
        width = max(dim, 1) ** -0.5
        fill_uniform(table, 0, seed, _STREAM + number, low * width, high * width)
        tables.append(table)
    return tables


def go_on_from(init: Any, graph: BipartiteGraph, tables: Sequence[Table]) -> None:
    """Copy the vectors of known ids, cut into the columns of the tables; None changes nothing."""
    if init is None:
        return
    whole = np.concatenate(tables, axis=1)
    adopt(init, graph, (whole[: graph.n_left], whole[graph.n_left :]))
    at = 0
    for table in tables:
        table[:] = whole[:, at : at + table.shape[1]]
        at += table.shape[1]


def learned(graph: BipartiteGraph, trainer: Sweeps, tables: Sequence[Table]) -> Learned:
    """Return the tables side by side, cut into both sides of the graph."""
    table = np.concatenate(tables, axis=1) if len(tables) > 1 else tables[0]
    left, right = table[: graph.n_left].copy(), table[graph.n_left :].copy()
    return Learned(left, right, trainer.history, trainer.epoch, trainer.interrupted)


def strengths(graph: BipartiteGraph) -> npt.NDArray[np.float64]:
    """Return the sum of the weights of each node's edges, left before right."""
    sums = []
    for side in (graph.left, graph.right):
        running = np.concatenate([[0.0], np.cumsum(side.weights, dtype=np.float64)])
        sums.append(running[side.indptr[1:]] - running[side.indptr[:-1]])
    return np.concatenate(sums)


def met_as_noise(
    noise: npt.NDArray[np.float64], degrees: npt.NDArray[np.float64], parts: Sequence[slice]
) -> npt.NDArray[np.float64]:
    r"""Return how often each node is drawn as noise for one time that it is drawn in a pair.

    That is :math:`P(n) / (d_n / D)`, within each part of the nodes: what a row is to meet of noise
    that others drew, where it has the samples of its own only.
    """
    ratio = np.zeros(len(noise))
    for part in parts:
        share = noise[part].sum() / max(degrees[part].sum(), 1e-300)
        np.divide(noise[part], share * degrees[part], out=ratio[part], where=degrees[part] > 0)
    return ratio
