"""The verbs ``evaluate link-prediction``, ``recommendation`` and ``sensitivity``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivec.cli.datasets import DataDir
from bivec.cli.experiment_progress import experiment_progress
from bivec.cli.options import Json, Reading, example, messages, takes_graph
from bivec.cli.show import print_json
from bivec.errors import InputError

if TYPE_CHECKING:
    from bivec.experiments import Experiment, Source

File = Annotated[
    Path | None, typer.Argument(help="A graph file or saved embedding, instead of --dataset.")
]
DatasetName = Annotated[
    str | None, typer.Option("--dataset", help="A data set; 'bivec datasets list' names all.")
]
Methods = Annotated[str, typer.Option(help="Names with commas between them, or all.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="METHOD.NAME=VALUE",
        help="A parameter of a method, such as fobe.norm=5; NAME=VALUE sets it for every method.",
    ),
]
Seeds = Annotated[int, typer.Option(help="How often, with the seeds 0, 1, ...", min=1)]
Jobs = Annotated[
    int | None, typer.Option(help="Threads; the figures do not depend on it. Default: every core.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Also write a file: .md or .html (the report), .json or .csv."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group of verbs to the command line."""
    group = typer.Typer(
        no_args_is_help=True,
        epilog=example(
            "bivec evaluate link-prediction --dataset amazon",
            "bivec evaluate recommendation --dataset bine-dblp",
        ),
        rich_markup_mode="rich",
        help="How good vectors are: link prediction, recommendation, sensitivity.",
    )
    app.add_typer(group, name="evaluate")
    examples: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
        "link-prediction": (
            link_prediction,
            (
                "bivec evaluate link-prediction --dataset snap-com-amazon --methods fobe,hobe",
                "bivec evaluate link-prediction ratings.csv --train-share 0.8 --seeds 5",
                "bivec evaluate link-prediction --dataset youtube --set dim=64 --set fobe.norm=5",
            ),
        ),
        "recommendation": (
            recommendation,
            (
                "bivec evaluate recommendation --dataset bine-dblp",
                "bivec evaluate recommendation --dataset lastfm --k 20 --protocol masked",
                "bivec evaluate recommendation ratings.csv --weight stars --output table.csv",
            ),
        ),
        "sensitivity": (
            sensitivity,
            (
                "bivec evaluate sensitivity --quick",
                "bivec evaluate sensitivity --dataset amazon --rates 1,16,256 --trials 3",
            ),
        ),
    }
    for name, (verb, lines) in examples.items():
        group.command(name, epilog=example(*lines))(takes_graph(verb))


def link_prediction(
    reading: Reading,
    file: File = None,
    dataset: DatasetName = None,
    methods: Methods = "fobe,hobe",
    train_share: Annotated[
        str, typer.Option(help="Shares of the edges to train on, commas between them.")
    ] = "0.5",
    seeds: Seeds = 1,
    tasks: Annotated[str, typer.Option(help="Of left, right and unified.")] = "left,right,unified",
    settings: Settings = None,
    jobs: Jobs = None,
    data_dir: DataDir = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Hold edges out, learn vectors on the rest, and tell the held-out edges from other pairs.

    In the unified task popularity and item-kNN, which need no vectors, are measured beside the
    methods.
    """
    values = {
        "train_shares": [
            _number("--train-share", text) for text in _words("--train-share", train_share)
        ],
        "tasks": _words("--tasks", tasks),
        "seeds": list(range(seeds)),
    }
    _evaluate("link-prediction", values, file, dataset, methods, settings, reading, data_dir, jobs,
              output, json)  # fmt: skip


def recommendation(
    reading: Reading,
    file: File = None,
    dataset: DatasetName = None,
    methods: Methods = "fobe,hobe",
    k: Annotated[int, typer.Option(help="Length of the lists.")] = 10,
    protocol: Annotated[str, typer.Option(help="Of bine and masked.")] = "bine,masked",
    scorer: Annotated[
        str,
        typer.Option(
            help="How vectors rank: of blend, blend-new, centroid, centroid-cosine and dot."
        ),
    ] = "blend,centroid",
    test_share: Annotated[
        float, typer.Option(help="Of every user's edges, where the data set has no split.")
    ] = 0.4,
    seeds: Seeds = 1,
    settings: Settings = None,
    jobs: Jobs = None,
    data_dir: DataDir = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Rank all items for every user and measure the lists; left nodes are users, right ones items.

    Every reference ranker is in the table. The split is the data set's own where it has one.
    """
    values = {
        "k": k,
        "protocols": _words("--protocol", protocol),
        "scorers": _words("--scorer", scorer),
        "test_share": test_share,
        "seeds": list(range(seeds)),
    }
    _evaluate("recommendation", values, file, dataset, methods, settings, reading, data_dir, jobs,
              output, json)  # fmt: skip


def sensitivity(
    reading: Reading,
    file: File = None,
    dataset: DatasetName = None,
    methods: Methods = "fobe,hobe",
    rates: Annotated[
        str | None, typer.Option(help="Samples a node. Default: 1, 2, 4, ... 1024.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Hold-outs for each rate. Default: 10.", min=1)
    ] = None,
    train_share: Annotated[float, typer.Option(help="Share of the edges to train on.")] = 0.5,
    tasks: Annotated[str, typer.Option(help="Of left, right and unified.")] = "left,right,unified",
    quick: Annotated[
        bool, typer.Option("--quick", help="Rates 1, 16 and 128, two trials, 25 epochs.")
    ] = False,
    settings: Settings = None,
    jobs: Jobs = None,
    data_dir: DataDir = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Measure link prediction at growing numbers of samples: least, mean and greatest accuracy.

    Without a graph, MadGrades is taken, as in the paper.
    """
    usual = "1,16,128" if quick else ",".join(str(2**k) for k in range(11))
    given = [*(["epochs=25"] if quick else []), *(settings or [])]
    values = {
        "rates": [
            _whole("--rates", text) for text in _words("--rates", usual if rates is None else rates)
        ],
        "seeds": list(range(trials or (2 if quick else 10))),
        "train_shares": [train_share],
        "tasks": _words("--tasks", tasks),
    }
    dataset = dataset or (None if file else "madgrades")
    _evaluate("sensitivity", values, file, dataset, methods, given, reading, data_dir, jobs, output,
              json)  # fmt: skip


def _evaluate(
    kind: str,
    values: dict[str, Any],
    file: Path | None,
    dataset: str | None,
    methods: str,
    settings: list[str] | None,
    reading: Reading,
    data_dir: Path | None,
    jobs: int | None,
    output: Path | None,
    json: bool,
) -> None:
    """Check everything, load the graph, measure, show."""
    from bivec import experiments
    from bivec.experiments.methods import chosen_methods, parse_settings
    from bivec.experiments.report import check_output, summary, write_output

    _words("--methods", methods)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        chosen = chosen_methods(methods, "n_samples" if kind == "sensitivity" else None)
    for note in notes:
        messages().print(f"note: {note.message}", markup=False, soft_wrap=True)
    values = {**values, "kind": kind, "methods": list(chosen)}
    values["parameters"] = parse_settings(settings or [], chosen)
    if output is not None:
        check_output(output)
    source = _source(file, dataset, reading, data_dir)
    experiment = _experiment(kind, values, source)
    with experiment_progress() as progress:
        outcome = experiments.run_experiment(
            experiment, sources={source.name: source}, n_jobs=jobs, progress=progress
        )
    if output is not None:
        write_output(outcome, output)
        messages().print(f"wrote {output}", markup=False, soft_wrap=True)
    if json:
        print_json(summary(outcome))
    else:
        show_outcome(outcome)
    if all(result.error is not None for result in outcome.results):
        raise typer.Exit(1)


def _experiment(kind: str, values: dict[str, Any], source: Source) -> Experiment:
    from dataclasses import replace

    from bivec.experiments import check_experiment

    # A graph of the user's is in no registry: check the rest beside a name that is.
    checked = check_experiment(kind, {**values, "datasets": ["southern-women"]})
    words = kind.replace("-", " ").capitalize()
    return replace(checked, datasets=(source.name,), title=f"{words} on {source.name}")


def _source(
    file: Path | None, dataset: str | None, reading: Reading, data_dir: Path | None
) -> Source:
    from bivec.experiments import Source, load_source

    if (file is None) == (dataset is None):
        raise InputError(
            "there is no graph to measure on" if file is None else "there are two graphs",
            "Name one: a file, or --dataset.",
        )
    if dataset is not None:
        return load_source(dataset, data_dir)
    assert file is not None
    graph, _ = reading.read(file)
    return Source(file.name, graph)


def show_outcome(outcome: Any) -> None:
    """Print the tables on standard output and notes on standard error."""
    from bivec.experiments.render import text_table
    from bivec.experiments.report import main_tables
    from bivec.experiments.summary import problems

    typer.echo("\n\n".join(text_table(table) for table in main_tables(outcome)))
    for note in problems(outcome):
        messages().print(f"note: {note}", markup=False, soft_wrap=True)


def _words(option: str, text: str) -> list[str]:
    """Return what stands between commas."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError(f"{option}: nothing is given", "Give one or more, commas between them.")
    return words


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option}: {text!r} is no number", "Write 0.5 or 0.1,0.5.") from None


def _whole(option: str, text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"{option}: {text!r} is no whole number", "Write 1,16,256.")
    return int(text)
