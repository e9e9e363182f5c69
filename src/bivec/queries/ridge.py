r"""Each node of one side told from the other nodes of its side, by ridge regression on vectors.

Rows of a matrix X (users, say) are examples, columns (items) are both inputs and targets. An input
i is not a coordinate of its own but a short vector :math:`\phi_i`: its learned vector, see below, a
constant of one half and, for the columns with most entries only, one coordinate of its own, all
divided by :math:`\sqrt\lambda`. A row is described by what it has,
:math:`z_u = \sum_i x_{ui} \phi_i`, and column j is predicted from the rest of the row:

.. math::

    w_j = \arg\min_w \sum_u \omega_u
        \bigl(y_{uj} - w^T (z_u - x_{uj} \phi_j)\bigr)^2 + |w|^2, \qquad
    \hat y_{uj} = w_j^T z_u ,

with :math:`y_{uj}` in proportion to :math:`x_{uj}^2`, at a mean square of 1: what weighs little
tells of other columns nearly as well as what weighs much, but what weighs much is what a list
should begin with. Where all entries are 1, so is y.

With all columns as inputs and no vectors this is EASE (Steck, WWW 2019, arXiv:1905.03375), whose
n-by-n inverse grows with the cube of the columns. Here the matrix to invert has the width p of
:math:`\phi`, whatever the graph, and a column that is no input of its own is known by its vector.

All columns share one inverse. With
:math:`K = (\sum_u \omega_u z_u z_u^T + I)^{-1}`, :math:`q_j = \sum_u \omega_u x_{uj} z_u`,
:math:`r_j = \sum_u \omega_u y_{uj} z_u`, :math:`d_j = \sum_u \omega_u x_{uj}^2` and
:math:`e_j = \sum_u \omega_u x_{uj} y_{uj}`, leaving column j out of the inputs changes the
matrix by
:math:`U D U^T`, :math:`U = (q_j, \phi_j)`, :math:`D = ((0, -1), (-1, d_j))`, so that (Woodbury)

.. math::

    w_j = (K - K U S^{-1} U^T K)(r_j - e_j \phi_j), \qquad
    S = D^{-1} + U^T K U .

Learned vectors come with spectra of all kinds: smoothed ones have most of their length in a few
directions, others do not. The penalty is the same for all directions, so it would take them for
what they are not. Vectors v of length 1 become :math:`C^{-1/4} v`, at length 1 again, with
:math:`C = \sum_i d_i v_i v_i^T / \sum_i d_i`: half way to directions of equal weight. The constant
stands for the mean direction, which not all vectors have.

An entry that is there is predicted as if it were not: without row u among the examples,
:math:`(\hat y_{uj} - h y_{uj}) / (1 - h)` with
:math:`h = \omega_u z^T (K - K U S^{-1} U^T K) z`, :math:`z = z_u - x_{uj} \phi_j`, exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.lengths import to_length_one
from bivec.parallel import one_blas_thread

Table = npt.NDArray[np.float32]
Values = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

_CONSTANT = 0.5
_LEAST = 1e-6
"""Of the largest eigenvalue; below it, directions are rounding errors."""


class Ridge:
    """Predict each column of a matrix from the other columns of the row.

    Parameters
    ----------
    regularization : float
        The lambda.
    n_inputs : int
        How many columns, those with most entries, are inputs of their own beside their vector.
    damping : float
        Row u weighs ``degree ** -damping``; an entry weighs 1 on average.

    Attributes
    ----------
    coefficients : array of float32
        The vector w of each column.
    left_out : array of float64
        For each entry of the matrix, in its order: the prediction without it.
    """

    def __init__(self, regularization: float, n_inputs: int, damping: float) -> None:
        self.regularization = regularization
        self.n_inputs = n_inputs
        self.damping = damping

    def fit(self, matrix: sparse.csr_array, vectors: Table) -> Ridge:
        """Solve for every column; ``vectors`` has one row for each, of any length."""
        with one_blas_thread():
            self._inputs(matrix, vectors)
            self._solve(matrix)
        return self

    def features(self, matrix: sparse.csr_array) -> Table:
        """Return z of each of these rows of the matrix."""
        dense = matrix @ self._vectors
        own = matrix[:, self._columns].toarray() * self._scale
        return np.hstack([dense, own]).astype(np.float32, copy=False)

    @property
    def width(self) -> int:
        """The number of entries of z."""
        return int(self._vectors.shape[1]) + len(self._columns)

    def terms(
        self, matrix: sparse.csr_array, row: int, coefficients: Table, without: int
    ) -> Values:
        """Return what each entry of a row of the matrix adds to its product with coefficients.

        The entry of column ``without`` adds nothing: that column is predicted from the others.
        """
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        inputs, dim = matrix.indices[span], self._vectors.shape[1]
        each = coefficients.astype(np.float64)
        values: Values = self._vectors[inputs] @ each[:dim]
        at = np.searchsorted(self._columns, inputs)
        own = np.append(self._columns, -1)[at] == inputs
        values[own] += self._scale * each[dim + at[own]]
        values *= matrix.data[span]
        values[inputs == without] = 0
        return values

    def forget(self, *names: str) -> None:
        """Give back the memory of results that are kept elsewhere."""
        for name in names:
            delattr(self, name)

    def _inputs(self, matrix: sparse.csr_array, vectors: Table) -> None:
        """Choose the columns that are inputs of their own; bring the vectors to one length."""
        degrees = np.bincount(matrix.indices, minlength=matrix.shape[1])
        order = np.argsort(-degrees, kind="stable")[: self.n_inputs]
        self._columns = np.sort(order[degrees[order] > 0])
        self._scale = np.float32(self.regularization**-0.5)
        # The vector of a column without entries is what chance gave it.
        described = _evened(vectors, degrees)
        if vectors.shape[1]:
            constant = np.where(degrees > 0, np.float32(_CONSTANT), 0)[:, None]
            described = np.hstack([described, constant])
        self._vectors: Table = described * self._scale

    def _solve(self, matrix: sparse.csr_array) -> None:
        columns, scale, vectors = self._columns, self._scale, self._vectors
        dim, places = vectors.shape[1], np.arange(len(self._columns)) + vectors.shape[1]
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        omega = self._row_weights(matrix)
        features = self.features(matrix)
        inverse = np.linalg.inv(self._gram(matrix, omega, features[:, :dim])).astype(np.float32)

        # K phi, K z, K q: products with the sparse matrix, none of rows by p by p
        of_phi = vectors @ inverse[:dim]
        of_phi[columns] += scale * inverse[dim:]
        of_z = matrix @ of_phi
        x = matrix.data.astype(np.float64)
        y = targets(x)
        weight_x, weight_y = omega[row] * x, omega[row] * y
        of_q = of_r = _by_column(matrix, weight_x) @ of_z
        if not np.array_equal(x, y):
            of_r = _by_column(matrix, weight_y) @ of_z

        # For each entry z K q_j, z K phi_j and z K r_j
        column = matrix.indices
        z_q, z_phi = (_dots(matrix, features, table) for table in (of_q, of_phi))
        z_r = z_q if of_r is of_q else _dots(matrix, features, of_r)

        # For each column q K q, q K phi, phi K phi and d; q K r, phi K r and e
        n = matrix.shape[1]
        a, b, d, f, g, e = (
            np.bincount(column, weight * value, minlength=n)
            for weight, value in (
                (weight_x, z_q), (weight_x, z_phi), (weight_x, x),
                (weight_y, z_q), (weight_y, z_phi), (weight_y, x),
            )
        )  # fmt: skip
        c = np.einsum("ij,ij->i", vectors, of_phi[:, :dim], dtype=np.float64)
        c[columns] += scale * of_phi[columns, places]

        # S^-1, and w_j = K r - s K q - (e + t) K phi
        s11, s12, s22 = a - d, b - 1, c
        determinant = s11 * s22 - s12 * s12
        first, second = f - e * b, g - e * c
        s = (s22 * first - s12 * second) / determinant
        t = (s11 * second - s12 * first) / determinant
        self.coefficients = of_r - of_q * s.astype(np.float32)[:, None]
        self.coefficients -= of_phi * (e + t).astype(np.float32)[:, None]

        # Each entry without itself
        to_q, to_phi = z_q - x * b[column], z_phi - x * c[column]
        predicted = z_r - x * g[column] - s[column] * to_q - (e + t)[column] * to_phi
        z_z = np.einsum("ij,ij->i", features, of_z, dtype=np.float64)[row]
        z_z = z_z - 2 * x * z_phi + x * x * c[column]
        taken = s22[column] * to_q**2 - 2 * s12[column] * to_q * to_phi + s11[column] * to_phi**2
        h = np.clip(omega[row] * (z_z - taken / determinant[column]), 0, 0.999)
        self.left_out: Values = (predicted - h * y) / (1 - h)

    def _row_weights(self, matrix: sparse.csr_array) -> Values:
        degrees = np.diff(matrix.indptr)
        omega: Values = np.maximum(degrees, 1.0) ** -self.damping
        mass = float(omega @ degrees)
        return omega * (matrix.nnz / mass) if mass else omega

    def _gram(self, matrix: sparse.csr_array, omega: Values, dense: Table) -> Values:
        """Return the sum of omega z z^T, plus the identity."""
        dim, width = dense.shape[1], dense.shape[1] + len(self._columns)
        own = (matrix[:, self._columns] * self._scale).astype(np.float64)
        weighted = (sparse.diags_array(omega) @ own).tocsr()
        gram = np.empty((width, width))
        gram[:dim, :dim] = dense.T @ (dense * omega.astype(np.float32)[:, None])
        gram[dim:, dim:] = (own.T @ weighted).toarray()
        gram[dim:, :dim] = weighted.T @ dense
        gram[:dim, dim:] = gram[dim:, :dim].T
        gram[np.diag_indices(width)] += 1
        return gram


def _evened(vectors: Table, degrees: npt.NDArray[np.int64]) -> Table:
    """Return vectors of length 1 with half the spread of their spectrum; zeros at degree 0."""
    table = vectors * (degrees > 0)[:, None].astype(np.float32)
    to_length_one(table)
    if not table.any():
        return table
    roots = np.sqrt(degrees / degrees.sum())[:, None] * table  # float64: eigenvalues may be small
    values, directions = np.linalg.eigh(roots.T @ roots)
    values = np.maximum(values, values[-1] * _LEAST)
    evened: Table = table @ (directions * values**-0.25 @ directions.T).astype(np.float32)
    to_length_one(evened)
    return evened


def targets(entries: npt.NDArray[Any]) -> Values:
    """Return what is predicted of entries: their squares, at a mean square of 1.

    >>> targets(np.array([1.0, 1.0])), targets(np.array([1.0, 2.0])).round(3)
    (array([1., 1.]), array([0.343, 1.372]))
    """
    squares = entries.astype(np.float64) ** 2
    size = np.sqrt(np.mean(squares**2)) if len(squares) else 0.0
    predicted: Values = squares / size if size > 0 else squares
    return predicted


def _by_column(matrix: sparse.csr_array, values: Values) -> sparse.csr_array:
    """Return the transpose of a matrix with other values in place of its own."""
    other = sparse.csr_array(
        (values.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    return other.T.tocsr()


def _dots(matrix: sparse.csr_array, rows: Table, columns: Table) -> Values:
    """Return, for each entry, the product of its row's and its column's vector."""
    from bivec.kernels.entry import entry_dots

    out = np.empty(matrix.nnz)
    entry_dots(
        matrix.indptr, matrix.indices, np.ascontiguousarray(rows), np.ascontiguousarray(columns),
        0, matrix.shape[0], out,
    )  # fmt: skip
    return out
