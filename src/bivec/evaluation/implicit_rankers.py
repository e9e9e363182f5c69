"""Factorisations from the package implicit, where it is installed."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.errors import require
from bivec.evaluation.rankers import Ranker, Table, ratings
from bivec.graph import BipartiteGraph


class _Implicit(Ranker):
    """A model of the package implicit: factors of both sides, scored by their product."""

    def _fit(self, train: BipartiteGraph) -> None:
        require("implicit", extra="dev", purpose=f"the ranker {self.name!r}")
        values = ratings(train, getattr(self, "weighted", False)).copy()  # a graph is read-only
        matrix = sparse.csr_matrix(values, dtype=np.float32)
        model = self._model()
        model.fit(matrix, show_progress=False)
        self.left_, self.right_ = np.array(model.user_factors), np.array(model.item_factors)

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        product: Table = self.left_[rows] @ self.right_.T
        return product

    @abstractmethod
    def _model(self) -> Any: ...


@dataclass
class ALS(_Implicit):
    """Weighted matrix factorisation by alternating least squares, from the package implicit.

    Parameters
    ----------
    n_factors, regularization, iterations
        As in implicit.
    alpha : float
        The confidence of an edge is ``alpha`` times its weight.
    weighted : bool
        Whether weights count.
    random_state : int
        The seed.

    References
    ----------
    Hu, Koren, Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008,
    https://doi.org/10.1109/ICDM.2008.22
    """

    name = "als"
    n_factors: int = 64
    regularization: float = 0.01
    alpha: float = 1.0
    iterations: int = 15
    weighted: bool = True
    random_state: int = 0

    def _model(self) -> Any:
        from implicit.cpu.als import AlternatingLeastSquares

        return AlternatingLeastSquares(
            factors=self.n_factors,
            regularization=self.regularization,
            alpha=self.alpha,
            iterations=self.iterations,
            random_state=self.random_state,
        )


@dataclass
class BPR(_Implicit):
    """Bayesian personalized ranking, from the package implicit. It knows no weights.

    It trains in one thread: with more, its result would differ from run to run.

    Parameters
    ----------
    n_factors, learning_rate, regularization, iterations
        As in implicit.
    random_state : int
        The seed.

    References
    ----------
    Rendle, Freudenthaler, Gantner, Schmidt-Thieme, "BPR: Bayesian personalized ranking from
    implicit feedback", UAI 2009, arXiv:1205.2618
    """

    name = "bpr"
    n_factors: int = 64
    learning_rate: float = 0.01
    regularization: float = 0.01
    iterations: int = 100
    random_state: int = 0

    def _model(self) -> Any:
        from implicit.cpu.bpr import BayesianPersonalizedRanking

        return BayesianPersonalizedRanking(
            factors=self.n_factors,
            learning_rate=self.learning_rate,
            regularization=self.regularization,
            iterations=self.iterations,
            num_threads=1,
            random_state=self.random_state,
        )
