"""The verb ``embed``: learn vectors for both sides of a graph."""

from __future__ import annotations

import dataclasses
import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivec.cli.options import (
    Json,
    Reading,
    example,
    grouped,
    option_group,
    takes_graph,
)
from bivec.cli.training import finish, outcome, train
from bivec.errors import InputError

if TYPE_CHECKING:
    from bivec.models import BipartiteEstimator

_option = grouped("The method (what is not given is the method's default)")


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Parameters of the methods; None leaves a method its default."""

    dim: Annotated[int | None, _option(help="Length of the vectors. Default: 128.")] = None
    n_samples: Annotated[
        int | None, _option(help="Samples of each node and relation, in all. Default: 200.")
    ] = None
    n_walks: Annotated[
        int | None,
        _option(help="Walks from each node. Default: 100 (node2vec: 10; metapath2vec: 20)."),
    ] = None
    walk_length: Annotated[
        int | None,
        _option(help="Nodes of a walk. Default: 10 (node2vec: 7; metapath2vec: 100)."),
    ] = None
    window: Annotated[
        int | None,
        _option(help="Steps between a pair on a walk. Default: 5 (node2vec: 3; metapath2vec: 7)."),
    ] = None
    p: Annotated[
        float | None, _option("--p", help="node2vec: turning back weighs 1/p. Default: 1.0.")
    ] = None
    q: Annotated[
        float | None, _option("--q", help="node2vec: other ways weigh 1/q. Default: 1.0.")
    ] = None
    weighted: Annotated[
        bool | None,
        _option(
            "--weighted/--no-weighted", help="Walks: edges by weight, or all alike. Default: by it."
        ),
    ] = None
    n_neighbors: Annotated[
        int | None, _option(help="Sampled neighbours of each end of a cross pair. Default: 5.")
    ] = None
    n_negatives: Annotated[
        int | None, _option(help="Negatives of each pair. Default: 5 (fobe: 1; bine: 4; verse: 3).")
    ] = None
    negative_weight: Annotated[
        float | None, _option(help="fobe: weight of a negative. Default: 0.3.")
    ] = None
    epochs: Annotated[
        int | None,
        _option(help="Sweeps over all nodes. Default: 50 (node2vec: 10; metapath2vec: 20)."),
    ] = None
    learning_rate: Annotated[
        float | None,
        _option(help="Falls to 0. Default: 0.025 (fobe, hobe: 0.03; line, verse: 0.5; bine: 0.1)."),
    ] = None
    draw: Annotated[
        str | None, _option(help="How pairs are drawn: walk or set. Default: walk.")
    ] = None
    tol: Annotated[
        float | None, _option(help="Stop when the loss gains less than this share. Default: never.")
    ] = None
    patience: Annotated[
        int | None, _option(help="Epochs without such a gain before stopping. Default: 3.")
    ] = None
    norm: Annotated[
        float | None,
        _option(
            help="Scale the vectors to this root mean square norm. "
            "Default: as learned (fobe, hobe: auto)."
        ),
    ] = None
    smoothing: Annotated[
        str | None,
        _option(
            metavar="STEPS",
            help="fobe, hobe: steps within each side after training; 0 for none. Default: auto.",
        ),
    ] = None
    trials: Annotated[
        int | None, _option(help="hobe: random starts of coordinates. Default: 10.")
    ] = None
    sweeps: Annotated[int | None, _option(help="hobe: rounds of relaxation. Default: 20.")] = None
    damping: Annotated[
        float | None, _option(help="hobe: share of the old coordinate kept. Default: 0.5.")
    ] = None
    order: Annotated[
        str | None,
        _option(
            help="hobe: jacobi or gauss-seidel; line: both, first or second. "
            "Default: jacobi (line: both)."
        ),
    ] = None
    rescale: Annotated[
        bool | None,
        _option("--rescale/--no-rescale", help="hobe: spread coordinates each round. Default: no."),
    ] = None

    set: Annotated[
        list[str] | None,
        _option(metavar="NAME=VALUE", help="Any other parameter of the method; may be repeated."),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was given, by name."""
        given = {k: v for k, v in vars(self).items() if v is not None and k != "set"}
        if "smoothing" in given and given["smoothing"].isdigit():
            given["smoothing"] = int(given["smoothing"])
        return given | dict(_assignment(text) for text in self.set or ())


def _assignment(text: str) -> tuple[str, Any]:
    """Understand NAME=VALUE: a value is a number, true, false or null; anything else is text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InputError(f"--set {text} sets nothing", "Write --set NAME=VALUE.")
    try:
        return name, json_module.loads(value)
    except ValueError:
        return name, value


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(
        epilog=example(
            "bivec embed ratings.csv --output ratings.bivec",
            "bivec embed ratings.csv --method hobe --dim 64 --seed 1 --jobs 2 --output hobe.bivec",
            "bivec embed ratings.csv --method node2vec --q 0.5 --output walks.bivec",
            "bivec embed large.csv --checkpoint large.npz --output large.bivec",
            "bivec embed more-ratings.csv --init ratings.bivec --output more.bivec",
        )
    )(takes_graph(option_group(Parameters, "parameters")(embed)))


def embed(
    file: Annotated[Path, typer.Argument(help="The graph file, or a saved embedding's graph.")],
    reading: Reading,
    parameters: Parameters,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The directory to write (.bivec).")
    ],
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="fobe, hobe, fobe-paper, hobe-paper, deepwalk, node2vec, metapath2vec, line, "
            "verse, bine, svd, gsvd.",
        ),
    ] = "fobe",
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(help="Threads; the result does not depend on it. Default: every core."),
    ] = None,
    init: Annotated[
        Path | None, typer.Option(help="A saved embedding to go on from; new nodes start afresh.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Keep the state of training in this file and go on from it after an interruption; "
            "removed when the vectors are saved."
        ),
    ] = None,
    graph: Annotated[
        bool, typer.Option("--graph/--no-graph", help="Whether to save the graph with the vectors.")
    ] = True,
    json: Json = False,
) -> None:
    """Learn vectors for both sides of a graph and save them."""
    from bivec.embedding import load
    from bivec.embedding.store import check_target

    check_target(output)
    model = _model(method, parameters, seed, jobs, checkpoint is not None)
    edges, _ = reading.read(file)
    start = load(init) if init is not None else None
    kept = {} if checkpoint is None else {"checkpoint": checkpoint}
    seconds = train(model, method, edges, init=start, **kept)
    model.embedding_.save(output, graph=graph)
    if checkpoint is not None and not model.interrupted_:
        checkpoint.unlink(missing_ok=True)
    report = {"method": model.method, **outcome(model, output, seconds)}
    finish(report, _sentence(report), json)


def _model(
    method: str, parameters: Parameters, seed: int, jobs: int | None, checkpoint: bool
) -> BipartiteEstimator:
    from bivec.baselines import ALL_METHODS
    from bivec.models import PRESETS
    from bivec.models.sampled import SampledEstimator

    known: dict[str, Any] = {**ALL_METHODS, **PRESETS}
    if method not in known:
        raise InputError(f"{method!r} is no method", f"Choose one of {', '.join(known)}.")
    model: BipartiteEstimator = known[method]()
    model.set_params(**parameters.given(), random_state=seed, n_jobs=jobs)
    if checkpoint and not isinstance(model, SampledEstimator):
        kept = ", ".join(k for k, v in ALL_METHODS.items() if issubclass(v, SampledEstimator))
        raise InputError(f"{method} keeps no checkpoint", f"Methods that do: {kept}.")
    return model


def _sentence(report: dict[str, Any]) -> str:
    wrote = (
        f"wrote {report['output']}: {report['method']}, dim {report['dim']}, "
        f"{report['left']:,} left and {report['right']:,} right vectors"
    )
    if report["loss"] is None:  # a method that solves instead of training
        return f"{wrote}; {report['seconds']:.1f} s"
    rate = report["pairs"] / max(report["seconds"], 1e-9) / 1e6
    stopped = "interrupted after" if report["interrupted"] else "in"
    return (
        f"{wrote}; loss {report['first_loss']:.4f} to {report['loss']:.4f} {stopped} "
        f"{report['epochs']} epochs, {report['seconds']:.1f} s, {rate:.1f} million pairs/s"
    )
