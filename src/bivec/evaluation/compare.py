"""Methods side by side: the same splits for all, and figures over several seeds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bivec.checks import check_choice
from bivec.errors import InputError
from bivec.evaluation.link_prediction import TASKS, Progress, check_vectors, link_prediction
from bivec.evaluation.references import REFERENCES, reference_scores
from bivec.evaluation.scores import LinkScores
from bivec.evaluation.splits import hold_out
from bivec.graph import BipartiteGraph


@dataclass(frozen=True, slots=True)
class LinkRun:
    """One method on one split.

    Attributes
    ----------
    method, seed
        Which, and the seed of split, method and tasks.
    scores : dict
        :class:`LinkScores` by task. References have the unified task only.
    fit_wall_seconds, fit_cpu_seconds : float
        Time to learn the vectors.
    error : str, optional
        Why there are no scores: the method's vectors were of no use.
    """

    method: str
    seed: int
    scores: dict[str, LinkScores] = field(default_factory=dict)
    fit_wall_seconds: float = 0.0
    fit_cpu_seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """One method and task over all seeds: means, and standard deviations of a sample.

    The deviation of a single seed is not known: NaN. ``failed`` seeds have no part in the figures.
    """

    method: str
    task: str
    seeds: int
    failed: int
    accuracy: float
    accuracy_std: float
    auc: float
    auc_std: float
    average_precision: float
    average_precision_std: float
    fit_wall_seconds: float
    fit_cpu_seconds: float
    wall_seconds: float
    cpu_seconds: float


def evaluate_links(
    graph: BipartiteGraph,
    methods: Mapping[str, Any],
    train_share: float = 0.5,
    seeds: Iterable[int] = (0,),
    tasks: Sequence[str] = TASKS,
    *,
    references: Sequence[str] = tuple(REFERENCES),
    connected: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[LinkRun]:
    """Hold edges out, learn vectors on the rest, predict what was held out; for every seed.

    Parameters
    ----------
    graph : BipartiteGraph
        The full graph.
    methods : mapping of name to estimator
        Each is copied, given the seed as ``random_state`` where it has one, and fitted on the
        training graph alone. The estimators themselves stay as they are.
    train_share, connected
        See :func:`bivec.evaluation.hold_out`. Every split is verified before it is used.
    seeds : iterable of int
        One split each, the same for all methods.
    tasks : sequence of str
        See :func:`bivec.evaluation.link_prediction`.
    references : sequence of {"popularity", "item-knn"}
        Predictors without vectors, measured on the same pairs if the unified task is.
    n_jobs : int, optional
        Threads of the tasks; methods have their own setting.
    progress : callable, optional
        Called with the share of the runs that are done and what is at hand.

    Returns
    -------
    list of LinkRun
        In the order of seeds, then references, then methods. A method whose vectors are not
        finite or do not fit has a run with ``error`` instead of scores.

    Raises
    ------
    KeyboardInterrupt
        Also where Ctrl-C came during a fit that would return what it has: half-trained vectors
        are not measured.
    """
    for task in tasks:
        check_choice("task", task, TASKS)
    for name in references:
        check_choice("reference", name, tuple(REFERENCES))
    clash = sorted(set(methods) & set(references))
    if clash:
        raise InputError(
            f"the method {clash[0]!r} has the name of a reference",
            "Rename it, or leave the reference out.",
        )
    runs: list[LinkRun] = []
    every_seed = list(seeds)
    n = max(1, len(every_seed) * len(methods))
    done = 0
    for seed in every_seed:
        split = hold_out(graph, train_share, random_state=seed, connected=connected).verify()
        if references and "unified" in tasks:
            found = reference_scores(split, random_state=seed, n_jobs=n_jobs)
            runs += [LinkRun(name, seed, {"unified": found[name]}) for name in references]
        for name, estimator in methods.items():
            label = f"{name}, seed {seed}"

            def tell(share: float, what: str, done: int = done, label: str = label) -> None:
                if progress is not None:
                    progress((done + 0.5 + share / 2) / n, f"{label}: {what}")

            if progress is not None:
                progress(done / n, f"{label}: fit")
            wall, cpu = time.perf_counter(), time.process_time()
            model = _seeded(estimator, seed).fit(split.train)
            fit = time.perf_counter() - wall, time.process_time() - cpu
            if getattr(model, "interrupted_", False):
                raise KeyboardInterrupt
            vectors = model.left_embedding_, model.right_embedding_
            try:
                for side, table in zip(("left", "right"), vectors, strict=True):
                    check_vectors(table, split.train, side)
            except InputError as error:
                runs.append(LinkRun(name, seed, {}, *fit, error=str(error)))
            else:
                scores = link_prediction(
                    split, *vectors, tasks, random_state=seed, n_jobs=n_jobs, progress=tell
                )
                runs.append(LinkRun(name, seed, scores, *fit))
            done += 1
    if progress is not None:
        progress(1.0, "done")
    return runs


def summarize_links(runs: Iterable[LinkRun]) -> list[LinkSummary]:
    """Return mean and standard deviation over seeds, for each method and task.

    A method of which every run failed has one row, of the task ``"-"`` and without figures.
    """
    by_method: dict[str, list[LinkRun]] = {}
    for run in runs:
        by_method.setdefault(run.method, []).append(run)
    rows = []
    for method, all_runs in by_method.items():
        good = [run for run in all_runs if run.error is None]
        failed = len(all_runs) - len(good)
        if not good:
            rows.append(LinkSummary(method, "-", 0, failed, *[math.nan] * 10))
        for task in good[0].scores if good else ():
            scores = [run.scores[task] for run in good]
            figures = []
            for name in ("accuracy", "auc", "average_precision"):
                values = np.array([getattr(score, name) for score in scores])
                spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
                figures += [float(values.mean()), spread]
            times = [
                float(np.mean(values))
                for values in (
                    [run.fit_wall_seconds for run in good],
                    [run.fit_cpu_seconds for run in good],
                    [score.wall_seconds for score in scores],
                    [score.cpu_seconds for score in scores],
                )
            ]
            rows.append(LinkSummary(method, task, len(good), failed, *figures, *times))
    return rows


def _seeded(estimator: Any, seed: int) -> Any:
    """Return a fresh copy of an estimator with this seed."""
    parameters = estimator.get_params(deep=False)
    fresh = type(estimator)(**parameters)
    if "random_state" in parameters:
        fresh.set_params(random_state=seed)
    return fresh
