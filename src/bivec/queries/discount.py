r"""How much popularity is held against a node, decided on edges held out of the graph.

A regression ranks by what is likely, and popular nodes are. On some graphs that is right, on others
lists improve where scores are divided by a power of the degree, or multiplied by one, as the
penalty keeps the scores of rare and of popular nodes too near to each other. Which one a graph is
shows when a quarter of each node's edges is held out: the regressions of
:class:`bivec.queries.Blend`, without vectors, are fitted on the rest, and powers are compared by
NDCG at 10. The first of 0, 0.2, -0.2 and 0.4 is taken that is not worse than the best one by more
than a standard error of their difference. Without vectors, as those have seen the edges held out:
they would find rare nodes that nothing else could.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.queries.ridge import Ridge, Table

POWERS = (0.0, 0.2, -0.2, 0.4)
"""What is tried, in the order of preference."""

_SHARE = 0.25
_ASKING = 1000
_SCORES_AT_ONCE = 1 << 22
_NDCG = 2
_SMOOTH = 10


def factors(degrees: npt.NDArray[np.int64], power: float) -> Table:
    """Return what scores are multiplied by: ``(degree + 10) ** -power``.

    >>> factors(np.array([0, 90]), 0.5).round(3)
    array([0.316, 0.1  ], dtype=float32)
    """
    return ((degrees + _SMOOTH) ** -float(power)).astype(np.float32)


def best_power(matrix: sparse.csr_array, trust: Table, settings: tuple[float, int, float]) -> float:
    """Return the power that ranks held-out entries best; 0 where none can be held out.

    Parameters
    ----------
    matrix : sparse array
        Rows ask, columns are ranked.
    trust : array
        How much the second term counts for each row.
    settings : tuple
        Regularization, inputs and damping of the regressions.
    """
    from bivec.kernels.rank import best, measure

    rest, held = _cut(matrix)
    asking = np.flatnonzero(np.diff(held.indptr))
    if not len(asking):
        return 0.0
    draw = np.random.default_rng(0).permutation(len(asking))[:_ASKING]
    asking = asking[np.sort(draw)]

    backward = rest.T.tocsr()
    by_far = Ridge(*settings).fit(rest, np.zeros((matrix.shape[1], 0), np.float32))
    by_own = Ridge(*settings).fit(backward, np.zeros((matrix.shape[0], 0), np.float32))
    there = by_own.features(backward)
    degrees = np.diff(backward.indptr)
    live = np.flatnonzero(degrees)

    indptr, indices = rest.indptr.astype(np.int64), rest.indices
    truth = held[asking]
    ends, items = truth.indptr.astype(np.int64), truth.indices.astype(np.int64)
    found = np.empty((len(asking), len(POWERS)))
    step = max(1, _SCORES_AT_ONCE // matrix.shape[1])
    for start in range(0, len(asking), step):
        rows = asking[start : start + step].astype(np.int64)
        scores = by_far.features(rest[rows]) @ by_far.coefficients.T
        scores += (by_own.coefficients[rows] * trust[rows, None]) @ there.T
        for k, power in enumerate(POWERS):
            lists = np.empty((len(rows), 10), np.int64)
            values = np.empty((len(rows), 5))
            best(scores * factors(degrees, power), live, indptr, indices, rows, True, lists)
            measure(lists, start, ends, items, matrix.shape[1], values)
            found[start : start + step, k] = values[:, _NDCG]
    return POWERS[_least(found)]


def _least(found: npt.NDArray[np.float64]) -> int:
    """Return the first column within a standard error of the column of the highest mean."""
    behind = found[:, [found.mean(axis=0).argmax()]] - found
    error = behind.std(axis=0) / np.sqrt(len(found))
    return int((behind.mean(axis=0) <= error).argmax())


def _cut(matrix: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the matrix without, and with only, a quarter of each row's entries; one stays."""
    degrees = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(matrix.shape[0]), degrees)
    n_held = np.minimum(np.floor(_SHARE * degrees + 0.5), np.maximum(degrees - 1, 0))
    order = np.lexsort((np.random.default_rng(0).random(matrix.nnz), rows))
    held = np.empty(matrix.nnz, bool)
    held[order] = np.arange(matrix.nnz) - matrix.indptr[rows] < n_held[rows]

    def part(chosen: npt.NDArray[np.bool_]) -> sparse.csr_array:
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[chosen], minlength=len(degrees)))])
        return sparse.csr_array(
            (matrix.data[chosen], matrix.indices[chosen], indptr), shape=matrix.shape
        )

    return part(~held), part(held)
