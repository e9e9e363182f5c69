r"""Evening: directions that many vectors of a side have in common lose some of their weight.

.. math::

    x_i \leftarrow \frac{y_i}{\|y_i\|}, \qquad y_i = C^{-\rho/2} x_i, \qquad
    C = \frac{1}{n} \sum_i x_i x_i^T

Smoothing is a power iteration: each step favours the slowest directions of the walk, so that the
largest community has its place long before the others have theirs, and then swallows its
neighbours. A place of more than a fifth of all nodes is of no use to a classifier that has seen
five strangers for each example: it finds as many of them there. Evening between steps keeps the
faster directions alive, as orthogonal iteration does with all its might (:math:`\rho = 1`, Golub,
Van Loan, "Matrix computations", section 7.3.2). The two come to a balance in which communities of
about one size stand apart, the larger the more steps lie between. It is for graphs in which a
rehearsal has found communities, and how many steps they take (:mod:`bivec.rehearsal`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bivec.parallel import Workers
from bivec.twins import Kinds

Table = npt.NDArray[np.float32]

EVENNESS, TIMES = 0.15, 8
"""The rho of the formula; how often, at equal distances, while vectors are smoothed."""
SEEN = 8192
"""Random nodes whose vectors stand for all in C, where there are more."""
_LEAST = 1e-4
"""Of the largest eigenvalue; directions of less are taken to have as much."""
_STREAM, _CHUNK = 234, 1024


class Evening:
    """Evens vectors of one side, as often as asked.

    Parameters
    ----------
    own : Kinds
        The side; nodes without edges stay where they are and do not count.
    dim : int
        Of the vectors.
    seed : int
        Of the nodes that stand for all.
    """

    def __init__(self, own: Kinds, dim: int, seed: int) -> None:
        self._alone = np.diff(own.indptr) == 0
        self._seen, counts = own.sample(SEEN, seed, _STREAM)
        self._shares = counts.astype(np.float64) / max(float(counts.sum()), 1)
        self._columns = np.arange(dim)

    def __call__(self, rows: Table, scales: Table, squares: Table, workers: Workers) -> None:
        """Even the scaled rows in place; their squares, not brought to 1, go to ``squares``."""
        from bivec.kernels.even import turn

        matrix = self.matrix(rows[self._seen] * scales[self._seen, None])

        def run(start: int, stop: int) -> None:
            turn(rows, scales, matrix, self._columns, self._alone, squares, start, stop)

        workers.run(run, len(rows), _CHUNK)

    @staticmethod
    def often(steps: int) -> int:
        """Return after how many of these steps to even, again and again."""
        return -(-steps // TIMES)

    def matrix(self, seen: Table) -> Table:
        """Return what vectors are multiplied by, given those that stand for all."""
        table = seen.astype(np.float64)
        values, directions = np.linalg.eigh((table * self._shares[:, None]).T @ table)
        values = np.maximum(values, max(values[-1] * _LEAST, 1e-300))
        matrix: Table = ((directions * values ** (-EVENNESS / 2)) @ directions.T).astype(np.float32)
        return matrix
