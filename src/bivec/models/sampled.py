"""What FOBE and HOBE share: training on samples, smoothing, folding in, updating."""

from __future__ import annotations

import math
import os
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bivec.embedding import Embedding, EmbeddingSide
from bivec.graph import BipartiteGraph, Side
from bivec.lengths import PLAIN
from bivec.models.base import BipartiteEstimator, Learned, ProgressCallback, to_graph
from bivec.rehearsal import Rehearse, rehearse
from bivec.settings import LossRecord, Progress, Record, Settings
from bivec.similarity import EdgeSimilarity
from bivec.smoothing import Shape, check_smoothing, smooth
from bivec.training import Trainer

if TYPE_CHECKING:
    from bivec.embedding.folded import FoldedSide


class SampledEstimator(BipartiteEstimator):
    """An estimator that trains on samples of Procedure 1: FOBE and HOBE."""

    smoothing: int | Literal["auto"]
    norm: float | Literal["auto"] | None
    n_jobs: int | None
    progress: ProgressCallback | None
    _asked: Embedding | None = None
    _rehearse: Rehearse | None = None  # where several models of a graph share one

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        init: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn vectors for both sides, as every method does, with checkpoints.

        Parameters
        ----------
        X, y, init
            As for every method, see :meth:`BipartiteEstimator.fit`.
        checkpoint : path, optional
            A file for the state of training, written every minute and at the end. Where it exists,
            training goes on from it, to the bytes it would have reached without the interruption.

        Returns
        -------
        self
        """
        return self._fit(X, init, checkpoint=checkpoint)

    @abstractmethod
    def _settings(self, seed: int) -> Settings:
        """Return the checked settings of training."""

    def _similarity(self, graph: BipartiteGraph, settings: Settings) -> EdgeSimilarity | None:
        """Return the similarity of the edges, for methods that observe it."""
        return None

    def fold_in(self, rows: Any, side: Side = "left") -> FoldedSide:
        """Return vectors for new nodes from their edges, without training again.

        The parameters and the result are those of :meth:`bivec.Embedding.fold_in`.
        """
        if self._asked is None or self._asked.left.vectors is not self.left_embedding_:
            self._asked = self.embedding_  # which checks every vector: once, not in each call
        return self._asked.fold_in(rows, side, n_jobs=self.n_jobs)

    def update(self, new_edges: Any, epochs: int | None = None) -> Self:
        """Add edges, and nodes that come with them, and train on around them only.

        New nodes are folded in and then train along with the ends of the new edges and the
        neighbours of those ends: all rows whose pairs of training a new edge changes. Every other
        row stays as it is, to the byte.

        Parameters
        ----------
        new_edges : anything that :func:`bivec.as_graph` takes
            Left ids first. An edge that is there already adds its weight. A matrix has no ids: its
            rows and columns are numbered from 0, as those of a fitted matrix are.
        epochs : int, optional
            Sweeps over those rows; as many as in training where not given.

        Returns
        -------
        self
            With new rows behind the old ones. ``updated_`` has the rows that moved, by side.
        """
        from bivec.updating import update

        settings = self._settings(getattr(self, "seed_", 0))
        if epochs is not None:
            settings = replace(settings, epochs=epochs)
        updated = update(
            self.embedding_,
            to_graph(new_edges),
            settings,
            self._similarity,
            self.n_jobs,
            self.progress,
        )
        self.graph_ = updated.graph
        self.left_embedding_, self.right_embedding_ = updated.left, updated.right
        self.history_ += updated.history
        self.n_features_in_ = updated.graph.n_right
        self.updated_ = updated.moved
        return self

    def _norms(self) -> tuple[float | None, float | None]:
        """Return what was given, or the norms that a rehearsal found."""
        if isinstance(self.norm, str) and self.norm == "auto":
            return getattr(self, "norms_", (None, None))
        return super()._norms()

    def _learn(
        self,
        graph: BipartiteGraph,
        settings: Settings,
        init: Any,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Learned:
        steps = check_smoothing(self.smoothing)
        if steps is None:
            tell = self._told("rehearsal", LossRecord(0, math.nan, 0, 0.0))
            try_out = self._rehearse or rehearse
            rehearsed = try_out(graph, settings.seed, settings.dim, self.n_jobs, tell)
            shapes, communities = rehearsed.shapes, rehearsed.communities
        else:
            shapes, communities = (Shape(steps), Shape(steps)), False
        self.norms_ = shapes[0].norm, shapes[1].norm
        similarity = self._similarity(graph, settings)
        trainer = Trainer(graph, settings, similarity, _unscaled(init), self.n_jobs)
        trainer.run(self.progress, checkpoint)
        learned = Learned(
            trainer.left, trainer.right, trainer.history, trainer.epoch, trainer.interrupted
        )
        del trainer, similarity  # their memory is for smoothing
        self.smoothing_steps_ = (0, 0)
        lengths = PLAIN, PLAIN
        if steps != 0:
            done = smooth(
                graph, learned.left, learned.right, shapes, settings.seed, self.n_jobs,
                self._told("smoothing", learned.history[-1]) if learned.history else None,
                communities, until_close=steps is None and not communities,
            )  # fmt: skip
            self.smoothing_steps_, lengths = done.steps, done.lengths
            learned = learned._replace(interrupted=learned.interrupted or done.interrupted)
        self.shortening_ = lengths[0].power, lengths[1].power
        self.hubs_ = lengths[0].hubs, lengths[1].hubs
        self.places_ = shapes[0].place, shapes[1].place
        return learned

    def _told(self, stage: str, last: Record) -> Callable[[int, int], object] | None:
        """Return how to tell of steps before or after training, if anyone wants to know."""
        if self.progress is None:
            return None
        start, tell = time.perf_counter(), self.progress

        def told(done: int, steps: int) -> None:
            left = (time.perf_counter() - start) / done * (steps - done)
            tell(Progress(done, steps, last, 0.0, left, stage))

        return told


def _unscaled(init: Any) -> Any:
    """Return vectors to go on from at the length they were learned at."""
    scales = getattr(init, "params", {}).get("scales")
    if scales is None:
        return init
    return [
        EmbeddingSide(side.ids, side.vectors / np.float32(scale))
        for side, scale in zip((init.left, init.right), scales, strict=True)
    ]
