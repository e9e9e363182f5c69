"""What the map can be coloured by: degree, community, and the columns of a table of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from bivec.arrow import to_numpy
from bivec.errors import InputError
from bivec.graph import Side
from bivec.ids import Vocabulary

MOST_CATEGORIES = 10
MOST_COLUMNS = 30


@dataclass(frozen=True, slots=True)
class Column:
    """A value for each row of a side.

    Attributes
    ----------
    name : str
    kind : {"number", "category"}
    values : array of float32
        Numbers, or for a category its position in ``categories``; NaN where there is none.
    categories : list of str
        The most frequent first; one more value than these means all others.
    counts : list of int
        Rows of each category, the others last.
    note : str
        How the column came about.
    texts : array of str, optional
        The text of each row, also of those that the categories sum up as others.
    """

    name: str
    kind: str
    values: npt.NDArray[np.float32]
    categories: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    note: str = ""
    texts: npt.NDArray[Any] | None = None

    def describe(self) -> dict[str, Any]:
        """Return what a legend needs, as JSON can hold it."""
        finite = self.values[np.isfinite(self.values)]
        return {
            "name": self.name,
            "kind": self.kind,
            "note": self.note,
            "categories": list(self.categories),
            "counts": list(self.counts),
            "low": float(finite.min()) if len(finite) else None,
            "high": float(finite.max()) if len(finite) else None,
            "missing": len(self.values) - len(finite),
        }

    def show(self, row: int) -> str:
        """Return the value of a row as text."""
        if self.texts is not None:
            return str(self.texts[row])
        value = float(self.values[row])
        if not np.isfinite(value):
            return ""
        if self.kind == "number":
            return f"{value:,.6g}"
        return self.categories[int(value)]


def numbers(name: str, values: npt.ArrayLike, note: str = "") -> Column:
    """Return a column of numbers."""
    return Column(name, "number", np.asarray(values, dtype=np.float32), note=note)


def categories(name: str, labels: npt.NDArray[np.int64], names: list[str], note: str) -> Column:
    """Return a column of categories from positions in a list of names."""
    counts = np.bincount(labels, minlength=len(names)) if len(labels) else np.zeros(len(names), int)
    return Column(
        name, "category", labels.astype(np.float32), tuple(names), tuple(counts.tolist()), note
    )


def read_labels(
    path: str | Path,
    left: Vocabulary,
    right: Vocabulary,
    say: Callable[[str], None] = lambda text: None,
) -> dict[Side, list[Column]]:
    """Read a table of metadata: an id, perhaps a side, and columns to colour by.

    The id is the column named ``id``, or else the first. A column ``side`` (left or right) says
    which side a row is about; without it an id is looked for on both. CSV, TSV and Parquet.
    """
    file = Path(path)
    table = _read_table(file)
    names = table.column_names
    key = "id" if "id" in names else names[0]
    rest = [name for name in names if name not in (key, "side")][:MOST_COLUMNS]
    if not rest:
        raise InputError(
            f"there is nothing to colour by: the only columns are {', '.join(map(repr, names))}",
            "Give an id column and at least one other.",
            path=file,
        )
    table = table.filter(pc.is_valid(table[key]))
    ids = table[key].to_pylist()
    told = _sides(table, file)
    found: dict[Side, list[Column]] = {}
    known = np.zeros(len(ids), dtype=bool)
    sides: tuple[tuple[Side, Vocabulary], ...] = (("left", left), ("right", right))
    for side, vocabulary in sides:
        rows = vocabulary.find(ids)
        rows[(told != "") & (told != side)] = -1
        known |= rows >= 0
        if (rows >= 0).any():
            found[side] = [_column(name, table[name], rows, len(vocabulary)) for name in rest]
        else:
            found[side] = []
    if not known.any():
        raise InputError(
            f"none of its {len(ids):,} ids (column {key!r}) is in the embedding",
            "Name the column of ids 'id', or put it first.",
            path=file,
        )
    if unknown := int((~known).sum()):
        say(f"{file}: {unknown:,} of {len(ids):,} ids are not in the embedding")
    return found


def _read_table(file: Path) -> pa.Table:
    if not file.is_file():
        raise InputError("there is no such file", "Check the path of --labels.", path=file)
    try:
        if file.suffix.lower() == ".parquet":
            table = pq.read_table(file)
        else:
            with file.open("rb") as stream:
                head = stream.readline()
            tab = head.count(b"\t") > head.count(b",")
            name = head.decode("utf-8-sig", "replace").rstrip("\r\n")
            first = name.split("\t" if tab else ",")
            key = "id" if "id" in first else first[0].strip('"')
            table = pa_csv.read_csv(
                file,
                parse_options=pa_csv.ParseOptions(delimiter="\t" if tab else ","),
                # Ids stay text: 007 must not become 7.
                convert_options=pa_csv.ConvertOptions(
                    column_types={key: pa.string()}, strings_can_be_null=True
                ),
            )
    except (OSError, pa.ArrowException) as error:
        detail = str(error).splitlines()[0]
        raise InputError(
            f"the labels cannot be read ({detail})",
            "Give a CSV or TSV file with a header, or Parquet.",
            path=file,
        ) from error
    if not table.num_columns or len(set(table.column_names)) != table.num_columns:
        raise InputError("two columns have the same name", "Rename one of them.", path=file)
    return table


def _sides(table: pa.Table, file: Path) -> npt.NDArray[Any]:
    """Return the side that each row names, empty where it names none."""
    if "side" not in table.column_names:
        return np.full(table.num_rows, "", dtype=object)
    told = np.array(["" if value is None else str(value) for value in table["side"].to_pylist()])
    if wrong := set(told.tolist()) - {"", "left", "right"}:
        raise InputError(
            f"{sorted(wrong)[0]!r} in the column 'side' is no side",
            "A side is 'left' or 'right'.",
            path=file,
        )
    return told.astype(object)


def _column(name: str, given: pa.ChunkedArray, rows: npt.NDArray[np.int64], n: int) -> Column:
    """Put the values of a table's column into the order of a side's rows."""
    kept = np.flatnonzero(rows >= 0)
    values = np.full(n, np.nan, dtype=np.float32)
    array = given.combine_chunks()
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numeric = array.cast(pa.float64()).fill_null(np.nan)
        values[rows[kept]] = to_numpy(numeric)[kept]
        values[~np.isfinite(values)] = np.nan
        return numbers(name, values)
    texts = np.array(["" if v is None else str(v) for v in array.to_pylist()], dtype=object)[kept]
    present = texts != ""
    words, counts = np.unique(texts[present].astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = order[:MOST_CATEGORIES]
    place = {str(words[w]): position for position, w in enumerate(shown)}
    for row, text in zip(rows[kept][present], texts[present], strict=True):
        values[row] = place.get(str(text), len(shown))
    own = np.full(n, "", dtype=object)
    own[rows[kept]] = texts
    tally = np.bincount(values[np.isfinite(values)].astype(np.int64), minlength=len(shown))
    return Column(
        name,
        "category",
        values,
        tuple(str(words[w]) for w in shown),
        tuple(int(count) for count in tally),
        texts=own,
    )
