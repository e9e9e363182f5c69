"""Vectors as a ranker: by the centroid of the paper, by products, or by regressions on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_choice
from bivec.embedding import Embedding, EmbeddingSide
from bivec.errors import InputError
from bivec.evaluation.rankers import Ranker, Table, ratings
from bivec.graph import BipartiteGraph
from bivec.queries import Blend

SCORERS = ("centroid", "centroid-cosine", "dot", "blend", "blend-new")


class EmbeddingRanker(Ranker):
    r"""Rank items by vectors.

    ``"centroid"``
        :math:`s_{uj} = c_u^T v_j` with :math:`c_u = \sum_i w_{ui} v_i / \sum_i w_{ui}`, the
        centroid of the user's items weighted by their ratings. The paper's: the two sides need
        not be comparable, so the centroid stands in for the user's vector.
    ``"centroid-cosine"``
        The same with the cosine, which does not see how long an item's vector is.
    ``"dot"``
        The product of the user's and the item's vector, as BiNE ranks.
    ``"blend"``
        Two regressions on the vectors, fitted on the training graph: :class:`bivec.queries.Blend`.
    ``"blend-new"``
        The same with the user's training items last. Where the protocol removes them it is equal to
        ``"blend"``; where it does not, this is what removing them gives.

    An item without a training edge has a vector that nothing has moved, and comes last.

    Parameters
    ----------
    vectors : Embedding, pair of arrays, or estimator
        Vectors for the rows of the training graph. An estimator such as :class:`bivec.FOBE` is
        trained by ``fit``.
    train : BipartiteGraph, optional
        The training graph; given here, the ranker is ready and ``fit`` need not be called.
    scorer : {"centroid", "centroid-cosine", "dot", "blend", "blend-new"}
        See above.
    name : str, optional
        What tables call it; the name of the method where it is known.
    """

    def __init__(
        self,
        vectors: Any,
        train: BipartiteGraph | None = None,
        *,
        scorer: str = "centroid",
        name: str | None = None,
    ) -> None:
        self.vectors = vectors
        self.scorer = check_choice("scorer", scorer, SCORERS)
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
        if self.scorer.startswith("blend"):
            known = "last" if self.scorer == "blend-new" else "absent"
            self.blend_ = Blend(known=known).fit(left, right, train)
            return
        matrix = ratings(train, weighted=True)
        self.known_ = train.right.degrees > 0
        if self.scorer == "dot":
            self.left_ = left
        else:
            total = np.asarray(matrix.sum(axis=1)).ravel()
            centroid = (matrix @ right.astype(np.float64)) / np.where(total > 0, total, 1)[:, None]
            self.left_ = centroid.astype(np.float32)
        self.right_ = _unit(right) if self.scorer == "centroid-cosine" else right

    def _vectors(self, train: BipartiteGraph) -> tuple[Table, Table]:
        vectors = self.vectors
        if hasattr(vectors, "fit"):
            vectors.fit(train)
            return vectors.left_embedding_, vectors.right_embedding_
        if isinstance(vectors, Embedding):
            if vectors.left.ids != train.left.ids or vectors.right.ids != train.right.ids:
                raise InputError(
                    "the embedding has other ids than the training graph, or in another order",
                    "Train it on the training graph of this split.",
                )
            return vectors.left.vectors, vectors.right.vectors
        left, right = vectors
        return (
            EmbeddingSide(train.left.ids, left).vectors,
            EmbeddingSide(train.right.ids, right).vectors,
        )

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        if self.scorer.startswith("blend"):
            return self.blend_.scores(rows)
        product: Table = self.left_[rows] @ self.right_.T
        product[:, ~self.known_] = -np.inf
        return product


def _unit(table: Table) -> Table:
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(norms > 0, norms, 1)
