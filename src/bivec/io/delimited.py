"""Edges as delimited text: parsed in columns by Arrow, explained line by line when it fails."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.csv as pa_csv

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.io.columns import (
    UNUSABLE_WEIGHT,
    Auto,
    Column,
    Roles,
    WeightColumn,
    graph_from_columns,
    resolve_roles,
)
from bivec.io.diagnose import diagnose
from bivec.io.sniff import BLANKS, TextFormat, is_simple, sniff
from bivec.io.source import Progress, Source

_BLOCK = 1 << 20
_UNIT_SEPARATOR = b"\x1f"


def read_delimited(
    source: Source,
    left: Column,
    right: Column,
    weight: WeightColumn,
    delimiter: str | None,
    header: bool | None,
    quote: str | None,
    duplicates: str,
    progress: Progress | None,
) -> tuple[BipartiteGraph, str]:
    """Read an edge list; return it with a description of how it was read."""
    named = any(isinstance(column, str) for column in (left, right, weight))
    if named and header is False:
        raise InputError(
            "columns are given by name but the file is said to have no header",
            "Give positions, or drop header=False (--no-header).",
            path=source.path,
        )
    layout = sniff(
        source.head, source.path, delimiter=delimiter, header=named or header, quote=quote
    )
    roles = resolve_roles(
        layout.names,
        layout.numeric,
        left,
        right,
        weight,
        lambda: layout.kinds[2] == "time",
        source.path,
    )
    if roles.weight is not None:
        if isinstance(weight, Auto) and layout.kinds[roles.weight] == "figure":
            raise InputError(
                "this looks like the weight, but with thousands marks, decimal commas, percent "
                "or currency signs",
                "Clean the column to plain numbers, choose another (weight=), or read without "
                "weights (weight=None, --unweighted).",
                path=source.path,
                column=layout.column(roles.weight),
            )
        if layout.kinds[roles.weight] == "decimal comma":
            layout = replace(layout, decimal=",")
    columns = _parse(source, layout, roles, progress)

    def fail(problem: str, row: int) -> NoReturn:
        diagnose(source, layout, roles)
        raise InputError(f"{problem} (data row {row + 1:,})", UNUSABLE_WEIGHT)  # pragma: no cover

    if len(columns["left"]) == 0:
        raise InputError(
            "the file holds a header but no edges", "Add rows: left id, right id.", path=source.path
        )
    graph = graph_from_columns(
        columns.pop("left"),  # popped, so that each can be freed once it is numbered
        columns.pop("right"),
        columns.pop("weight", None),
        duplicates=duplicates,
        fail=fail,
        infer_integers=True,
    )
    return graph, _describe(layout, roles)


def _describe(layout: TextFormat, roles: Roles) -> str:
    columns = f"left is column {layout.column(roles.left)}, right {layout.column(roles.right)}"
    if roles.weight is None:
        return f"{layout.describe()}; {columns}, unweighted"
    return f"{layout.describe()}; {columns}, weight {layout.column(roles.weight)}"


def _parse(
    source: Source, layout: TextFormat, roles: Roles, progress: Progress | None
) -> dict[str, pa.ChunkedArray]:
    """Parse the three columns, ids as dictionaries, one block of text at a time."""
    width = len(layout.names)
    ids = pa.dictionary(pa.int32(), pa.string())
    wanted = {roles.left: ids, roles.right: ids}
    if roles.weight is not None:
        wanted[roles.weight] = pa.float64()
    names = [str(i) for i in range(width)]
    with source.open(progress) as stream:
        text = _prepared(stream, layout)
        holders = partial(sys.getrefcount, text)
        before = holders()
        lent = [text if text is stream else pa.PythonFile(text, mode="r")]
        try:
            table = pa_csv.read_csv(
                lent.pop(),
                read_options=pa_csv.ReadOptions(
                    column_names=names,
                    skip_rows=layout.skipped,
                    skip_rows_after_names=int(layout.header),
                    block_size=_BLOCK,
                ),
                parse_options=pa_csv.ParseOptions(
                    delimiter=_inner_delimiter(layout),
                    quote_char=layout.quote or False,
                    newlines_in_values=layout.quote is not None,
                ),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=[str(i) for i in wanted],
                    column_types={str(i): kind for i, kind in wanted.items()},
                    strings_can_be_null=False,
                    null_values=[],
                    decimal_point=layout.decimal,
                ),
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return {"left": pa.chunked_array([[]])}
            diagnose(source, layout, roles)
            raise InputError(
                f"the text cannot be parsed ({error})",
                "Pass delimiter, header or quote if they were guessed wrong; a row may be at most "
                "1 MB long.",
                path=source.path,
            ) from error
        finally:
            _wait_until_let_go(holders, before)
    table = table.rename_columns(["left", "right", "weight"][: len(wanted)])
    if isinstance(text, _Watched) and text.odd:
        diagnose(source, layout, roles)
    return dict(zip(table.column_names, table.columns, strict=True))


def _wait_until_let_go(holders: Callable[[], int], before: int) -> None:
    """Wait, a second at most, until Arrow has let go of what it read.

    One of its threads may hold it for a moment longer, and to let go takes the interpreter's lock:
    if the interpreter is about to end then, the process aborts.
    """
    until = time.monotonic() + 1
    while holders() > before and time.monotonic() < until:
        time.sleep(0.0005)


def _inner_delimiter(layout: TextFormat) -> str:
    if layout.delimiter == BLANKS:
        return " "
    return layout.delimiter if is_simple(layout.delimiter) else _UNIT_SEPARATOR.decode()


def _prepared(stream: pa.NativeFile, layout: TextFormat) -> Any:
    """Turn runs of blanks, or a delimiter of several bytes, into single ones; watch quotes."""
    if not is_simple(layout.delimiter):
        return _Rewriting(stream, layout.delimiter)
    if layout.quote is None:
        return stream
    return _Watched(stream, layout.quote, layout.delimiter)


class _Watched:
    """A stream that notes quotes which the parser would silently take in its own way.

    It drops a quote that closes within a cell (``"Weird Al" Yankovic``), and one that never
    closes, or only at the next odd quote, swallows the lines between. Such a place is a quote at
    the start of a cell without a partner at the end of one. Cells that wrap over the end of a
    block are noted too: the slow pass that follows knows better.
    """

    def __init__(self, stream: pa.NativeFile, quote: str, delimiter: str) -> None:
        self._stream, self._quote = stream, quote.encode()
        q, end = re.escape(quote), rf"[{re.escape(delimiter)}\r\n]"
        starts_cell = rf"(?<![^{end[1:-1]}]{q})"
        closes = rf"[^{q}]*+(?:{q}{q}[^{q}]*+)*+{q}(?:{end}|\Z)"
        self._odd = re.compile(rf"{q}{starts_cell}(?!{closes})".encode())
        self._tail = b""  # an unfinished line behind a quote
        self._started = self.closed = False
        self.odd = False

    def read(self, n: int = -1) -> bytes:
        block: bytes = self._stream.read(n)
        text = self._tail + block
        if self._quote in text and not self.odd:
            if not self._started:
                text = text.removeprefix(b"\xef\xbb\xbf")
            whole = text.rfind(b"\n") + 1 if block else len(text)
            self.odd = self._odd.search(text, 0, whole) is not None
            self._tail = text[whole:]
        else:
            self._tail = b""
        self._started = True
        return block

    def close(self) -> None:
        self.closed = True


class _Rewriting:
    """A readable stream whose lines have single-character delimiters."""

    def __init__(self, stream: pa.NativeFile, delimiter: str) -> None:
        self._stream, self._delimiter = stream, delimiter
        self._tail = b""  # an unfinished line, not yet rewritten
        self._ready = b""
        self.closed = False

    def read(self, n: int = -1) -> bytes:
        while not self._ready:
            block = self._stream.read(_BLOCK)
            if not block:
                self._ready, self._tail = self._rewrite(self._tail), b""
                break
            lines, newline, tail = (self._tail + block).rpartition(b"\n")
            self._ready, self._tail = self._rewrite(lines + newline), tail
        n = len(self._ready) if n < 0 else n
        taken, self._ready = self._ready[:n], self._ready[n:]
        return taken

    def _rewrite(self, lines: bytes) -> bytes:
        if self._delimiter != BLANKS:
            return lines.replace(self._delimiter.encode(), _UNIT_SEPARATOR)
        if b"\t" in lines or b"  " in lines:
            lines = re.sub(rb"[ \t]+", b" ", lines)
        if b" \n" in lines or b" \r" in lines or b"\n " in lines or lines[:1] == b" ":
            lines = re.sub(rb"(?m)^ | (?=\r?$)", b"", lines)
        return lines[:-1] if lines.endswith(b" ") else lines

    def close(self) -> None:
        self.closed = True
