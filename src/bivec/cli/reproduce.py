"""The verb ``reproduce``: run the paper's experiments and report beside its figures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bivec.cli.datasets import DataDir
from bivec.cli.experiment_progress import experiment_progress
from bivec.cli.options import Json, example, messages
from bivec.cli.show import print_json, print_table

if TYPE_CHECKING:
    from bivec.experiments import Experiment


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(
        epilog=example(
            "bivec reproduce",
            "bivec reproduce link-prediction-amazon --quick",
            "bivec reproduce link-prediction-table --output reports",
            "bivec reproduce all --quick --data-dir data",
            "bivec reproduce mine.toml",
        )
    )(reproduce)


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="An experiment, a .toml file, or all of the paper. Without one, they are listed."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, in minutes; the report says so.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The directory for the reports.")
    ] = Path("bivec-reports"),
    jobs: Annotated[
        int | None,
        typer.Option(help="Threads; the figures do not depend on it. Default: every core."),
    ] = None,
    data_dir: DataDir = None,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="Where results are kept. Default: in bivec's cache."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute everything anew, whatever was kept.")
    ] = False,
    json: Json = False,
) -> None:
    """Run experiments of the paper and write reports: HTML, Markdown and JSON.

    Results are kept cell by cell. What was interrupted goes on from there when it is run again.
    """
    from bivec import experiments
    from bivec.experiments.report import check_drawing

    if name is None:
        _list(json)
        return
    wanted = [experiments.find(n) for n in (experiments.names() if name == "all" else [name])]
    wanted = [experiment for experiment in wanted if experiment.paper or name != "all"]
    check_drawing()
    directory = cache or experiments.default_directory()
    written = {}
    for experiment in wanted:
        began = time.perf_counter()
        store = experiments.CellStore(directory, fresh=fresh)
        try:
            with experiment_progress() as progress:
                outcome = experiments.run_experiment(
                    experiment, quick=quick, data_dir=data_dir, store=store, n_jobs=jobs,
                    progress=progress,
                )  # fmt: skip
        except KeyboardInterrupt:
            messages().print(f"{experiment.name}: finished cells are kept; run it again to go on")
            raise typer.Exit(130) from None
        files = experiments.write_report(outcome, output)
        written[experiment.name] = {suffix: str(place) for suffix, place in files.items()}
        kept = sum(result.cached for result in outcome.results)
        failed = sum(result.error is not None for result in outcome.results)
        sentence = (
            f"{experiment.name}: {len(outcome.results)} cells, {kept} of them kept from before"
            + (f", {failed} FAILED" if failed else "")
            + f"; {time.perf_counter() - began:.1f} s; wrote {files['html']}"
        )
        messages().print(sentence, markup=False, soft_wrap=True)
        for missing in outcome.missing.values():
            messages().print(f"note: {missing}", markup=False, soft_wrap=True)
        if not json:
            typer.echo(files["md"])
    if json:
        print_json(written)


def _list(json: bool) -> None:
    from bivec import experiments

    found = [experiments.find(name) for name in experiments.names()]
    if json:
        print_json([_facts(experiment) for experiment in found])
        return
    rows: list[tuple[str, ...]] = [
        (e.name, e.title, str(_cells(e)), str(_cells(e.quickened()[0]))) for e in found
    ]
    print_table(rows, ("name", "what", "fits", "quick"))


def _facts(experiment: Experiment) -> dict[str, object]:
    return {
        "name": experiment.name,
        "kind": experiment.kind,
        "title": experiment.title,
        "paper": experiment.paper,
        "datasets": list(experiment.datasets),
        "methods": list(experiment.methods),
    }


def _cells(experiment: Experiment) -> int:
    """Return how many times a method is fitted."""
    repeats = len(experiment.datasets) * len(experiment.methods) * len(experiment.seeds)
    if experiment.kind == "recommendation":
        return repeats
    rates = len(experiment.rates) if experiment.kind == "sensitivity" else 1
    return repeats * len(experiment.train_shares) * rates
