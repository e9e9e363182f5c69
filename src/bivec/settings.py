"""What training is told, and what it tells: settings, records of epochs, progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from bivec.checks import check_integer, check_number
from bivec.graph import BipartiteGraph
from bivec.sampling import make_plan

BLOCK = 4096
"""Most rows that are computed before they are written."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to train and how, checked; the fields are the parameters of the estimators."""

    method: str
    dim: int = 128
    n_samples: int = 200
    n_neighbors: int = 5
    n_negatives: int = 1
    negative_weight: float = 0.3
    epochs: int = 50
    learning_rate: float = 0.03
    draw: str = "walk"
    tol: float | None = None
    patience: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("dim", self.dim, low=1, high=1 << 16)
        check_integer("epochs", self.epochs, low=1)
        check_number("learning_rate", self.learning_rate, above=0)
        check_number("negative_weight", self.negative_weight, low=0)
        if self.tol is not None:
            check_number("tol", self.tol, low=0)
        check_integer("patience", self.patience, low=1)
        self.plan(0)

    def plan(self, side: int, ahead: int = 0) -> Any:
        """Return what one side draws, as the kernels take it."""
        return make_plan(
            side=side, method=self.method, draw=self.draw, n_samples=self.n_samples,
            n_neighbors=self.n_neighbors, n_negatives=self.n_negatives, seed=self.seed, ahead=ahead,
        )  # fmt: skip

    @property
    def start(self) -> tuple[float, float]:
        """Interval of the first vectors' entries: dots begin near 0 (FOBE) or near 0.3 (HOBE).

        Paper: silent; published code: within 0.05 of 0 for both. Here: HOBE starts from positive
        entries. A ReLU passes no gradient where a dot is negative, as half of all dots are at a
        start around 0, and pairs that belong together may never meet.
        """
        width = self.dim**-0.5
        return (-0.6 * width, 0.6 * width) if self.method == "fobe" else (0.0, 1.1 * width)

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch: it falls linearly, on top of Adagrad's own decay.

        What is left of the noise of the last samples falls with it.
        """
        return self.learning_rate * (1 - epoch / self.epochs)

    @property
    def steps(self) -> int:
        """Samples that a node takes of each relation in one epoch."""
        return -(-self.n_samples // self.epochs)


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One epoch: mean loss of a pair for each relation, pairs of rows compared, seconds it took."""

    epoch: int
    left_left: float
    right_right: float
    left_right: float
    pairs: int
    seconds: float

    @property
    def loss(self) -> float:
        """Sum over the relations."""
        return self.left_left + self.right_right + self.left_right


class Record(Protocol):
    """What every record of an epoch tells, whatever the method; it is a dataclass."""

    @property
    def epoch(self) -> int:
        """Counted from 1."""

    @property
    def loss(self) -> float:
        """What is minimised."""

    @property
    def pairs(self) -> int:
        """Pairs of rows compared."""

    @property
    def seconds(self) -> float:
        """Wall time."""


@dataclass(frozen=True, slots=True)
class LossRecord:
    """One epoch of a method with one loss: its mean, pairs of rows compared, seconds it took."""

    epoch: int
    loss: float
    pairs: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """What a progress callback is told after each epoch.

    In the stage ``"rehearsal"``, before training, and ``"smoothing"``, after it, ``epoch`` and
    ``epochs`` count steps of smoothing; the record is empty (a loss of NaN), or of the last epoch.
    """

    epoch: int
    epochs: int
    record: Record
    pairs_per_second: float
    seconds_left: float
    stage: str = "training"


def memory_needed(graph: BipartiteGraph, settings: Settings) -> int:
    """Return the bytes that training takes beyond the graph: tables, accumulators, marks, block."""
    nodes = graph.n_left + graph.n_right
    per_node = 4 * settings.dim + 4 + 8
    per_edge = 8 if settings.method == "hobe" else 0
    if settings.draw == "set":
        per_edge += 16 + (16 if settings.method == "hobe" else 0)
    return nodes * per_node + graph.n_edges * per_edge + 2 * BLOCK * 4 * settings.dim
