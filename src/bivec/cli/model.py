"""Verbs on saved embeddings: ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bivec.cli.options import example, messages


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command(
        epilog=example(
            "bivec export ratings.bivec ratings.npz",
            "bivec export ratings.bivec movies.vec --side right",
            "bivec export ratings.bivec projector/ --format projector",
        )
    )(export)


def export(
    model: Annotated[Path, typer.Argument(help="A saved embedding (.bivec).")],
    target: Annotated[
        Path,
        typer.Argument(
            help="What to write; the suffix says the format: .parquet .vec or .txt (word2vec) "
            ".npz .safetensors .h5ad (AnnData)"
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(help="parquet, word2vec, npz, safetensors, projector or anndata."),
    ] = None,
    side: Annotated[str | None, typer.Option(help="Only this side: left or right.")] = None,
) -> None:
    """Write vectors for other programs."""
    from bivec.embedding import load

    for path in load(model).export(target, format=format, side=side):  # type: ignore[arg-type]
        messages().print(f"wrote {path}", markup=False)
