r"""Training of the combination: sweeps over batches by Adam, with an eye on edges held out.

.. math::

    \text{direct: } \mathbb{E} (S'' - \tilde S'')^2, \qquad
    \text{auto-regularized: } \mathbb{E} \left[ 4 (S'' - \tilde S'')^2
        + \|In(a_i) - Out(a_i)\|_2 + \|In(b_j) - Out(b_j)\|_2 \right]

over edges and negatives, where inputs have a root mean square norm of 1, so that the terms keep the
weights they were given: a link that is guessed as 1/2 costs 1, a side that is not recovered 1.

References
----------
Kingma, Ba, "Adam: a method for stochastic optimization", arXiv:1412.6980.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bivec.combine.align import Inputs, degree_inputs
from bivec.combine.batches import Batches, Pairs, dropout_mask
from bivec.combine.network import Combiner
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.rehearsal import Rehearse, rehearse
from bivec.sweeps import Sweeps

Table = npt.NDArray[np.float32]

LINK_WEIGHT = 4.0
"""Of the squared error of a link beside the distance of each side from what is recovered."""

_BLOCK = 4096
_SPARSE = 1.5
"""Edges a node from which on inputs are not doubted."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to train and how; the fields are parameters of the estimator."""

    kind: str
    dim: int
    dropout: float
    n_negatives: int
    batch_size: int
    epochs: int
    learning_rate: float
    patience: int
    device: str
    seed: int
    n_jobs: int | None = None
    by_degree: bool | None = None


@dataclass(frozen=True, slots=True)
class CombinationRecord:
    """One epoch.

    Attributes
    ----------
    epoch, pairs, seconds
        Counted from 1; pairs seen; wall time.
    loss : float
        What is minimised, a mean over pairs.
    link : float
        Squared error of a link.
    left, right : float
        Distance of the recovered inputs from the inputs; 0 in the direct kind.
    validation : float, optional
        The loss on the edges held out, without dropout; None where there are too few.
    """

    epoch: int
    loss: float
    link: float
    left: float
    right: float
    validation: float | None
    pairs: int
    seconds: float


class CombinationTrainer(Sweeps):
    """A network in training.

    Parameters
    ----------
    graph : BipartiteGraph
        Its edges are the positives.
    left, right : Inputs
        As :func:`bivec.combine.align.align` makes them.
    settings : Settings
        What to train and how.
    rehearse : callable
        What tells whether degrees say more than inputs.

    Attributes
    ----------
    network : Combiner
        In the state of the best epoch, once :meth:`run` is through.
    by_degree : bool
        Whether the inputs gave way to degrees.
    history : list of CombinationRecord
        One entry an epoch.
    """

    history: list[CombinationRecord]

    def __init__(
        self,
        graph: BipartiteGraph,
        left: Inputs,
        right: Inputs,
        settings: Settings,
        rehearse: Rehearse = rehearse,
    ) -> None:
        super().__init__(settings.epochs, n_jobs=1)
        self.by_degree = settings.by_degree
        if self.by_degree is None:
            self.by_degree = settings.kind == "direct" and degrees_tell_more(
                graph, settings.seed, settings.n_jobs, rehearse
            )
        if self.by_degree:
            left, right = degree_inputs(graph)
            settings = replace(settings, dropout=0.0)  # of a single column it would leave nothing
        self.settings = settings
        self.device = torch.device(settings.device)
        self.batches = Batches(graph, settings.n_negatives, settings.batch_size, settings.seed)
        self._inputs = (left, right)
        self._tables = [torch.from_numpy(side.table).to(self.device) for side in (left, right)]
        self.network = Combiner(
            left.table.shape[1],
            right.table.shape[1],
            settings.dim,
            recover=settings.kind == "auto-regularized",
            seed=settings.seed,
        ).to(self.device)
        self._adam = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        self._best = np.inf
        self._best_epoch = 0
        self._kept = self._state()
        self.history = []

    def train_epoch(self, stop: threading.Event | None = None) -> CombinationRecord | None:
        """Show the network every edge and fresh negatives once."""
        start = time.perf_counter()
        sums, pairs = np.zeros(3), 0
        batches = self.batches.epoch(self.epoch)
        for k, batch in enumerate(batches):
            if stop is not None and stop.is_set():
                return None
            # Falls to 0 over the epochs, as in FOBE and HOBE: the noise of the last batches with it
            done = (self.epoch + k / len(batches)) / self.epochs
            for group in self._adam.param_groups:
                group["lr"] = self.settings.learning_rate * (1 - done)
            terms = self._terms(batch, (self.epoch, k))
            self._adam.zero_grad(set_to_none=True)
            self._objective(terms).backward()  # type: ignore[no-untyped-call]
            self._adam.step()
            sums += len(batch) * terms.detach().cpu().double().numpy()
            pairs += len(batch)
        self.epoch += 1
        link, left, right = (float(x) for x in sums / max(pairs, 1))
        loss = LINK_WEIGHT * link + left + right if self.network.recovers else link
        record = CombinationRecord(
            self.epoch, loss, link, left, right, self._validate(), pairs,
            time.perf_counter() - start,
        )  # fmt: skip
        self.history.append(record)
        return record

    def vectors(self) -> tuple[Table, Table]:
        """Return the joint vectors of all nodes, without dropout, from the best epoch's weights.

        They are centred on each side: predictor and decoders take a shift into their own offsets,
        so the network says nothing about it.
        """
        if self.history and self.history[-1].validation is not None:
            self.network.load_state_dict(self._kept)
        left, right = (
            self._encode(encoder, table)
            for encoder, table in zip(
                (self.network.left, self.network.right), self._tables, strict=True
            )
        )
        return left, right

    def _encode(self, encoder: torch.nn.Module, table: Tensor) -> Table:
        out = np.empty((len(table), self.settings.dim), np.float32)
        with torch.no_grad():
            for start in range(0, len(table), _BLOCK):
                rows = slice(start, start + _BLOCK)
                out[rows] = encoder(table[rows]).cpu().numpy()
        if len(out) > 1:  # alone, a vector would be 0
            out -= out.mean(axis=0, dtype=np.float64).astype(np.float32)
        return out

    def _terms(self, pairs: Pairs, place: tuple[int, int] | None) -> Tensor:
        """Return squared error of the link and distances of both sides, as means over pairs.

        A node is encoded once for all of its pairs in a batch, under one dropout mask.
        """
        nodes, where, shown, wanted = [], [], [], []
        for side, rows in enumerate((pairs.left, pairs.right)):
            distinct, inverse = np.unique(rows, return_inverse=True)
            inputs = self._tables[side][torch.from_numpy(distinct).to(self.device)]
            nodes.append(distinct)
            where.append(torch.from_numpy(inverse).to(self.device))
            wanted.append(inputs)
            if place is not None and self.settings.dropout > 0:
                shape = (len(distinct), inputs.shape[1])
                mask = dropout_mask(shape, self.settings.dropout, self.settings.seed, *place, side)
                inputs = inputs * torch.from_numpy(mask).to(self.device)
            shown.append(inputs)
        estimate, *recovered = self.network(*shown, *where)
        target = torch.from_numpy(pairs.target).to(self.device)
        terms = [(estimate - target).square().mean()]
        for side in (0, 1):
            if recovered[side] is None:
                terms.append(torch.zeros((), device=self.device))
                continue
            gap = recovered[side] - wanted[side]
            known = self._inputs[side].known
            if known is not None:
                gap = gap * torch.from_numpy(known[nodes[side]]).to(self.device)
            distance = torch.linalg.vector_norm(gap, dim=1) / gap.shape[1] ** 0.5
            terms.append(distance[where[side]].mean())
        return torch.stack(terms)

    def _objective(self, terms: Tensor) -> Tensor:
        if not self.network.recovers:
            return terms[0]
        return LINK_WEIGHT * terms[0] + terms[1] + terms[2]

    def _validate(self) -> float | None:
        """Return the loss on the edges held out, and keep the weights if it is the best so far."""
        held = self.batches.validation
        if not len(held):
            return None
        total = 0.0
        with torch.no_grad():
            for start in range(0, len(held), _BLOCK):
                part = held.take(slice(start, start + _BLOCK))
                total += len(part) * float(self._objective(self._terms(part, None)))
        loss = total / len(held)
        if loss < self._best:
            self._best, self._best_epoch, self._kept = loss, self.epoch, self._state()
        return loss

    def _settled(self) -> bool:
        """Whether the loss on the edges held out has not fallen for ``patience`` epochs."""
        if not len(self.batches.validation):
            return False
        return self.epoch - self._best_epoch >= self.settings.patience

    def _state(self) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in self.network.state_dict().items()}


def degrees_tell_more(
    graph: BipartiteGraph, seed: int, n_jobs: int | None = None, rehearse: Rehearse = rehearse
) -> bool:
    """Return whether degrees say more than inputs about edges that these have not seen.

    In what is nearly a forest, inputs may know each edge by heart and nothing else; a rehearsal
    tells.
    """
    if edges_per_node(graph) >= _SPARSE:
        return False
    return rehearse(graph, seed, n_jobs=n_jobs).popularity_tells_more


def edges_per_node(graph: BipartiteGraph) -> float:
    """Return the number of edges over the number of nodes that have some."""
    nodes = int((graph.left.degrees > 0).sum() + (graph.right.degrees > 0).sum())
    return graph.n_edges / max(nodes, 1)


def choose_device(device: str) -> str:
    """Return the device to use: for ``"auto"`` a GPU where torch has one, else the CPU."""
    if device == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"device={device!r} cannot be used here ({reason})", 'Choose "cpu" or "auto".'
        ) from error
    return device


@contextmanager
def reproducible(device: str) -> Iterator[None]:
    """Run torch in its deterministic mode and in one thread; then put things back as they were.

    With more threads, sums are cut into other parts and end in other last digits.
    """
    threads = torch.get_num_threads()
    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    try:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(device == "cpu" or before[0], warn_only=before[1])
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.set_num_threads(threads)
