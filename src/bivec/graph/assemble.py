"""From a list of edges to compressed rows: sort, merge duplicates, transpose.

Everything is a counting sort over arrays (scipy's COO to CSR conversion), so the cost is linear in
the number of edges and independent of their order, except where the policy is ``last``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.errors import InputError

DUPLICATES = ("sum", "max", "last", "error")
"""What to do with an edge that is given more than once."""

IntArray = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What happened between the rows of the input and the edges of the graph.

    Attributes
    ----------
    rows : int
        Rows (pairs, matrix entries) that were given.
    merged : int
        Rows that repeated an edge and were merged into it.
    zero_weight : int
        Pairs left with weight 0 after merging. They are no edges; their ends stay as nodes.
    """

    rows: int
    merged: int = 0
    zero_weight: int = 0


class Compressed(NamedTuple):
    """One direction of the graph: row pointers, neighbours in ascending order, weights."""

    indptr: npt.NDArray[np.int64]
    indices: IntArray
    weights: npt.NDArray[np.float32]


def first_bad_weight(weights: npt.NDArray[np.floating[Any]]) -> tuple[int, str] | None:
    """Return the position of the first weight that no edge can have and what is wrong with it."""
    with np.errstate(over="ignore"):
        single = weights.astype(np.float32, copy=False)
    # A weight that rounds to 0 would silently be no edge, so it is refused like one too large.
    bad = ~np.isfinite(single) | (single < 0) | ((single == 0) & (weights != 0))
    if not bad.any():
        return None
    row = int(bad.argmax())
    value = float(weights[row])
    if np.isnan(value):
        return row, "the weight is NaN"
    if np.isinf(value):
        return row, "the weight is infinite"
    if value < 0:
        return row, f"the weight {value:g} is negative"
    return row, f"the weight {value:g} does not fit into 32-bit floating point"


def compress(
    left: IntArray,
    right: IntArray,
    weights: npt.NDArray[np.floating[Any]] | None,
    n_left: int,
    n_right: int,
    duplicates: str,
) -> tuple[Compressed, Compressed, BuildReport]:
    """Compress edges given as rows of both sides, in both directions.

    The weights must have passed :func:`first_bad_weight`.
    """
    check_policy(duplicates)
    # Unweighted edges carry one byte through the sort, weighted ones their weight.
    payload = np.ones(len(left), np.int8) if weights is None else weights.astype(np.float32)
    indptr, indices, values = _sort(left, right, payload, n_left, n_right)
    indptr, indices, merged_weights, merged = _merge(indptr, indices, values, duplicates)
    indptr, indices, kept_weights, zero = _drop_zeros(indptr, indices, merged_weights)
    forward = Compressed(indptr, indices.astype(index_dtype(n_right), copy=False), kept_weights)
    backward = transpose(forward, n_right)
    return forward, backward, BuildReport(rows=len(left), merged=merged, zero_weight=zero)


def transpose(side: Compressed, n_columns: int) -> Compressed:
    """Return the same edges seen from the other side."""
    shape = (len(side.indptr) - 1, n_columns)
    turned = sparse.csr_array((side.weights, side.indices, side.indptr), shape=shape).tocsc()
    return Compressed(
        turned.indptr.astype(np.int64, copy=False),
        turned.indices.astype(index_dtype(shape[0]), copy=False),
        turned.data,
    )


def check_policy(duplicates: str) -> None:
    """Refuse an unknown policy for duplicated edges."""
    if duplicates not in DUPLICATES:
        raise InputError(
            f"duplicates={duplicates!r} is no policy", f"Choose one of {', '.join(DUPLICATES)}."
        )


def index_dtype(n: int) -> type[np.signedinteger[Any]]:
    """Return the type for rows of a side with n nodes: 32 bits while they fit."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def _sort(
    left: IntArray, right: IntArray, payload: npt.NDArray[Any], n_left: int, n_right: int
) -> tuple[npt.NDArray[np.int64], IntArray, npt.NDArray[Any]]:
    """Sort edges by left, then right, keeping the given order among duplicates.

    Two counting sorts, least significant key first.
    """
    pairs = sparse.coo_array((payload, (right, left)), shape=(n_right, n_left))
    pairs.has_canonical_format = True  # keeps scipy from merging duplicates in its own way
    by_right = pairs.tocsr()
    by_right.has_canonical_format = True
    by_left = by_right.tocsc()
    return by_left.indptr.astype(np.int64, copy=False), by_left.indices, by_left.data


def _merge(
    indptr: npt.NDArray[np.int64], indices: IntArray, values: npt.NDArray[Any], duplicates: str
) -> tuple[npt.NDArray[np.int64], IntArray, npt.NDArray[np.float32], int]:
    """Apply the policy to equal neighbours, which now stand next to each other."""
    starts = np.ones(len(indices), dtype=bool)
    np.not_equal(indices[1:], indices[:-1], out=starts[1:])
    starts[indptr[:-1][indptr[:-1] < len(indices)]] = True
    firsts = np.flatnonzero(starts)
    merged = len(indices) - len(firsts)
    if merged == 0:
        return indptr, indices, values.astype(np.float32, copy=False), 0
    if duplicates == "error":
        repeat = int(np.argmin(starts))
        row = int(np.searchsorted(indptr, repeat, side="right")) - 1
        raise DuplicateEdge(row, int(indices[repeat]), merged)
    kept = np.searchsorted(firsts, indptr)
    if duplicates == "sum" and values.dtype == np.int8:  # unweighted: count
        counts = np.diff(firsts, append=len(indices)).astype(np.float32)
        return kept, indices[firsts], counts, merged
    if duplicates == "sum":
        summed = np.add.reduceat(_ascending(values, starts), firsts, dtype=np.float64)
        return kept, indices[firsts], _single(summed), merged
    if duplicates == "max":
        values = np.maximum.reduceat(values, firsts)
    else:
        values = values[np.append(firsts[1:], len(indices)) - 1]
    return kept, indices[firsts], values.astype(np.float32, copy=False), merged


def _ascending(
    values: npt.NDArray[np.floating[Any]], starts: npt.NDArray[np.bool_]
) -> npt.NDArray[np.floating[Any]]:
    """Sort the weights of each edge, so that rounding does not depend on the order of the rows."""
    if (values == np.floor(values)).all():  # whole numbers add up exactly in any order
        return values
    repeated = ~starts
    repeated[:-1] |= repeated[1:]
    group, parts = np.cumsum(starts)[repeated], values[repeated]
    values[repeated] = parts[np.lexsort((parts, group))]
    return values


def _single(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        weights = values.astype(np.float32)
    if not np.isfinite(weights).all():
        raise InputError(
            "the weights of duplicated edges add up to more than 32-bit floating point holds",
            "Scale the weights down, or pass duplicates='max'.",
        )
    return weights


def _drop_zeros(
    indptr: npt.NDArray[np.int64], indices: IntArray, weights: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int64], IntArray, npt.NDArray[np.float32], int]:
    """Leave out what the weights say is no edge."""
    edge = weights != 0
    zero = len(edge) - int(np.count_nonzero(edge))
    if zero == 0:
        return indptr, indices, weights, 0
    kept = np.concatenate([[0], np.cumsum(edge)])
    return kept[indptr], indices[edge], weights[edge], zero


class DuplicateEdge(Exception):  # noqa: N818 - a signal to the caller, who knows the ids
    """An edge stands twice where the policy forbids it."""

    def __init__(self, left: int, right: int, merged: int) -> None:
        super().__init__(left, right, merged)
        self.left, self.right, self.merged = left, right, merged
