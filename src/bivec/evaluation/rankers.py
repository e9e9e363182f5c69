"""Rankers to compare with: what a method must beat before it is worth its training.

Each has ``fit(train)``, which returns the ranker, and ``scores(rows)``, a float32 row over all
right nodes for each left row. ``weighted`` says whether edge weights count; where they do not,
every edge counts 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.checks import check_integer, check_number
from bivec.errors import NotFittedError
from bivec.graph import BipartiteGraph
from bivec.memory import require_memory
from bivec.parallel import one_blas_thread

Table = npt.NDArray[Any]


class Ranker(ABC):
    """Scores of all right nodes for any left node."""

    name: str

    def fit(self, train: BipartiteGraph) -> Self:
        """Learn from the training graph."""
        with one_blas_thread():
            self._fit(train)
        self.train_ = train
        return self

    def scores(self, rows: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return a row of scores, one for each right node, for each of these left rows."""
        if not hasattr(self, "train_"):
            raise NotFittedError(f"This {type(self).__name__} knows no graph yet. Call fit first.")
        return np.ascontiguousarray(self._scores(np.asarray(rows, np.int64)), dtype=np.float32)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, for reports."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]

    @abstractmethod
    def _fit(self, train: BipartiteGraph) -> None: ...

    @abstractmethod
    def _scores(self, rows: npt.NDArray[np.int64]) -> Table: ...


@dataclass
class Popularity(Ranker):
    """The same list for everyone: items by the number of their edges.

    Parameters
    ----------
    weighted : bool
        Sum the weights of the edges instead.
    """

    name = "popularity"
    weighted: bool = False

    def _fit(self, train: BipartiteGraph) -> None:
        self.popularity_ = np.asarray(ratings(train, self.weighted).sum(axis=0)).ravel()

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        return np.broadcast_to(
            self.popularity_.astype(np.float32), (len(rows), self.train_.n_right)
        )


@dataclass
class ItemKNN(Ranker):
    r"""Items like those the user has.

    .. math:: s_{uj} = \sum_{i \in N(j)} x_{ui} \cos(x_{\cdot i}, x_{\cdot j})

    with N(j) the items most similar to j, without j; of equal similarities the lower row. A user's
    own items are scored by their likeness to each other.

    Parameters
    ----------
    n_neighbors : int, optional
        Size of N(j); None takes all.
    weighted : bool
        Whether x holds the weights, in the cosine and in the sum.

    References
    ----------
    Sarwar, Karypis, Konstan, Riedl, "Item-based collaborative filtering recommendation algorithms",
    WWW 2001, https://doi.org/10.1145/371920.372071
    """

    name = "item-knn"
    n_neighbors: int | None = 100
    weighted: bool = True

    def _fit(self, train: BipartiteGraph) -> None:
        from bivec.kernels.rank import best

        if self.n_neighbors is not None:
            check_integer("n_neighbors", self.n_neighbors, low=1)
        matrix = ratings(train, self.weighted)
        norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel())
        unit = (matrix @ sparse.diags_array(1 / np.where(norms > 0, norms, 1))).tocsc()
        n = train.n_right
        all_items, nobody = np.arange(n), np.zeros(1, np.int64)
        size = max(1, min(n, (1 << 22) // max(1, n)))
        parts = []
        for start in range(0, n, size):
            block = (unit[:, start : start + size].T @ unit).toarray().astype(np.float32)
            block[np.arange(len(block)), start + np.arange(len(block))] = 0
            if self.n_neighbors is not None and self.n_neighbors < n:
                near = np.empty((len(block), self.n_neighbors), np.int64)
                users = np.zeros(len(block), np.int64)
                best(block, all_items, nobody, train.left.indices[:0], users, False, near)
                kept = np.zeros_like(block)
                np.put_along_axis(kept, near, np.take_along_axis(block, near, axis=1), axis=1)
                block = kept
            parts.append(sparse.csr_array(block))
        # Column j holds the neighbours of j.
        self.similarity_ = (sparse.vstack(parts) if parts else sparse.csr_array((n, n))).T.tocsr()
        self.matrix_ = matrix

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        product: Table = (self.matrix_[rows] @ self.similarity_).toarray()
        return product


@dataclass
class RP3Beta(Ranker):
    r"""Walks of three steps from the user, against popular items.

    .. math:: s_{uj} = d_j^{-\beta} \sum_{i \ne j} \sum_k (p_{ui} \, p_{ik} \, p_{kj})^\alpha

    with p the probability of a step: an edge's weight by the sum of those of the node it leaves.

    Parameters
    ----------
    alpha, beta : float
        The exponents. At 1 and 0 it is the plain walk, less those that come back to i.
    weighted : bool
        Whether weights count, in the steps and in the degree d.

    References
    ----------
    Paudel, Christoffel, Newell, Bernstein, "Updatable, accurate, diverse, and scalable
    recommendations for interactive applications", ACM TiiS 7, 2016,
    https://doi.org/10.1145/2955101
    """

    name = "rp3beta"
    alpha: float = 0.6
    beta: float = 0.2
    weighted: bool = False

    def _fit(self, train: BipartiteGraph) -> None:
        check_number("alpha", self.alpha, above=0)
        check_number("beta", self.beta, low=0)
        matrix = ratings(train, self.weighted)
        steps = [
            (sparse.diags_array(1 / np.where(total > 0, total, 1)) @ side).tocsr()
            for side, total in ((matrix, matrix.sum(axis=1)), (matrix.T, matrix.sum(axis=0)))
        ]
        self.steps_ = [step.power(self.alpha) for step in steps]
        degrees = matrix.sum(axis=0)
        self.discount_ = np.where(degrees > 0, degrees, 1) ** -self.beta
        from_users, from_items = self.steps_
        self.returning_ = from_items.multiply(from_users.T).sum(axis=1)

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        from_users, from_items = self.steps_
        first = from_users[rows]
        walks: Table = ((first @ from_items) @ from_users).toarray()
        walks -= first.toarray() * self.returning_  # u - j - k - j
        product: Table = walks * self.discount_
        return product


@dataclass
class EASE(Ranker):
    r"""A linear autoencoder that may not copy an item onto itself, in closed form.

    .. math:: B = I - P \, \mathrm{diag}(1 / P_{jj}), \quad P = (X^T X + \lambda I)^{-1},
        \quad s_u = x_u B

    With fewer users than items the smaller matrix :math:`K = (X X^T + \lambda I)^{-1}` does:
    :math:`X P = K X` and :math:`\lambda P_{jj} = 1 - x_{\cdot j}^T K x_{\cdot j}` (Woodbury), so
    :math:`s_u = x_u - (K X)_u \, \mathrm{diag}(1 / P_{jj})`.

    Parameters
    ----------
    regularization : float
        The :math:`\lambda`; 500 is a common default.
    weighted : bool
        Whether X holds the weights; the publication has ones.

    References
    ----------
    Steck, "Embarrassingly shallow autoencoders for sparse data", WWW 2019, arXiv:1905.03375
    """

    name = "ease"
    regularization: float = 500.0
    weighted: bool = False

    def _fit(self, train: BipartiteGraph) -> None:
        strength = check_number("regularization", self.regularization, above=0)
        matrix = ratings(train, self.weighted)
        n = min(matrix.shape)
        require_memory(24 * n * n, f"EASE on {n:,} nodes", "Leave it out on graphs this large.")
        self.matrix_ = matrix
        self.by_items_ = matrix.shape[1] <= matrix.shape[0]
        gram = (matrix.T @ matrix if self.by_items_ else matrix @ matrix.T).toarray()
        gram[np.diag_indices(n)] += strength
        inverse: Table = np.linalg.inv(gram)
        if self.by_items_:
            weights = inverse / -np.diag(inverse)
            weights[np.diag_indices(n)] = 0
            self.weights_ = weights
            return
        self.inverse_ = inverse
        explained = np.empty(matrix.shape[1])
        columns = matrix.tocsc()
        for start in range(0, matrix.shape[1], 1024):
            part = columns[:, start : start + 1024]
            explained[start : start + 1024] = np.asarray(
                part.multiply((part.T @ inverse).T).sum(axis=0)
            ).ravel()
        self.diagonal_ = (1 - explained) / strength

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        known = self.matrix_[rows]
        if self.by_items_:
            product: Table = known @ self.weights_
            return product
        smoothed: Table = (self.matrix_.T @ self.inverse_[:, rows]).T
        difference: Table = known.toarray() - smoothed / self.diagonal_
        return difference


@dataclass
class PureSVD(Ranker):
    r"""The user's ratings projected onto the leading right singular vectors: :math:`x_u V V^T`.

    Parameters
    ----------
    n_factors : int
        Number of singular vectors; all where the graph has fewer.
    weighted : bool
        Whether X holds the weights; absent pairs are 0 either way.

    References
    ----------
    Cremonesi, Koren, Turrin, "Performance of recommender algorithms on top-N recommendation tasks",
    RecSys 2010, https://doi.org/10.1145/1864708.1864721
    """

    name = "pure-svd"
    n_factors: int = 50
    weighted: bool = True

    def _fit(self, train: BipartiteGraph) -> None:
        from scipy.sparse import linalg

        check_integer("n_factors", self.n_factors, low=1)
        matrix = ratings(train, self.weighted)
        if self.n_factors < min(matrix.shape):
            # The iteration starts from a fixed vector, so that the same graph gives the same bytes.
            start = np.random.default_rng(0).standard_normal(min(matrix.shape))
            self.factors_ = linalg.svds(matrix, k=self.n_factors, v0=start)[2].T
        else:
            self.factors_ = np.linalg.svd(matrix.toarray(), full_matrices=False)[2].T
        self.matrix_ = matrix

    def _scores(self, rows: npt.NDArray[np.int64]) -> Table:
        product: Table = (self.matrix_[rows] @ self.factors_) @ self.factors_.T
        return product


def ratings(train: BipartiteGraph, weighted: bool) -> sparse.csr_array:
    """Return the training graph as a matrix of weights, or of ones."""
    matrix = train.to_scipy()
    values = matrix.data.astype(np.float64) if weighted else np.ones(train.n_edges)
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
