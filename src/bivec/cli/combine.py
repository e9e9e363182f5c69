"""The verb ``combine``: one joint embedding from several saved ones."""

from __future__ import annotations

import dataclasses
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bivec.cli.embed import training_progress
from bivec.cli.options import (
    Json,
    Reading,
    example,
    grouped,
    messages,
    option_group,
    takes_graph,
)
from bivec.cli.show import print_json
from bivec.errors import InputError

if TYPE_CHECKING:
    from bivec.combine import Combination

_option = grouped("The network (what is not given is the default)")


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Parameters of the combination; None leaves it its default."""

    dim: Annotated[int | None, _option(help="Length of the joint vectors. Default: 128.")] = None
    missing: Annotated[
        str | None,
        _option(help="Nodes that an input lacks: error, or zero for zero vectors. Default: error."),
    ] = None
    dropout: Annotated[
        float | None, _option(help="Share of the inputs hidden in a batch. Default: 0.5.")
    ] = None
    n_negatives: Annotated[
        int | None, _option(help="Random pairs without an edge, for each node. Default: 5.")
    ] = None
    epochs: Annotated[int | None, _option(help="Most sweeps over the edges. Default: 5.")] = None
    learning_rate: Annotated[
        float | None, _option(help="Of Adam, falling to 0. Default: 0.003.")
    ] = None
    batch_size: Annotated[int | None, _option(help="Pairs of a step. Default: 2048.")] = None
    patience: Annotated[
        int | None,
        _option(help="Epochs without a gain on edges held out before stopping. Default: 3."),
    ] = None
    norm: Annotated[
        float | None,
        _option(help="Scale the vectors to this root mean square norm. Default: 1.0."),
    ] = None
    device: Annotated[
        str | None, _option(help="cpu, cuda, mps, or auto for a GPU if any. Default: auto.")
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was given, by name."""
        return {k: v for k, v in dataclasses.asdict(self).items() if v is not None}


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(
        epilog=example(
            "bivec combine fobe.bivec hobe.bivec --graph ratings.csv --output joint.bivec",
            "bivec combine fobe.bivec hobe.bivec --kind direct --dim 64 --output joint.bivec",
        )
    )(takes_graph(option_group(Parameters, "parameters")(combine)))


def combine(
    inputs: Annotated[list[Path], typer.Argument(help="Saved embeddings (.bivec), one or more.")],
    reading: Reading,
    parameters: Parameters,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The directory to write (.bivec).")
    ],
    graph: Annotated[
        Path | None,
        typer.Option(help="The graph file. Default: the graph saved with the first input."),
    ] = None,
    kind: Annotated[str, typer.Option(help="direct or auto-regularized.")] = "auto-regularized",
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes on a CPU.")] = 0,
    save_graph: Annotated[
        bool,
        typer.Option(
            "--save-graph/--no-save-graph", help="Whether to save the graph with the vectors."
        ),
    ] = True,
    json: Json = False,
) -> None:
    """Learn one joint embedding from several saved ones, and save it."""
    from bivec.combine import Combination
    from bivec.embedding import load
    from bivec.embedding.store import check_target

    check_target(output)
    embeddings = [load(path) for path in inputs]
    edges = embeddings[0].graph if graph is None else reading.read(graph)[0]
    if edges is None:
        raise InputError(
            "this embedding was saved without its graph",
            "Name the graph's file with --graph.",
            path=inputs[0],
        )
    model = Combination(kind, embeddings=embeddings, random_state=seed)  # type: ignore[arg-type]
    model.set_params(**parameters.given())
    began = time.perf_counter()
    with training_progress(kind) as progress, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="training was interrupted")  # told below
        model.set_params(progress=progress).fit(edges)
    seconds = time.perf_counter() - began
    if model.n_iter_ == 0:
        raise KeyboardInterrupt
    model.embedding_.save(output, graph=save_graph)
    report = _report(model, inputs, output, seconds)
    if json:
        print_json(report)
    messages().print(_sentence(report), markup=False, soft_wrap=True)
    if model.interrupted_:
        raise typer.Exit(130)


def _report(model: Combination, inputs: list[Path], output: Path, seconds: float) -> dict[str, Any]:
    return {
        "output": str(output),
        "kind": model.kind,
        "inputs": [
            {"path": str(path), "method": made["method"], "dim": made["dim"]}
            for path, made in zip(inputs, model.inputs_, strict=True)
        ],
        "dim": int(model.left_embedding_.shape[1]),
        "left": model.graph_.n_left,
        "right": model.graph_.n_right,
        "edges": model.graph_.n_edges,
        "epochs": model.n_iter_,
        "interrupted": model.interrupted_,
        "loss": float(model.history_[-1].loss),
        "first_loss": float(model.history_[0].loss),
        "pairs": sum(record.pairs for record in model.history_),
        "seconds": round(seconds, 3),
        "seed": model.seed_,
    }


def _sentence(report: dict[str, Any]) -> str:
    made_of = " and ".join(f"{made['method']} ({made['dim']})" for made in report["inputs"])
    stopped = "interrupted after" if report["interrupted"] else "in"
    return (
        f"wrote {report['output']}: {report['kind']} combination of {made_of}, dim "
        f"{report['dim']}, {report['left']:,} left and {report['right']:,} right vectors; loss "
        f"{report['first_loss']:.4f} to {report['loss']:.4f} {stopped} {report['epochs']} epochs, "
        f"{report['seconds']:.1f} s"
    )
