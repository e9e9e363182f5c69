"""Guess how a text file of edges is laid out: comments, delimiter, header, which column is what.

The guesses look at the first lines only and follow rules that a reader can check:

* Leading lines are comments when they start with ``#`` or ``%`` followed by a blank, the same
  sign, or nothing (``# Nodes: 5``, ``% bip unweighted``). ``#cats`` is data.
* The delimiter is the first of tab, comma, semicolon, ``|``, ``::``, blanks that cuts every line
  into the same number of cells, at least two; the file's suffix goes first.
* The first row is a header when a column holds numbers (or letters and a number, as ``u17``)
  everywhere but there; or when it names well-known columns; or when its cells occur nowhere below
  although nearly everything else does.
* The third column is the weight if it holds numbers and is not named like a time.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bivec.errors import InputError

BLANKS = "whitespace"
"""The delimiter for any run of spaces and tabs."""

DELIMITERS = ("\t", ",", ";", "|", "::", BLANKS)
DELIMITER_NAMES = {
    "\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", "::": "double-colon", BLANKS: "blank",
}  # fmt: skip
_BY_SUFFIX = {".csv": ",", ".tsv": "\t"}
_SAMPLE_LINES = 1000
_COMMENT = re.compile(rb"[ \t]*([#%])([ \t]|\1|\r?$)")
_NUMBER = re.compile(
    r"[ \t]*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf)[ \t]*$", re.I
)
_LETTER_NUMBER = re.compile(r"[^\W\d_]+[-_ ]?\d+$")
_HEADER_WORDS = frozenset(
    [
        "left",
        "right",
        "user",
        "users",
        "item",
        "items",
        "movie",
        "movies",
        "viewer",
        "source",
        "target",
        "src",
        "dst",
        "from",
        "to",
        "node",
        "edge",
        "author",
        "venue",
        "paper",
        "gene",
        "disease",
        "drug",
        "person",
        "product",
        "customer",
        "artist",
        "track",
        "song",
        "user_id",
        "item_id",
        "userid",
        "itemid",
        "movieid",
        "movie_id",
        "artistid",
        "head",
        "tail",
        "i",
        "j",
        "u",
        "v",
        "a",
        "b",
    ]
)
_TIME_WORDS = ("time", "date", "year", "epoch", "ts")


@dataclass(frozen=True)
class TextFormat:
    """The layout of a delimited text file."""

    delimiter: str
    quote: str | None
    skipped: int
    """Leading lines that hold no data: comments and blank lines, without the header."""
    header: bool
    names: tuple[str, ...]
    """The header's names, or the positions counted from 1."""
    numeric: tuple[bool, ...]
    """Which columns hold numbers in the first rows."""

    def describe(self) -> str:
        """Say the layout in words."""
        kind = DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))
        header = f"header ({', '.join(self.names)})" if self.header else "no header"
        return f"{kind}-separated text, {len(self.names)} columns, {header}"

    def column(self, position: int) -> str:
        """Describe a column for an error message."""
        return f"{position + 1} ({self.names[position]!r})" if self.header else str(position + 1)


def sniff(
    head: bytes,
    path: Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    quote: str | None = '"',
) -> TextFormat:
    """Guess the layout of a file from its first bytes; what is given is not guessed."""
    if quote is not None and len(quote) != 1:
        raise InputError(f"quote={quote!r} is not one character", "Pass one character or None.")
    if delimiter is not None and (not delimiter or "\n" in delimiter or delimiter == quote):
        raise InputError(f"{delimiter!r} cannot be a delimiter", "Pass for instance ',' or '\\t'.")
    skipped, lines = _body(head, path)
    if delimiter is None:
        delimiter = _find_delimiter(lines, path, quote)
    if delimiter == " ":
        delimiter = BLANKS
    if delimiter == BLANKS or len(delimiter) > 1:
        quote = None
    rows = [row for row in split_rows(lines, delimiter, quote) if row]
    first, width = rows[0], len(rows[0])
    if width < 2:
        raise InputError(
            f"the {DELIMITER_NAMES.get(delimiter, repr(delimiter))} delimiter leaves one column, "
            "but an edge has two ends",
            "Pass the right delimiter, or format='communities' if each line lists a group.",
            path=path,
            line=skipped + 1,
        )
    body = [row for row in rows[1:] if len(row) == width]
    if header is None:
        header = _looks_like_header(first, body)
    sample = body if header or not body else [first, *body]
    return TextFormat(
        delimiter=delimiter,
        quote=quote,
        skipped=skipped,
        header=header,
        names=tuple(first) if header else tuple(str(i + 1) for i in range(width)),
        numeric=tuple(
            bool(sample) and all(_NUMBER.match(row[i]) for row in sample) for i in range(width)
        )
        if sample
        else tuple(bool(_NUMBER.match(cell)) and not header for cell in first),
    )


def guess_weight(names: Sequence[str], numeric: Sequence[bool], taken: set[int]) -> int | None:
    """Return the column that is the weight unless the user says otherwise."""
    if len(names) < 3 or 2 in taken or not numeric[2]:
        return None
    words = re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", names[2]).lower())
    return None if any(word in _TIME_WORDS or "time" in word for word in words) else 2


def split_rows(
    lines: Sequence[str] | Iterator[str], delimiter: str, quote: str | None
) -> Iterator[list[str]]:
    """Cut lines into cells, by the same rules as the fast reader."""
    if delimiter == BLANKS:
        return (
            re.split(r"[ \t]+", line.strip(" \t\r\n")) if line.strip() else [] for line in lines
        )
    if len(delimiter) > 1:
        return (line.rstrip("\r\n").split(delimiter) if line.strip() else [] for line in lines)
    if quote is None:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter, quotechar=quote)


def is_comment(line: bytes) -> bool:
    """Tell whether a leading line is a comment.

    >>> [is_comment(line) for line in (b"# Nodes: 5", b"% bip", b"#", b"#cats,ann", b"a,b")]
    [True, True, True, False, False]
    """
    return bool(_COMMENT.match(line))


def _body(head: bytes, path: Path) -> tuple[int, list[str]]:
    """Count the leading lines without data and return the first lines with it."""
    raw = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(raw) > 1:
        raw.pop()  # empty after a final newline, else perhaps cut in two
    skipped = 0
    while skipped < len(raw) and (not raw[skipped].strip() or is_comment(raw[skipped])):
        skipped += 1
    # A byte that is no UTF-8 is reported by the reader, with its line; here it only must not stop.
    lines = [
        line.decode("utf-8", "replace") + "\n" for line in raw[skipped : skipped + _SAMPLE_LINES]
    ]
    if not any(line.strip() for line in lines):
        raise InputError(
            "the file holds no edges, only comments or blank lines",
            "An edge list needs at least one line: left id, right id.",
            path=path,
        )
    return skipped, lines


def _find_delimiter(lines: list[str], path: Path, quote: str | None) -> str:
    suffix = next((s for s in reversed(path.suffixes) if s.lower() in _BY_SUFFIX), "").lower()
    order = sorted(DELIMITERS, key=lambda d: d != _BY_SUFFIX.get(suffix))
    best, best_share = None, 0.0
    for candidate in order:
        try:
            cells = split_rows(lines, candidate, None if candidate == BLANKS else quote)
            widths = Counter(len(row) for row in cells if row)
        except csv.Error:
            continue
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1]))
        share = count / sum(widths.values())
        if width > 1 and share == 1.0:
            return candidate
        if width > 1 and share > best_share:
            best, best_share = candidate, share
    if best is None:
        raise InputError(
            "no delimiter found: every line is a single cell",
            "Pass delimiter=..., or format='communities' if each line lists a group.",
            path=path,
        )
    return best


def _looks_like_header(first: list[str], body: list[list[str]]) -> bool:
    words = [cell.strip().casefold() for cell in first]
    if len(set(words)) < len(words) or "" in words:
        return False
    if all(word in _HEADER_WORDS for word in words[:2]):
        return True
    if not body or any(_NUMBER.match(cell) for cell in first):
        return False
    columns = list(zip(*body, strict=True))
    for shape in (_NUMBER, _LETTER_NUMBER):
        for cell, column in zip(first, columns, strict=True):
            if not shape.match(cell) and all(shape.match(value) for value in column):
                return True
    # How likely is it that a row of data has two ids that no other row has? The share of such rows
    # in the body says; a header is that, and stands where it is rare.
    counts = [Counter(column) for column in columns[:2]]
    unique = sum(counts[0][row[0]] == 1 and counts[1][row[1]] == 1 for row in body)
    alone = counts[0][first[0]] == 0 and counts[1][first[1]] == 0
    return alone and len(body) >= 10 and unique <= 0.02 * len(body)
