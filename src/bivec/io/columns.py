"""From columns of ids and weights to a graph, whatever file or frame they came from."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bivec.arrow import from_numpy, to_numpy
from bivec.errors import InputError, shown
from bivec.graph import BipartiteGraph
from bivec.graph.assemble import first_bad_weight
from bivec.ids import CANONICAL_INTEGER, Vocabulary, first_empty, to_id_array


class Auto(enum.Enum):
    """The type of :data:`AUTO`."""

    AUTO = "auto"


AUTO: Final = Auto.AUTO
"""Stands for: take the third column as the weight if it looks like one."""

Column = str | int
WeightColumn = str | int | None | Auto

Fail = Callable[[str, int], NoReturn]
"""Raises the error for a problem ("left", "right" or "weight: ...") in a row counted from 0."""

UNUSABLE_WEIGHT = (
    "Weights are finite numbers, not negative. Mend the row, choose another column, "
    "or read without weights (weight=None, --unweighted)."
)
MISSING_END = "Every edge has two ends: fill in the id or remove the row."


def resolve(column: Column, names: Sequence[str], role: str, path: Any = None) -> int:
    """Turn a column's name or position into its position."""
    if isinstance(column, str):
        matches = [i for i, name in enumerate(names) if name == column]
        if len(matches) == 1:
            return matches[0]
        what = "no column" if not matches else f"{len(matches)} columns"
        known = ", ".join(map(repr, names))
        raise InputError(
            f"{what} named {column!r} for the {role}; the columns are {known}",
            "Choose by name, or by position from 0 (on the command line from 1).",
            path=path,
        )
    if not isinstance(column, (int, np.integer)) or not 0 <= column < len(names):
        raise InputError(
            f"there is no column at position {column!r} for the {role}: "
            f"there are {len(names)} columns",
            "Positions count from 0 in Python, from 1 on the command line.",
            path=path,
        )
    return int(column)


@dataclass(frozen=True)
class Roles:
    """Which column is what, by position."""

    left: int
    right: int
    weight: int | None


def resolve_roles(
    names: Sequence[str],
    numeric: Sequence[bool],
    left: Column,
    right: Column,
    weight: WeightColumn,
    looks_like_time: Callable[[], bool],
    path: Any = None,
) -> Roles:
    """Find the two id columns, which must differ, and the weight.

    Parameters
    ----------
    names
        The names of all columns.
    numeric
        Which columns hold numbers.
    left, right, weight
        What the user chose.
    looks_like_time
        Whether the values of the third column do (:func:`are_times`). It is asked only if all else
        speaks for a weight.
    path
        The file, for messages.
    """
    if len(names) < 2:
        raise InputError(
            f"the table has {len(names)} column{'s' * (len(names) != 1)}, but an edge has two ends",
            "Give a table with a left and a right column.",
            path=path,
        )
    ends = resolve(left, names, "left side", path), resolve(right, names, "right side", path)
    if ends[0] == ends[1]:
        raise InputError(
            f"left and right are both column {names[ends[0]]!r}", "Choose two columns.", path=path
        )
    by_position = [column for column in (left, right) if not isinstance(column, str)]
    if 0 in by_position and names[0] in _INDEX_NAMES and numeric[0]:
        raise InputError(
            "the first column has no name and looks like an index column written by pandas",
            f"Choose the ends by name: left= and right= (--left, --right), among "
            f"{', '.join(map(repr, names[1:]))}.",
            path=path,
        )
    if isinstance(weight, Auto):
        if set(ends) != {0, 1} or len(names) < 3 or not numeric[2] or _names_no_weight(names[2]):
            return Roles(*ends, None)
        # What bivec writes must come back, however large the weights are.
        is_weight = bare_name(names[2]).casefold() == "weight" or not looks_like_time()
        return Roles(*ends, 2 if is_weight else None)
    if weight is None:
        return Roles(*ends, None)
    chosen = resolve(weight, names, "weight", path)
    if chosen in ends:
        raise InputError(
            f"column {names[chosen]!r} cannot be a weight and an end",
            "Choose another weight column, or weight=None (--unweighted).",
            path=path,
        )
    return Roles(*ends, chosen)


_INDEX_NAMES = ("", "Unnamed: 0")  # as pandas writes an index, and as it reads that back
_TIME_WORDS = ("time", "date", "year", "epoch", "ts")
_TIMES = 1e7, 1e19  # from April 1970 in seconds, or a day as 20200131, to today in nanoseconds


def bare_name(name: str) -> str:
    """Return a column's name without a type behind it, as RecBole writes them.

    >>> bare_name("user_id:token")
    'user_id'
    """
    return re.sub(r":\w+$", "", name)


def _names_no_weight(name: str) -> bool:
    """Tell whether a column is named like a time or an id: createdTime, created_at, tagID."""
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", bare_name(name)).lower())
    timely = any(word in _TIME_WORDS or "time" in word for word in words)
    return timely or words[-1:] in (["id"], ["ids"], ["at"])


def are_times(values: pa.ChunkedArray | pa.Array) -> bool:
    """Tell whether numbers may be seconds since 1970 or days: all whole and large.

    >>> are_times(pa.array([881250949.0, 20200131.0]))
    True
    """
    values = values.cast(pa.float64(), safe=False)
    least, most = pc.min_max(values).as_py().values()
    if least is None or least < _TIMES[0] or most > _TIMES[1]:
        return False
    return bool(pc.all(pc.equal(pc.floor(values), values)).as_py())


def is_numeric(kind: pa.DataType) -> bool:
    """Tell whether weights can be of an Arrow type."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def graph_from_columns(
    left: pa.ChunkedArray,
    right: pa.ChunkedArray,
    weight: pa.ChunkedArray | None,
    *,
    duplicates: str,
    fail: Fail,
    infer_integers: bool = False,
    isolated: tuple[Sequence[Any], Sequence[Any]] = ((), ()),
) -> BipartiteGraph:
    """Build a graph; ids of each side are sorted, so that the order of rows does not matter.

    Parameters
    ----------
    left, right : pyarrow.ChunkedArray
        Ids, plain or dictionary-encoded.
    weight : pyarrow.ChunkedArray or None
        Numbers.
    fail
        Raises the error for a bad row: it knows the file and its lines.
    infer_integers : bool
        Whether a side all of whose ids are integers in their plainest form becomes integer.
    isolated
        Ids of nodes without edges on each side.
    """
    values = None if weight is None else _weights(weight, fail)
    pool = pa.default_memory_pool()
    pool.release_unused()  # what parsing took beyond its result
    left_rows, left_ids = _encode(left, "left", fail, infer_integers, isolated[0])
    del left, weight
    right_rows, right_ids = _encode(right, "right", fail, infer_integers, isolated[1])
    del right
    pool.release_unused()  # the ids of the rows are gone; the edges need the memory
    return BipartiteGraph(
        left_rows, right_rows, values, left_ids=left_ids, right_ids=right_ids, duplicates=duplicates
    )


def number_column(values: Sequence[Any], fail: Fail) -> pa.ChunkedArray:
    """Turn weights given as Python objects into a column, naming the first that is no number."""
    array = np.array(values) if len({type(value) for value in values}) == 1 else None
    if array is None or array.dtype.kind not in "iuf":
        numbers = []
        for row, value in enumerate(values):
            try:
                if isinstance(value, (bool, str, bytes)):
                    raise TypeError
                numbers.append(float(value))
            except (TypeError, ValueError):
                fail(f"weight: the weight {shown(value)} is not a number", row)
            except OverflowError:
                fail("weight: the weight does not fit into 32-bit floating point", row)
        array = np.array(numbers, dtype=np.float64)
    return pa.chunked_array([array])


def _weights(weight: pa.ChunkedArray, fail: Fail) -> npt.NDArray[np.floating[Any]]:
    kind = weight.type
    if not is_numeric(kind):
        fail(f"weight: the weight column is of type {kind}, not numeric", -1)
    if weight.null_count:
        fail("weight: the weight is missing", _first(weight.is_null()))
    if kind != pa.float32():
        weight = weight.cast(pa.float64(), safe=False)
    values: npt.NDArray[np.floating[Any]] = to_numpy(weight)
    if (bad := first_bad_weight(values)) is not None:
        fail(f"weight: {bad[1]}", bad[0])
    return values


def _encode(
    column: pa.ChunkedArray, side: str, fail: Fail, infer_integers: bool, isolated: Sequence[Any]
) -> tuple[npt.NDArray[np.int32], Vocabulary]:
    """Give each id of a side its number in sorted order."""
    if column.null_count:
        fail(side, _first(column.is_null()))
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind):  # which Arrow cannot encode
        to_id_array(pa.array([], kind), side)  # says that these are no ids
    chunks, dictionary = _dictionary_encoded(column)
    used = np.zeros(len(dictionary), dtype=bool)
    for chunk in chunks:
        used[to_numpy(chunk.indices)] = True
    position = np.cumsum(used, dtype=np.int32) - 1
    if not used.all():  # a categorical column may know more values than it has
        dictionary = dictionary.take(from_numpy(np.flatnonzero(used)))
    if _is_text(dictionary) and first_empty(dictionary) is not None:
        fail(side, _first(pc.equal(pc.binary_length(column.cast(pa.large_string())), 0)))
    ids = to_id_array(dictionary, side)
    if infer_integers and len(ids):
        ids = _as_integers(ids)
    if len(isolated):
        extra = to_id_array(isolated, side)
        if len(ids) and extra.type != ids.type:
            to_id_array([ids[0].as_py(), extra[0].as_py()], side)  # says that they mix
        ids = pa.concat_arrays([ids, extra] if len(ids) else [extra]).unique()
    order = pc.sort_indices(ids)
    rank = np.empty(len(ids), dtype=np.int32)
    rank[to_numpy(order)] = np.arange(len(ids), dtype=np.int32)
    rank = rank[position]
    rows = np.empty(len(column), dtype=np.int32)
    start = 0
    for chunk in chunks:
        np.take(rank, to_numpy(chunk.indices), out=rows[start : start + len(chunk)])
        start += len(chunk)
    return rows, Vocabulary._trusted(ids.take(order), side)


def _dictionary_encoded(column: pa.ChunkedArray) -> tuple[list[pa.DictionaryArray], pa.Array]:
    """Return the chunks of a column encoded with one dictionary of distinct values."""
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if not column.num_chunks:
        return [], pa.array([], type=column.type.value_type)
    column = column.unify_dictionaries()
    dictionary = column.chunk(0).dictionary
    if dictionary.null_count or len(pc.unique(dictionary)) < len(dictionary):
        return _dictionary_encoded(column.cast(column.type.value_type))
    return column.chunks, dictionary


def _as_integers(ids: pa.Array) -> pa.Array:
    """Turn text into integers if every one of them can be turned back into the same text."""
    text = pa.types.is_large_string(ids.type)
    if text and pc.all(pc.match_substring_regex(ids, CANONICAL_INTEGER)).as_py():
        with suppress(pa.ArrowInvalid):  # 19 digits may be too many for 64 bits: all stay text
            return ids.cast(pa.int64())
    return ids


def _is_text(values: pa.Array) -> bool:
    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _first(mask: pa.ChunkedArray) -> int:
    return int(pc.index(mask, pa.scalar(True)).as_py())
