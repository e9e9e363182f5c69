"""Guess how a text file of edges is laid out: comments, delimiter, header, which column is what.

The guesses look at the first lines only and follow rules that a reader can check:

* Leading lines are comments when they start with ``#`` or ``%`` followed by a blank, the same
  sign, or nothing (``# Nodes: 5``, ``% bip unweighted``). ``#cats`` is data. A first line
  ``sep=;``, as Excel has it, names the delimiter.
* A delimiter must cut every line into the same number of cells, at least two. Tab goes first, then
  whichever of comma, semicolon, ``|`` and ``::`` gives most cells (the suffix settles a tie), then
  blanks. If one blank follows every comma or semicolon, it belongs to the delimiter.
* The first row is a header when it names well-known columns; when the third or a later column
  holds figures everywhere but there; or, above ten rows or more, when its cells occur nowhere
  below and the ids are numbers (or letters and a number, as ``u17``) everywhere but there, or
  nearly all occur twice. A lost edge is worse than a false node, so doubt means no header.
* A column holds numbers if half of its cells or more do; decimal commas count where the comma is
  not the delimiter. Whole numbers from 10 million on are times.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from bivec.arrow import from_numpy
from bivec.errors import InputError
from bivec.io.columns import are_times, bare_name
from bivec.io.source import HEAD_BYTES

BLANKS = "whitespace"
"""The delimiter for any run of spaces and tabs."""

DELIMITERS = ("\t", ",", ";", "|", "::", BLANKS)
DELIMITER_NAMES = {
    "\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", "::": "double-colon", BLANKS: "blank",
    ", ": "comma-and-blank", "; ": "semicolon-and-blank",
}  # fmt: skip
DELIMITER_ALIASES = {
    "tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " ",
}  # fmt: skip
"""Words for delimiters that are hard to type."""

_BY_SUFFIX = {".csv": ",", ".tsv": "\t"}
_SAMPLE_LINES = 1000
SEAL = "\x1e"
"""A row that marks the end of a text, to see whether a quote is still open there."""

_SEPARATOR_LINE = re.compile(rb'"?sep=([^\w"\r\x80-\xff])"?\r?', re.I)
_COMMENT = re.compile(rb"[ \t]*([#%])([ \t]|\1|\r?$)")
_NUMBER = re.compile(
    r"[ \t]*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf)[ \t]*$", re.I
)
_DECIMAL_COMMA = re.compile(r"[ \t]*[-+]?(\d+,\d*|,\d+)([eE][-+]?\d+)?[ \t]*$")
_THOUSANDS = re.compile(r"[ \t]*[-+]?[1-9]\d{0,2}(,\d{3})+[ \t]*$")
_FIGURE = re.compile(  # a number as people write it: 1,000.5 or 50% or $ 3
    r"[ \t]*[-+]?[$€£¥]? ?(\d{1,3}([,.' \u00a0]\d{3})+|\d+)([.,]\d+)?[ \u00a0]?[%$€£¥]?[ \t]*$"
)
_NO_NAME = re.compile(r"[\W\d_]*\d[\W\d_]*")  # digits but no letter, as 1,5 or 2020-01-31
_MISSING = frozenset(["", "na", "n/a", "nan", "null", "none", "-", "?", "\\n"])
_LETTER_NUMBER = re.compile(r"[^\W\d_]+[-_ ]?\d+$")
_WORD_END = re.compile(r"[-_ ]?(id|ids|name|title|key|code|index)$")
# No single letters: "a,b" is as likely an edge, and a lost edge is worse than a false one.
_HEADER_WORDS = frozenset(
    [
        "left", "right", "user", "users", "item", "items", "movie", "movies", "viewer", "source",
        "target", "src", "dst", "from", "to", "node", "edge", "author", "venue", "paper", "gene",
        "disease", "drug", "person", "product", "customer", "artist", "track", "song", "head",
        "tail", "sku", "book", "film", "tag", "order", "student", "course", "member", "group",
    ]
)  # fmt: skip
_ROWS_TO_JUDGE_IDS = 10

Kind = Literal["text", "number", "decimal comma", "figure", "time"]
"""What a column holds: a figure is a number that only people read (1,000 or 50%)."""


@dataclass(frozen=True)
class TextFormat:
    """The layout of a delimited text file."""

    delimiter: str
    quote: str | None
    skipped: int
    """Leading lines that hold no data: comments, blank lines and sep=, without the header."""
    header: bool
    names: tuple[str, ...]
    """The header's names, or the positions counted from 1."""
    kinds: tuple[Kind, ...]
    """What the columns hold in half of the first rows or more."""
    decimal: str = "."
    """The decimal point of the weights."""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers of any kind."""
        return tuple(kind != "text" for kind in self.kinds)

    def describe(self) -> str:
        """Say the layout in words."""
        kind = DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))
        header = f"header ({', '.join(self.names)})" if self.header else "no header"
        decimal = ", decimal commas" if self.decimal == "," else ""
        return f"{kind}-separated text, {len(self.names)} columns, {header}{decimal}"

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
    skipped, separator, lines = _body(head, path)
    delimiter = separator if delimiter is None else DELIMITER_ALIASES.get(delimiter, delimiter)
    if delimiter is not None and (not delimiter or set(delimiter) & set(f"\r\n{quote or ''}")):
        raise InputError(f"{delimiter!r} cannot be a delimiter", "Pass for instance ',' or '\\t'.")
    if delimiter is None:
        delimiter = _with_blank(_find_delimiter(lines, path, quote), lines, path, quote)
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
    columns = list(zip(*(body if header else [first, *body]), strict=True)) or [()] * width
    return TextFormat(
        delimiter=delimiter,
        quote=quote,
        skipped=skipped,
        header=header,
        names=tuple(first) if header else tuple(str(i + 1) for i in range(width)),
        kinds=tuple(_kind(cells, delimiter) for cells in columns),
    )


def _kind(cells: Sequence[str], delimiter: str) -> Kind:
    """Say what a column holds."""
    if not cells:
        return "text"
    half = len(cells) / 2
    plain = [cell for cell in cells if _NUMBER.match(cell)]
    if not delimiter.startswith(","):
        commas = [cell for cell in cells if _DECIMAL_COMMA.match(cell)]
        points = sum("." in cell for cell in plain)
        if len(commas) > points and not all(map(_THOUSANDS.match, commas)):
            return "decimal comma" if len(commas) + len(plain) >= half else "text"
    if len(plain) >= half:
        return "time" if are_times(from_numpy(np.array(plain, float))) else "number"
    return "figure" if sum(bool(_FIGURE.match(cell)) for cell in cells) >= half else "text"


def is_simple(delimiter: str) -> bool:
    """Tell whether a delimiter is one byte, as the fast reader wants it."""
    return len(delimiter.encode()) == 1


def split_rows(
    lines: Iterable[str], delimiter: str, quote: str | None, strict: bool = False
) -> Iterator[list[str]]:
    """Cut lines into cells, by the same rules as the fast reader; strict minds odd quotes."""
    if not is_simple(delimiter):
        cut = re.compile(r"[ \t]+" if delimiter == BLANKS else re.escape(delimiter))
        trimmed = (line.strip(" \t\r\n" if delimiter == BLANKS else "\r\n") for line in lines)
        return (cut.split(line) if line else [] for line in trimmed)
    if quote is None:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=strict)


def is_comment(line: bytes) -> bool:
    """Tell whether a leading line is a comment.

    >>> [is_comment(line) for line in (b"# Nodes: 5", b"% bip", b"#", b"#cats,ann", b"a,b")]
    [True, True, True, False, False]
    """
    return bool(_COMMENT.match(line))


def _body(head: bytes, path: Path) -> tuple[int, str | None, list[str]]:
    """Count the leading lines without data; return what they say of the delimiter, and the rest."""
    raw = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(raw) == 1 and b"\r" in raw[0].rstrip(b"\r"):
        raise InputError(
            "the lines end in carriage returns alone, as on old Macs",
            "Convert them, for instance with: tr '\\r' '\\n'.",
            path=path,
        )
    if len(raw) > 1 and (not raw[-1] or len(head) == HEAD_BYTES):
        raw.pop()  # empty after a final newline, or cut in two
    separator = _SEPARATOR_LINE.fullmatch(raw[0])
    skipped = int(separator is not None)
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
    return skipped, separator and separator[1].decode(), lines


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
    # The first of equals wins below: tab, then what the suffix says, then the given order.
    order = sorted(DELIMITERS, key=lambda d: (d != "\t", d != _BY_SUFFIX.get(suffix)))
    shares: dict[str, tuple[float, int]] = {}
    problem = InputError(
        "no delimiter found: every line is a single cell",
        "Pass delimiter=..., or format='communities' if each line lists a group.",
        path=path,
    )
    for candidate in order:
        if candidate == quote:
            continue
        try:
            widths = Counter(map(len, _sample(lines, candidate, quote, path)))
        except InputError as error:  # a cell too long, perhaps only by this delimiter
            problem = error
            continue
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1]))
        if width > 1:
            shares[candidate] = count / sum(widths.values()), width
    if not shares:
        raise problem
    even = [delimiter for delimiter, (share, _) in shares.items() if share == 1.0]
    if not even:
        return max(shares, key=lambda delimiter: shares[delimiter][0])
    if "\t" in even or even == [BLANKS]:
        return even[0]
    return max((d for d in even if d != BLANKS), key=lambda delimiter: shares[delimiter][1])


def _with_blank(delimiter: str, lines: list[str], path: Path, quote: str | None) -> str:
    """Take a blank that follows every comma or semicolon as part of the delimiter."""
    if delimiter not in (",", ";") or (quote and any(quote in line for line in lines)):
        return delimiter
    rows = _sample(lines, delimiter, quote, path)
    one_blank = all(re.match(r" (?![ \t])", cell) for row in rows for cell in row[1:])
    return delimiter + " " if one_blank else delimiter


def _looks_like_header(first: list[str], body: list[list[str]]) -> bool:
    words = [cell.strip().casefold() for cell in first]
    while words and not words[-1]:  # a row may end in delimiters
        words.pop()
    columns = list(zip(*body, strict=True))
    if body and words and not words[0] and all(map(_NUMBER.match, columns[0])):
        return not any(map(_NUMBER.match, words))  # pandas' index has no name
    if len(set(words)) < len(words) or "" in words:
        return False
    if all(_WORD_END.sub("", bare_name(word)) in _HEADER_WORDS for word in words[:2]):
        return len(words) > 1
    named = list(zip(first, columns, strict=False))[: len(words)]
    if not named or any(
        _NUMBER.match(cell) or _NO_NAME.fullmatch(cell) or cell in column for cell, column in named
    ):
        return False
    if any(_holds_figures(column) and cell.strip().casefold() not in _MISSING
           for cell, column in named[2:]):  # fmt: skip
        return True
    if len(body) < _ROWS_TO_JUDGE_IDS:
        return False
    for shape in (_NUMBER, _LETTER_NUMBER):
        differs = [
            not shape.match(cell) for cell, column in named[:2] if all(map(shape.match, column))
        ]
        if differs:
            return all(differs)
    # How likely is it that a row of data has two ids that no other row has? The share of such rows
    # in the body says; a header is that, and stands where it is rare.
    counts = [Counter(column) for column in columns[:2]]
    unique = sum(counts[0][row[0]] == 1 and counts[1][row[1]] == 1 for row in body)
    return unique <= 0.02 * len(body)


def _holds_figures(column: Sequence[str]) -> bool:
    """Tell whether a column holds nothing but figures and gaps."""
    filled = [cell for cell in column if cell.strip().casefold() not in _MISSING]
    return bool(filled) and all(_NUMBER.match(c) or _NO_NAME.fullmatch(c) for c in filled)
