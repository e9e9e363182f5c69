"""A biadjacency matrix as a graph: rows are the left side, columns the right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from bivec.errors import InputError, shown
from bivec.graph import BipartiteGraph
from bivec.graph.assemble import first_bad_weight
from bivec.ids import Id, Vocabulary


def graph_from_matrix(
    matrix: Any,
    left_ids: Iterable[Id] | None,
    right_ids: Iterable[Id] | None,
    duplicates: str,
) -> BipartiteGraph:
    """Take the nonzero entries of a sparse or dense matrix as edges, keeping its row order."""
    if matrix.ndim != 2:
        raise InputError(
            f"a biadjacency matrix has two dimensions, not {matrix.ndim}",
            "Pass a matrix, or pairs as a list of tuples.",
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(
            f"the matrix is of type {matrix.dtype}, but a biadjacency matrix holds real numbers",
            "Convert it, or pass pairs as a list of tuples.",
        )
    if matrix.dtype == np.float16:  # which scipy does not know
        matrix = matrix.astype(np.float32)
    left, right = _vocabulary(left_ids, matrix.shape, 0), _vocabulary(right_ids, matrix.shape, 1)
    entries = sparse.coo_array(matrix)
    rows, columns = entries.coords
    if (bad := first_bad_weight(entries.data)) is not None:
        at, problem = bad
        raise InputError(
            f"in the entry of left {shown(left[rows[at]])} and right {shown(right[columns[at]])}, "
            f"{problem}",
            "Weights are finite and not negative; an entry of 0 is no edge.",
        )
    return BipartiteGraph(
        rows, columns, entries.data, left_ids=left, right_ids=right, duplicates=duplicates
    )


def _vocabulary(ids: Iterable[Id] | None, shape: tuple[int, int], axis: int) -> Vocabulary:
    side = ("left", "right")[axis]
    if ids is None:
        return Vocabulary.numbered(shape[axis], side)
    vocabulary = Vocabulary(ids, side)
    if len(vocabulary) != shape[axis]:
        raise InputError(
            f"{len(vocabulary):,} {side} ids for a matrix of shape {shape}",
            "Rows are the left side, columns the right; transpose the matrix if it is the "
            "other way round.",
            side=side,
        )
    return vocabulary
