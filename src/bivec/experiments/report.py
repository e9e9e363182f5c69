"""Reports: what was measured and how, beside what was published, as Markdown and one HTML page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bivec.datasets import describe
from bivec.errors import InputError, SaveError, require
from bivec.experiments.cells import without_nan
from bivec.experiments.methods import make_method, parameters_of
from bivec.experiments.plots import (
    accuracy_curves,
    accuracy_points,
    ranking_points,
    rate_curves,
    short_name,
)
from bivec.experiments.published import breaks_bound, label
from bivec.experiments.render import (
    Block,
    Bullets,
    Figure,
    Heading,
    Paragraph,
    Table,
    markdown,
    page,
)
from bivec.experiments.run import Outcome
from bivec.experiments.summary import problems
from bivec.experiments.tables import (
    environment_table,
    link_table,
    ranking_tables,
    rate_tables,
    records,
    share_tables,
    single_share_tables,
    time_table,
    verdict_table,
)
from bivec.io.atomic import atomic_file

FORMATS = (".md", ".html", ".json", ".csv")


def check_drawing() -> None:
    """Say that matplotlib is missing before hours of work, not after them."""
    require("matplotlib", extra="evaluate", purpose="A report with figures")


def write_report(outcome: Outcome, directory: str | Path) -> dict[str, Path]:
    """Write a report as ``NAME.html``, ``NAME.md`` with its figures, and ``NAME.json``.

    Returns
    -------
    dict
        The files by suffix. Each is written whole or not at all.
    """
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SaveError(
            f"cannot write reports into {folder}: {error.strerror or error}. Choose another "
            "directory with --output."
        ) from error
    blocks = report(outcome)
    name = outcome.experiment.name
    texts = {
        "html": page(outcome.experiment.title, blocks),
        "md": markdown(blocks),
        "json": _json(outcome),
    }
    for block in blocks:
        if isinstance(block, Figure):
            _write(folder / block.file, block.svg)
    written = {suffix: folder / f"{name}.{suffix}" for suffix in texts}
    for suffix, place in written.items():
        _write(place, texts[suffix])
    return written


def check_output(path: Path) -> None:
    """Refuse a file of a kind that cannot be written, before anything is computed."""
    if path.suffix not in FORMATS:
        raise InputError(
            f"the name {path.name!r} does not say what to write",
            f"Let it end in {', '.join(FORMATS)}.",
        )
    if not path.parent.is_dir():
        raise SaveError(f"cannot write {path}: the directory {path.parent} does not exist.")
    if path.suffix == ".html":
        check_drawing()


def write_output(outcome: Outcome, path: Path) -> None:
    """Write an outcome as one file: Markdown or HTML with the whole report, JSON, or CSV."""
    check_output(path)
    if path.suffix == ".csv":
        _write(path, _csv(outcome))
    elif path.suffix == ".json":
        _write(path, _json(outcome))
    elif path.suffix == ".html":
        _write(path, page(outcome.experiment.title, report(outcome)))
    else:  # one file: without the pictures
        _write(path, markdown(report(outcome, figures=False)))


def report(outcome: Outcome, figures: bool = True) -> list[Block]:
    """Return the blocks of a report, with or without figures."""
    experiment = outcome.experiment
    blocks: list[Block] = [Heading(experiment.title, 1)]
    if outcome.quick:
        blocks.append(
            Paragraph(
                "Quick version, smaller than the experiment: "
                + "; ".join(outcome.quick)
                + ". Figures of the whole experiment differ.",
                warning=True,
            )
        )
    for name in outcome.missing:
        shown = "; its published figures stand alone" if _has_published(outcome, name) else ""
        blocks.append(
            Paragraph(
                f"The data set {name} is not on this machine: nothing was measured on it{shown}.",
                warning=True,
            )
        )
    blocks += _setting(outcome)
    if outcome.results or experiment.published.accuracy:
        body = {
            "link-prediction": _links,
            "recommendation": _ranking,
            "sensitivity": _sensitivity,
        }[experiment.kind]
        blocks += body(outcome, figures)
    blocks.append(Heading("Notes"))
    notes = (*experiment.notes, *problems(outcome))
    blocks.append(Bullets(notes) if notes else Paragraph("Nothing failed and nothing was odd."))
    if outcome.results:
        blocks += [Heading("Time"), time_table(outcome), Paragraph(_about_time(outcome))]
        blocks += [Heading("Environment"), environment_table(outcome)]
    return blocks


def _setting(outcome: Outcome) -> list[Block]:
    """Say what was measured on what."""
    experiment = outcome.experiment
    items = []
    if experiment.paper:
        items.append(f"In the paper (arXiv:1905.10953): {experiment.paper}.")
    if experiment.published.source:
        items.append(f"Published figures: {experiment.published.source}.")
    for name, facts in outcome.graphs.items():
        counts = f"{facts['left']:,} left, {facts['right']:,} right, {facts['edges']:,} edges"
        items.append(f"Graph {name}: {counts}.{_preparation(name)}")
    if experiment.kind == "recommendation":
        drawn = [name for name, facts in outcome.graphs.items() if not facts["given_split"]]
        given = [name for name, facts in outcome.graphs.items() if facts["given_split"]]
        items += [f"Split of {name}: as it was published." for name in given]
        items += [
            f"Split of {name}: {experiment.test_share:.0%} of every user's edges at random."
            for name in drawn
        ]
    else:
        shares = ", ".join(f"{share:g}" for share in experiment.train_shares)
        items.append(
            f"Hold-out with training shares {shares}: edges are removed in random order, never the "
            "last edge of a node; as many absent pairs are the negatives."
        )
    items.append(f"Seeds: {', '.join(map(str, experiment.seeds))}.")
    for method in experiment.methods:
        estimator = make_method(method, **experiment.parameters.get(method, {}))
        values = parameters_of(estimator)
        if experiment.kind == "sensitivity":
            values["n_samples"] = "the rate"
        words = ", ".join(f"{name}={value}" for name, value in values.items())
        items.append(f"{label(method)}: {words}.")
    return [Bullets(tuple(items))]


def _preparation(name: str) -> str:
    try:
        text = describe(name).preparation
    except InputError:
        return ""
    return f" Prepared: {text.rstrip('.')}." if text else ""


def _links(outcome: Outcome, figures: bool) -> list[Block]:
    experiment = outcome.experiment
    several = len(experiment.train_shares) > 1 or (
        not outcome.graphs and len(experiment.published.train_shares) > 1
    )
    picture = accuracy_curves if several or len(experiment.datasets) == 1 else accuracy_points
    published = bool(experiment.published.accuracy)
    caption = "Large filled marks were computed here; bars are standard deviations over seeds. "
    if published:
        caption += (
            "Small open marks are as published, read off the paper's picture; where they are "
            "joined by lines, those of prior work are dashed. "
        )
    caption += "Crosses: references that need no vectors."
    blocks: list[Block] = [Heading("Accuracy")]
    if figures:
        blocks.append(Figure(picture(outcome), caption, f"{experiment.name}.svg"))
    if published and (verdict := verdict_table(outcome)):
        blocks.append(verdict)
    if several or len(experiment.datasets) == 1:
        for dataset in experiment.datasets:
            blocks += share_tables(outcome, dataset)
    else:
        blocks += single_share_tables(outcome)
    if outcome.results:
        blocks.append(link_table(outcome, folded=True))
    return blocks


def _ranking(outcome: Outcome, figures: bool) -> list[Block]:
    experiment = outcome.experiment
    blocks: list[Block] = []
    published = experiment.published.measures
    if published:
        rows = [(d, m, v) for d, table in published.items() for m, v in table.items()]
        broken = [label(m) for _, m, v in rows if breaks_bound(v, experiment.k)]
        text = (
            "The paper does not say how its figures were computed, so obtained and published ones "
            "cannot be compared: neither is better for being higher. In BiNE's protocol MAP is at "
            f"most the recall and MRR at most {experiment.k} times the precision, so "
            f"F1 >= 2 / ({experiment.k}/MRR + 1/MAP). "
        )
        text += (
            f"{len(broken)} of {len(rows)} published rows break this bound ({', '.join(broken)}) "
            "and so were computed in some other way. "
            if broken
            else "No published row breaks it. "
        )
        text += "What can be compared are the rows that were obtained here, by one run."
        blocks.append(Paragraph(text, warning=True))
    for dataset in outcome.graphs:
        blocks.append(Heading(short_name(dataset)))
        caption = (
            "Computed here. Bars are standard deviations over seeds, or standard errors over users "
            "where nothing but the users varies. Grey: reference rankers."
        )
        name = experiment.name if len(outcome.graphs) == 1 else f"{experiment.name}-{dataset}"
        if figures:
            blocks.append(Figure(ranking_points(outcome, dataset), caption, f"{name}.svg"))
        blocks += ranking_tables(outcome, dataset)
    return blocks


def _sensitivity(outcome: Outcome, figures: bool) -> list[Block]:
    if not outcome.results:
        return []
    blocks: list[Block] = [Heading("Accuracy by sampling rate")]
    if figures:
        caption = f"Least, mean and greatest accuracy of {len(outcome.experiment.seeds)} hold-outs."
        blocks.append(Figure(rate_curves(outcome), caption, f"{outcome.experiment.name}.svg"))
    return [*blocks, *rate_tables(outcome)]


def _about_time(outcome: Outcome) -> str:
    cached = sum(result.cached for result in outcome.results)
    text = "CPU seconds are those of all threads. Kernels were compiled before. "
    if cached:
        text += (
            f"{cached} of {len(outcome.results)} cells were kept from an earlier run, and so are "
            "their times. "
        )
    return text + "Other work on the machine lengthens wall times."


def _has_published(outcome: Outcome, name: str) -> bool:
    published = outcome.experiment.published
    return name in published.accuracy or name in published.measures


def summary(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain values: what was measured, the figures, notes, environment."""
    experiment = outcome.experiment
    return {
        "experiment": experiment.name,
        "kind": experiment.kind,
        "quick": outcome.quick,
        "graphs": outcome.graphs,
        "missing": outcome.missing,
        "methods": {
            name: parameters_of(make_method(name, **experiment.parameters.get(name, {})))
            for name in experiment.methods
        },
        "seeds": list(experiment.seeds),
        "rows": records(outcome),
        "notes": problems(outcome),
        "environments": [
            json.loads(text)
            for text in dict.fromkeys(json.dumps(r.environment) for r in outcome.results)
        ],
    }


def _json(outcome: Outcome) -> str:
    cells: list[Mapping[str, Any]] = [
        {
            "kind": r.cell.kind, "dataset": r.cell.dataset, "method": r.cell.method,
            "seed": r.cell.seed, "share": r.cell.share, "rate": r.cell.rate, "key": r.cell.key,
            "figures": r.figures,
        }
        for r in outcome.results
    ]  # fmt: skip
    return json.dumps(without_nan({**summary(outcome), "cells": cells}), indent=1) + "\n"


def _csv(outcome: Outcome) -> str:
    rows = records(outcome)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else ["method"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def _write(place: Path, text: str) -> None:
    with atomic_file(place) as temporary:
        temporary.write_text(text, encoding="utf-8")


def main_tables(outcome: Outcome) -> list[Table]:
    """Return the tables for a terminal."""
    if not outcome.results:
        return []
    if outcome.experiment.kind == "link-prediction":
        return [link_table(outcome)]
    if outcome.experiment.kind == "sensitivity":
        return rate_tables(outcome)
    return [table for dataset in outcome.graphs for table in ranking_tables(outcome, dataset)]
