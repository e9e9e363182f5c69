r"""Combination: one joint embedding from several, each side from its own vectors.

.. math::

    In(v) = [\epsilon_1(v)\; \dots\; \epsilon_{e'}(v)], \qquad
    \epsilon(v) = \tanh(W_2 \,\mathrm{ReLU}(W_1 \,\mathrm{drop}(In(v)) + c_1) + c_2)

The joint vectors are learned so that a small network on two of them tells edges from other pairs
(direct), and so that the inputs can be recovered from them, too (auto-regularized).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from bivec.checks import check_choice, check_integer, check_number
from bivec.combine.align import align, provenance
from bivec.embedding import Embedding, load
from bivec.errors import InputError, require, shown
from bivec.graph import BipartiteGraph
from bivec.memory import require_memory
from bivec.models import FOBE, HOBE
from bivec.models.base import BipartiteEstimator, Learned, ProgressCallback
from bivec.models.sampled import SampledEstimator
from bivec.parallel import resolve_jobs
from bivec.rehearsal import Rehearse, remembering

KINDS = ("direct", "auto-regularized")
_NORM, _NORM_OF_DEGREES = 5.0, 2.0


class Combination(BipartiteEstimator):
    """One joint embedding from any number of embeddings.

    Parameters
    ----------
    kind : {"direct", "auto-regularized"}
        Whether the joint vectors predict links only, or let the inputs be recovered as well.
    dim : int
        Length of the joint vectors.
    embeddings : sequence, optional
        The inputs, of any dimensions: each an :class:`bivec.Embedding`, the path of a saved one, or
        an estimator, which is copied, given this one's seed and threads, and fitted on the graph.
        By default FOBE and HOBE of this ``dim``, as in the paper.
    missing : {"error", "zero"}
        What becomes of a node that an embedding lacks: an error, or a zero vector that need not be
        recovered.
    dropout : float
        Share of the inputs that is hidden at random in each batch.
    n_negatives : int
        Random pairs without an edge, for each node, drawn afresh in each epoch.
    epochs : int
        Most sweeps over the edges.
    learning_rate : float
        Of Adam; falls linearly to 0 over the epochs.
    batch_size : int
        Pairs of a step.
    patience : int
        Stop when the loss on edges held out has not fallen for so many epochs; the weights of the
        best epoch are kept. A tenth of the edges is held out of the batches for that, at most
        10,000; with fewer than 10 there is no such check.
    norm : float, "auto" or None
        Scale the vectors of each side, by one factor, to this root mean square norm; "auto" is what
        suits the machines of link prediction, 5, or 2 where vectors are of degrees. None leaves
        them as learned.
    by_degree : bool or "auto"
        Whether degrees take the place of the inputs. "auto" is a matter of the direct kind, whose
        only aim is to tell edges, in sparse graphs (fewer than 1.5 edges a node): yes, where a
        rehearsal finds that degrees say more than vectors about edges left out.
    device : str
        Where torch computes: "cpu", "cuda", "mps", ...; "auto" is a GPU where there is one.
    random_state : int, None, or numpy generator
        The seed. On the CPU, equal seeds give equal bytes.
    n_jobs : int, optional
        Threads for inputs that are estimators. The network is trained in one thread: with more,
        torch's sums end in other digits.
    progress : callable, optional
        Called with a :class:`bivec.settings.Progress` after each epoch.

    Attributes
    ----------
    left_embedding_, right_embedding_ : array of float32
        The joint vectors, one row a node.
    embedding_ : Embedding
        The same with ids; its ``params`` tell what the inputs were.
    history_ : list of CombinationRecord
        Losses of each epoch.
    inputs_ : list of dict
        Method, dimension, parameters and a digest of each input.
    by_degree_ : bool
        Whether degrees took their place.
    graph_ : BipartiteGraph
        The graph.
    n_iter_ : int
        Epochs done.

    Notes
    -----
    Weights of edges do not matter. A node without edges is in no pair; its vector is what the
    network makes of its inputs.

    References
    ----------
    Sybrandt, Safro, "First- and high-order bipartite embeddings", arXiv:1905.10953, section 2.4.

    Examples
    --------
    >>> from bivec import FOBE, HOBE
    >>> from bivec.datasets import southern_women
    >>> graph = southern_women()
    >>> inputs = [FOBE(dim=8).fit(graph).embedding_, HOBE(dim=4).fit(graph).embedding_]
    >>> joint = Combination("direct", dim=6, embeddings=inputs, epochs=3).fit(graph)
    >>> joint.embedding_
    Embedding(combination-direct, 18 left, 14 right, dim 6, with graph)
    """

    method: ClassVar[str] = "combination"

    def __init__(
        self,
        kind: Literal["direct", "auto-regularized"] = "auto-regularized",
        dim: int = 128,
        embeddings: Sequence[Any] | None = None,
        missing: Literal["error", "zero"] = "error",
        dropout: float = 0.5,
        n_negatives: int = 5,
        epochs: int = 5,
        learning_rate: float = 0.003,
        batch_size: int = 2048,
        patience: int = 3,
        norm: float | Literal["auto"] | None = "auto",
        by_degree: bool | Literal["auto"] = "auto",
        device: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.kind = kind
        self.dim = dim
        self.embeddings = embeddings
        self.missing = missing
        self.dropout = dropout
        self.n_negatives = n_negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.patience = patience
        self.norm = norm
        self.by_degree = by_degree
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _settings(self, seed: int) -> Any:
        check_choice("kind", self.kind, KINDS)
        check_choice("missing", self.missing, ("error", "zero"))
        resolve_jobs(self.n_jobs)
        require("torch", extra="combine", purpose="Combining embeddings")
        from bivec.combine.training import Settings, choose_device

        return Settings(
            kind=self.kind,
            dim=check_integer("dim", self.dim, low=1, high=1 << 16),
            dropout=check_number("dropout", self.dropout, low=0, below=1),
            n_negatives=check_integer("n_negatives", self.n_negatives, low=1),
            batch_size=check_integer("batch_size", self.batch_size, low=1),
            epochs=check_integer("epochs", self.epochs, low=1),
            learning_rate=check_number("learning_rate", self.learning_rate, above=0),
            patience=check_integer("patience", self.patience, low=1),
            device=choose_device(self.device),
            seed=seed,
            n_jobs=self.n_jobs,
            by_degree=self._by_degree(),
        )

    def _norms(self) -> tuple[float | None, float | None]:
        """Return what was given, or the usual norm."""
        if isinstance(self.norm, str) and self.norm == "auto":
            norm = _NORM_OF_DEGREES if getattr(self, "by_degree_", False) else _NORM
            return norm, norm
        return super()._norms()

    def _by_degree(self) -> bool | None:
        """Return what was given, or None where the graph decides."""
        if isinstance(self.by_degree, str) and self.by_degree == "auto":
            return None
        if not isinstance(self.by_degree, bool):
            raise InputError(
                f"by_degree={shown(self.by_degree)} is no choice", 'Give True, False or "auto".'
            )
        return self.by_degree

    def _learn(self, graph: BipartiteGraph, settings: Any, init: Any) -> Learned:
        from bivec.combine.training import CombinationTrainer, reproducible

        if init is not None:
            raise InputError(
                "a combination has no vectors to go on from", "Give them as one of its embeddings."
            )
        # Bring the inputs together
        rehearse = remembering()
        embeddings = self._inputs(graph, settings.seed, rehearse)
        width = sum(embedding.dim for embedding in embeddings)
        require_memory(
            (graph.n_left + graph.n_right) * (5 * width + 4 * self.dim + 90 * self.n_negatives)
            + 90 * graph.n_edges,  # about 84 bytes a pair, as measured
            f"Combining {len(embeddings)} embeddings of {width} columns in all",
            "Give embeddings of smaller dimensions, or a graph with fewer nodes.",
        )
        left, right = align(graph, embeddings, self.missing)

        # Train and encode
        with reproducible(settings.device):
            trainer = CombinationTrainer(graph, left, right, settings, rehearse)
            trainer.run(self.progress)
            vectors = trainer.vectors()
        self.inputs_ = [provenance(embedding) for embedding in embeddings]
        self.by_degree_ = trainer.by_degree
        return Learned(*vectors, trainer.history, trainer.epoch, trainer.interrupted)

    def _inputs(self, graph: BipartiteGraph, seed: int, rehearse: Rehearse) -> list[Embedding]:
        """Return the inputs, loaded or fitted where they are not embeddings yet."""
        given = self.embeddings
        if given is None:
            given = [FOBE(dim=self.dim), HOBE(dim=self.dim)]
        if isinstance(given, (str, os.PathLike, Embedding)) or not isinstance(given, Sequence):
            raise InputError(
                f"embeddings={shown(given)} is no list", "Give a list, also of one embedding."
            )
        if not given:
            raise InputError("there are no embeddings to combine", "Give one or more.")
        return [_embedding(item, graph, seed, self.n_jobs, rehearse) for item in given]

    def _provenance(self) -> dict[str, Any]:
        """Return what decides the vectors; of the inputs, what they were made by."""
        params = super()._provenance()
        return {**params, "embeddings": self.inputs_, "by_degree": self.by_degree_}

    @property
    def embedding_(self) -> Embedding:
        """The joint vectors of both sides with their ids; the method names the kind."""
        embedding = super().embedding_
        embedding.method = f"{self.method}-{self.kind}"
        return embedding


def _embedding(
    item: Any, graph: BipartiteGraph, seed: int, n_jobs: int | None, rehearse: Rehearse
) -> Embedding:
    if isinstance(item, Embedding):
        return item
    if isinstance(item, (str, Path)):
        return load(item)
    if isinstance(item, BipartiteEstimator):
        fresh = type(item)(**item.get_params()).set_params(random_state=seed, n_jobs=n_jobs)
        if isinstance(fresh, SampledEstimator):
            fresh._rehearse = rehearse
        fresh.fit(graph)
        if fresh.interrupted_:  # half-trained vectors are no input
            raise KeyboardInterrupt
        return fresh.embedding_
    raise InputError(
        f"{shown(item)} is no embedding",
        "Give an Embedding, the path of a saved one, or an estimator such as FOBE().",
    )


def direct(**parameters: Any) -> Combination:
    """Return a direct combination, a method like any other by its name.

    >>> direct(dim=16)
    Combination(dim=16, kind='direct')
    """
    return Combination("direct", **parameters)


def auto_regularized(**parameters: Any) -> Combination:
    """Return an auto-regularized combination, a method like any other by its name."""
    return Combination("auto-regularized", **parameters)


METHODS: dict[str, Callable[..., Combination]] = {
    f"{Combination.method}-direct": direct,
    f"{Combination.method}-auto-regularized": auto_regularized,
}
"""Both kinds by name; their inputs are FOBE and HOBE of the same ``dim`` on the same graph."""
