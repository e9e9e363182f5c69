"""The figures of reports: the paper's curves redrawn, with ours over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bivec.experiments.published import LABELS, label
from bivec.experiments.run import Outcome
from bivec.experiments.style import GREY, canvas, look, to_svg
from bivec.experiments.summary import LinkRow, link_rows, ranking_rows, rate_rows

TASK_TITLES = {"left": "left-personalized", "right": "right-personalized", "unified": "unified"}
_REFERENCES = ("popularity", "item-knn")


def short_name(dataset: str) -> str:
    """Return what a data set is called in a figure.

    >>> short_name("snap-com-amazon"), short_name("mine.csv")
    ('amazon', 'mine.csv')
    """
    return dataset.removeprefix("snap-com-").removesuffix("-hetrec2011")


def accuracy_curves(outcome: Outcome) -> str:
    """Draw accuracy against the training share: a row of panels a data set, a column a task."""
    experiment = outcome.experiment
    rows = link_rows(outcome)
    datasets, tasks = experiment.datasets, experiment.tasks
    with canvas(experiment.name) as matplotlib:
        size = (3.5 * len(tasks) + 0.4, 3.1 * len(datasets) + 1.2)
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(datasets), len(tasks), squeeze=False, sharex=True)
        for i, dataset in enumerate(datasets):
            for j, task in enumerate(tasks):
                axes = panels[i, j]
                _published_curves(axes, outcome, dataset, task)
                _own_curves(axes, rows, dataset, task)
                if i == 0:
                    axes.set_title(TASK_TITLES[task])
                if j == 0:
                    axes.set_ylabel(f"{_with_absence(outcome, dataset)}\naccuracy")
                if i == len(datasets) - 1:
                    axes.set_xlabel("share of edges to train on")
                axes.set_xlim(0.05, 0.95)
                axes.set_xticks([k / 10 for k in range(1, 10)])
        _legend(figure, panels)
        words = ", ".join(map(short_name, datasets))
        return to_svg(figure, f"Accuracy against the training share on {words}: ours and published")


def _published_curves(axes: Any, outcome: Outcome, dataset: str, task: str) -> None:
    published = outcome.experiment.published
    curves = published.accuracy.get(dataset, {}).get(task, {})
    for method in sorted(curves, key=_place):
        style = look(method)
        axes.plot(published.train_shares, curves[method], color=style.colour, lw=1.1,
                  ls=style.dashes, marker=style.mark, ms=3.6, mfc="white", mew=0.8, alpha=0.85,
                  label=f"{label(method)}, published", zorder=2)  # fmt: skip


def _own_curves(axes: Any, rows: Sequence[LinkRow], dataset: str, task: str) -> None:
    own = [row for row in rows if row.dataset == dataset and row.figures.task == task]
    for method in dict.fromkeys(row.figures.method for row in own):
        points = [row for row in own if row.figures.method == method]
        shares = [row.share for row in points]
        means = [row.figures.accuracy for row in points]
        spreads = [_or_zero(row.figures.accuracy_std) for row in points]
        style = look(method)
        if method in _REFERENCES:
            axes.plot(shares, means, color=style.colour, lw=1.3, ls=style.dashes,
                      marker=style.mark, ms=5.5, mew=1.4,
                      label=f"{method}, bivec (reference)", zorder=3)  # fmt: skip
            continue
        axes.errorbar(shares, means, yerr=spreads, color=style.colour, lw=2.6, ls="-",
                      marker=style.mark, ms=6.5, mec="white", mew=0.7, capsize=2.5, elinewidth=1.2,
                      label=f"{label(method)}, bivec", zorder=5)  # fmt: skip


def accuracy_points(outcome: Outcome) -> str:
    """Draw the accuracies at one training share: a line a data set, a panel a task."""
    experiment = outcome.experiment
    rows = link_rows(outcome)
    share = experiment.train_shares[0]
    datasets, tasks = experiment.datasets, experiment.tasks
    with canvas(experiment.name) as matplotlib:
        size = (3.5 * len(tasks) + 0.6, 0.62 * len(datasets) + 1.9)
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(tasks), squeeze=False, sharey=True)
        for axes, task in zip(panels[0], tasks, strict=True):
            for y, dataset in enumerate(datasets):
                found = experiment.published.at(dataset, task, share)
                for method in sorted(found, key=_place):
                    style = look(method)
                    axes.plot(found[method], y + 0.16, ls="", color=style.colour,
                              marker=style.mark, ms=5, mfc="white", mew=1.1,
                              label=f"{label(method)}, published")  # fmt: skip
                for row in rows:
                    if row.dataset != dataset or row.figures.task != task:
                        continue
                    method, style = row.figures.method, look(row.figures.method)
                    reference = method in _REFERENCES
                    axes.errorbar(row.figures.accuracy, y - 0.16,
                                  xerr=_or_zero(row.figures.accuracy_std), ls="",
                                  color=style.colour, marker=style.mark, ms=6 if reference else 8,
                                  mew=1.5 if reference else 0.7,
                                  mec=style.colour if reference else "white",
                                  label=f"{method}, bivec (reference)" if reference
                                  else f"{label(method)}, bivec", zorder=4)  # fmt: skip
            axes.set_title(TASK_TITLES[task])
            axes.set_xlabel(f"accuracy at a training share of {share:g}")
            axes.set_ylim(len(datasets) - 0.5, -0.5)
            axes.set_yticks(range(len(datasets)), [_with_absence(outcome, d) for d in datasets])
            axes.grid(axis="y", visible=False)
            for y in range(1, len(datasets)):
                axes.axhline(y - 0.5, color="#cccccc", lw=0.6)
        _legend(figure, panels)
        return to_svg(figure, "Accuracy on each graph: ours above, published below")


def rate_curves(outcome: Outcome) -> str:
    """Draw minimum, mean and maximum of the accuracy against the sampling rate."""
    experiment = outcome.experiment
    rows = rate_rows(outcome)
    with canvas(experiment.name) as matplotlib:
        size = (3.5 * len(experiment.tasks) + 0.4, 2.7 * len(experiment.methods) + 0.8)
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        panels = figure.subplots(
            len(experiment.methods), len(experiment.tasks), squeeze=False, sharex=True, sharey="col"
        )
        for i, method in enumerate(experiment.methods):
            for j, task in enumerate(experiment.tasks):
                axes = panels[i, j]
                points = [row for row in rows if (row.method, row.task) == (method, task)]
                rates = [row.rate for row in points]
                style = look(method)
                low, high = [row.minimum for row in points], [row.maximum for row in points]
                axes.fill_between(rates, low, high, color=style.colour, alpha=0.18, lw=0)
                axes.plot(rates, high, color=style.colour, lw=1, ls="--", marker="^", ms=4,
                          mfc="white", label="maximum")  # fmt: skip
                means = [row.mean for row in points]
                axes.plot(rates, means, color=style.colour, lw=2.4, marker=style.mark, ms=5.5,
                          mec="white", mew=0.6, label="mean")  # fmt: skip
                axes.plot(rates, low, color=style.colour, lw=1, ls=":", marker="v", ms=4,
                          mfc="white", label="minimum")  # fmt: skip
                axes.set_xscale("log", base=2)
                axes.set_xticks(rates, [f"{rate:,}" for rate in rates], rotation=45)
                axes.minorticks_off()
                if i == 0:
                    axes.set_title(TASK_TITLES[task])
                if i == len(experiment.methods) - 1:
                    axes.set_xlabel("samples a node and relation")
                if j == 0:
                    axes.set_ylabel(f"{label(method)}\naccuracy")
                if j == len(experiment.tasks) - 1:
                    axes.legend(fontsize=8, loc="lower right")
        return to_svg(figure, "Accuracy against the sampling rate: minimum, mean and maximum")


def ranking_points(outcome: Outcome, dataset: str) -> str:
    """Draw the measures of each method under each protocol; only what was computed here."""
    experiment = outcome.experiment
    rows = [row for row in ranking_rows(outcome) if row.dataset == dataset]
    methods = list(dict.fromkeys(row.method for row in rows))
    marks = {"bine": "o", "masked": "D"}
    with canvas(f"{experiment.name}-{dataset}") as matplotlib:
        figure = matplotlib.figure.Figure(
            figsize=(11, 0.32 * len(methods) + 1.5), layout="constrained"
        )
        panels = figure.subplots(1, 4, squeeze=False, sharey=True)
        for axes, measure in zip(panels[0], ("f1", "ndcg", "map", "mrr"), strict=True):
            for row in rows:
                y = methods.index(row.method)
                masked = row.protocol == "masked"
                own = row.method.split(" ")[0] in LABELS
                colour = look(row.method.split(" ")[0]).colour if own else GREY
                error = row.std[measure] if row.seeds > 1 else row.standard_error[measure]
                axes.errorbar(row.mean[measure], y, xerr=_or_zero(error), ls="", color=colour,
                              marker=marks[row.protocol], ms=7, mew=1.4,
                              mfc="white" if masked else colour, capsize=2)  # fmt: skip
            axes.set_title(f"{measure.upper()} at {experiment.k}")
            axes.set_xlim(left=0)
            axes.set_ylim(len(methods) - 0.5, -0.5)
            axes.set_yticks(range(len(methods)), [_method_label(name) for name in methods])
        handles = [
            matplotlib.lines.Line2D([], [], ls="", marker=marks[name], color="#333333", ms=7,
                                    mfc="white" if name == "masked" else "#333333",
                                    label=f"protocol {name}")
            for name in experiment.protocols
        ]  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        return to_svg(figure, f"Measures of recommendation on {dataset}, by method and protocol")


def _method_label(name: str) -> str:
    method, _, rest = name.partition(" ")
    return f"{label(method)} {rest}".strip()


def _with_absence(outcome: Outcome, dataset: str) -> str:
    return short_name(dataset) + (" (not here)" if dataset in outcome.missing else "")


def _legend(figure: Any, panels: Any) -> None:
    """Name every line once, ours first."""
    found: dict[str, Any] = {}
    for axes in panels.flat:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    names = sorted(found, key=lambda name: ("published" in name, "reference" in name))
    figure.legend(
        [found[name] for name in names], names, loc="outside lower center", ncols=4, fontsize=8.5,
        handlelength=3,
    )  # fmt: skip


def _place(method: str) -> int:
    """Return where a method stands in legends."""
    return list(LABELS).index(method) if method in LABELS else len(LABELS)


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
