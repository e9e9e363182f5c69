r"""What rows with about as many entries have: popularity among the peers of a row.

.. math::

    p_{uj} = \frac{1}{n_c + 10} \sum_{v \ni j} \Bigl( [c_v = c] + \frac{10}{m} \Bigr), \qquad
    c = c_u = \lfloor \log_2 d_u \rfloor

over the rows v that have column j, with :math:`n_c` entries in rows of class c and m in all. Where
chance decides which entries of a row are known, those that are not are distributed over columns as
those that are, among rows of which as many are known. Users of one item may have other favourites
than users of many, and one item tells little else about a user.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

Table = npt.NDArray[np.float32]
Values = npt.NDArray[np.float64]

CLASSES = 5
"""1, 2 to 3, 4 to 7, 8 to 15 and more entries."""
_PRIOR = 10
"""Entries by which popularity among all rows counts."""


class Peers:
    """Shares of columns in the entries of rows of a class.

    Parameters
    ----------
    matrix : sparse array
        Whatever its values.

    Attributes
    ----------
    classes : array of int
        Of each row; -1 for a row without entries.
    table : array of float32
        A row for each class, the last one for rows without entries: shares in all entries.
    """

    def __init__(self, matrix: sparse.csr_array) -> None:
        n, degrees = matrix.shape[1], np.diff(matrix.indptr)
        self.classes = np.minimum(np.frexp(degrees)[1], CLASSES).astype(np.int64) - 1
        at = np.repeat(self.classes, degrees) * n + matrix.indices
        counts = np.bincount(at, minlength=(CLASSES + 1) * n).reshape(CLASSES + 1, n)
        popular = np.bincount(matrix.indices, minlength=n)
        self._each = _PRIOR / max(1, matrix.nnz)
        self._scale = 1 / (counts.sum(axis=1) + _PRIOR)
        shares = (counts + self._each * popular) * self._scale[:, None]
        self.table: Table = shares.astype(np.float32)

    def left_out(self, matrix: sparse.csr_array) -> Values:
        """Return, for each entry of the matrix, its share without its own row."""
        of = np.repeat(self.classes, np.diff(matrix.indptr))
        shares: Values = self.table[of, matrix.indices] - (1 + self._each) * self._scale[of]
        return shares

    def terms(self, row: int, others: npt.NDArray[np.int32]) -> Values:
        """Return what each of these rows, which have a column, adds to its share for a row."""
        same = (self.classes[others] == self.classes[row]) & (others != row)
        terms: Values = (same + self._each * (others != row)) * self._scale[self.classes[row]]
        return terms
