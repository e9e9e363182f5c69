r"""High-Order Bipartite Embedding.

.. math::

    \tilde S'_A(a_i, a_j) = \max(0, \epsilon(a_i)^\top \epsilon(a_j)), \qquad
    S'_A(a_i, a_j) = \max_{b_k \in \Gamma(a_i) \cap \Gamma(a_j)} \min(s(a_i, b_k), s(a_j, b_k))

with s the algebraic similarity of an edge (:mod:`bivec.similarity`). Cross pairs reach over three
edges: their observation is the strongest same-type observation between one end and the other's
neighbourhood, their estimate the product of two neighbourhood means as in FOBE. The vectors
minimise the squared error.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from bivec.graph import BipartiteGraph
from bivec.models.base import ProgressCallback
from bivec.models.sampled import SampledEstimator
from bivec.settings import Settings
from bivec.similarity import EdgeSimilarity, edge_similarities


class HOBE(SampledEstimator):
    """High-Order Bipartite Embedding.

    Parameters
    ----------
    dim : int
        Length of the vectors.
    n_samples : int
        Samples of each node and relation (same type, second order), spread over the epochs; used in
        turn where there are more epochs than samples.
    n_neighbors : int
        Sampled neighbours of each end of a second-order pair.
    n_negatives : int
        Unobserved pairs, observed as 0, for each sample of each relation.
    epochs : int
        Sweeps over all nodes. A node takes one step in each.
    learning_rate : float
        Of row-wise Adagrad; falls linearly to 0 over the epochs.
    draw : {"walk", "set"}
        How pairs are drawn: see :func:`bivec.sample_observations`.
    trials, sweeps, damping, order, rescale
        Of the algebraic coordinates: see :func:`bivec.algebraic_coordinates`.
    tol : float, optional
        Stop when the loss has gained less than this share of itself for ``patience`` epochs.
    patience : int
        See ``tol``.
    smoothing : int or "auto"
        Steps of smoothing within each side after training, see :mod:`bivec.smoothing`: "auto" is
        what does best on edges left out of the graph (:mod:`bivec.rehearsal`), 0 none. Smoothed
        vectors have the degree in their last entry; with "auto" those of popular nodes are
        shorter, if that does better.
    norm : float, "auto" or None
        Scale the vectors of each side, by one factor, to this root mean square norm. "auto" is 5,
        which suits smoothed vectors under an RBF kernel of gamma 0.1 (3 those that are not), or
        with ``smoothing="auto"`` what does better on the edges left out. None leaves
        those as learned, near 1, so that estimates are dots.
    random_state : int, None, or numpy generator
        The seed. Equal seeds give equal bytes, whatever ``n_jobs``.
    n_jobs : int, optional
        Threads; every core where not given.
    progress : callable, optional
        Called with a :class:`bivec.settings.Progress` after each epoch.

    Attributes
    ----------
    left_embedding_, right_embedding_ : array of float32
        The vectors, one row a node. A node without edges keeps its random start.
    embedding_ : Embedding
        The same with ids.
    history_ : list of EpochRecord
        Loss of each relation, pairs and seconds of each epoch.
    graph_ : BipartiteGraph
        The graph.
    n_iter_ : int
        Epochs done.
    smoothing_steps_ : pair of int
        Steps of smoothing done, left and right.
    shortening_ : pair of float
        The power of its degree by which a node's vector is shorter, left and right.
    hubs_ : pair of int
        From how many edges on a node is a hub, with hardly any length, left and right; 0 where none
        is.
    places_ : pair of float
        The share of its side that vectors at one place have at most, left and right, where they
        were brought to places after smoothing (:mod:`bivec.places`); else 0.

    Notes
    -----
    Weights of edges do not matter. Paper: silent about the start. Here: vectors start from positive
    entries, as a ReLU passes no gradient to a pair that starts on its flat side.

    References
    ----------
    Sybrandt, Safro, "First- and high-order bipartite embeddings", arXiv:1905.10953.

    Examples
    --------
    >>> from bivec import BipartiteGraph
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> HOBE(dim=8, epochs=5, n_samples=10).fit(graph).right_embedding_.shape
    (3, 8)
    """

    method: ClassVar[str] = "hobe"

    def __init__(
        self,
        dim: int = 128,
        n_samples: int = 200,
        n_neighbors: int = 5,
        n_negatives: int = 5,
        epochs: int = 50,
        learning_rate: float = 0.03,
        draw: Literal["walk", "set"] = "walk",
        trials: int = 10,
        sweeps: int = 20,
        damping: float = 0.5,
        order: Literal["jacobi", "gauss-seidel"] = "jacobi",
        rescale: bool = False,
        tol: float | None = None,
        patience: int = 3,
        smoothing: int | Literal["auto"] = "auto",
        norm: float | Literal["auto"] | None = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.dim = dim
        self.n_samples = n_samples
        self.n_neighbors = n_neighbors
        self.n_negatives = n_negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.draw = draw
        self.trials = trials
        self.sweeps = sweeps
        self.damping = damping
        self.order = order
        self.rescale = rescale
        self.tol = tol
        self.patience = patience
        self.smoothing = smoothing
        self.norm = norm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _settings(self, seed: int) -> Settings:
        return Settings(
            self.method, dim=self.dim, n_samples=self.n_samples, n_neighbors=self.n_neighbors,
            n_negatives=self.n_negatives, epochs=self.epochs, learning_rate=self.learning_rate,
            draw=self.draw, tol=self.tol, patience=self.patience, seed=seed,
        )  # fmt: skip

    def _similarity(self, graph: BipartiteGraph, settings: Settings) -> EdgeSimilarity:
        return edge_similarities(
            graph, trials=self.trials, sweeps=self.sweeps, damping=self.damping, order=self.order,
            rescale=self.rescale, random_state=settings.seed, n_jobs=self.n_jobs,
        )  # fmt: skip
