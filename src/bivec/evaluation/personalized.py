"""Personalized link prediction: one support vector machine for each node.

The machine of node i separates the vectors of its training neighbours, all of the other side, from
five times as many other vectors of that side,

    decision_i(v) = sum_j y_j a_j exp(-0.1 |v - v_j|^2) + b,     C = 1,

and decides on the test pairs of i. A task is named after the side of the nodes: in the left task
(the paper's A-personalized) left nodes own the machines, and the vectors are those of right nodes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.graph.side import GraphSide
from bivec.parallel import Workers
from bivec.questions import GAMMA, NEGATIVES, TOLERANCE, C

_STREAM = 300
_ROOM = 512 << 20
_BIG, _CHUNK = 1000, 64

Rows = npt.NDArray[np.int64]


def decide(
    train: GraphSide,
    table: npt.NDArray[np.float32],
    owners: Rows,
    others: Rows,
    *,
    side: int,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> tuple[npt.NDArray[np.float64], int]:
    """Return a decision value for each pair, and how many machines were trained.

    Parameters
    ----------
    train : GraphSide
        The training graph, seen from the side that owns the machines.
    table : array of float32
        Vectors of the other side.
    owners, others : array of int64
        The pairs: rows of the owning side and of the table.
    side : int
        0 where the owners are left nodes, 1 where right; part of the key of the random draws.
    seed : int
        Negatives are a function of seed, side and node: no order and no thread can change them.
    n_jobs : int, optional
        Threads; every core where not given.
    progress : callable, optional
        Called with the share of the work that is done.

    Notes
    -----
    Negatives are distinct and no neighbours in training; a held-out neighbour may be among them, as
    nothing that is held out is looked at. Where there are fewer than five for each neighbour, all
    are taken. A node without neighbours decides -1, one that neighbours all decides 1: no
    machine is trained for them.
    """
    from bivec.kernels.personal import personalize

    # Group the pairs by owner, and begin with the largest machines: none is left over at the end.
    nodes, group, counts = np.unique(owners, return_inverse=True, return_counts=True)
    largest_first = np.argsort(-train.degrees[nodes], kind="stable")
    place = np.empty_like(largest_first)
    place[largest_first] = np.arange(len(nodes))
    order = np.argsort(place[group], kind="stable")
    nodes, counts = nodes[largest_first], counts[largest_first]
    pair_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    pair_rows = others[order].astype(np.int64)

    # Train and decide
    size = train.degrees[nodes].astype(np.int64) * (1 + NEGATIVES)
    done = _Done(_cost(size), progress)
    decisions, trained = np.empty(len(order)), np.zeros(len(nodes), dtype=bool)
    indices = train.indices.astype(np.int64)
    local = threading.local()
    with Workers(n_jobs) as workers:
        room = _ROOM // workers.n_jobs

        def run(first: int, start: int, stop: int) -> None:
            if not hasattr(local, "marks"):
                local.marks = np.full(len(table), -1, np.int64)
            personalize(
                train.indptr, indices, table, nodes, pair_ptr, pair_rows, seed, _STREAM + side,
                NEGATIVES, C, GAMMA, TOLERANCE, room, local.marks, first + start, first + stop,
                decisions, trained,
            )  # fmt: skip
            done(first + start, first + stop)

        n_big = int((size >= _BIG).sum())
        workers.run(lambda a, b: run(0, a, b), n_big, 1)
        workers.run(lambda a, b: run(n_big, a, b), len(nodes) - n_big, _CHUNK)

    result = np.empty_like(decisions)
    result[order] = decisions
    return result, int(trained.sum())


def machine_rows(train: GraphSide, n_others: int, node: int, *, side: int, seed: int) -> Rows:
    """Return the rows that a node's machine is trained on: its neighbours, then its negatives."""
    from bivec.kernels.personal import training_rows

    indices = train.indices.astype(np.int64)
    rows: Rows = training_rows(
        train.indptr, indices, n_others, node, seed, _STREAM + side, NEGATIVES
    )
    return rows


def _cost(size: Rows) -> npt.NDArray[np.float64]:
    """Return about what machines of these sizes cost, up to a factor."""
    return 100.0 + size.astype(np.float64) ** 2


class _Done:
    """Counts the work that is done; only the thread that asked for it hears of it."""

    def __init__(
        self, cost: npt.NDArray[np.float64], progress: Callable[[float], object] | None
    ) -> None:
        self._sums = np.concatenate([[0.0], np.cumsum(cost)])
        self._progress = progress
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._spent = 0.0

    def __call__(self, start: int, stop: int) -> Any:
        with self._lock:
            self._spent += self._sums[stop] - self._sums[start]
        if self._progress is not None and threading.get_ident() == self._thread:
            self._progress(min(1.0, self._spent / self._sums[-1]))
