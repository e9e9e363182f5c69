"""The verbs ``datasets list``, ``show``, ``get`` and ``path``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from bivec.cli.options import Json, example, messages
from bivec.cli.show import print_facts, print_json, print_table

if TYPE_CHECKING:
    from bivec.datasets import Entry

Name = Annotated[str, typer.Argument(help="A data set; 'bivec datasets list' names all.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="A directory with one folder a data set. Default: BIVEC_DATA, then the cache.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group of verbs to the command line."""
    group = typer.Typer(
        no_args_is_help=True,
        epilog=example("bivec datasets list", "bivec datasets get youtube"),
        rich_markup_mode="rich",
        help="Public graphs: what there is, where it comes from, how to get it.",
    )
    app.add_typer(group, name="datasets")
    examples: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
        "list": (list_, ("bivec datasets list", "bivec datasets list --json")),
        "show": (show, ("bivec datasets show madgrades", "bivec datasets show amazon --verify")),
        "get": (
            get,
            ("bivec datasets get youtube lastfm", "bivec datasets get amazon --data-dir data"),
        ),
        "path": (path, ("bivec datasets path amazon", "bivec datasets path amazon --json")),
    }
    for name, (verb, lines) in examples.items():
        group.command(name, epilog=example(*lines))(verb)


def list_(data_dir: DataDir = None, json: Json = False) -> None:
    """List the data sets, their sizes, and which are here."""
    from bivec import datasets

    entries = {name: datasets.describe(name) for name in datasets.names()}
    here = {name: datasets.available(name, data_dir) for name in entries}
    if json:
        print_json(
            [{**entry.to_dict(), "available": here[name]} for name, entry in entries.items()]
        )
        return
    rows: list[tuple[str, ...]] = []
    for name, entry in entries.items():
        counts = (entry.counts.left, entry.counts.right, entry.counts.edges)
        where = "included" if entry.included else "yes" if here[name] else "not available here"
        rows.append((name, *("?" if n is None else f"{n:,}" for n in counts), where))
    print_table(rows, ("name", "left", "right", "edges", "here"))


def show(
    name: Name,
    data_dir: DataDir = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the checksums of the files that are here.")
    ] = False,
    json: Json = False,
) -> None:
    """Tell what is known of a data set: source, terms, citation, counts, files, preparation."""
    from bivec import datasets

    entry = datasets.describe(name)
    here = datasets.available(name, data_dir)
    folder = str(datasets.path(name, data_dir)) if here and not entry.included else None
    checks = datasets.verify(name, data_dir) if verify and not entry.included else []
    if json:
        found = {c.file.name: {"ok": c.ok, "sha256": c.sha256, "size": c.size} for c in checks}
        print_json(
            {**entry.to_dict(), "available": here, "path": folder}
            | ({"verified": found} if verify else {})
        )
    else:
        print_facts(_facts(entry, folder or ("included" if here else "not available here")))
        if checks:
            print_facts([(c.file.name, "ok" if c.ok else f"DIFFERS: {c.sha256}") for c in checks])
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


def get(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="One or more data sets.")],
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", help="Where to put it. Default: the cache (BIVEC_CACHE)."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Download again what is here already.")
    ] = False,
    json: Json = False,
) -> None:
    """Download data sets from their sources, checked; what stopped half-way goes on from there."""
    from bivec import datasets

    wanted = [datasets.describe(name).name for name in names]
    folders = {}
    for name in wanted:
        with _download_progress() as progress, warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always", UserWarning)
            folder = datasets.fetch(name, data_dir, force=force, progress=progress)
        for note in notes:
            messages().print(f"note: {note.message}", markup=False, soft_wrap=True)
        messages().print(f"{name} is in {folder}", markup=False, soft_wrap=True)
        folders[name] = str(folder)
    if json:
        print_json(folders)


def path(name: Name, data_dir: DataDir = None, json: Json = False) -> None:
    """Print the folder with a data set's files."""
    from bivec import datasets

    folder = datasets.path(name, data_dir)
    if json:
        print_json({"name": datasets.describe(name).name, "path": str(folder)})
    else:
        typer.echo(folder)


def _facts(entry: Entry, where: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, Any]] = [
        ("name", ", ".join((entry.name, *entry.aliases))),
        ("title", entry.title),
        ("left, right", f"{entry.left}, {entry.right}"),
        ("weight", entry.weight or "none"),
        ("counts", entry.counts),
        ("before preparation", entry.raw_counts or ""),
        ("preparation", entry.preparation),
        ("split", entry.split),
        ("time", entry.time),
        ("labels", entry.labels),
        ("source", entry.source),
        ("licence", entry.licence),
        ("citation", entry.citation),
        ("notes", entry.notes),
        ("here", where),
        *(("download", download.url) for download in entry.downloads),
        *(
            (
                "file" if layout is entry.layouts[0] else "or file",
                f"{file.name}: {'?' if file.size is None else f'{file.size:,}'} bytes, "
                f"sha256 {file.sha256} ({_ORIGINS[file.origin]})",
            )
            for layout in entry.layouts
            for file in layout
        ),
    ]
    return [(key, str(value)) for key, value in rows if value]


_ORIGINS = {
    "original": "of the original",
    "copy": "of a copy; the original may differ in the ends of lines and the like",
    "assembly": "of tables assembled from the source, not of a published file",
}


@contextmanager
def _download_progress() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Show how far a download has come, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=messages(), transient=True) as bar:
        task = bar.add_task("connecting", total=None)
        yield lambda name, done, total: bar.update(
            task, description=name, completed=done, total=total
        )
