"""Vectors as a ranker, by any of the scorers that recommending uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_choice
from bivec.embedding import Embedding, EmbeddingSide
from bivec.errors import InputError
from bivec.evaluation.rankers import Ranker, Table
from bivec.graph import BipartiteGraph
from bivec.queries.choose import SCORERS, make_scorer
from bivec.queries.parts import levelled


class EmbeddingRanker(Ranker):
    """Rank items by vectors, with the scorers of :mod:`bivec.queries.scorers`.

    An item without a training edge has a vector that nothing has moved, and comes last.

    Parameters
    ----------
    vectors : Embedding, pair of arrays, or estimator
        Vectors for the rows of the training graph. An estimator such as :class:`bivec.FOBE` is
        trained by ``fit``.
    train : BipartiteGraph, optional
        The training graph; given here, the ranker is ready and ``fit`` need not be called.
    scorer : str
        One of :data:`bivec.queries.SCORERS`; ``"blend"`` is the default of
        :meth:`bivec.Embedding.recommend`, ``"centroid"`` the paper's.
    name : str, optional
        What tables call it; the name of the method where it is known.
    """

    def __init__(
        self,
        vectors: Any,
        train: BipartiteGraph | None = None,
        *,
        scorer: str = "blend",
        name: str | None = None,
    ) -> None:
        self.vectors = vectors
        self.scorer = check_choice("scorer", scorer, tuple(SCORERS))
        self.name = name or str(getattr(vectors, "method", "vectors"))
        if train is not None:
            self.fit(train)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the method and the scorer, for reports."""
        own: dict[str, Any] = {}
        if isinstance(self.vectors, Embedding):
            own = self.vectors.params
        elif hasattr(self.vectors, "get_params"):
            own = {k: v for k, v in self.vectors.get_params().items() if k != "progress"}
        return {**own, "scorer": self.scorer}

    def _fit(self, train: BipartiteGraph) -> None:
        left, right = self._vectors(train)
        self.known_ = train.right.degrees > 0
        self.scorer_ = make_scorer(self.scorer).fit(left, right, train)

    def _vectors(self, train: BipartiteGraph) -> tuple[Table, Table]:
        vectors = self.vectors
        if hasattr(vectors, "fit"):
            vectors = vectors.fit(train).embedding_
        if isinstance(vectors, Embedding):
            if vectors.left.ids != train.left.ids or vectors.right.ids != train.right.ids:
                raise InputError(
                    "the embedding has other ids than the training graph, or in another order",
                    "Train it on the training graph of this split.",
                )
            return levelled(vectors, "left"), levelled(vectors, "right")
        left, right = vectors
        return (
            EmbeddingSide(train.left.ids, left).vectors,
            EmbeddingSide(train.right.ids, right).vectors,
        )

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        scores: Table = self.scorer_.scores(rows)
        scores[:, ~self.known_] = -np.inf
        return scores
