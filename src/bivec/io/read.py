"""Read a graph from a file, whatever its format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.graph.assemble import check_policy
from bivec.io.columns import AUTO, Auto, Column, WeightColumn
from bivec.io.communities import read_communities
from bivec.io.delimited import read_delimited
from bivec.io.hif import read_hif
from bivec.io.matrix_market import read_matrix_market
from bivec.io.source import Progress, Source, find_source
from bivec.io.tables import read_table_file

FORMATS = ("text", "parquet", "arrow", "communities", "matrix-market", "hif")
"""What :func:`read_edges` reads."""

_LONG_LINE = 1 << 17
_READERS = {"communities": read_communities, "matrix-market": read_matrix_market, "hif": read_hif}


def read_edges(
    path: str | os.PathLike[str],
    *,
    left: Column = 0,
    right: Column = 1,
    weight: WeightColumn = AUTO,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    quote: str | None = '"',
    duplicates: str = "sum",
    progress: Progress | None = None,
) -> BipartiteGraph:
    r"""Read a bipartite graph from a file.

    Text (CSV, TSV, blank-separated and the like), Parquet, Arrow (Feather), SNAP communities,
    MatrixMarket and HIF hypergraphs are told apart by their content and name. Text, communities,
    MatrixMarket and HIF may be compressed with gzip, zstd, bzip2 or lz4. The ids of each side are
    sorted, so the same edges in another order, or in another format, give the same graph row by
    row. In text, a side whose ids are all plain integers becomes integer; ``007`` stays text, and
    so do ``NA`` and ``null``.

    Parameters
    ----------
    path : str or path
        The file.
    left, right : str or int
        The columns of the two ends, by name or by position from 0.
    weight : str, int or None
        The column of the weights; None never looks at weights, in any format. Without a choice
        it is the third column if the first two are the ends, it holds numbers, and neither its
        name nor its values look like times or ids.
    format : {"text", "parquet", "arrow", "communities", "matrix-market", "hif"}, optional
        What the file is, where it cannot be told.
    delimiter : str, optional
        For text: a character, several (``"::"``), ``"whitespace"`` for runs of blanks, or one of
        the words ``"tab"``, ``"comma"``, ``"semicolon"``, ``"bar"`` and ``"space"``.
    header : bool, optional
        For text: whether the first row names the columns.
    quote : str or None
        For text: the quote character; None takes quotes as ordinary characters.
    duplicates : {"sum", "max", "last", "error"}
        What becomes of an edge that is given more than once.
    progress : callable, optional
        Called with the bytes read so far and the bytes in all.

    Returns
    -------
    BipartiteGraph

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "ratings.csv"
    ...     _ = file.write_text("user,movie,stars\nann,Alien,5\nbob,Alien,3\nbob,Brazil,4\n")
    ...     read_edges(file, left="user", right="movie", weight="stars")
    BipartiteGraph(2 left, 2 right, 3 edges, weighted)
    """
    graph, _ = read_with_description(
        path, left, right, weight, format, delimiter, header, quote, duplicates, progress
    )
    return graph


def read_with_description(
    path: str | os.PathLike[str],
    left: Column = 0,
    right: Column = 1,
    weight: WeightColumn = AUTO,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    quote: str | None = '"',
    duplicates: str = "sum",
    progress: Progress | None = None,
) -> tuple[BipartiteGraph, str]:
    """Read a graph as :func:`read_edges` does, and say in words how the file was understood."""
    check_policy(duplicates)
    if format is not None and format not in FORMATS:
        raise InputError(f"{format!r} is no format", f"Choose one of {', '.join(FORMATS)}.")
    source = find_source(path)
    with _located(source.path):
        kind = format or detect_format(source)
        if kind != "text" and (delimiter, header, quote) != (None, None, '"'):
            raise InputError(
                f"delimiter, header and quote are for text, and this is a {kind} file",
                "Drop them, or pass format='text' (--format text).",
                path=source.path,
            )
        if kind in _READERS:
            if (left, right) != (0, 1) or not isinstance(weight, (Auto, type(None))):
                raise InputError(
                    f"a {kind} file has no columns to choose",
                    "Drop left, right and weight, or pass format='text'.",
                    path=source.path,
                )
            return _READERS[kind](source, weight is not None, duplicates, progress)
        if kind in ("parquet", "arrow"):
            return read_table_file(source, kind, left, right, weight, duplicates)
        return read_delimited(
            source, left, right, weight, delimiter, header, quote, duplicates, progress
        )


def detect_format(source: Source) -> str:
    """Tell the format by the first bytes, and community files by their name."""
    head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    # What follows the word tells the format from an edge list whose first node is called PAR1.
    if re.match(rb"PAR1[\x00-\x08\x0e-\x1f]", head):
        return "parquet"
    if head.startswith(b"ARROW1\0\0"):
        return "arrow"
    if head.startswith(b"%%MatrixMarket"):
        return "matrix-market"
    if head.startswith((b"{", b"[")):
        if b'"incidences"' in head or ".json" in source.path.suffixes:
            return "hif"
        _refuse_json(head, source.path)
    if ".cmty" in source.path.suffixes:
        return "communities"
    return "text"


def _refuse_json(head: bytes, path: Path) -> None:
    """Refuse JSON that is no hypergraph: as text it would make a graph of brackets and keys."""
    line, _, rest = head.partition(b"\n")
    # JSON of one long line, or written over many, cannot be parsed by its first line alone.
    endless = not rest and len(head) > _LONG_LINE and re.match(rb"[\[{]\s*[\[{\"]", line)
    try:
        if not endless and line.strip() not in (b"{", b"["):
            json.loads(line)
    except (ValueError, RecursionError):
        return
    raise InputError(
        'this is JSON, but no HIF hypergraph: it names no "incidences"',
        "Convert it to CSV or HIF, or pass format='text' (--format text) if it is an edge list.",
        path=path,
    )


@contextmanager
def _located(path: Path) -> Iterator[None]:
    """Name the file in errors of code that does not know it."""
    try:
        yield
    except InputError as error:
        raise error.located(path) from error.__cause__
