"""SVD and GSVD against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, svds

from bivec.baselines.svd import GSVD, SVD, _randomized, singular_vectors
from bivec.errors import InputError
from bivec.graph import BipartiteGraph


def test_dots_are_the_best_approximation(planted):
    matrix = planted.to_scipy().toarray().astype(np.float64)
    u, values, vt = np.linalg.svd(matrix)
    model = SVD(dim=5).fit(planted)
    np.testing.assert_allclose(model.singular_values_, values[:5])
    best = (u[:, :5] * values[:5]) @ vt[:5]
    np.testing.assert_allclose(model.left_embedding_ @ model.right_embedding_.T, best, atol=1e-5)
    missed = 1 - (values[:5] ** 2).sum() / (matrix**2).sum()
    assert model.history_[0].loss == pytest.approx(missed)


def test_left_vectors_are_means_of_right_ones(weighted):
    """Of GSVD, that is, before they are scaled to length 1."""
    matrix = weighted.to_scipy().toarray().astype(np.float64)
    model = GSVD(dim=4, normalized=False).fit(weighted)
    degrees = np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(
        model.left_embedding_, matrix / degrees @ model.right_embedding_, atol=1e-6
    )
    assert model.singular_values_[0] == pytest.approx(1)
    unit = GSVD(dim=4).fit(weighted)
    lengths = np.linalg.norm(unit.left_embedding_, axis=1)
    np.testing.assert_allclose(lengths[:11], 1, rtol=1e-6)
    assert lengths[11] == 0  # isolated


@pytest.mark.parametrize("kind", [SVD, GSVD])
def test_planted_blocks_are_recovered(planted, same_block, kind):
    model = kind(dim=4).fit(planted)
    assert same_block(model.left_embedding_) > 0.95
    assert same_block(model.right_embedding_) > 0.95


@pytest.mark.parametrize("kind", [SVD, GSVD])
def test_same_bytes_for_any_number_of_threads_and_fixed_signs(planted, kind):
    one, two = kind(dim=6, n_jobs=1).fit(planted), kind(dim=6, n_jobs=4).fit(planted)
    assert one.left_embedding_.tobytes() == two.left_embedding_.tobytes()
    other = kind(dim=6, random_state=5).fit(planted)
    np.testing.assert_allclose(one.left_embedding_, other.left_embedding_, atol=1e-4)


def test_more_dimensions_than_singular_values():
    model = SVD(dim=6).fit(BipartiteGraph([0, 1], [0, 0], [3, 4]))
    np.testing.assert_allclose(model.singular_values_, [5, 0, 0, 0, 0, 0], atol=1e-9)
    assert (model.left_embedding_[:, 1:] == 0).all()
    np.testing.assert_allclose(
        model.left_embedding_ @ model.right_embedding_.T, [[3], [4]], rtol=1e-6
    )


@pytest.mark.parametrize("kind", [SVD, GSVD])
def test_progress_and_bad_parameters(planted, kind):
    told = []
    model = kind(dim=3, progress=told.append).fit(planted)
    assert [p.epoch for p in told] == [1]
    for parameters in ({"dim": 0}, {"n_jobs": 0}, {"norm": 0}):
        with pytest.raises(InputError, match=next(iter(parameters))):
            kind(**parameters).fit(planted)
    with pytest.raises(InputError, match="nothing to go on from"):
        kind(dim=3).fit(planted, init=model.embedding_)


def test_predicts_links(links_of_dblp):
    assert links_of_dblp(SVD(dim=32)) > 0.65


def test_what_lanczos_does_not_end_at_is_taken_from_a_subspace():
    matrix = sparse.random_array((600, 400), density=0.02, rng=np.random.default_rng(0)).tocsr()
    with pytest.raises(ArpackNoConvergence):
        svds(matrix, k=16, maxiter=1)
    u, values, v = singular_vectors(matrix, 16, 0, restarts=1)
    np.testing.assert_allclose(values, np.linalg.svd(matrix.toarray())[1][:16], rtol=1e-3)
    np.testing.assert_allclose(u.T @ u, np.eye(16), atol=1e-9)
    np.testing.assert_allclose(u.T @ (matrix @ v), np.diag(values), atol=1e-6)
    again = singular_vectors(matrix, 16, 0, restarts=1)
    assert u.tobytes() == again[0].tobytes()


def test_a_solver_that_cannot_restart_gives_way_to_the_randomized_one(planted, monkeypatch):
    # Seen on a graph of many components: "No shifts could be applied", by the seed
    def fails(*args, **kwargs):
        raise ArpackError(3)

    matrix = planted.to_scipy().astype(float)
    exact = singular_vectors(matrix, 4, 0)[1]
    monkeypatch.setattr("scipy.sparse.linalg.svds", fails)
    np.testing.assert_allclose(singular_vectors(matrix, 4, 0)[1], exact, rtol=1e-3)


def test_the_randomized_solver_finds_the_same_subspace(planted):
    matrix = sparse.csr_array(planted.to_scipy(), dtype=np.float64)
    u, values, v = singular_vectors(matrix, 4, 0)
    near_u, near, near_vt = _randomized(matrix, 4, 0)
    np.testing.assert_allclose(near, values, rtol=1e-6)
    np.testing.assert_allclose((near_u * near) @ near_vt, (u * values) @ v.T, atol=1e-4)
