"""Every method on every graph and task: the tables of ``docs/which-method.md``.

    python benchmarks/which_method.py [--quick] [--data-dir DIR] [--cache DIR] [--output FILE]

Runs the experiments ``which-method-links`` and ``which-method-recommendation`` and writes their
tables between two marks of the page. Finished cells are kept, so a run that was cut short goes on,
and a method that was added is all that is computed. ``--only`` names the graphs of this run,
``--methods`` the methods; the tables have those that were run. ``--quick`` is one seed instead of
three, ``--kept`` shows what has been finished so far.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bivec import experiments
from bivec.experiments.methods import NORM
from bivec.experiments.plots import short_name
from bivec.experiments.summary import link_rows, problems, ranking_rows

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
PAGE = Path(__file__).parent.parent / "docs" / "which-method.md"
NEAR = 0.01
"""What is this close to the best of a column is as good as it, for our purpose."""


def run(name, options):
    """Run an experiment on the graphs that were asked for, telling each cell."""
    experiment = experiments.find(name)
    if options.only:
        here = [d for d in experiment.datasets if d in options.only]
        if not here:
            return None
        experiment = replace(experiment, datasets=tuple(here))
    if options.methods:
        experiment = replace(experiment, methods=tuple(options.methods))

    def tell(step):
        if step.finished is not None and step.seconds:
            print(f"{step.done}/{step.cells} {step.label}: {step.seconds:.1f} s", flush=True)

    store = experiments.CellStore(options.cache or experiments.default_directory())
    return experiments.run_experiment(
        experiment, quick=options.quick, data_dir=options.data_dir, store=store,
        n_jobs=options.jobs, progress=tell, compute=not options.kept,
    )  # fmt: skip


def grid(values, digits=3, bold=True):
    """Return a Markdown table of ``values[row, column]``, in the order in which they come.

    The best of each column is bold, and so is what is near it.
    """
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*values, strict=True))
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    best = {c: np.nanmax([values.get((r, c), np.nan) for r in rows]) for c in columns}
    for row in rows:
        cells = []
        for column in columns:
            value = values.get((row, column), np.nan)
            text = "" if np.isnan(value) else f"{value:.{digits}f}"
            text = text.removeprefix("0") if bold else text
            cells.append(f"**{text}**" if bold and value >= best[column] - NEAR else text)
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return lines


def wins(tables):
    """Return how often each row is best or near it, and its mean place, by table."""
    lines = ["| | " + " | ".join(f"{name}: near best | mean place" for name in tables) + " |"]
    lines.append("|---|" + "---:|---:|" * len(tables))
    rows = list(dict.fromkeys(row for values in tables.values() for row, _ in values))
    for row in rows:
        cells = []
        for values in tables.values():
            columns = list(dict.fromkeys(column for _, column in values))
            places, near = [], 0
            for column in columns:
                own = values.get((row, column), np.nan)
                if np.isnan(own):
                    continue
                others = [v for (_, c), v in values.items() if c == column and not np.isnan(v)]
                places.append(1 + sum(other > own for other in others))
                near += own >= max(others) - NEAR
            cells += [f"{near} of {len(places)}", f"{np.mean(places):.1f}"] if places else ["", ""]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return lines


class Figures(NamedTuple):
    """Means over seeds, their deviation, and the number of seeds, by method and graph."""

    mean: dict
    deviation: dict
    seeds: dict

    def add(self, method, dataset, mean, deviation, seeds):
        """Take over the figures of one method on one graph."""
        key = (method, short_name(dataset))
        self.mean[key], self.deviation[key], self.seeds[key] = mean, deviation, seeds


def link_tables(outcome):
    """Return accuracy by task, and CPU seconds of the fits."""
    tasks = {task: Figures({}, {}, {}) for task in ("left", "right", "unified")}
    seconds = {}
    for row in link_rows(outcome):
        found = row.figures
        tasks[found.task].add(
            found.method, row.dataset, found.accuracy, found.accuracy_std, found.seeds
        )
        if found.method not in ("popularity", "item-knn"):
            seconds[found.method, short_name(row.dataset)] = found.fit_cpu_seconds
    return tasks, seconds


def ranking_table(outcome, metric="ndcg"):
    """Return a metric by method and graph."""
    figures = Figures({}, {}, {})
    for row in ranking_rows(outcome):
        figures.add(row.method, row.dataset, row.mean[metric], row.std[metric], row.seeds)
    return figures


def spread(figures):
    """Return lines that say of how many seeds each column is, and how far they are apart."""
    columns = list(dict.fromkeys(column for _, column in figures.mean))
    lines = ["", "| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    counts, usual, largest = ["seeds"], ["deviation, median"], ["deviation, largest"]
    for column in columns:
        counts.append(str(max(n for (_, c), n in figures.seeds.items() if c == column)))
        known = [d for (_, c), d in figures.deviation.items() if c == column and not np.isnan(d)]
        usual.append(f"{np.median(known):.3f}".removeprefix("0") if known else "")
        largest.append(f"{max(known):.3f}".removeprefix("0") if known else "")
    return [*lines, *("| " + " | ".join(cells) + " |" for cells in (counts, usual, largest))]


def sections(links, ranking):
    """Return the lines that go between the marks."""
    lines, tables = [], {}
    if links is not None:
        accuracy, seconds = link_tables(links)
        for task, figures in accuracy.items():
            lines += [f"### Link prediction, {task}: accuracy", "", *grid(figures.mean)]
            lines += [*spread(figures), ""]
            tables[task] = figures.mean
    if ranking is not None and ranking.results:
        figures = ranking_table(ranking)
        lines += ["### Recommendation: NDCG at 10", "", *grid(figures.mean), *spread(figures), ""]
        tables["recommendation"] = figures.mean
    lines += ["### How often a method is near the best", "", *wins(tables), ""]
    if links is not None:
        lines += ["### CPU seconds of a fit", "", *grid(seconds, 1, bold=False), ""]
    notes = [note for o in (links, ranking) if o is not None for note in problems(o)]
    missing = [n for o in (links, ranking) if o is not None for n in o.missing]
    lines += [f"- {note}" for note in dict.fromkeys(notes)]
    lines += [f"- {name} was not on the machine" for name in dict.fromkeys(missing)]
    return [*lines, ""] if notes or missing else lines


def main():
    """Run, and write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--only", nargs="*", help="names of data sets")
    parser.add_argument("--methods", nargs="*", choices=list(experiments.registry()))
    parser.add_argument("--data-dir")
    parser.add_argument("--cache", type=Path, help="where finished cells are kept")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--kept", action="store_true", help="show what is kept, compute nothing")
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    start = time.perf_counter()
    links = run("which-method-links", options)
    ranking = run("which-method-recommendation", options)
    page = options.output.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or END not in page:
        raise SystemExit(f"{options.output} has no lines {BEGIN} and {END}")
    norms = f"Vectors of FOBE, HOBE and combinations have their own norm, all others {NORM:g}."
    body = "\n".join(["", norms, "", *sections(links, ranking)])
    options.output.write_text(f"{before}{BEGIN}{body}{END}{after}", "utf-8")
    print(f"wrote {options.output} after {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
