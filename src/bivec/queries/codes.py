"""Codes: random vectors, smoothed for a few steps, as a description of nodes by their surroundings.

Learned vectors say which community a node belongs to, and in graphs of many small things that is
not enough to put the members of one in order. Coordinates of their own, for the nodes with most
edges, leave out those with few. Random vectors tell all nodes apart, about as well as coordinates
of their own would for as many nodes as they have entries (Johnson, Lindenstrauss, "Extensions of
Lipschitz mappings into a Hilbert space", Contemporary Mathematics 26, 1984), and after a few steps
of smoothing nodes that share neighbours have entries in common.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.graph import GraphSide
from bivec.ids import Vocabulary
from bivec.lengths import to_length_one
from bivec.parallel import Workers
from bivec.smoothing import Walk, smooth_side
from bivec.twins import merge_twins

Table = npt.NDArray[np.float32]

STEPS, _WALK = 6, Walk(ends=0, bridges=1)
"""Steps, and how they go: popular nodes count as much as others, for lists are made of them."""


def codes(
    matrix: sparse.csr_array, dims: tuple[int, int], steps: int = STEPS, seed: int = 0
) -> tuple[Table, Table]:
    """Return random vectors of rows and columns, smoothed on the graph of the matrix's entries."""
    draw = np.random.default_rng(seed)
    left, right = (
        draw.standard_normal((n, dim), np.float32)
        for n, dim in zip(matrix.shape, dims, strict=True)
    )
    rows, columns = merge_twins(_side(matrix), _side(matrix.T.tocsr()))
    with Workers(1) as workers:
        for table, own, far in ((left, rows, columns), (right, columns, rows)):
            if table.shape[1]:
                smooth_side(table, own, far, steps, workers, walk=_WALK)
    return left, right


def described(vectors: tuple[Table, Table], matrix: sparse.csr_array, dim: int) -> list[Table]:
    """Return vectors of rows and columns at length 1, with codes of so many entries behind them."""
    if not dim:
        return list(vectors)
    tables = [table.copy() for table in vectors]
    for table in tables:
        to_length_one(table)
    return [np.hstack(both) for both in zip(tables, codes(matrix, (dim, dim), seed=1), strict=True)]


def _side(matrix: sparse.csr_array) -> GraphSide:
    """Return the rows of a matrix as a side of a graph, without weights."""
    from bivec.kernels.view import read_only

    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    ids, weights = Vocabulary.numbered(matrix.shape[0]), np.empty(0, np.float32)
    return GraphSide(ids, read_only(indptr), read_only(indices), weights)
