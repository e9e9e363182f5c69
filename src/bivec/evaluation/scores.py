"""How well decisions tell links from other pairs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.errors import InputError, require
from bivec.evaluation.splits import Split

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkScores:
    """Figures of one task on one split.

    Attributes
    ----------
    accuracy : float
        Share of the test pairs, links and others, that were decided right.
    auc : float
        Area under the ROC curve of the decision values of all pairs, pooled.
    average_precision : float
        Of the same values.
    n_pairs, n_models : int
        Pairs that were decided on, and models that were trained for it.
    wall_seconds, cpu_seconds : float
        Time to train the models and decide; CPU time is that of the process, all threads.
    """

    accuracy: float
    auc: float
    average_precision: float
    n_pairs: int
    n_models: int
    wall_seconds: float
    cpu_seconds: float


def labelled_pairs(split: Split) -> tuple[Rows, Rows, npt.NDArray[np.bool_]]:
    """Return the left and right rows of all test pairs, and which of them are links."""
    n, n_others = len(split.test_left), len(split.negative_left)
    if not n or not n_others:
        missing = "test pairs" if not n else "negatives"
        raise InputError(
            f"the split has no {missing}", "Make one for link prediction with hold_out."
        )
    return (
        np.concatenate([split.test_left, split.negative_left]),
        np.concatenate([split.test_right, split.negative_right]),
        np.arange(n + n_others) < n,
    )


def measure(
    decisions: npt.NDArray[Any],
    is_link: npt.NDArray[np.bool_],
    *,
    threshold: float = 0.0,
    n_models: int = 0,
    started: tuple[float, float],
) -> LinkScores:
    """Return the figures of decision values; above the threshold is a link, at it is none.

    ``started`` is the wall clock and the CPU clock when the task began.
    """
    wall = time.perf_counter() - started[0]
    cpu = time.process_time() - started[1]
    metrics = require("sklearn.metrics", extra="evaluate", purpose="Link prediction")
    return LinkScores(
        accuracy=float(((decisions > threshold) == is_link).mean()),
        auc=float(metrics.roc_auc_score(is_link, decisions)),
        average_precision=float(metrics.average_precision_score(is_link, decisions)),
        n_pairs=len(decisions),
        n_models=n_models,
        wall_seconds=wall,
        cpu_seconds=cpu,
    )
