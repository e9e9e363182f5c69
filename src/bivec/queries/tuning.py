r"""What the default ranking is to be like on a graph, decided on edges held out of it.

**Penalty.** How far the regressions of :class:`bivec.queries.Blend` may trust a pair of nodes that
were seen together depends on how often that happens: on a graph where most nodes have one or two
edges a penalty that is right elsewhere leaves nothing but popularity.

**Discount.** A regression ranks by what is likely, and popular nodes are. On some graphs that is
right, on others lists improve where scores are divided by a power of the degree, or multiplied by
one, as the penalty keeps the scores of rare and of popular nodes too near to each other.

Which ones a graph wants shows when a quarter of each node's edges is held out: the regressions are
fitted on the rest, and all pairs of a penalty and a power are compared by NDCG at 10. The first
pair is taken that is not worse than the best one by more than a standard error of their difference.

**Echo.** A known pair is predicted as if its edge were absent, but vectors and codes have seen the
edge. How much higher than an absent pair that puts it shows there, too: as the ratio between mean
predictions of a node's pairs that are held out and of those that are known.

The learned vectors have seen the edges held out, and would find rare nodes that nothing else could.
In their place are random ones, smoothed on the rest of the graph (:mod:`bivec.queries.codes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.queries.codes import codes, described
from bivec.queries.ridge import Ridge, Table

PENALTIES = (500.0, 20.0)
POWERS = (0.0, 0.2, -0.2, 0.4)
"""What is tried, in the order of preference."""

_SHARE = 0.25
_FEWEST_ASKING, _MOST_ASKING, _SCORES, _SCORES_AT_ONCE = 1000, 3000, 15_000_000, 1 << 22
"""Rows that are ranked for: as many as have so many scores in all, within bounds."""
_NDCG = 2
_SMOOTH = 10
_STEPS = 8
_FEWEST = 10
"""Rows with something held out that it takes to choose."""


def factors(degrees: npt.NDArray[np.int64], power: float) -> Table:
    """Return what predictions are multiplied by: ``(1 + degree / 10) ** -power``.

    >>> factors(np.array([0, 90]), 0.5).round(3)
    array([1.   , 0.316], dtype=float32)
    """
    return ((1 + degrees / _SMOOTH) ** -float(power)).astype(np.float32)


def left_out(
    here: Ridge, there: Ridge, matrix: sparse.csr_array, backward: sparse.csr_array, trust: Table
) -> npt.NDArray[np.float64]:
    """Return the prediction of each entry by both regressions, as if it were absent."""
    second = sparse.csr_array(
        (there.left_out, backward.indices, backward.indptr), shape=backward.shape
    ).T.tocsr()
    predicted: npt.NDArray[np.float64] = (
        here.left_out + np.repeat(trust, np.diff(matrix.indptr)) * second.data
    )
    return predicted


def tuned(
    matrix: sparse.csr_array,
    trust: Table,
    n_inputs: int,
    damping: float,
    dims: tuple[int, int] = (0, 0),
    n_codes: int = 0,
    penalties: Sequence[float] = PENALTIES,
    powers: Sequence[float] = POWERS,
) -> tuple[float, float, float]:
    """Return the penalty and the power that rank held-out entries best, and their echo.

    The first ones, and no echo, where few rows can be ranked for.

    Parameters
    ----------
    matrix : sparse array
        Rows ask, columns are ranked.
    trust : array
        How much the second term counts for each row.
    n_inputs, damping
        Of the regressions.
    dims : pair of int
        Of the vectors of rows and of columns.
    n_codes : int
        Entries of codes beside them.
    penalties, powers : sequence of float
        What there is to choose from.
    """
    rest, held = _cut(matrix)
    asking = np.flatnonzero(np.diff(held.indptr))
    if len(asking) < _FEWEST:
        return penalties[0], powers[0], 1.0
    most = min(max(_SCORES // matrix.shape[1], _FEWEST_ASKING), _MOST_ASKING)
    draw = np.random.default_rng(0).permutation(len(asking))[:most]
    asking = asking[np.sort(draw)].astype(np.int64)
    vectors = described(codes(rest, dims, _STEPS), rest, n_codes)
    found = [
        _measured(rest, held, asking, trust, vectors, Ridge(penalty, n_inputs, damping), powers)
        for penalty in penalties
    ]
    which, power = divmod(_least(np.hstack([values for values, _ in found])), len(powers))
    return penalties[which], powers[power], float(found[which][1][power])


def _measured(
    rest: sparse.csr_array,
    held: sparse.csr_array,
    asking: npt.NDArray[np.int64],
    trust: Table,
    vectors: Sequence[Table],
    ridge: Ridge,
    powers: Sequence[float],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the NDCG of each asking row, by power, of regressions like this one; and echoes."""
    from bivec.kernels.rank import best, measure

    backward, far = rest.T.tocsr(), copy(ridge)
    by_far, by_own = ridge.fit(rest, vectors[1]), far.fit(backward, vectors[0])
    there = by_own.features(backward)
    degrees = np.diff(backward.indptr)
    live = np.flatnonzero(degrees)
    factor = [factors(degrees, power) for power in powers]
    known = rest.copy()
    known.data = left_out(by_far, by_own, rest, backward, trust)
    known, absent = known[asking], held[asking].astype(np.float64)

    indptr, indices = rest.indptr.astype(np.int64), rest.indices
    ends, items = absent.indptr.astype(np.int64), absent.indices.astype(np.int64)
    found = np.empty((len(asking), len(powers)))
    step = max(1, _SCORES_AT_ONCE // rest.shape[1])
    for start in range(0, len(asking), step):
        rows = asking[start : start + step]
        scores = by_far.features(rest[rows]) @ by_far.coefficients.T
        scores += (by_own.coefficients[rows] * trust[rows, None]) @ there.T
        span = slice(ends[start], ends[min(start + step, len(asking))])
        row = np.repeat(np.arange(len(rows)), np.diff(ends[start : start + step + 1]))
        absent.data[span] = scores[row, items[span]]
        for k in range(len(powers)):
            lists = np.empty((len(rows), 10), np.int64)
            values = np.empty((len(rows), 5))
            best(scores * factor[k], live, indptr, indices, rows, True, lists)
            measure(lists, start, ends, items, rest.shape[1], values)
            found[start : start + step, k] = values[:, _NDCG]
    return found, np.array([_echo(absent, known, each) for each in factor])


def _echo(absent: sparse.csr_array, known: sparse.csr_array, factor: Table) -> float:
    """Return the ratio of two sets of predictions, from 0 to 1, in the mean over rows."""
    held, seen = (
        float(np.mean((part @ factor) / np.diff(part.indptr))) for part in (absent, known)
    )
    return min(max(held / seen, 0.0), 1.0) if seen > 0 else 1.0


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
