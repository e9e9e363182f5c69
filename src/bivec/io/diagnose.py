"""Find the line that made a text file unreadable.

The fast reader works in columns and cannot say which line was at fault. When it fails, this slow
pass reads the file again, row by row, and raises the error for the first bad one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bivec.errors import InputError, shown
from bivec.graph.assemble import first_bad_weight
from bivec.io.columns import MISSING_END, UNUSABLE_WEIGHT, Roles
from bivec.io.sniff import DELIMITER_NAMES, TextFormat, split_rows
from bivec.io.source import Source


class _Lines(Iterator[str]):
    """The file's lines as text, counted; a byte that is no UTF-8 is an error right there."""

    def __init__(self, stream: Iterator[bytes], source: Source) -> None:
        self._stream, self._source = stream, source
        self.number = 0

    def __next__(self) -> str:
        line = next(self._stream)
        self.number += 1
        if self.number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"byte {error.start + 1} of the line (0x{line[error.start]:02x}) is no UTF-8",
                "Save the file as UTF-8, for instance with: iconv -f LATIN1 -t UTF-8.",
                path=self._source.path,
                line=self.number,
            ) from None


def diagnose(source: Source, layout: TextFormat, roles: Roles) -> None:
    """Raise the error for the first bad row; return if every row is fine."""
    with source.open() as stream:
        lines = _Lines(iter(io.BufferedReader(stream)), source)
        for _ in range(layout.skipped):
            next(lines, None)
        rows = split_rows(lines, layout.delimiter, layout.quote, strict=True)
        header = layout.header
        while True:
            first = lines.number + 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise _split_error(source, layout, first, lines.number, error) from None
            if not row:
                continue
            if header:
                header = False
                continue
            _check_width(row, source, layout, first, lines.number)
            for side, position in (("left", roles.left), ("right", roles.right)):
                if not row[position]:
                    raise InputError(
                        f"the {side} id is missing",
                        MISSING_END,
                        path=source.path,
                        line=first,
                        column=layout.column(position),
                        side=side,
                    )
            if roles.weight is None:
                continue
            if problem := _weight_problem(row[roles.weight], layout.decimal):
                raise InputError(
                    problem,
                    UNUSABLE_WEIGHT,
                    path=source.path,
                    line=first,
                    column=layout.column(roles.weight),
                )


def diagnose_lines(source: Source) -> None:
    """Raise the error for the first line that is no UTF-8."""
    with source.open() as stream:
        for _ in _Lines(iter(io.BufferedReader(stream)), source):
            pass


def _check_width(row: list[str], source: Source, layout: TextFormat, line: int, last: int) -> None:
    width = len(layout.names)
    if len(row) == width:
        return
    if layout.quote and last > line:
        raise _open_quote(source, layout, line, f"the row goes on to line {last:,}")
    raise InputError(
        f"the row has {len(row)} cell{'s' * (len(row) != 1)} where {width} are expected "
        f"({DELIMITER_NAMES.get(layout.delimiter, repr(layout.delimiter))}-separated)",
        "Mend the row, pass another delimiter, or format='communities' if each line lists a group.",
        path=source.path,
        line=line,
    )


def _open_quote(source: Source, layout: TextFormat, line: int, end: str) -> InputError:
    return InputError(
        f"a quote ({layout.quote}) opens in this row and {end}",
        "Close the quote, or pass quote=None (--no-quote) if quotes are ordinary characters.",
        path=source.path,
        line=line,
    )


def _split_error(
    source: Source, layout: TextFormat, line: int, last: int, error: csv.Error
) -> InputError:
    """Say what the csv module's few messages mean."""
    if "unexpected end" in str(error):
        return _open_quote(source, layout, line, "does not close")
    if layout.quote and last > line:
        return _open_quote(source, layout, line, f"the row goes on to line {last:,}")
    if "expected after" in str(error):
        problem = f"a quote ({layout.quote}) closes in the middle of a cell"
    else:
        problem = f"the row cannot be split ({error})"
    return InputError(
        problem,
        "Mend it, or pass quote=None (--no-quote) if quotes are ordinary characters.",
        path=source.path,
        line=line,
    )


def _weight_problem(text: str, decimal: str) -> str | None:
    if not text.strip():
        return "the weight is missing"
    number = text.strip(" \t")
    if decimal == ",":  # a point is then as wrong as a comma is elsewhere
        number = number.translate({ord(","): ".", ord("."): ","})
    try:  # by the fast reader's own rules, which know no 1_000
        value = pa.scalar(number).cast(pa.float64()).as_py()
    except pa.ArrowInvalid:
        return f"the weight {shown(text)} is not a number"
    bad = first_bad_weight(np.array([value]))
    return None if bad is None else bad[1]
