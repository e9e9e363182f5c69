"""Verbs on graph files: ``info`` and ``convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bivec.cli.options import Json, Reading, example, is_embedding, messages, takes_graph
from bivec.cli.show import print_facts, print_json, print_summary
from bivec.errors import InputError

MinDegree = Annotated[
    int | None,
    typer.Option(
        "--min-degree",
        min=1,
        help="First remove nodes with fewer neighbours, again and again, until none is left "
        "(2 is the paper's cleaning).",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command(
        epilog=example(
            "bivec info ratings.csv",
            "bivec info ratings.csv --left user --right movie --weight stars --json",
            "bivec info com-youtube.top5000.cmty.txt",
            "bivec info ratings.bivec",
        )
    )(takes_graph(info))
    app.command(
        epilog=example(
            "bivec convert ratings.csv.gz ratings.parquet",
            "bivec convert out.crime crime.json --delimiter whitespace",
            "bivec convert ratings.csv core.tsv --min-degree 2",
        )
    )(takes_graph(convert))


def info(
    file: Annotated[Path, typer.Argument(help="A graph file, or a saved embedding (.bivec).")],
    reading: Reading,
    json: Json = False,
    min_degree: MinDegree = None,
) -> None:
    """Sum a graph up: sizes, density, degrees, components, memory."""
    if is_embedding(file):
        if reading != Reading() or min_degree is not None:
            raise InputError(
                "options for reading a graph do not go with a saved embedding",
                "Leave them out, or write its graph to a file with: bivec convert.",
                path=file,
            )
        _embedding_info(file, json)
        return
    graph, how = reading.read(file)
    if min_degree is not None:
        graph = graph.prune(min_degree, min_degree)
    summary = graph.summary()
    if json:
        print_json({"file": str(file), "read_as": how, **summary.to_dict()})
    else:
        print_summary(summary, str(file), how)


def _embedding_info(folder: Path, json: bool) -> None:
    from bivec.embedding import load
    from bivec.embedding.store import INDEX
    from bivec.queries.index import reports

    embedding = load(folder)
    indexes = reports(folder / INDEX)
    facts: dict[str, Any] = {
        "method": embedding.method,
        "dim": embedding.dim,
        "left": len(embedding.left),
        "right": len(embedding.right),
        "params": embedding.params,
    }
    if indexes:
        facts["index recall"] = {
            f"{report['side']} {report['kind']}": round(report["recall"], 4) for report in indexes
        }
    summary = None if embedding.graph is None else embedding.graph.summary()
    if json:
        graph = None if summary is None else summary.to_dict()
        print_json({"file": str(folder), **facts, "graph": graph})
        return
    print_facts([("embedding", str(folder)), *((k, str(v)) for k, v in facts.items())])
    if summary is not None:
        print_summary(summary, "the training graph, saved with it")


def convert(
    file: Annotated[
        Path, typer.Argument(help="The graph file to read, or a saved embedding for its graph.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            help="The file to write; its suffix says the format: .csv .tsv (.gz .zst) .parquet "
            ".arrow .mtx .json (HIF) .cmty.txt"
        ),
    ],
    reading: Reading,
    min_degree: MinDegree = None,
) -> None:
    """Write a graph in another format. What a format cannot hold is an error, never lost."""
    from bivec.io import write_graph

    if file.exists() and target.exists() and target.samefile(file):
        raise InputError("source and target are the same file", "Choose another name.", path=file)
    graph, _ = reading.read(file)
    if min_degree is not None:
        graph = graph.prune(min_degree, min_degree)
    write_graph(graph, target)
    messages().print(f"wrote {graph.n_edges:,} edges to {target}", markup=False)
