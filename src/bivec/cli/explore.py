"""The verb ``explore``: a page on an embedding, on this machine."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from bivec.cli.options import Reading, example, messages, takes_graph
from bivec.errors import require


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(
        epilog=example(
            "bivec explore ratings.bivec",
            "bivec explore ratings.bivec --labels movies.csv --left-name viewers "
            "--right-name movies",
            "bivec explore ratings.bivec --graph ratings.csv --port 8700 --no-browser",
        )
    )(takes_graph(explore))


def explore(
    model: Annotated[Path, typer.Argument(help="A saved embedding (.bivec).")],
    reading: Reading,
    graph: Annotated[
        Path | None,
        typer.Option(help="The edges, where the embedding was saved without or with others."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="A table (CSV, TSV, Parquet) of metadata to colour by: a column id, perhaps "
            "columns side and name, and others."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="By default the first free one from 8642."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; the default is this machine only.")
    ] = "127.0.0.1",
    left_name: Annotated[str, typer.Option(help="What the page calls the left side.")] = "left",
    right_name: Annotated[str, typer.Option(help="What the page calls the right side.")] = "right",
    layout: Annotated[str, typer.Option(help="auto, umap or pca.")] = "auto",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page by itself.")
    ] = False,
) -> None:
    """Open a page with maps of both sides, search, recommendations and their explanations."""
    for package in ("fastapi", "uvicorn"):
        require(package, extra="serve", purpose="The explorer")
    from bivec.embedding import load
    from bivec.serve.app import create_app
    from bivec.serve.explorer import Explorer, with_graph
    from bivec.serve.guard import is_loopback
    from bivec.serve.run import address, serve, take_port

    def say(text: str) -> None:
        messages().print(text, markup=False)

    embedding = load(model)
    if graph is not None:
        embedding = with_graph(embedding, reading.read(graph)[0], say)
    with take_port(host, port) as listening:  # before the layout, which may take minutes
        explorer = Explorer.prepare(
            embedding,
            folder=model,
            labels=labels,
            layout_method=layout,
            title=model.resolve().name.removesuffix(".bivec"),
            names={"left": left_name, "right": right_name},
            say=say,
        )
        app = create_app(explorer, loopback_only=is_loopback(host))
        place = address(listening, host)
        if not is_loopback(host):
            say(f"anyone who reaches {host} can read this embedding: there is no password")
        say(f"the explorer is at {place} (Ctrl-C ends it)")
        if not no_browser:
            webbrowser.open(place)
        with suppress(KeyboardInterrupt):
            serve(app, listening)
