r"""The spectral reference: singular vectors of the biadjacency matrix, plain and by degrees.

.. math::

    W \approx U \Sigma V^\top, \quad
    \text{left} = U \Sigma^{1/2}, \quad \text{right} = V \Sigma^{1/2}

is SVD: the dot of a left and a right vector is the best approximation of the weight by this rank.
GSVD takes the generalized singular vectors, in the metric of the sums of weights :math:`D_1, D_2`:

.. math::

    D_1^{-1/2} W D_2^{-1/2} \approx U \Sigma V^\top, \quad
    \text{left} = D_1^{-1/2} U \Sigma, \quad \text{right} = D_2^{-1/2} V

where a left vector is the weighted mean of the right vectors of its neighbours.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.baselines.contrast import strengths
from bivec.checks import check_integer
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.memory import require_memory
from bivec.models.base import BipartiteEstimator, Learned, ProgressCallback
from bivec.parallel import one_blas_thread, resolve_jobs
from bivec.settings import LossRecord, Progress

Matrix = npt.NDArray[np.float64]

_NOTHING = 1e-7
"""Singular values below this share of the largest one are taken for 0."""
_ROUNDS, _SPARE = 30, 16
"""Of the randomized solver: products with the matrix and its transpose, and columns beyond dim."""


class SVD(BipartiteEstimator):
    """Leading singular vectors of the matrix of weights.

    Parameters
    ----------
    dim : int
        Length of the vectors. Where the matrix has fewer singular values that are not 0, the
        last columns are 0.
    norm : float, optional
        Scale the vectors of each side, by one factor, to this root mean square norm.
    random_state : int, None, or numpy generator
        The seed of the vector that the iteration starts from. It changes no more than rounding,
        but for singular values that are equal.
    n_jobs : int, optional
        Accepted as by all methods, and without effect: the solver runs in one thread.
    progress : callable, optional
        Called with a :class:`bivec.settings.Progress` at the end.

    Attributes
    ----------
    left_embedding_, right_embedding_ : array of float32
        The vectors, one row a node. A node without edges gets zeros.
    embedding_ : Embedding
        The same with ids.
    singular_values_ : array of float64
        Descending, 0 where there are none.
    history_ : list of LossRecord
        One record; its loss is the share of the squared norm of the matrix that is left out.
    graph_ : BipartiteGraph
        The graph.

    Notes
    -----
    Weights are the entries of the matrix. The entry of largest modulus of each left singular vector
    is positive, so that signs are no matter of chance.

    Examples
    --------
    >>> from bivec import BipartiteGraph
    >>> graph = BipartiteGraph([0, 0, 1, 2], [0, 1, 1, 2], [2, 1, 1, 3])
    >>> model = SVD(dim=3).fit(graph)
    >>> (model.left_embedding_ @ model.right_embedding_.T).round(4) + 0
    array([[2., 1., 0.],
           [0., 1., 0.],
           [0., 0., 3.]], dtype=float32)
    """

    method: ClassVar[str] = "svd"

    def __init__(
        self,
        dim: int = 128,
        norm: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.dim = dim
        self.norm = norm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _settings(self, seed: int) -> int:
        check_integer("dim", self.dim, low=1, high=1 << 16)
        resolve_jobs(self.n_jobs)
        return seed

    def _learn(self, graph: BipartiteGraph, settings: int, init: Any) -> Learned:
        if init is not None:
            raise InputError(
                f"{type(self).__name__} has nothing to go on from", "Call fit without init."
            )
        start = time.perf_counter()
        require_memory(
            12 * graph.n_edges
            + (graph.n_left + 3 * min(graph.n_left, graph.n_right)) * 8 * self.dim,
            f"{self.dim} singular vectors of {graph.n_left:,} by {graph.n_right:,} nodes",
            "Choose a smaller dim.",
        )
        matrix = self._matrix(graph)
        u, values, v = singular_vectors(matrix, self.dim, settings)
        self.singular_values_ = values
        left, right = self._vectors(graph, u, values, v)

        # Tell
        total = float((matrix.data**2).sum())
        missed = max(0.0, 1 - float((values**2).sum()) / total) if total > 0 else 0.0
        seconds = time.perf_counter() - start
        record = LossRecord(1, missed, graph.n_edges, seconds)
        if self.progress is not None:
            self.progress(Progress(1, 1, record, graph.n_edges / max(seconds, 1e-9), 0.0))
        return Learned(left.astype(np.float32), right.astype(np.float32), [record])

    def _matrix(self, graph: BipartiteGraph) -> sparse.csr_array:
        return sparse.csr_array(graph.to_scipy(), dtype=np.float64)

    def _vectors(
        self, graph: BipartiteGraph, u: Matrix, values: Matrix, v: Matrix
    ) -> tuple[Matrix, Matrix]:
        root = np.sqrt(values)
        return u * root, v * root


class GSVD(SVD):
    """Generalized singular vectors: the matrix of weights, seen relative to the degrees.

    Parameters
    ----------
    dim : int
        Length of the vectors; the last columns are 0 where there are fewer singular values.
    normalized : bool
        Whether each vector is scaled to length 1, so that directions are all that counts.
    norm : float, optional
        Scale the vectors of each side, by one factor, to this root mean square norm.
    random_state, n_jobs, progress
        As for :class:`SVD`.

    Attributes
    ----------
    left_embedding_, right_embedding_, embedding_, singular_values_, history_, graph_
        As for :class:`SVD`. Singular values are at most 1.

    Notes
    -----
    The first singular vectors of each component of the graph are constant on it, by singular value
    1: they tell components apart, and nothing else. Where there are so many of them that the exact
    solver does not tell their vectors apart, a randomized one takes over.

    References
    ----------
    Bonald, Hollocou, Lelarge, "Weighted spectral embedding of graphs", Allerton 2018,
    arXiv:1809.11115; as the method GSVD of Bonald, de Lara, Lutz, Charpentier, "Scikit-network:
    graph analysis in Python", JMLR 21, 2020.

    Examples
    --------
    >>> from bivec.datasets import southern_women
    >>> GSVD(dim=4).fit(southern_women()).singular_values_.round(3)
    array([1.   , 0.792, 0.565, 0.423])
    """

    method: ClassVar[str] = "gsvd"

    def __init__(
        self,
        dim: int = 128,
        normalized: bool = True,
        norm: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        super().__init__(dim, norm, random_state, n_jobs, progress)
        self.normalized = normalized

    def _roots(self, graph: BipartiteGraph) -> tuple[Matrix, Matrix]:
        """Return one over the root of the strength of each node of both sides; 0 for isolated."""
        degrees = strengths(graph)
        roots = np.zeros_like(degrees)
        np.divide(1, np.sqrt(degrees), out=roots, where=degrees > 0)
        return roots[: graph.n_left], roots[graph.n_left :]

    def _matrix(self, graph: BipartiteGraph) -> sparse.csr_array:
        left, right = self._roots(graph)
        matrix = super()._matrix(graph)
        return sparse.csr_array(matrix.multiply(left[:, None]).multiply(right[None, :]))

    def _vectors(
        self, graph: BipartiteGraph, u: Matrix, values: Matrix, v: Matrix
    ) -> tuple[Matrix, Matrix]:
        left, right = self._roots(graph)
        tables = u * values * left[:, None], v * right[:, None]
        if not self.normalized:
            return tables
        lengths = [np.sqrt((table**2).sum(axis=1, keepdims=True)) for table in tables]
        first, second = (
            table / np.where(length > 0, length, 1)
            for table, length in zip(tables, lengths, strict=True)
        )
        return first, second


def singular_vectors(
    matrix: sparse.csr_array, dim: int, seed: int, restarts: int = 600
) -> tuple[Matrix, Matrix, Matrix]:
    """Return U, the singular values descending, and V, with ``dim`` columns; zeros fill them up.

    Where the Lanczos method has not come to an end after so many restarts, or finds no way to
    restart, they are those of the matrix within a subspace that is near the leading one.
    """
    from scipy.sparse.linalg import ArpackError, svds

    with one_blas_thread():
        if dim >= min(matrix.shape) or not matrix.nnz:
            u, values, vt = np.linalg.svd(matrix.toarray(), full_matrices=False)
        else:
            start = np.random.default_rng(seed).standard_normal(min(matrix.shape))
            try:
                u, values, vt = svds(matrix, k=dim, v0=start, maxiter=restarts)
            except ArpackError:
                u, values, vt = _randomized(matrix, dim, seed)
    order = np.argsort(-values, kind="stable")
    u, values, v = u[:, order], values[order], vt[order].T
    present = values > _NOTHING * values.max(initial=0)
    u, values, v = u[:, present], values[present], v[:, present]
    if len(u):
        signs = np.where(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])] < 0, -1.0, 1.0)
        u, v = u * signs, v * signs
    missing = dim - len(values)
    return (
        np.pad(u, ((0, 0), (0, missing))),
        np.pad(values, (0, missing)),
        np.pad(v, ((0, 0), (0, missing))),
    )


def _randomized(matrix: sparse.csr_array, dim: int, seed: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return singular vectors by subspace iteration (Halko, Martinsson, Tropp, SIAM Review 2011).

    It ends after a fixed number of rounds, however many singular values are equal, where Lanczos
    needs ever more of them to find the next one.
    """
    wide = min(dim + _SPARE, *matrix.shape)
    block = np.random.default_rng(seed).standard_normal((matrix.shape[1], wide))
    for _ in range(_ROUNDS):
        block, _r = np.linalg.qr(matrix @ block)
        block, _r = np.linalg.qr(matrix.T @ block)
    block, _r = np.linalg.qr(matrix @ block)
    u, values, vt = np.linalg.svd((matrix.T @ block).T, full_matrices=False)
    return (block @ u)[:, :dim], values[:dim], vt[:dim]
