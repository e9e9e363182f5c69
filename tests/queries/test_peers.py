"""Shares of columns in what rows of about the same length have."""

import numpy as np
import pytest
from scipy import sparse

from bivec.queries.peers import CLASSES, Peers


def some(n_rows=60, n_columns=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((n_rows, n_columns)) < rng.random((n_rows, 1)) ** 3
    x[0], x[1] = False, np.arange(n_columns) == 3
    return x


def plain(x, u, j):
    """Return the share of column j for row u, one row at a time."""
    kind = [min(int(np.log2(row.sum())), 4) if row.any() else None for row in x]
    like = [v for v in range(len(x)) if kind[v] == kind[u] and kind[u] is not None]
    return (x[like, j].sum() + 10 * x[:, j].sum() / x.sum()) / (x[like].sum() + 10)


def test_shares():
    x = some()
    peers = Peers(sparse.csr_array(x.astype(np.float32) * 7))
    assert peers.table.shape == (CLASSES + 1, 40)
    assert peers.classes[:2].tolist() == [-1, 0]
    assert set(peers.classes) == set(range(-1, CLASSES))
    got = peers.table[peers.classes]
    expected = [[plain(x, u, j) for j in range(40)] for u in range(60)]
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    np.testing.assert_allclose(got[0], x.sum(axis=0) / x.sum(), rtol=1e-6)
    np.testing.assert_allclose(peers.table.sum(axis=1), 1, rtol=1e-5)


def test_a_share_is_a_sum_over_rows_and_an_entry_is_left_out_of_its_own():
    x = some(seed=2)
    matrix = sparse.csr_array(x.astype(np.float32))
    peers = Peers(matrix)
    left_out = np.zeros(x.shape)
    left_out[x] = peers.left_out(matrix)
    for u in range(1, 60):
        for j in range(40):
            terms = peers.terms(u, np.flatnonzero(x[:, j]).astype(np.int32))
            whole = left_out[u, j] if x[u, j] else peers.table[peers.classes[u], j]
            assert terms.sum() == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize("columns", [0, 3])
def test_nothing(columns):
    matrix = sparse.csr_array((2, columns), dtype=np.float32)
    peers = Peers(matrix)
    assert peers.table.shape == (CLASSES + 1, columns)
    assert peers.classes.tolist() == [-1, -1]
    assert not peers.table.any()
    assert peers.left_out(matrix).shape == (0,)
