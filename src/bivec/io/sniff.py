"""Guess how a text file of edges is laid out: comments, delimiter, header, which column is what.

The guesses look at the first lines only and follow rules that a reader can check:

* Leading lines are comments when they start with ``#`` or ``%`` followed by a blank, the same
  sign, or nothing (``# Nodes: 5``, ``% bip unweighted``). ``#cats`` is data.
* The delimiter is the first of tab, comma, semicolon, ``|``, ``::``, blanks that cuts every line
  into the same number of cells, at least two; the file's suffix goes first.
* The first row is a header when it names well-known columns; or when its cells occur nowhere below
  and every column of numbers (or of letters and a number, as ``u17``) is so everywhere but there,
  or nearly every other cell does occur twice.
* The third column is the weight if half of its cells or more are numbers and it is not named like
  a time.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bivec.errors import InputError
from bivec.io.source import HEAD_BYTES

BLANKS = "whitespace"
"""The delimiter for any run of spaces and tabs."""

DELIMITERS = ("\t", ",", ";", "|", "::", BLANKS)
DELIMITER_NAMES = {
    "\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", "::": "double-colon", BLANKS: "blank",
}  # fmt: skip
_BY_SUFFIX = {".csv": ",", ".tsv": "\t"}
_SAMPLE_LINES = 1000
SEAL = "\x1e"
"""A row that marks the end of a text, to see whether a quote is still open there."""

_COMMENT = re.compile(rb"[ \t]*([#%])([ \t]|\1|\r?$)")
_NUMBER = re.compile(
    r"[ \t]*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf)[ \t]*$", re.I
)
_NO_NAME = re.compile(r"[\W\d_]*\d[\W\d_]*")  # digits but no letter, as 1,5 or 2020-01-31
_LETTER_NUMBER = re.compile(r"[^\W\d_]+[-_ ]?\d+$")
# No single letters: "a,b" is as likely an edge, and a lost edge is worse than a false one.
_HEADER_WORDS = frozenset(
    [
        "left", "right", "user", "users", "item", "items", "movie", "movies", "viewer", "source",
        "target", "src", "dst", "from", "to", "node", "edge", "author", "venue", "paper", "gene",
        "disease", "drug", "person", "product", "customer", "artist", "track", "song", "user_id",
        "item_id", "userid", "itemid", "movieid", "movie_id", "artistid", "head", "tail",
    ]
)  # fmt: skip
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
    """Which columns hold numbers in half of the first rows or more."""

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
    if quote is not None and not re.fullmatch(r"[!-+\--/:<-@\[-`{}~]", quote):
        raise InputError(
            f"{quote!r} cannot be the quote", """Pass '"', "'" or None (--no-quote)."""
        )
    if delimiter is not None and (not delimiter or set(delimiter) & set(f"\r\n{quote or ''}")):
        raise InputError(f"{delimiter!r} cannot be a delimiter", "Pass for instance ',' or '\\t'.")
    skipped, lines = _body(head, path)
    if delimiter is None:
        delimiter = _find_delimiter(lines, path, quote)
    if delimiter == " ":
        delimiter = BLANKS
    if not is_simple(delimiter):
        quote = None
    rows = _sample(lines, delimiter, quote, path)
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
    sample = body if header else [first, *body]
    return TextFormat(
        delimiter=delimiter,
        quote=quote,
        skipped=skipped,
        header=header,
        names=tuple(first) if header else tuple(str(i + 1) for i in range(width)),
        numeric=tuple(
            2 * sum(bool(_NUMBER.match(row[i])) for row in sample) >= len(sample) > 0
            for i in range(width)
        ),
    )


def guess_weight(names: Sequence[str], numeric: Sequence[bool], taken: set[int]) -> int | None:
    """Return the column that is the weight unless the user says otherwise."""
    if len(names) < 3 or 2 in taken or not numeric[2]:
        return None
    words = re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", names[2]).lower())
    return None if any(word in _TIME_WORDS or "time" in word for word in words) else 2


def is_simple(delimiter: str) -> bool:
    """Tell whether a delimiter is one byte, as the fast reader wants it."""
    return len(delimiter.encode()) == 1


def split_rows(lines: Iterable[str], delimiter: str, quote: str | None) -> Iterator[list[str]]:
    """Cut lines into cells, by the same rules as the fast reader."""
    if not is_simple(delimiter):
        cut = re.compile(r"[ \t]+" if delimiter == BLANKS else re.escape(delimiter))
        trimmed = (line.strip(" \t\r\n" if delimiter == BLANKS else "\r\n") for line in lines)
        return (cut.split(line) if line else [] for line in trimmed)
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
    if len(raw) == 1 and b"\r" in raw[0].rstrip(b"\r"):
        raise InputError(
            "the lines end in carriage returns alone, as on old Macs",
            "Convert them, for instance with: tr '\\r' '\\n'.",
            path=path,
        )
    if len(raw) > 1 and (not raw[-1] or len(head) == HEAD_BYTES):
        raw.pop()  # empty after a final newline, or cut in two
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


def _sample(lines: list[str], delimiter: str, quote: str | None, path: Path) -> list[list[str]]:
    """Split the first lines, as far as that goes, without a last row that is perhaps cut in two."""
    rows: list[list[str]] = []
    try:
        for row in split_rows([*lines, SEAL], delimiter, quote):
            if row:
                rows.append(row)
    except csv.Error as error:
        if not rows:  # else left to the reader, which knows the line
            raise InputError(
                f"the first row cannot be split ({error})",
                "Close its quotes, or pass quote=None (--no-quote) if quotes mean nothing.",
                path=path,
            ) from None
    return rows[:-1] or rows


def _find_delimiter(lines: list[str], path: Path, quote: str | None) -> str:
    suffix = next((s for s in reversed(path.suffixes) if s.lower() in _BY_SUFFIX), "").lower()
    order = sorted(DELIMITERS, key=lambda d: d != _BY_SUFFIX.get(suffix))
    best, best_share = None, 0.0
    for candidate in order:
        if candidate == quote:
            continue
        widths = Counter(map(len, _sample(lines, candidate, quote, path)))
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
    if not body or any(_NUMBER.match(cell) or _NO_NAME.fullmatch(cell) for cell in first):
        return False
    columns = list(zip(*body, strict=True))
    if any(cell in column for cell, column in zip(first, columns, strict=True)):
        return False
    for shape in (_NUMBER, _LETTER_NUMBER):
        differs = [
            not shape.match(cell)
            for cell, column in zip(first, columns, strict=True)
            if all(shape.match(value) for value in column)
        ]
        if differs:
            return all(differs)
    # How likely is it that a row of data has two ids that no other row has? The share of such rows
    # in the body says; a header is that, and stands where it is rare.
    counts = [Counter(column) for column in columns[:2]]
    unique = sum(counts[0][row[0]] == 1 and counts[1][row[1]] == 1 for row in body)
    return len(body) >= 10 and unique <= 0.02 * len(body)
