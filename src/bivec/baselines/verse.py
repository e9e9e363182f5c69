r"""VERSE: versatile graph embeddings from similarity measures.

One vector a node, over both sides together; the softmax of dots is to be a given similarity of
nodes, read as a distribution over nodes:

.. math::

    \mathrm{sim}_E(u, v) = \frac{\exp(W_u^\top W_v)}{\sum_i \exp(W_u^\top W_i)}, \qquad
    \min_W \sum_u \mathrm{KL}\bigl(\mathrm{sim}_G(u, \cdot) \,\|\, \mathrm{sim}_E(u, \cdot)\bigr)

by noise contrastive estimation: with :math:`v \sim \mathrm{sim}_G(u, \cdot)` and s nodes of noise,
uniform over all n, a logistic regression tells the one from the others, its logit the dot less a
constant.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

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
from bivec.checks import check_choice, check_number
from bivec.graph import BipartiteGraph
from bivec.models.base import BipartiteEstimator, Learned, ProgressCallback


class VERSE(BipartiteEstimator):
    r"""Vertex similarity embeddings.

    Parameters
    ----------
    dim : int
        Length of the vectors.
    similarity : {"pagerank", "adjacency", "simrank"}
        What the vectors are to show. Personalized PageRank: where a walk from the node ends.
        Adjacency: its neighbours. SimRank: nodes from which a walk meets one from this node, which
        are nodes of its own side only, so that the sides are trained apart.
    alpha : float
        Probability that a walk of PageRank goes on.
    decay : float
        SimRank's constant: the weight of a meeting after one more step.
    n_samples : int
        Draws of each node from its similarity, spread over the epochs.
    n_negatives : int
        Noise for each draw.
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
    Walks follow edges by their weight.

    Paper: sources are drawn uniformly, and a sample moves both ends. Here: every node draws from
    its own similarity and moves its own row. Read with sources by degree, walks are reversible, so
    that a node sees as many pairs from its own end as from the other; noise that others draw is met
    by weight. A draw of the node itself says nothing about others and is drawn again.

    Paper: the logit is the dot. Here: the dot less :math:`\log n`, so that nodes with nothing in
    common, at right angles, pass for noise as they are. Without it all vectors lean away from each
    other, which dots of one table with itself cannot; measured, it predicts links better.

    SimRank is taken in its linear form :math:`\sum_l c^l P^l (P^l)^\top`, where walks may have
    met before: l steps out, l steps on, weighted by the ratio of strengths that turns the second
    half round.

    References
    ----------
    Tsitsulin, Mottin, Karras, Müller, "VERSE: versatile graph embeddings from similarity measures",
    WWW 2018, arXiv:1803.04742, https://doi.org/10.1145/3178876.3186120
    Maehara, Kusumoto, Kawarabayashi, "Efficient SimRank computation via linearization",
    arXiv:1411.7228 (the linear form)

    Examples
    --------
    >>> from bivec import BipartiteGraph
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> VERSE(dim=8, epochs=5, n_samples=10).fit(graph).right_embedding_.shape
    (3, 8)
    """

    method: ClassVar[str] = "verse"

    def __init__(
        self,
        dim: int = 128,
        similarity: Literal["pagerank", "adjacency", "simrank"] = "pagerank",
        alpha: float = 0.85,
        decay: float = 0.6,
        n_samples: int = 200,
        n_negatives: int = 3,
        epochs: int = 50,
        learning_rate: float = 0.5,
        norm: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.dim = dim
        self.similarity = similarity
        self.alpha = alpha
        self.decay = decay
        self.n_samples = n_samples
        self.n_negatives = n_negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.norm = norm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _settings(self, seed: int) -> ContrastSettings:
        check_choice("similarity", self.similarity, ("pagerank", "adjacency", "simrank"))
        check_number("alpha", self.alpha, low=0, below=0.9999)
        check_number("decay", self.decay, low=0, below=0.9999)
        return ContrastSettings(
            self.dim, self.n_samples, self.n_negatives, self.epochs, self.learning_rate, seed
        )

    def _learn(self, graph: BipartiteGraph, settings: ContrastSettings, init: Any) -> Learned:
        from bivec.kernels.contrast import ALL, SAME
        from bivec.kernels.verse import EDGE, PAGERANK, SIMRANK

        kind, stay, span = {
            "adjacency": (EDGE, 0.0, ALL),
            "pagerank": (PAGERANK, self.alpha, ALL),
            "simrank": (SIMRANK, self.decay, SAME),
        }[self.similarity]
        [table] = start_tables(graph, settings.seed, [self.dim])
        go_on_from(init, graph, [table])
        degrees = strengths(graph)
        noise = np.where(degrees > 0, 1.0, 0.0)
        parts = [slice(graph.n_left), slice(graph.n_left, None)] if span == SAME else [slice(None)]
        weights = (1 + met_as_noise(noise, degrees, parts)) / 2
        offset = math.log(max(2.0, noise.sum()))
        task = Task(table, table, kind, span, noise, 40, weights, stay=stay, offset=offset)
        trainer = ContrastTrainer(graph, settings, [task], n_jobs=self.n_jobs).run(self.progress)
        return learned(graph, trainer, [table])
