"""What a graph asks of the arrays it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.errors import InputError
from bivec.graph.assemble import first_bad_weight
from bivec.ids import Id, Vocabulary


def check_rows(rows: npt.ArrayLike, side: str) -> npt.NDArray[np.integer[Any]]:
    """Return row numbers as an array of integers that are not negative."""
    array = np.asarray(rows)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"the {side} rows are no one-dimensional array of integers",
            "Row numbers count from 0; for ids, use bivec.as_graph.",
            side=side,
        )
    if array.size and array.min() < 0:
        raise InputError(f"a {side} row is negative", "Row numbers count from 0.", side=side)
    return array


def check_ids(
    ids: Iterable[Id] | Vocabulary | None, rows: npt.NDArray[np.integer[Any]], side: str
) -> Vocabulary:
    """Return the ids of a side: those given, which must be enough, or the row numbers."""
    needed = int(rows.max()) + 1 if rows.size else 0
    if ids is None:
        return Vocabulary.numbered(needed, side)
    vocabulary = ids if isinstance(ids, Vocabulary) else Vocabulary(ids, side)
    if needed > len(vocabulary):
        raise InputError(
            f"the edges name {side} row {needed - 1:,} of only {len(vocabulary):,} {side} ids",
            f"Give one {side} id for each row.",
            side=side,
        )
    return vocabulary


def check_weights(weights: npt.ArrayLike | None, n: int) -> npt.NDArray[np.floating[Any]] | None:
    """Return weights as floats, one an edge, finite and not negative."""
    if weights is None:
        return None
    array = np.asarray(weights)
    if array.size and array.dtype.kind not in "biuf":
        raise InputError(
            f"the weights are no real numbers but of type {array.dtype}",
            "Give one finite number an edge.",
        )
    array = array if array.dtype.kind == "f" else array.astype(np.float64)
    if array.shape != (n,):
        raise InputError(
            f"{n:,} edges but weights of shape {array.shape}", "Give one weight for each edge."
        )
    if (bad := first_bad_weight(array)) is not None:
        row, problem = bad
        raise InputError(
            f"in edge {row + 1:,} of {n:,}, {problem}",
            "Weights are finite and not negative; leave the edge out or give it another weight.",
        )
    return array
