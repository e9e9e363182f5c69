r"""Metapath2Vec++: walks along left-right-left, negatives of the type of the context.

.. math::

    \log \sigma(x_v^\top y_u) + k \, \mathbb{E}_{u' \sim P_{t(u)}} \log \sigma(-x_v^\top y_{u'}),
    \qquad P_t(u) \propto \#(u)^{3/4} \text{ among nodes of type } t

Walks follow left-right-left-..., the one metapath of a bipartite graph, so they are those of
DeepWalk that start on the left. What is new is that a left context is told apart from left nodes
only, a right context from right nodes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from bivec.baselines.skipgram import WalkEstimator
from bivec.models.base import ProgressCallback


class Metapath2Vec(WalkEstimator):
    """Metapath2Vec++: walks along left-right-left, negatives of the type of the context.

    Parameters
    ----------
    dim : int
        Length of the vectors.
    n_walks : int
        Walks from each left node.
    walk_length : int
        Nodes of a walk.
    window : int
        Two nodes of a walk are a pair if they are at most so many steps apart; as in word2vec, each
        time a smaller number is drawn, so that near ones count more.
    n_negatives : int
        Negatives of each pair.
    epochs : int
        Sweeps over all nodes. Walks are spread over them; used in turn where there are more epochs
        than walks.
    learning_rate : float
        As word2vec's; falls linearly to 0 over the epochs.
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
    Paper: 1000 walks of 100 nodes from each node, and window 7. Here: 20 such walks, a fiftieth of
    the cost; ``n_walks=1000`` is the paper's. Paper: steps to any neighbour alike. Here: by weight
    unless ``weighted=False``.


    References
    ----------
    Dong, Chawla, Swami, "metapath2vec: scalable representation learning for heterogeneous
    networks", KDD 2017, doi:10.1145/3097983.3098036.


    Examples
    --------
    >>> from bivec import BipartiteGraph
    >>> graph = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> Metapath2Vec(dim=8, n_walks=4, epochs=2).fit(graph).left_embedding_.shape
    (3, 8)
    """

    method: ClassVar[str] = "metapath2vec"
    fixed: ClassVar[dict[str, bool]] = {"by_type": True, "from_left": True}

    def __init__(
        self,
        dim: int = 128,
        n_walks: int = 20,
        walk_length: int = 100,
        window: int = 7,
        n_negatives: int = 5,
        epochs: int = 20,
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
        self.n_negatives = n_negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weighted = weighted
        self.norm = norm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
