r"""LINE: large-scale information network embedding, on the edges between two sides.

First order, one vector a node, linked nodes side by side; second order, a vector and a context
vector a node, so that nodes with the same neighbours come together:

.. math::

    O_1 = -\sum_{ij \in E} w_{ij} \log \sigma(u_i^\top u_j), \qquad
    O_2 = -\sum_{ij \in E} w_{ij} \log
        \frac{\exp(v_i^\top c_j)}{\sum_k \exp(v_i^\top c_k)}

Either sum is trained by negative sampling: each drawn edge :math:`ij` contributes
:math:`-\log \sigma(x_{ij}) - \sum_{k=1}^{K} \log \sigma(-x_{in_k})` with
:math:`n_k \sim P(n) \propto d_n^{3/4}`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from bivec.baselines.contrast import (
    ContrastSettings,
    ContrastTrainer,
    Task,
    go_on_from,
    learned,
    met_as_noise,
    start_tables,
    strengths,
)
from bivec.checks import check_choice, check_integer
from bivec.graph import BipartiteGraph
from bivec.models.base import BipartiteEstimator, Learned, ProgressCallback

_NOISE_POWER = 0.75


class LINE(BipartiteEstimator):
    r"""Large-scale Information Network Embedding, first and second order.

    Parameters
    ----------
    dim : int
        Length of the vectors; with both orders, a half each, the first order before the second.
    order : {"both", "first", "second"}
        Which proximities.
    n_samples : int
        Edges drawn for each node and table, spread over the epochs.
    total_samples : int, optional
        Edges drawn for all nodes of a table together, instead of ``n_samples`` for each. The
        experiments of the FOBE and HOBE paper used 10,000: see the notes.
    n_negatives : int
        Noise for each drawn edge.
    epochs : int
        Sweeps over all nodes.
    learning_rate : float
        Length of the first step of a row, by row-wise Adagrad; falls linearly to 0 over the epochs.
    norm : float, optional
        Scale the vectors of each side, by one factor, to this root mean square norm.
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
    history_ : list of LossRecord
        Mean loss of a pair, pairs and seconds of each epoch.
    graph_ : BipartiteGraph
        The graph.
    n_iter_ : int
        Epochs done.

    Notes
    -----
    Edges are drawn by their weight, and the noise by the sum of a node's weights.

    A step of Adagrad has a length of about ``learning_rate`` times the root of the dimension. At
    few dimensions, say 32 for both orders, that is short: raise the rate.

    10,000 samples in all leave most nodes of any but the smallest graph where they started. The
    default is 200 for each node.

    Paper: edges are drawn from the whole graph, so that nodes are visited by their degree, and a
    sample moves both ends. Here: every node draws as many of its own edges and moves its own row.
    What a row would meet as the noise of others is left to its own noise, by weight
    :math:`P(n) / (d_n / D)`. Noise of a node comes from the other side, where its neighbours are;
    measured, noise from both sides predicts links worse.

    References
    ----------
    Tang, Qu, Wang, Zhang, Yan, Mei, "LINE: large-scale information network embedding", WWW 2015,
    arXiv:1503.03578, https://doi.org/10.1145/2736277.2741093

    Examples
    --------
    >>> from bivec import BipartiteGraph
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> LINE(dim=8, epochs=5, n_samples=10).fit(graph).left_embedding_.shape
    (3, 8)
    """

    method: ClassVar[str] = "line"

    def __init__(
        self,
        dim: int = 128,
        order: Literal["both", "first", "second"] = "both",
        n_samples: int = 200,
        total_samples: int | None = None,
        n_negatives: int = 5,
        epochs: int = 50,
        learning_rate: float = 0.5,
        norm: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.dim = dim
        self.order = order
        self.n_samples = n_samples
        self.total_samples = total_samples
        self.n_negatives = n_negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.norm = norm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _settings(self, seed: int) -> ContrastSettings:
        check_choice("order", self.order, ("both", "first", "second"))
        check_integer("dim", self.dim, low=2 if self.order == "both" else 1, high=1 << 16)
        if self.total_samples is not None:
            check_integer("total_samples", self.total_samples, low=1)
        return ContrastSettings(
            self.dim, self.n_samples, self.n_negatives, self.epochs, self.learning_rate, seed
        )

    def _learn(self, graph: BipartiteGraph, settings: ContrastSettings, init: Any) -> Learned:
        from bivec.kernels.contrast import FAR
        from bivec.kernels.verse import EDGE

        # Noise
        degrees = strengths(graph)
        noise = degrees**_NOISE_POWER
        met = met_as_noise(noise, degrees, [slice(graph.n_left), slice(graph.n_left, None)])

        # Tables and what their rows meet
        half = {"first": self.dim, "second": 0}.get(self.order, self.dim // 2)
        first, second, contexts = start_tables(
            graph, settings.seed, [half, self.dim - half, self.dim - half]
        )
        go_on_from(init, graph, [first, second])
        tasks = [
            Task(first, first, EDGE, FAR, noise, 10, (1 + met) / 2),
            Task(second, contexts, EDGE, FAR, noise, 20),
            Task(contexts, second, EDGE, FAR, degrees, 30, met),
        ]
        tasks = [task for task in tasks if task.own.shape[1]]

        # Train
        nodes = max(1, len(degrees))
        mean = None if self.total_samples is None else self.total_samples / nodes
        trainer = ContrastTrainer(graph, settings, tasks, mean, self.n_jobs).run(self.progress)
        return learned(graph, trainer, [first, second])
