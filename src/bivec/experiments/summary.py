"""From cells to figures: means and spreads over seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivec.evaluation.compare import LinkRun, LinkSummary, summarize_links
from bivec.evaluation.metrics import METRICS
from bivec.evaluation.scores import LinkScores
from bivec.experiments.cells import CellResult
from bivec.experiments.run import Outcome


@dataclass(frozen=True)
class LinkRow:
    """Link prediction of a method on a data set: figures over seeds."""

    dataset: str
    share: float
    figures: LinkSummary


@dataclass(frozen=True)
class RateRow:
    """Accuracy at a sampling rate, over the trials that gave one."""

    dataset: str
    method: str
    task: str
    rate: int
    trials: int
    failed: int
    minimum: float
    mean: float
    maximum: float


@dataclass(frozen=True)
class RankingRow:
    """A method that ranks, under a protocol: figures over seeds.

    ``mean`` and ``std`` are over seeds; ``standard_error`` is over users, the mean of the seeds'.
    ``seeds`` is 1 where nothing about a row is random.
    """

    dataset: str
    method: str
    protocol: str
    seeds: int
    mean: dict[str, float]
    std: dict[str, float]
    standard_error: dict[str, float]
    users: float
    fit_wall_seconds: float
    fit_cpu_seconds: float
    wall_seconds: float
    cpu_seconds: float


def link_rows(outcome: Outcome) -> list[LinkRow]:
    """Return a row for each data set, share, method and task, references first."""
    groups: dict[tuple[str, float], list[LinkRun]] = {}
    for result in outcome.results:
        cell = result.cell
        if cell.share is not None and cell.rate is None:
            groups.setdefault((cell.dataset, cell.share), []).extend(_runs(result))
    return [
        LinkRow(dataset, share, summary)
        for (dataset, share), runs in groups.items()
        for summary in summarize_links(runs)
    ]


def rate_rows(outcome: Outcome) -> list[RateRow]:
    """Return a row for each data set, method, task and rate."""
    experiment = outcome.experiment
    rows = []
    for dataset in outcome.graphs:
        for method in experiment.methods:
            for task in experiment.tasks:
                for rate in experiment.rates:
                    runs = [
                        run
                        for result in outcome.results
                        if (result.cell.dataset, result.cell.method, result.cell.rate)
                        == (dataset, method, rate)
                        for run in _runs(result)
                    ]
                    good = [run.scores[task].accuracy for run in runs if run.error is None]
                    figures = (
                        (min(good), float(np.mean(good)), max(good)) if good else (math.nan,) * 3
                    )
                    rows.append(
                        RateRow(
                            dataset, method, task, rate, len(good), len(runs) - len(good), *figures
                        )
                    )
    return rows


def ranking_rows(outcome: Outcome) -> list[RankingRow]:
    """Return a row for each data set, protocol and method, in the order of the experiment."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for protocol in outcome.experiment.protocols:
        for result in outcome.results:
            for row in result.figures.get("rows", ()):
                if row["protocol"] == protocol:
                    key = (result.cell.dataset, protocol, row["method"])
                    groups.setdefault(key, []).append(row)
    return [
        RankingRow(
            dataset=dataset,
            method=method,
            protocol=protocol,
            seeds=len(rows),
            mean={m: _mean([row["mean"][m] for row in rows]) for m in METRICS},
            std={m: _std([row["mean"][m] for row in rows]) for m in METRICS},
            standard_error={m: _mean([row["standard_error"][m] for row in rows]) for m in METRICS},
            users=_mean([row["users"] for row in rows]),
            fit_wall_seconds=_mean([row["fit_wall"] for row in rows]),
            fit_cpu_seconds=_mean([row["fit_cpu"] for row in rows]),
            wall_seconds=_mean([row["score_wall"] for row in rows]),
            cpu_seconds=_mean([row["score_cpu"] for row in rows]),
        )
        for (dataset, protocol, method), rows in groups.items()
    ]


def problems(outcome: Outcome) -> list[str]:
    """Return what went wrong or was odd: each message once, with the cells it came from."""
    failed: dict[str, list[str]] = {}
    odd: dict[str, None] = {}
    for result in outcome.results:
        if result.error is not None:
            failed.setdefault(result.error, []).append(str(result.cell))
        for row in result.figures.get("rows", ()):
            skipped = [f"{n:,} users not measured ({why})" for why, n in row["skipped"].items()]
            for text in (*skipped, *row["notes"]):
                odd[f"{result.cell.dataset}, protocol {row['protocol']}: {text}"] = None
    return [
        *outcome.notes,
        *(f"no figures for {'; '.join(cells)}: {message}" for message, cells in failed.items()),
        *odd,
    ]


def _runs(result: CellResult) -> list[LinkRun]:
    """Return the runs of a cell of link prediction."""
    if "runs" in result.figures:
        return [_run(run) for run in result.figures["runs"]]
    if "scores" in result.figures:
        return [_run(result.figures)]
    names = ("popularity", "item-knn") if result.cell.kind == "references" else [result.cell.method]
    return [LinkRun(name, result.cell.seed, error=result.error) for name in names]


def _run(record: dict[str, Any]) -> LinkRun:
    scores = {task: LinkScores(**_numbers(values)) for task, values in record["scores"].items()}
    return LinkRun(**{**record, "scores": scores})


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    return {key: math.nan if value is None else value for key, value in values.items()}


def _mean(values: list[float | None]) -> float:
    return float(np.mean([math.nan if v is None else v for v in values]))


def _std(values: list[float | None]) -> float:
    """Return the standard deviation of a sample; that of one value is not known."""
    numbers = [math.nan if v is None else v for v in values]
    return float(np.std(numbers, ddof=1)) if len(numbers) > 1 else math.nan
