"""Sensitivity to the sampling rate: how much accuracy each doubling of the samples buys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivec.checks import check_integer
from bivec.evaluation.compare import evaluate_links
from bivec.evaluation.link_prediction import TASKS, Progress
from bivec.graph import BipartiteGraph

RATES = tuple(2**k for k in range(11))
"""The paper's: 1 to 1,024 samples a node."""


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """Accuracy of one task at one rate, over the trials that gave one."""

    rate: int
    task: str
    trials: int
    failed: int
    minimum: float
    mean: float
    maximum: float
    accuracies: tuple[float, ...]


def sensitivity(
    graph: BipartiteGraph,
    estimator_factory: Callable[[int], Any],
    rates: Sequence[int] = RATES,
    trials: int = 10,
    train_share: float = 0.5,
    tasks: Sequence[str] = TASKS,
    *,
    first_seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[SensitivityRow]:
    """Measure link prediction at each sampling rate, on independent hold-outs.

    Parameters
    ----------
    graph : BipartiteGraph
        The full graph; the paper takes MadGrades.
    estimator_factory : callable
        Given a rate, returns the estimator, such as ``lambda rate: FOBE(n_samples=rate)``.
    rates : sequence of int
        Samples a node.
    trials : int
        Hold-outs, with the seeds ``first_seed``, ``first_seed + 1``, ...; the same for every rate,
        so that rates differ by nothing else.
    train_share, tasks, n_jobs, progress
        See :func:`bivec.evaluation.evaluate_links`.

    Returns
    -------
    list of SensitivityRow
        For each rate and task.

    Examples
    --------
    >>> from bivec import FOBE
    >>> from bivec.datasets import southern_women
    >>> rows = sensitivity(southern_women(), lambda rate: FOBE(dim=4, n_samples=rate, epochs=2),
    ...                    rates=(1, 4), trials=2, tasks=("left",))
    >>> [(row.rate, row.task, row.trials) for row in rows]
    [(1, 'left', 2), (4, 'left', 2)]
    """
    check_integer("trials", trials, low=1)
    seeds = range(first_seed, first_seed + trials)
    rows = []
    for k, rate in enumerate(rates):

        def tell(share: float, label: str, k: int = k, rate: int = rate) -> None:
            if progress is not None:
                progress((k + share) / len(rates), f"rate {rate}, {label}")

        runs = evaluate_links(
            graph, {"method": estimator_factory(rate)}, train_share, seeds, tasks,
            references=(), n_jobs=n_jobs, progress=tell,
        )  # fmt: skip
        good = [run for run in runs if run.error is None]
        for task in tasks:
            values = [run.scores[task].accuracy for run in good]
            low, mean, high = (
                (min(values), float(np.mean(values)), max(values)) if values else (np.nan,) * 3
            )
            failed = len(runs) - len(good)
            rows.append(
                SensitivityRow(rate, task, len(good), failed, low, mean, high, tuple(values))
            )
    return rows
