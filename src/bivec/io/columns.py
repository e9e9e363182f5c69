"""From columns of ids and weights to a graph, whatever file or frame they came from."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from contextlib import suppress
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
"""Stands for: take the third column as the weight if it holds numbers."""

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


def resolve_ends(
    left: Column, right: Column, names: Sequence[str], path: Any = None
) -> tuple[int, int]:
    """Find the two id columns, which must differ."""
    ends = resolve(left, names, "left side", path), resolve(right, names, "right side", path)
    if ends[0] == ends[1]:
        raise InputError(
            f"left and right are both column {names[ends[0]]!r}", "Choose two columns.", path=path
        )
    return ends


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
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
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
