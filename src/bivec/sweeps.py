"""Sweeps over all nodes, one after another: what every way of training shares.

Progress, the end by a settled loss or by Ctrl-C, and vectors to go on from.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.parallel import Workers
from bivec.settings import Progress, Record

Table = npt.NDArray[np.float32]


class Sweeps(ABC):
    """Training by epochs; a subclass says what one of them does.

    Parameters
    ----------
    epochs : int
        Sweeps in all.
    n_jobs : int, optional
        Threads; every core where not given.

    Attributes
    ----------
    epoch : int
        Epochs done.
    history : sequence of records
        One entry an epoch.
    interrupted : bool
        Whether :meth:`run` was stopped by Ctrl-C.
    """

    history: Sequence[Record]

    def __init__(self, epochs: int, n_jobs: int | None = None) -> None:
        self.workers = Workers(n_jobs)
        self.epochs = epochs
        self.epoch = 0
        self.interrupted = False

    @abstractmethod
    def train_epoch(self, stop: threading.Event | None = None) -> Record | None:
        """Sweep over all nodes once; return None if told to stop before the end."""

    def _settled(self) -> bool:
        """Whether there is nothing more to gain."""
        return False

    def _keep(self, last: bool) -> None:  # noqa: B027
        """Put the state away: after each epoch, and at the end. Nothing unless a subclass does."""

    def run(self, progress: Callable[[Progress], object] | None = None) -> Self:
        """Train until the epochs are done, the loss stops falling, or Ctrl-C.

        Ctrl-C finishes the block at hand and returns with what has been learned so far; a second
        one interrupts at once.
        """
        start, first = time.perf_counter(), self.epoch
        with self.workers, stoppable() as stop:
            try:
                while self.epoch < self.epochs and not self._settled():
                    record = self.train_epoch(stop)
                    if record is None:
                        self.interrupted = True
                        break
                    if progress is not None:
                        spent = time.perf_counter() - start
                        left = spent / (self.epoch - first) * (self.epochs - self.epoch)
                        rate = record.pairs / max(record.seconds, 1e-9)
                        progress(Progress(self.epoch, self.epochs, record, rate, left))
                    self._keep(last=False)
                self._keep(last=True)
            except KeyboardInterrupt:  # the second: a block may be half written, so nothing is kept
                self.interrupted = True
        if self.interrupted:
            warnings.warn(
                f"training was interrupted after {self.epoch} of {self.epochs} epochs; "
                "the vectors are those reached so far",
                stacklevel=3,
            )
        return self


def adopt(init: Any, graph: BipartiteGraph, tables: Sequence[Table]) -> None:
    """Copy the vectors of known ids into the tables of both sides.

    ``init`` is an embedding, or its two sides.
    """
    dim = tables[0].shape[1]
    parts = (init.left, init.right) if hasattr(init, "left") else tuple(init)
    if len(parts) != 2:
        raise InputError(f"init has {len(parts)} parts", "Give an embedding, or its two sides.")
    for table, side, part in zip(tables, (graph.left, graph.right), parts, strict=True):
        vectors = np.asarray(part.vectors)
        if vectors.ndim != 2 or vectors.shape[1] != dim:
            raise InputError(
                f"init has vectors of shape {vectors.shape}, not of dim={dim}",
                "Set dim to that of the embedding to go on from.",
            )
        rows = side.ids.find(part.ids)
        table[rows[rows >= 0]] = vectors[rows >= 0]


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an event; only the main thread may, others get an idle event."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    usual = signal.getsignal(signal.SIGINT)

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, usual)
