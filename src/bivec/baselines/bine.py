r"""BiNE: bipartite network embedding.

Explicit relations, the edges, and implicit ones, between nodes of a side that walks bring together,
are trained jointly:

.. math::

    L = \gamma \sum_{ij \in E} w_{ij} \log \sigma(u_i^\top v_j)
      + \alpha \sum_{(u_i, u_c) \in D_U} \Bigl[ \log \sigma(u_i^\top \theta_c)
          + \sum_{z} \log \sigma(-u_i^\top \theta_z) \Bigr]
      + \beta \sum_{(v_j, v_c) \in D_V} [\ldots]

is maximised. The first sum is, up to constants, the KL divergence of :math:`\sigma(u_i^\top v_j)`
from the weights. :math:`D_U, D_V` are the pairs within a window of walks on the projection of each
side; from a node of centrality :math:`H \in [0, 1]` start :math:`\max(H \cdot maxT, minT)` walks,
and a walk stops with a fixed probability after each node.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

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
from bivec.checks import check_integer, check_number
from bivec.graph import BipartiteGraph
from bivec.models.base import BipartiteEstimator, Learned, ProgressCallback
from bivec.parallel import Workers

_HITS_STEPS, _HITS_ENOUGH = 100, 1e-9
_START = -0.1, 0.3
"""Range of first entries, times the root of the dimension. All vectors lean one way, so that edges,
which only attract, pull them along it, the further the more there are. Chosen among eight ranges on
edges held out of the training edges of DBLP."""

_CONTEXTS = 1000.0
"""Contexts of a node that count at most: a hub with more would move by them alone. Chosen as above,
among 20 to all; 100 and less make of the vectors a ranking by popularity."""


class BiNE(BipartiteEstimator):
    r"""Bipartite Network Embedding.

    Parameters
    ----------
    dim : int
        Length of the vectors.
    max_walks, min_walks : int
        Walks from the most central node, and the least number from any.
    stop_probability : float
        That a walk ends after a node.
    window : int
        Nodes of a walk on either side of a node that are its contexts.
    n_negatives : int
        Noise for each context.
    alpha, beta : float
        Weight of the implicit relations of the left and of the right side.
    gamma : float
        Weight of the explicit relations.
    n_samples : int
        Contexts drawn for each node, spread over the epochs. Edges are all used in each epoch.
    epochs : int
        Sweeps over all nodes.
    learning_rate : float
        Step for each edge (times gamma) and context (times alpha or beta) of a node in an epoch;
        falls linearly to 0 over the epochs. No step is longer than 1.
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
    Weights count in all parts: in centrality, in walks, and as repetition of edges.

    Paper: noise comes from other buckets of a locality sensitive hash of the neighbourhoods within
    the window. Here: from nodes whose min-hash of direct neighbours differs.

    Paper: an epoch steps through edges and contexts one by one. Here: a node takes one step for all
    of its edges and a few of its contexts, drawn, as long as for all contexts but no more than
    1,000 of them, up to length 1. Not
    Adagrad, as the explicit relation attracts only: without an optimum, how far a vector gets is
    what tells the popular from the rare, and Adagrad would level it.

    References
    ----------
    Gao, Chen, He, Zhou, "BiNE: bipartite network embedding", SIGIR 2018,
    https://doi.org/10.1145/3209978.3209987
    Kleinberg, "Authoritative sources in a hyperlinked environment", J. ACM 46, 1999,
    https://doi.org/10.1145/324133.324140

    Examples
    --------
    >>> from bivec import BipartiteGraph
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> BiNE(dim=8, epochs=5, n_samples=10).fit(graph).left_embedding_.shape
    (3, 8)
    """

    method: ClassVar[str] = "bine"

    def __init__(
        self,
        dim: int = 128,
        max_walks: int = 32,
        min_walks: int = 1,
        stop_probability: float = 0.15,
        window: int = 5,
        n_negatives: int = 4,
        alpha: float = 0.01,
        beta: float = 0.01,
        gamma: float = 0.1,
        n_samples: int = 200,
        epochs: int = 50,
        learning_rate: float = 0.1,
        norm: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.dim = dim
        self.max_walks = max_walks
        self.min_walks = min_walks
        self.stop_probability = stop_probability
        self.window = window
        self.n_negatives = n_negatives
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_samples = n_samples
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.norm = norm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _settings(self, seed: int) -> ContrastSettings:
        check_integer("min_walks", self.min_walks, low=1)
        check_integer("max_walks", self.max_walks, low=self.min_walks, high=1 << 20)
        check_number("stop_probability", self.stop_probability, low=0.01, below=1)
        check_integer("window", self.window, low=1)
        for name in ("alpha", "beta", "gamma"):
            check_number(name, getattr(self, name), low=0)
        return ContrastSettings(
            self.dim, self.n_samples, self.n_negatives, self.epochs, self.learning_rate, seed
        )

    def _learn(self, graph: BipartiteGraph, settings: ContrastSettings, init: Any) -> Learned:
        from bivec.kernels.bine import Balance
        from bivec.kernels.contrast import SAME
        from bivec.kernels.verse import EDGE

        # Walk
        centrality = np.concatenate(hits(graph))
        counts = np.maximum(centrality * self.max_walks, self.min_walks).astype(np.int64)
        corpus = make_corpus(
            graph, counts, self.stop_probability, self.window, settings.seed, self.n_jobs
        )

        # Weigh the relations of each row
        contexts = np.diff(corpus.sums[corpus.starts]).astype(np.float64)
        sides = [slice(graph.n_left), slice(graph.n_left, None)]
        implicit = np.minimum(contexts, _CONTEXTS)
        implicit[sides[0]] *= self.alpha
        implicit[sides[1]] *= self.beta

        # Train
        noise = np.where(contexts > 0, 1.0, 0.0)
        vectors, theta = start_tables(graph, settings.seed, [self.dim] * 2, *_START)
        go_on_from(init, graph, [vectors])
        tasks = [
            Task(
                vectors, theta, EDGE, SAME, noise, 50,
                extra=(corpus, Balance(implicit, float(self.gamma), vectors)),
            ),
            Task(
                theta, vectors, EDGE, SAME, contexts, 60, met_as_noise(noise, contexts, sides),
                extra=(corpus, Balance(implicit, 0.0, vectors)),
            ),
        ]  # fmt: skip
        trainer = BiNETrainer(graph, settings, tasks, n_jobs=self.n_jobs).run(self.progress)
        return learned(graph, trainer, [vectors])


class BiNETrainer(ContrastTrainer):
    """Vectors and contexts of BiNE in training; a task's extra has the walks and the balance."""

    def _rate(self, task: Task) -> float:
        """Return the rate as it is: steps are no steps of Adagrad."""
        return self.settings.rate(self.epoch)

    def _visit(self, task: Task, tables: Any, plan: Any, out: Any, rows: Any) -> None:
        from bivec.kernels.bine import bine_rows

        scratch = self._scratch(task.own.shape[1])
        corpus, balance = task.extra
        bine_rows(self.sides, plan, tables, scratch, corpus, balance, *out, *rows)


def hits(graph: BipartiteGraph) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the centrality of each node by HITS, the largest of each side 1.

    These are the leading singular vectors of the matrix of weights, by power iteration: hubs on
    the left, authorities on the right.
    """
    matrix = graph.to_scipy().astype(np.float64)
    back = matrix.T.tocsr()
    left, right = np.ones(graph.n_left), np.ones(graph.n_right)
    for _ in range(_HITS_STEPS if graph.n_edges else 0):
        right = back @ left
        right /= right.max()
        before, left = left, matrix @ right
        left /= left.max()
        if np.abs(left - before).max() < _HITS_ENOUGH:
            break
    return left, right


def make_corpus(
    graph: BipartiteGraph,
    counts: npt.NDArray[np.int64],
    stop_probability: float,
    window: int,
    seed: int,
    n_jobs: int | None = None,
) -> Any:
    """Walk within each side, ``counts`` times from each node, and index the walks by node."""
    from bivec.kernels.bine import Corpus, count_contexts, hash_neighbors, walk_rows
    from bivec.kernels.walk import make_sides

    sides = make_sides(graph.left, graph.right, graph.weighted)
    strength = strengths(graph)
    counts = np.where(strength > 0, counts, 0)
    # By what a step to the other side is drawn: the weight times the strength of where it leads
    reach = [
        np.concatenate([[0.0], np.cumsum(side.weights * far[side.indices])])
        for side, far in (
            (graph.left, strength[graph.n_left :]),
            (graph.right, strength[: graph.n_left]),
        )
    ]
    offsets, none = np.zeros(len(counts) + 1, np.int64), np.empty(0, np.int32)

    def walk(walks: npt.NDArray[np.int32], fill: bool) -> None:
        def task(first: int, last: int) -> None:
            walk_rows(
                sides, reach[0], reach[1], seed, stop_probability, counts, offsets, walks, fill,
                first, last,
            )  # fmt: skip

        workers.run(task, len(counts), 256)

    # Once to see how much room they need, once to write them
    with Workers(n_jobs) as workers:
        walk(none, False)
        np.cumsum(offsets, out=offsets)
        walks = np.empty(offsets[-1], np.int32)
        walk(walks, True)

    contexts = np.empty(len(walks), np.int64)
    count_contexts(walks, window, contexts)
    positions = np.argsort(walks, kind="stable")[(walks < 0).sum() :]
    starts = np.searchsorted(walks[positions], np.arange(len(counts) + 1))
    sums = np.concatenate([[0], np.cumsum(contexts[positions])])
    bucket = np.empty(len(counts), np.uint64)
    hash_neighbors(sides, bucket)
    return Corpus(walks, starts.astype(np.int64), positions, sums.astype(np.int64), bucket, window)
