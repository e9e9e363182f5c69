"""Training on where a graph has grown: only rows that a new edge concerns move.

A new edge a - b changes what training sees of a and b, of the neighbours of b (they now share it
with a) and of those of a. These rows take more steps; all others are read and never written. New
nodes start from where they are folded in (:mod:`bivec.queries.fold`).

Smoothed vectors (:mod:`bivec.smoothing`) take steps of smoothing instead, which the others, frozen,
hold in place.

Paper: nothing on growing graphs. Here: rows further away would change, too, if all were trained
again, but only by way of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.embedding import Embedding
from bivec.graph import BipartiteGraph, GraphSide, Side
from bivec.lengths import Length, write_degrees
from bivec.queries.fold import NewNodes, fold_in, is_smoothed, training_settings
from bivec.queries.fold_smoothed import center, means, pulled, without_degrees
from bivec.queries.parts import OTHER, facing, is_placed, length_of
from bivec.settings import BLOCK, EpochRecord, Progress, Settings
from bivec.similarity import EdgeSimilarity
from bivec.smoothing import voices
from bivec.training import Trainer

Table = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

_SIDES: tuple[Side, Side] = ("left", "right")
_RATE = 0.3
"""Learning rate times that of training: most rows are near their place already."""
_SMOOTHING_STEPS = 8
"""Of smoothed vectors; what is around them holds them, so more steps change little."""
_CHUNK = 64


@dataclass(frozen=True)
class Updated:
    """The grown graph, its vectors, and which rows moved."""

    graph: BipartiteGraph
    left: Table
    right: Table
    history: list[EpochRecord]
    moved: dict[Side, Rows]


def update(
    embedding: Embedding,
    more: BipartiteGraph,
    settings: Settings,
    similarity: Callable[[BipartiteGraph, Settings], EdgeSimilarity | None],
    n_jobs: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Updated:
    """Add the edges of another graph, by id, and train on around them.

    Parameters
    ----------
    embedding : Embedding
        Of FOBE or HOBE, with its graph.
    more : BipartiteGraph
        New edges, and new nodes with them.
    settings : Settings
        Of the training to go on with.
    similarity : callable
        What HOBE observes on a graph.
    n_jobs, progress
        As in training.
    """
    old = embedding.graph
    assert old is not None

    # Grow the graph
    graph, left, right = joined(old, more)
    chosen = around(graph, left, right)

    # New nodes start from where they are folded in
    scales = training_settings(embedding)[1]
    tables = []
    for side in _SIDES:
        table = embedding.side(side).vectors
        nodes = _newcomers(graph.side(side), len(table), len(old.side(OTHER[side])))
        tables.append(np.concatenate([table, fold_in(embedding, nodes, side, n_jobs)]))

    # Smooth on
    moved_rows = dict(zip(_SIDES, chosen, strict=True))
    if is_smoothed(embedding):
        for number, side in enumerate(_SIDES):
            _smooth_on(
                graph, side, tables[number], chosen[number], scales[number],
                length_of(embedding, side), is_placed(embedding, side),
                min(settings.epochs, _SMOOTHING_STEPS),
            )  # fmt: skip
        return Updated(graph, tables[0], tables[1], [], moved_rows)

    # Or train on
    slower = replace(settings, learning_rate=settings.learning_rate * _RATE)
    start = [
        np.asarray(table / np.float32(scale), np.float32)
        for table, scale in zip(tables, scales, strict=True)
    ]
    trainer = Updating(graph, slower, similarity(graph, settings), start, chosen, n_jobs)
    if len(left):
        trainer.run(progress)

    # Write only what moved
    for number, rows in enumerate(chosen):
        trained = (trainer.left, trainer.right)[number]
        fresh = np.arange(len(embedding.side(_SIDES[number])), len(tables[number]))
        moved = np.union1d(rows, fresh)
        tables[number][moved] = trained[moved] * np.float32(scales[number])
    return Updated(graph, tables[0], tables[1], trainer.history, moved_rows)


def _smooth_on(
    graph: BipartiteGraph,
    side: Side,
    table: Table,
    rows: Rows,
    scale: float,
    length: Length,
    placed: bool,
    steps: int,
) -> None:
    """Smooth these rows of a side in place; all others are read only."""
    if not len(rows):
        return
    seen = facing(graph, side)
    assert seen is not None
    bare = without_degrees(table)
    middle = center(seen, bare, placed)
    links = sparse.csr_array(
        (voices(seen.right.degrees)[seen.left.indices], seen.left.indices, seen.left.indptr),
        shape=(seen.n_left, seen.n_right),
    )[rows]
    near = np.unique(links.indices)
    links = links[:, near]
    for _ in range(steps):
        moved = pulled(links, means(seen.right, seen.left, bare, near)) - middle
        lengths = np.sqrt((moved * moved).sum(axis=1))
        bare[rows] = moved / np.where(lengths > 0, lengths, 1)[:, None]
    fresh = bare[rows]
    write_degrees(fresh, seen.left.degrees[rows], length)
    table[rows] = fresh * np.float32(scale)


def joined(graph: BipartiteGraph, more: BipartiteGraph) -> tuple[BipartiteGraph, Rows, Rows]:
    """Return both graphs as one, old rows first, and the ends of the edges that are new in it."""
    left_ids, left_rows = graph.left.ids.joined(more.left.ids, "left")
    right_ids, right_rows = graph.right.ids.joined(more.right.ids, "right")
    left, right = left_rows[more.left_rows()], right_rows[more.left.indices]
    whole = BipartiteGraph(
        np.concatenate([graph.left_rows(), left]),
        np.concatenate([graph.left.indices, right]),
        np.concatenate([graph.left.weights, more.left.weights]),
        left_ids=left_ids,
        right_ids=right_ids,
    )
    width = len(right_ids)
    known = graph.left_rows().astype(np.int64) * width + graph.left.indices
    new = ~np.isin(left * width + right, known)
    return whole, left[new], right[new]


def around(graph: BipartiteGraph, left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """Return the rows of both sides that these edges concern: their ends, and the neighbours."""
    return (
        np.union1d(left, _neighbors(graph.right, right)),
        np.union1d(right, _neighbors(graph.left, left)),
    )


def _neighbors(side: GraphSide, rows: Rows) -> npt.NDArray[Any]:
    parts = [side.indices[side.indptr[row] : side.indptr[row + 1]] for row in np.unique(rows)]
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)


def _newcomers(side: GraphSide, known: int, far_known: int) -> NewNodes:
    """Return the rows of a side from ``known`` on, with their edges to old nodes."""
    first = side.indptr[known]
    inside = side.indices[first:] < far_known
    counts = np.concatenate([[0], np.cumsum(inside)])
    return NewNodes(
        side.ids.take(np.arange(known, len(side))),
        counts[side.indptr[known:] - first],
        side.indices[first:][inside],
        side.weights[first:][inside],
        {},
    )


class Updating(Trainer):
    """Training of some rows only, from vectors that are there.

    Parameters
    ----------
    graph, settings, similarity, n_jobs
        As of :class:`bivec.training.Trainer`.
    start : list of two arrays
        Vectors of both sides. A row of zeros, a node that could not be folded in, starts afresh.
    chosen : tuple of two arrays
        The rows to train, ascending.
    """

    def __init__(
        self,
        graph: BipartiteGraph,
        settings: Settings,
        similarity: EdgeSimilarity | None,
        start: list[Table],
        chosen: tuple[Rows, Rows],
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(graph, settings, similarity, None, n_jobs)
        self._chosen = chosen
        for table, vectors in zip(self._tables, start, strict=True):
            there = vectors.any(axis=1)
            table[there] = vectors[there]

    def _blocks(self) -> list[tuple[int, int, int]]:
        """Return the blocks of a sweep as (side, first, stop) in the lists of chosen rows."""
        return [
            (side, first, min(first + BLOCK, len(rows)))
            for side, rows in enumerate(self._chosen)
            for first in range(0, len(rows), BLOCK)
        ]

    def _train_block(self, side: int, first: int, stop: int) -> None:
        from bivec.kernels.train import Steps, Tables, visit_chosen

        view, plan = self._views[side], self._plans[side]
        tables = Tables(self._tables[side], self._tables[1 - side], self._squares[side])
        steps = Steps(
            self.epoch * self.settings.steps,
            self.settings.steps,
            self.settings.rate(self.epoch),
            self.settings.negative_weight,
        )
        fresh, losses = self._buffers()
        rows = self._chosen[side][first:stop]

        def visit(a: int, b: int) -> None:
            visit_chosen(view, plan, steps, tables, *self._scratch(), fresh, losses, rows, a, b)

        self.workers.run(visit, len(rows), _CHUNK, guided=True)
        self._tables[side][rows] = fresh[: len(rows)]
        self._sums[side] += losses[: len(rows)].sum(axis=0)
