"""Options that several verbs share."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from bivec.errors import InputError

if TYPE_CHECKING:  # a verb's help must not wait for Arrow and scipy
    from bivec.graph import BipartiteGraph
    from bivec.io.columns import Column, WeightColumn


Verb = Callable[..., None]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def grouped(panel: str) -> Callable[..., Any]:
    """Return ``typer.Option`` for options that the help shows under this title."""
    return functools.partial(typer.Option, rich_help_panel=panel)


_option = grouped("Reading the graph")


@dataclasses.dataclass(frozen=True)
class Reading:
    """How to read a graph file; every field is an option of each verb that takes one."""

    left: Annotated[
        str,
        _option(help="Column of the left ids: name, or number from 1."),
    ] = "1"
    right: Annotated[str, _option(help="Column of the right ids.")] = "2"
    weight: Annotated[
        str | None,
        _option(
            help="Column of the weights. By default the third, if it looks like weights.",
        ),
    ] = None
    unweighted: Annotated[bool, _option("--unweighted", help="Take no weights.")] = False
    format: Annotated[
        str | None,
        _option(
            help="text, parquet, arrow, communities, matrix-market or hif; else detected.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        _option(
            help="Text only: a character, 'tab', '::' or 'whitespace'; else detected.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        _option(
            "--header/--no-header",
            help="Text only: whether the first row names the columns; else detected.",
        ),
    ] = None
    no_quote: Annotated[
        bool,
        _option("--no-quote", help='Text only: take " as an ordinary character.'),
    ] = False
    duplicates: Annotated[
        str,
        _option(help="What becomes of repeated edges: sum, max, last or error."),
    ] = "sum"

    def read(self, path: Path) -> tuple[BipartiteGraph, str]:
        """Read a graph with a progress bar; return it and how it was understood.

        Of a saved embedding, the graph is the one it was trained on.
        """
        if is_embedding(path):
            return _training_graph(path), "the training graph of a saved embedding"
        from bivec.io.columns import AUTO
        from bivec.io.read import read_with_description

        if self.weight is not None and self.unweighted:
            raise InputError("--weight and --unweighted exclude each other", "Choose one.")
        weight: WeightColumn = AUTO if self.weight is None else _column(self.weight)
        with reading_progress(path) as progress:
            return read_with_description(
                path,
                left=_column(self.left),
                right=_column(self.right),
                weight=None if self.unweighted else weight,
                format=self.format,
                delimiter=self.delimiter,
                header=self.header,
                quote=None if self.no_quote else '"',
                duplicates=self.duplicates,
                progress=progress,
            )


def is_embedding(path: Path) -> bool:
    """Tell whether this is a saved embedding."""
    return (path / "manifest.json").is_file()


def _training_graph(path: Path) -> BipartiteGraph:
    from bivec.embedding import load

    graph = load(path).graph
    if graph is None:
        raise InputError(
            "this embedding was saved without its graph", "Name the graph's file.", path=path
        )
    return graph


def _column(text: str) -> Column:
    """Understand a column: a number counts from 1 here, as cut and awk do."""
    if not text.isdecimal():
        return text
    if int(text) == 0:
        raise InputError("there is no column 0", "On the command line columns count from 1.")
    return int(text) - 1


@contextmanager
def reading_progress(path: Path) -> Iterator[Callable[[int, int], None] | None]:
    """Show how far reading has come, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("reading {task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=messages(), transient=True) as bar:
        task = bar.add_task(path.name)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def option_group(group: type[Any], name: str) -> Callable[[Verb], Verb]:
    """Give a verb an option for each field of a dataclass, handed to it as one argument."""
    fields = dataclasses.fields(group)
    hints = get_type_hints(group, include_extras=True)
    options = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields
    ]

    def decorate(command: Verb) -> Verb:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.name != name]

        @functools.wraps(command)
        def verb(**arguments: Any) -> None:
            values = {field.name: arguments.pop(field.name) for field in fields}
            command(**arguments, **{name: group(**values)})

        verb.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + options
        )
        return verb

    return decorate


def messages() -> Console:
    """Return the console for everything that is not data."""
    return Console(stderr=True, highlight=False)


def example(*lines: str) -> str:
    """Return the epilog of a verb's help."""
    return "[bold]Examples[/bold]\n\n" + "\n\n".join(f"  [cyan]{line}[/cyan]" for line in lines)


takes_graph = option_group(Reading, "reading")
"""Decorates a verb that reads a graph file."""
