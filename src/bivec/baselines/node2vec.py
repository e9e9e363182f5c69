r"""Node2Vec: DeepWalk with walks that remember where they came from.

.. math::

    P(v_{t+1} = u \mid v_t = v, v_{t-1} = s) \propto w_{vu} \begin{cases}
        1/p & u = s \\ 1 & u \text{ is a neighbour of } s \\ 1/q & \text{otherwise}
    \end{cases}

A bipartite graph has no triangles: a neighbour of v is never one of s, and the middle case is
empty. Only the ratio q/p is left, the weight of turning back against that of any other way.
At 1 the walks are DeepWalk's.
"""

from __future__ import annotations

from typing import Any, ClassVar

from bivec.baselines.skipgram import WalkEstimator
from bivec.models.base import ProgressCallback


class Node2Vec(WalkEstimator):
    """Node2Vec: DeepWalk with walks that remember where they came from.

    Parameters
    ----------
    dim : int
        Length of the vectors.
    n_walks : int
        Walks from each node.
    walk_length : int
        Nodes of a walk.
    window : int
        Two nodes of a walk are a pair if they are at most so many steps apart; as in word2vec, each
        time a smaller number is drawn, so that near ones count more.
    p : float
        Turning back has the weight 1/p.
    q : float
        Any other way has the weight 1/q.
    n_negatives : int
        Negatives of each pair.
    epochs : int
        Walks are spread over them, in turn where there are more epochs than walks. An epoch is
        eight sweeps over all nodes, each on the walks of an eighth of them.
    learning_rate : float
        As word2vec's; falls linearly to 0 over the sweeps.
    weighted : bool
        Whether a step of a walk takes an edge in proportion to its weight, or any as likely.
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
        The vectors, one row a node, of both sides in one space. A node without edges keeps its
        random start.
    embedding_ : Embedding
        The same with ids.
    history_ : list of LossRecord
        Mean loss of a pair with its negatives, pairs and seconds of each epoch.
    graph_ : BipartiteGraph
        The graph.
    n_iter_ : int
        Epochs done.

    Notes
    -----
    Steps are drawn by rejection: propose by weight, keep with probability ``1/p`` or ``1/q`` over
    the larger of the two. That is exact and needs no table for each pair of edges; it takes at most
    ``max(p/q, q/p)`` proposals on average.

    Defaults are those of the experiments of Sybrandt and Safro, but for ``dim``, there 100.


    References
    ----------
    Grover, Leskovec, "node2vec: scalable feature learning for networks", KDD 2016,
    doi:10.1145/2939672.2939754.

    Yang et al., "KnightKing: a fast distributed graph random walk engine", SOSP 2019,
    doi:10.1145/3341301.3359634, for walks by rejection.


    Examples
    --------
    >>> from bivec import BipartiteGraph
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> Node2Vec(dim=8, n_walks=4, epochs=2).fit(graph).left_embedding_.shape
    (3, 8)
    """

    method: ClassVar[str] = "node2vec"
    fixed: ClassVar[dict[str, bool]] = {"fine": True}

    def __init__(
        self,
        dim: int = 128,
        n_walks: int = 10,
        walk_length: int = 7,
        window: int = 3,
        p: float = 1.0,
        q: float = 1.0,
        n_negatives: int = 5,
        epochs: int = 10,
        learning_rate: float = 0.025,
        weighted: bool = True,
        norm: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.dim = dim
        self.n_walks = n_walks
        self.walk_length = walk_length
        self.window = window
        self.p = p
        self.q = q
        self.n_negatives = n_negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weighted = weighted
        self.norm = norm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
