r"""Unified link prediction: one small network for all pairs.

.. math::

    p(a_i, b_j) = \sigma(w^\top \mathrm{ReLU}(W [\epsilon(a_i)\; \epsilon(b_j)] + c) + d)

with a hidden layer as wide as the vectors, squared error against 1 for training edges and 0 for
pairs without one, and Adagrad (Duchi, Hazan, Singer, JMLR 12, 2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.parallel import Workers, one_blas_thread

Table = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

EPOCHS, PATIENCE, GAIN = 50, 5, 0.02
"""Most sweeps over the training edges; stops when that many gained less than this share."""

BATCH, SHARD = 1024, 256
"""Pairs of a step, and of the parts that threads compute; the parts are summed in order."""

LEARNING_RATE, RISE = 0.06, 100
"""Of Adagrad; steps over which the rate rises to it, no more than an epoch has. The first steps do
not know how long the vectors are: at the full rate they may shut off units for good."""

GUESS, TRIES, SLOWER = 0.25, 3, 3.0
"""Error of who says one half to everything; a network no better begins anew, so much slower."""

_VALIDATION, _MOST_VALIDATION, _LEAST_VALIDATION = 0.1, 10_000, 10
_BLOCK = 8192
_STREAM = 302
_TINY = np.float32(1e-7)


class Network:
    """A hidden layer of ReLUs and one sigmoid, trained by Adagrad.

    Parameters
    ----------
    n_inputs, n_hidden : int
        Sizes of the input and of the hidden layer.
    draw : numpy generator
        For the first weights: uniform with the variance of Glorot and Bengio, AISTATS 2010.
    dtype : numpy dtype
        Of the weights.

    Attributes
    ----------
    weights : list of array
        Hidden matrix and offsets, output vector and offset.
    """

    def __init__(
        self, n_inputs: int, n_hidden: int, draw: np.random.Generator, dtype: Any = np.float32
    ) -> None:
        hidden, output = (6 / (n_inputs + n_hidden)) ** 0.5, (6 / (n_hidden + 1)) ** 0.5
        self.weights: list[npt.NDArray[Any]] = [
            draw.uniform(-hidden, hidden, (n_inputs, n_hidden)).astype(dtype),
            np.zeros(n_hidden, dtype),
            draw.uniform(-output, output, n_hidden).astype(dtype),
            np.zeros(1, dtype),
        ]
        self._squares = [np.zeros_like(array) for array in self.weights]

    def logits(self, inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what goes into the sigmoid, one value for each row of inputs."""
        matrix, offsets, output, offset = self.weights
        logits: npt.NDArray[Any] = np.maximum(inputs @ matrix + offsets, 0) @ output + offset
        return logits

    def gradients(
        self, inputs: npt.NDArray[Any], targets: npt.NDArray[Any], of: int | None = None
    ) -> tuple[float, list[npt.NDArray[Any]]]:
        """Return the squared error and its gradient by each of the weights.

        Both are sums over the rows divided by ``of``: the mean, where the rows are the whole batch
        and ``of`` is not given.
        """
        n = len(targets) if of is None else of
        matrix, offsets, output, offset = self.weights
        hidden = np.maximum(inputs @ matrix + offsets, 0)
        estimate = sigmoid(hidden @ output + offset)
        error = estimate - targets
        slope = error * estimate * (1 - estimate) * (2 / n)
        back = slope[:, None] * output
        back *= hidden > 0
        return float(error @ error) / n, [
            inputs.T @ back,
            back.sum(axis=0),
            slope @ hidden,
            slope.sum(keepdims=True),
        ]

    def copy(self) -> list[npt.NDArray[Any]]:
        """Return the weights as they are now."""
        return [array.copy() for array in self.weights]

    def step(self, gradients: list[npt.NDArray[Any]], rate: float) -> None:
        """Take one step of Adagrad: a gradient over the root of all its squares so far."""
        for array, square, gradient in zip(self.weights, self._squares, gradients, strict=True):
            square += gradient * gradient
            array -= rate * gradient / (np.sqrt(square) + _TINY)


def sigmoid(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return ``1 / (1 + exp(-x))`` without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * x))


class AbsentPairs:
    """Uniform draws from the pairs that a graph lacks, among nodes that have edges.

    Pairs are numbered row by row. Before the k-th edge, of number e, there are e - k absent pairs,
    so the r-th absent pair is r plus the number of edges with e - k <= r, at any density.
    """

    def __init__(self, graph: BipartiteGraph) -> None:
        self._lefts = np.flatnonzero(graph.left.degrees)
        self._rights = np.flatnonzero(graph.right.degrees)
        left = np.searchsorted(self._lefts, graph.left_rows()).astype(np.int64)
        codes = left * len(self._rights) + np.searchsorted(self._rights, graph.left.indices)
        self._before = codes - np.arange(len(codes))
        self.n = len(self._lefts) * len(self._rights) - graph.n_edges

    def draw(self, n: int, draw: np.random.Generator) -> tuple[Rows, Rows]:
        """Return n pairs, drawn with replacement."""
        if self.n == 0:
            raise InputError(
                "the training graph has every possible edge", "There is nothing to tell apart."
            )
        rank = draw.integers(self.n, size=n)
        pair = rank + np.searchsorted(self._before, rank, side="right")
        return self._lefts[pair // len(self._rights)], self._rights[pair % len(self._rights)]


@dataclass(frozen=True)
class Fitted:
    """A trained network, and the validation error after each epoch (none where too few edges)."""

    network: Network
    validation: list[float]
    epochs: int


def fit_unified(
    train: BipartiteGraph,
    left: Table,
    right: Table,
    *,
    seed: int = 0,
    epochs: int = EPOCHS,
    patience: int = PATIENCE,
    negatives: int = 1,
    learning_rate: float = LEARNING_RATE,
    n_jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Fitted:
    """Train the network on the edges of the training graph and as many pairs without one.

    Parameters
    ----------
    train : BipartiteGraph
        Its edges are the positives. Negatives are absent from it and drawn afresh in each epoch.
    left, right : array of float32
        The vectors.
    seed : int
        Of first weights, negatives, validation edges and the order of batches.
    epochs, patience : int
        Stops after ``epochs``, or when the validation error has not fallen by a fiftieth of itself
        for ``patience`` of them, and keeps the weights of the best. Validation is a tenth of the
        training edges, at most 10,000, kept out of the batches, with as many negatives; below ten
        such edges there is none, and all epochs are run.
    negatives : int
        For each positive.
    learning_rate : float
        Of Adagrad; it rises to this over the first steps. Where long vectors saturate the sigmoid
        all the same, there is no slope to come back by: a network whose validation error is not
        below a quarter is trained once more at a third of the rate, and then at a ninth.
    n_jobs : int, optional
        Threads; every core where not given. They do not change a bit of the result.
    progress : callable, optional
        Called with the share of the epochs that are done.
    """
    for attempt in range(TRIES):
        rate = learning_rate / SLOWER**attempt
        fitted = _fit(train, left, right, seed, epochs, patience, negatives, rate, n_jobs, progress)
        if not fitted.validation or min(fitted.validation) < GUESS:
            break
    return fitted


def _fit(
    train: BipartiteGraph,
    left: Table,
    right: Table,
    seed: int,
    epochs: int,
    patience: int,
    negatives: int,
    learning_rate: float,
    n_jobs: int | None,
    progress: Callable[[float], object] | None,
) -> Fitted:
    """Train one network."""
    draw = np.random.default_rng([seed, _STREAM])
    absent = AbsentPairs(train)
    edges = np.stack([train.left_rows().astype(np.int64), train.left.indices.astype(np.int64)])
    edges = edges[:, draw.permutation(train.n_edges)]
    n_validation = min(int(_VALIDATION * train.n_edges), _MOST_VALIDATION)
    n_validation = n_validation if n_validation >= _LEAST_VALIDATION else 0
    checked = _with_negatives(edges[:, :n_validation], 1, absent, draw)
    edges = edges[:, n_validation:]

    network = Network(left.shape[1] + right.shape[1], max(left.shape[1], right.shape[1]), draw)
    best = last_gain = np.inf
    kept, history, stale, steps = network.copy(), [], 0, 0
    rise = min(RISE, -(-edges.shape[1] * (1 + negatives) // BATCH))
    with one_blas_thread(), Workers(n_jobs) as workers:
        for epoch in range(epochs):
            pairs, targets = _with_negatives(edges, negatives, absent, draw)
            order = draw.permutation(len(targets))
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                rate = learning_rate * min(1.0, (steps + 1) / rise)
                lefts, rights, wanted = pairs[0, batch], pairs[1, batch], targets[batch]
                gradients = _in_shards(network, left, right, lefts, rights, wanted, workers)
                network.step(gradients, rate)
                steps += 1
            if progress is not None:
                progress((epoch + 1) / epochs)
            if not n_validation:
                continue
            estimate = sigmoid(_logits(network, left, right, *checked[0]))
            history.append(float(np.mean((estimate - checked[1]) ** 2)))
            if history[-1] < best:
                best, kept = history[-1], network.copy()
            stale = 0 if best < (1 - GAIN) * last_gain else stale + 1
            last_gain = best if stale == 0 else last_gain
            if stale >= patience:
                break
    if n_validation:
        network.weights = kept
    return Fitted(network, history, epoch + 1)


def _in_shards(
    network: Network,
    left: Table,
    right: Table,
    lefts: Rows,
    rights: Rows,
    targets: Table,
    workers: Workers,
) -> list[npt.NDArray[Any]]:
    """Return the gradients of a batch: of its shards, side by side, then summed in order."""
    n = -(-len(targets) // SHARD)
    parts: list[list[npt.NDArray[Any]]] = [[] for _ in range(n)]

    def compute(first: int, last: int) -> None:
        for k in range(first, last):
            shard = slice(k * SHARD, (k + 1) * SHARD)
            inputs = np.hstack([left[lefts[shard]], right[rights[shard]]])
            parts[k] = network.gradients(inputs, targets[shard], of=len(targets))[1]

    workers.run(compute, n, 1)
    total = parts[0]
    for part in parts[1:]:
        for sums, gradient in zip(total, part, strict=True):
            sums += gradient
    return total


def score_unified(fitted: Fitted, left: Table, right: Table, lefts: Rows, rights: Rows) -> Table:
    """Return what the network puts into its sigmoid for these pairs; above 0 is a link."""
    with one_blas_thread():
        return _logits(fitted.network, left, right, lefts, rights)


def _logits(network: Network, left: Table, right: Table, lefts: Rows, rights: Rows) -> Table:
    """Return logits, a block of pairs at a time."""
    out = np.empty(len(lefts), np.float32)
    for start in range(0, len(lefts), _BLOCK):
        block = slice(start, start + _BLOCK)
        out[block] = network.logits(np.hstack([left[lefts[block]], right[rights[block]]]))
    return out


def _with_negatives(
    edges: Rows, negatives: int, absent: AbsentPairs, draw: np.random.Generator
) -> tuple[Rows, Table]:
    """Return edges and drawn negatives as pairs and targets."""
    n = edges.shape[1]
    pairs = np.hstack([edges, np.stack(absent.draw(n * negatives, draw))])
    return pairs, (np.arange(pairs.shape[1]) < n).astype(np.float32)
