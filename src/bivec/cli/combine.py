"""The verb ``combine``: one joint embedding from several saved ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

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
        _option(
            help="Scale the vectors to this root mean square norm. Default: auto (5, of degrees 2)."
        ),
    ] = None
    by_degree: Annotated[
        bool | None,
        _option(
            help="Degrees in place of the inputs, or never. Default: where the graph is sparse and "
            "they say more about edges (direct)."
        ),
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
    seconds = train(model, kind, edges)
    model.embedding_.save(output, graph=save_graph)
    made_of = [
        {"path": str(path), "method": made["method"], "dim": made["dim"]}
        for path, made in zip(inputs, model.inputs_, strict=True)
    ]
    report = {
        "kind": kind, "inputs": made_of, "by_degree": model.by_degree_,
        **outcome(model, output, seconds),
    }  # fmt: skip
    finish(report, _sentence(report), json)


def _sentence(report: dict[str, Any]) -> str:
    made_of = " and ".join(f"{made['method']} ({made['dim']})" for made in report["inputs"])
    stopped = "interrupted after" if report["interrupted"] else "in"
    note = (
        "; by degrees alone, as they tell more about edges here (--no-by-degree for the inputs)"
        if report["by_degree"]
        else ""
    )
    return (
        f"wrote {report['output']}: {report['kind']} combination of {made_of}, dim "
        f"{report['dim']}, {report['left']:,} left and {report['right']:,} right vectors; loss "
        f"{report['first_loss']:.4f} to {report['loss']:.4f} {stopped} {report['epochs']} epochs, "
        f"{report['seconds']:.1f} s{note}"
    )
