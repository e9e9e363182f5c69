"""The tables of reports: obtained and published figures side by side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from bivec.experiments.cells import without_nan
from bivec.experiments.plots import TASK_TITLES, short_name
from bivec.experiments.published import MEASURES, bound_on_f1, breaks_bound, label
from bivec.experiments.render import Table
from bivec.experiments.run import Outcome
from bivec.experiments.summary import (
    LinkRow,
    RankingRow,
    link_rows,
    ranking_rows,
    rate_rows,
)

TOLERANCE = 0.01
"""How exact accuracies are that were read off a picture."""


def number(value: float, digits: int = 3) -> str:
    """Return a figure between 0 and 1 without its zero, or a dash where there is none.

    >>> number(0.9459), number(1), number(float("nan")), number(-0.02)
    ('.946', '1.000', '-', '-.020')
    """
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return (
        text.replace("0.", ".", 1)
        if abs(value) < 1 and not text.lstrip("-").startswith("1")
        else text
    )


def spread(mean: float, std: float, digits: int = 3) -> str:
    """Return a mean with its standard deviation, where that is known.

    >>> spread(0.5, 0.0123), spread(0.5, float("nan"))
    ('.500 ± .012', '.500')
    """
    return number(mean, digits) + ("" if math.isnan(std) else f" ± {number(std, digits)}")


# Link prediction


def share_tables(outcome: Outcome, dataset: str) -> list[Table]:
    """Return, for each task, methods against training shares: ours, references, published."""
    experiment, rows = outcome.experiment, link_rows(outcome)
    published = experiment.published
    shares = experiment.train_shares
    if dataset in outcome.missing:
        shares = published.train_shares
    tables = []
    for task in experiment.tasks:
        lines: list[tuple[str, ...]] = []
        ours = set()
        here = {
            (row.figures.method, row.share): row.figures
            for row in rows
            if row.dataset == dataset and row.figures.task == task
        }
        for method in dict.fromkeys(method for method, _ in here):
            ours.add(len(lines))
            cells = [here.get((method, share)) for share in shares]
            lines.append(
                (
                    f"{label(method)}, bivec",
                    *("-" if f is None else spread(f.accuracy, f.accuracy_std) for f in cells),
                )
            )
        at = [published.at(dataset, task, share) for share in shares]
        for method in published.accuracy.get(dataset, {}).get(task, {}):
            values = [found.get(method, math.nan) for found in at]
            lines.append((f"{label(method)}, published", *map(number, values)))
        if any(at):
            best = [max(found.items(), key=lambda item: item[1]) if found else None for found in at]
            lines.append(
                ("best published", *("-" if b is None else f"{number(b[1])}" for b in best))
            )
        header = ("method", *(f"{share:g}" for share in shares))
        title = f"{short_name(dataset)}, {TASK_TITLES[task]}: accuracy by training share"
        tables.append(Table(header, tuple(lines), title, frozenset(ours)))
    return tables


def single_share_tables(outcome: Outcome) -> list[Table]:
    """Return, for each task, data sets against methods, at the one training share."""
    experiment, rows = outcome.experiment, link_rows(outcome)
    share = experiment.train_shares[0]
    tables = []
    for task in experiment.tasks:
        lines: list[tuple[str, ...]] = []
        ours = set()
        for dataset in experiment.datasets:
            found = experiment.published.at(dataset, task, share)
            best = max(found, key=lambda method: found[method]) if found else None
            shown = f"{number(found[best])} ({label(best)})" if best else "-"
            here = [r.figures for r in rows if r.dataset == dataset and r.figures.task == task]
            for figures in here:
                ours.add(len(lines))
                gap = number(figures.accuracy - found[best]) if best else "-"
                lines.append(
                    (
                        short_name(dataset),
                        label(figures.method),
                        spread(figures.accuracy, figures.accuracy_std),
                        number(found.get(figures.method, math.nan)),
                        shown,
                        gap,
                    )
                )
            if not here:
                why = "not on this machine" if dataset in outcome.missing else "no figures"
                lines.append((short_name(dataset), why, "-", "-", shown, "-"))
        header = ("graph", "method", "obtained", "published", "best published", "obtained - best")
        title = f"{TASK_TITLES[task]}: accuracy at a training share of {share:g}"
        tables.append(Table(header, tuple(lines), title, frozenset(ours)))
    return tables


def verdict_table(outcome: Outcome) -> Table | None:
    """Count where the best of our methods is above, near or below the best published curve."""
    experiment = outcome.experiment
    lines = []
    rows = [row for row in link_rows(outcome) if row.figures.method in experiment.methods]
    for dataset in outcome.graphs:
        for task in experiment.tasks:
            gaps = []
            for share in experiment.train_shares:
                found = experiment.published.at(dataset, task, share)
                ours = [
                    row.figures.accuracy
                    for row in rows
                    if (row.dataset, row.share, row.figures.task) == (dataset, share, task)
                ]
                if found and ours:
                    gaps.append(max(ours) - max(found.values()))
            if gaps:
                above = sum(gap > TOLERANCE for gap in gaps)
                below = sum(gap < -TOLERANCE for gap in gaps)
                counts = (above, len(gaps) - above - below, below)
                lines.append((short_name(dataset), TASK_TITLES[task], *map(str, counts)))
    if not lines:
        return None
    header = ("graph", "task", "above", f"within {TOLERANCE:g}", "below")
    title = "Training shares at which the best of our methods is above, near or below the best "
    return Table(header, tuple(lines), title + "published curve, whichever method that is")


def link_table(outcome: Outcome, folded: bool = False) -> Table:
    """Return every figure of link prediction, one line a method and task."""
    several = len(outcome.experiment.datasets) > 1
    shares = len(outcome.experiment.train_shares) > 1
    lines = []
    for row in link_rows(outcome):
        f = row.figures
        lines.append(
            (
                f.method,
                *((short_name(row.dataset),) if several else ()),
                *((f"{row.share:g}",) if shares else ()),
                f.task,
                f"{f.seeds}" + (f" ({f.failed} failed)" if f.failed else ""),
                spread(f.accuracy, f.accuracy_std, 4),
                spread(f.auc, f.auc_std, 4),
                spread(f.average_precision, f.average_precision_std, 4),
            )
        )
    header = ("method", *(("graph",) if several else ()), *(("share",) if shares else ()),
              "task", "seeds", "accuracy", "ROC-AUC", "average precision")  # fmt: skip
    title = "All figures: mean and standard deviation over seeds" if folded else ""
    return Table(header, tuple(lines), title, folded=folded)


# Sensitivity


def rate_tables(outcome: Outcome) -> list[Table]:
    """Return, for each method, minimum, mean and maximum by rate and task."""
    experiment, rows = outcome.experiment, rate_rows(outcome)
    tables = []
    for dataset in outcome.graphs:
        for method in experiment.methods:
            lines = []
            for rate in experiment.rates:
                here = {
                    row.task: row
                    for row in rows
                    if (row.dataset, row.method, row.rate) == (dataset, method, rate)
                }
                figures = [
                    number(value)
                    for task in experiment.tasks
                    for value in (here[task].minimum, here[task].mean, here[task].maximum)
                ]
                trials = here[experiment.tasks[0]]
                failed = f" ({trials.failed} failed)" if trials.failed else ""
                lines.append((f"{rate:,}", f"{trials.trials}{failed}", *figures))
            header = ("rate", "trials", *(
                f"{task} {what}" for task in experiment.tasks for what in ("min", "mean", "max")
            ))  # fmt: skip
            title = f"{label(method)} on {short_name(dataset)}: accuracy by samples a node"
            tables.append(Table(header, tuple(lines), title))
    return tables


# Recommendation


def ranking_tables(outcome: Outcome, dataset: str) -> list[Table]:
    """Return a table a protocol; the one of BiNE's has the published figures beside ours."""
    experiment = outcome.experiment
    k = experiment.k
    published = experiment.published.measures.get(dataset, {})
    tables = []
    for protocol in experiment.protocols:
        rows = [
            row
            for row in ranking_rows(outcome)
            if (row.dataset, row.protocol) == (dataset, protocol)
        ]
        beside = published if protocol == "bine" else {}
        lines: list[tuple[str, ...]] = []
        for row in rows:
            figures = tuple(_ranked(row, measure) for measure in MEASURES)
            old = _published(beside.get(row.method), k) if beside else ()
            lines.append((_name(row.method), *figures, *old))
        ours = frozenset(range(len(lines)))
        done = {row.method for row in rows}
        for method, values in beside.items():
            if method not in done:
                lines.append((label(method), *["-"] * 4, *_published(values, k)))
        header: tuple[str, ...] = ("method", *(f"{measure.upper()}@{k}" for measure in MEASURES))
        if beside:
            header = (
                header[0],
                *(f"{name} obtained" for name in header[1:]),
                *(f"{measure.upper()} published" for measure in MEASURES),
                "bound on F1",
                "published row",
            )
        title = f"{short_name(dataset)}, protocol {protocol}"
        tables.append(Table(header, tuple(lines), title, ours))
    return tables


def _ranked(row: RankingRow, measure: str) -> str:
    """Return a figure with its deviation over seeds, or its standard error over users."""
    error = row.std[measure] if row.seeds > 1 else row.standard_error[measure]
    return spread(row.mean[measure], error, 4)


def _published(values: tuple[float, ...] | None, k: int) -> tuple[str, ...]:
    if values is None:
        return ("-",) * 6
    bound = bound_on_f1(values[2], values[3], k)
    verdict = "breaks the bound" if breaks_bound(values, k) else "within the bound"
    return (*(number(v, 4) for v in values), number(bound, 4), verdict)


def _name(method: str) -> str:
    first, _, rest = method.partition(" ")
    return f"{label(first)} {rest}".strip()


# Times


def time_table(outcome: Outcome) -> Table:
    """Return mean wall and CPU seconds of each method: to fit, and to measure."""
    lines = []
    if outcome.experiment.kind == "recommendation":
        for row in ranking_rows(outcome):
            times = (row.fit_wall_seconds, row.fit_cpu_seconds, row.wall_seconds, row.cpu_seconds)
            where = (short_name(row.dataset), f"protocol {row.protocol}")
            lines.append((_name(row.method), *where, *map(_seconds, times)))
    elif outcome.experiment.kind == "link-prediction":
        for key, rows in _grouped(link_rows(outcome)).items():
            figures = [row.figures for row in rows]
            times = tuple(
                sum(getattr(f, part) for f in figures) / len(figures)
                for part in ("fit_wall_seconds", "fit_cpu_seconds", "wall_seconds", "cpu_seconds")
            )
            method, dataset, task = key
            where = (short_name(dataset), f"{task} task")
            lines.append((label(method), *where, *map(_seconds, times)))
    else:
        groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
        for result in outcome.results:
            cell = result.cell
            if result.error is None:
                key_of = (cell.method, cell.dataset, cell.rate or 0)
                groups.setdefault(key_of, []).append(result.figures)
        for (method, dataset, rate), found in groups.items():
            fits = [
                _mean(f[part] for f in found) for part in ("fit_wall_seconds", "fit_cpu_seconds")
            ]
            tasks = [
                _mean(sum(s[part] for s in f["scores"].values()) for f in found)
                for part in ("wall_seconds", "cpu_seconds")
            ]
            where = (short_name(dataset), f"rate {rate:,}, all tasks")
            lines.append((label(method), *where, *map(_seconds, (*fits, *tasks))))
    header = ("method", "graph", "measured", "fit, wall s", "fit, CPU s", "measure, wall s",
              "measure, CPU s")  # fmt: skip
    return Table(header, tuple(lines), "Mean seconds of a cell")


def _grouped(rows: Iterable[LinkRow]) -> dict[tuple[str, str, str], list[LinkRow]]:
    groups: dict[tuple[str, str, str], list[LinkRow]] = {}
    for row in rows:
        if row.figures.seeds:
            key = (row.figures.method, row.dataset, row.figures.task)
            groups.setdefault(key, []).append(row)
    return groups


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _seconds(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def environment_table(outcome: Outcome) -> Table:
    """Return where the cells were computed; a column each where there are several places."""
    places: list[dict[str, Any]] = []
    counts: list[int] = []
    for result in outcome.results:
        if result.environment not in places:
            places.append(result.environment)
            counts.append(0)
        counts[places.index(result.environment)] += 1
    keys = list(dict.fromkeys(key for place in places for key in place))
    lines: Sequence[tuple[str, ...]] = [
        (key, *(str(place.get(key) or "not installed") for place in places)) for key in keys
    ]
    header = ("", *(f"{n} cells" for n in counts))
    return Table(header, tuple(lines))


def records(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the summary of an outcome as plain values, for JSON and CSV."""
    kind = outcome.experiment.kind
    found: list[dict[str, Any]] = []
    if kind == "link-prediction":
        found = [
            {"dataset": row.dataset, "train_share": row.share, **dataclasses.asdict(row.figures)}
            for row in link_rows(outcome)
        ]
    elif kind == "sensitivity":
        found = [dataclasses.asdict(row) for row in rate_rows(outcome)]
    else:
        for row in ranking_rows(outcome):
            flat = dataclasses.asdict(row)
            for part in ("mean", "std", "standard_error"):
                flat |= {f"{name}_{part}": value for name, value in flat.pop(part).items()}
            found.append({**flat, "k": outcome.experiment.k})
    return list(without_nan(found))
