"""The ids of one side of a graph, in row order.

Ids are strings or 64-bit integers, all of one kind on a side. They live in one Arrow array, so a
million of them cost what their characters cost and no Python object each.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bivec.arrow import from_numpy, from_texts, to_numpy
from bivec.errors import InputError, UnknownIdError, shown

Id = str | int

CANONICAL_INTEGER = r"^(0|-?[1-9][0-9]{0,18})$"
"""Text that becomes an integer and back without losing a character, if it fits into 64 bits."""

_MOST_SUGGESTED_FROM = 50_000


class Vocabulary(Sequence[Id]):
    """The distinct ids of one side; position is the row in every table of that side.

    Parameters
    ----------
    ids : iterable of str or int, numpy array, or Arrow array
        Distinct ids, all strings or all integers.
    side : str, optional
        Named in error messages.

    Examples
    --------
    >>> movies = Vocabulary(["Alien", "Brazil", "Clue"])
    >>> movies[1], len(movies), "Clue" in movies
    ('Brazil', 3, True)
    >>> movies.rows(["Clue", "Alien"])
    array([2, 0])
    """

    __slots__ = ("_array", "_side")

    def __init__(self, ids: Iterable[Id] | pa.Array, side: str | None = None) -> None:
        array = to_id_array(ids, side)
        if len(pc.unique(array)) != len(array):
            counts = pc.value_counts(array)
            repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
            raise InputError(
                f"the {side or 'side'} ids are not distinct: {_few(repeated.to_pylist())}",
                "Give each node one id.",
                side=side,
            )
        self._array = array
        self._side = side

    @classmethod
    def _trusted(cls, array: pa.Array, side: str | None) -> Vocabulary:
        """Wrap an array that is known to be distinct and of the right type."""
        self = cls.__new__(cls)
        self._array, self._side = array, side
        return self

    @classmethod
    def numbered(cls, n: int, side: str | None = None) -> Vocabulary:
        """Return the ids 0 to n - 1."""
        return cls._trusted(from_numpy(np.arange(n, dtype=np.int64)), side)

    @property
    def is_integer(self) -> bool:
        """Whether the ids are integers."""
        return bool(pa.types.is_integer(self._array.type))

    @property
    def nbytes(self) -> int:
        """Memory that the ids take."""
        return int(self._array.nbytes)

    def to_arrow(self) -> pa.Array:
        """Return the ids as an Arrow array (``int64`` or ``large_string``), without a copy."""
        return self._array

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return the ids as a numpy array (``int64``, or ``object`` holding ``str``)."""
        if self.is_integer:
            return to_numpy(self._array)
        array: npt.NDArray[Any] = self._array.to_numpy(zero_copy_only=False)
        return array

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False and not self.is_integer:
            raise ValueError("text ids become a numpy array only by copying")
        return np.array(self.to_numpy(), dtype=dtype, copy=copy)

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Vocabulary:
        """Return the ids of these rows; the rows must be distinct."""
        return self._trusted(self._array.take(from_numpy(rows)), self._side)

    def find(self, ids: Iterable[Id]) -> npt.NDArray[np.int64]:
        """Return the row of each id, -1 where there is none.

        An integer asked of string ids, or digits asked of integer ids, mean the same node: a side
        holds only one kind, so nothing can be confused.
        """
        wanted = list(ids) if not isinstance(ids, str) else [ids]
        found = np.full(len(wanted), -1, dtype=np.int64)
        keys = [self._native(key) for key in wanted]
        known = np.array([key is not None for key in keys], dtype=bool)
        if known.any():
            values = pa.array([key for key in keys if key is not None], type=self._array.type)
            if len(values) == 1:  # a scan beats building a hash table of all ids
                found[known] = pc.index(self._array, values[0]).as_py()
            else:
                rows = pc.index_in(values, value_set=self._array)
                found[known] = to_numpy(rows.fill_null(-1))
        return found

    def rows(self, ids: Iterable[Id], side: str | None = None) -> npt.NDArray[np.int64]:
        """Return the row of each id; an unknown id is an error that suggests near ones.

        ``side`` is named in that error where the ids themselves do not know theirs.
        """
        wanted = list(ids) if not isinstance(ids, str) else [ids]
        found = self.find(wanted)
        missing = [wanted[i] for i in np.flatnonzero(found < 0)]
        if missing:
            side = self._side or side
            near = self._near(missing[0])
            raise UnknownIdError(
                f"no {side + ' ' if side else ''}node {_few(missing)} among {len(self):,} ids",
                f"did you mean {_few(near)}?" if near else "",
                side=side,
            )
        return found

    def row(self, key: Id) -> int:
        """Return the row of one id."""
        return int(self.rows([key])[0])

    def joined(
        self, more: Vocabulary, side: str | None = None
    ) -> tuple[Vocabulary, npt.NDArray[np.int64]]:
        """Return these ids with those of ``more`` that are new behind them, and each one's row.

        >>> Vocabulary(["a", "b"]).joined(Vocabulary(["c", "a"]))
        (Vocabulary(['a', 'b', 'c'], n=3), array([2, 0]))
        """
        if not len(self):
            return more, np.arange(len(more))
        rows = self.find(more)
        new = rows < 0
        keys = pa.array([self._native(more[int(k)]) for k in np.flatnonzero(new)], self._array.type)
        if keys.null_count:
            raise InputError(
                f"the {side or self._side or ''} ids are integers, and "
                f"{shown(more[int(np.flatnonzero(new)[np.argmax(keys.is_null())])])} is none",
                "Give new nodes integers as ids.",
                side=side,
            )
        rows[new] = len(self) + np.arange(len(keys))
        return self._trusted(pa.concat_arrays([self._array, keys]), self._side or side), rows

    def _native(self, key: Any) -> Id | None:
        """Return the key in this side's own kind, or None where that cannot be."""
        if isinstance(key, bool):
            return None
        if isinstance(key, (int, np.integer)):
            return _int64(int(key)) if self.is_integer else str(key)
        if isinstance(key, str):
            if self.is_integer:
                return _int64(int(key)) if re.fullmatch(CANONICAL_INTEGER, key) else None
            return str.__str__(key) if _is_unicode(key) else None
        return None

    def _near(self, key: Id) -> list[str]:
        if self.is_integer or len(self) > _MOST_SUGGESTED_FROM:
            return []
        names = self._array.to_pylist()
        folded = {name.casefold(): name for name in names}
        if (same := folded.get(str(key).casefold())) is not None:
            return [same]
        return difflib.get_close_matches(str(key), names, n=3, cutoff=0.75)

    @overload
    def __getitem__(self, index: int) -> Id: ...
    @overload
    def __getitem__(self, index: slice) -> list[Id]: ...
    def __getitem__(self, index: int | slice) -> Id | list[Id]:
        """Return the id at a row, or a list of ids for a slice."""
        if isinstance(index, slice):
            ids: list[Id] = self._array.take(
                from_numpy(np.arange(*index.indices(len(self)), dtype=np.int64))
            ).to_pylist()
            return ids
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"row {position} is outside the {len(self):,} rows of this side")
        value: Id = self._array[position % len(self)].as_py()
        return value

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Id]:
        return iter(self._array.to_pylist())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, (str, int, np.integer)) and bool(self.find([key])[0] >= 0)  # type: ignore[list-item]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return bool(self._array.equals(other._array))

    def __hash__(self) -> int:
        return hash((len(self), *self[:3]))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3])) + (", ..." if len(self) > 3 else "")
        return f"Vocabulary([{shown}], n={len(self):,})"


def _int64(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def _is_unicode(text: str) -> bool:
    """Tell whether the text is without lone surrogates, which no file and no Arrow array holds."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _few(values: Sequence[Any], most: int = 3) -> str:
    """Return a readable list of the first few values.

    >>> _few(["a", "b", "c", "d"])
    "'a', 'b', 'c' and 1 more"
    """
    first = ", ".join(map(shown, values[:most]))
    return f"{first} and {len(values) - most:,} more" if len(values) > most else first


def first_empty(texts: pa.Array) -> int | None:
    """Return the position of the first empty string, if there is one."""
    lengths = pc.binary_length(texts)
    if not len(texts) or pc.min(lengths).as_py() != 0:
        return None
    return int(pc.index(lengths, 0).as_py())


def to_id_array(ids: Any, side: str | None = None) -> pa.Array:
    """Turn ids of any kind into an Arrow array of ``int64`` or ``large_string``."""
    name = f"{side} ids" if side else "ids"
    if isinstance(ids, Vocabulary):
        return ids.to_arrow()
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if not isinstance(ids, pa.Array):
        ids = _from_python(ids, name, side)
    if pa.types.is_dictionary(ids.type):
        ids = ids.cast(ids.type.value_type)
    return _to_id_type(ids, name, side)


def _to_id_type(array: pa.Array, name: str, side: str | None) -> pa.Array:
    """Cast to one of the two id types, refusing what would change an id."""
    if array.null_count:
        row = pc.index(array.is_null(), pa.scalar(True)).as_py()
        raise InputError(
            f"row {row + 1:,} of the {name} is missing",
            "Drop rows without an id, or give the node one.",
            side=side,
        )
    kind = array.type
    if pa.types.is_integer(kind):
        try:
            return array.cast(pa.int64())
        except pa.ArrowInvalid:
            raise InputError(
                f"the {name} do not fit into 64-bit signed integers",
                "Turn them into strings.",
                side=side,
            ) from None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        array = array.cast(pa.large_string())
        if (row := first_empty(array)) is not None:
            raise InputError(
                f"row {row + 1:,} of the {name} is an empty string",
                "Every node needs an id of at least one character.",
                side=side,
            )
        return array
    if pa.types.is_null(kind):  # an empty list has no type of its own
        return array.cast(pa.large_string())
    raise InputError(
        f"the {name} are of type {kind}; ids are strings or integers",
        "Convert them first, for instance with .astype(str) or .astype('int64').",
        side=side,
    )


def _from_python(ids: Any, name: str, side: str | None) -> pa.Array:
    if isinstance(ids, np.ndarray) and ids.ndim != 1:
        raise InputError(
            f"the {name} are an array of {ids.ndim} dimensions", "Pass one id a node.", side=side
        )
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return from_numpy(ids)
    values = list(ids)
    kinds = {type(value) for value in values}
    integers = {kind for kind in kinds if issubclass(kind, (int, np.integer)) and kind is not bool}
    texts = {kind for kind in kinds if issubclass(kind, str)}
    if None.__class__ not in kinds and (integers | texts) == kinds and integers and texts:
        raise InputError(
            f"the {name} mix strings and integers (such as {_few(_one_of_each(values))})",
            "Convert them to one kind, for instance with str().",
            side=side,
        )
    try:
        if texts and texts == kinds:
            return from_texts(values)
        return pa.array(values)
    except UnicodeError:
        raise InputError(
            f"the {name} hold text that is no valid Unicode (a lone surrogate)",
            "Decode the ids with the right encoding first.",
            side=side,
        ) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        shown = sorted(kind.__name__ for kind in kinds - texts - integers) or ["int"]
        raise InputError(
            f"the {name} hold values of type {', '.join(shown)} that are neither "
            "strings nor 64-bit integers",
            "Convert them to strings or integers first.",
            side=side,
        ) from None


def _one_of_each(values: list[Any]) -> list[Any]:
    text = next(value for value in values if isinstance(value, str))
    return [text, next(value for value in values if not isinstance(value, str))]
