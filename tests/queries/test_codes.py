"""Codes: what is near in the graph has much in common, and nothing else has."""

import numpy as np
import pytest
from scipy import sparse

import bivec
from bivec.queries import Blend
from bivec.queries.codes import codes, described


def sixes(n_users=500, n_groups=150, seed=0):
    """Return users with four of six items that go together, and two at random."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n_users, 6 * n_groups), np.float32)
    for user in x:
        user[6 * rng.integers(n_groups) + rng.choice(6, 4, replace=False)] = 1
        user[rng.choice(x.shape[1], 2)] = 1
    return x


def test_items_that_go_together_have_codes_in_common():
    x = sixes(3000)
    _, right = codes(sparse.csr_array(x), (0, 64))
    cosines = right @ right.T
    groups = np.arange(len(right)) // 6
    same = groups[:, None] == groups
    assert cosines[same].mean() > 0.5 > 0.1 > abs(cosines[~same].mean())


def test_they_stand_behind_vectors_of_length_one():
    matrix = sparse.csr_array(sixes(40, 10))
    vectors = np.full((40, 3), 7, np.float32), np.zeros((60, 2), np.float32)
    left, right = described(vectors, matrix, 5)
    assert (left.shape, right.shape) == ((40, 8), (60, 7))
    assert left.dtype == right.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(left[:, :3], axis=1), 1, rtol=1e-5)
    assert not right[:, :2].any()
    again = described(vectors, matrix, 5)
    assert left.tobytes() == again[0].tobytes()
    assert described(vectors, matrix, 0)[0] is vectors[0]


@pytest.mark.parametrize("empty", [(0, 3), (3, 0), (2, 3)])
def test_without_edges(empty):
    left, right = codes(sparse.csr_array(empty, dtype=np.float32), (4, 4))
    assert (left.shape, right.shape) == ((empty[0], 4), (empty[1], 4))
    assert np.isfinite(left).all()
    assert np.isfinite(right).all()


def test_they_rank_items_that_vectors_and_inputs_know_nothing_of():
    x = sixes()
    rng = np.random.default_rng(1)
    held = np.array([rng.choice(np.flatnonzero(user)) for user in x])
    known = x.copy()
    known[np.arange(len(x)), held] = 0
    kept = known.any(axis=0)[held]  # an item without edges comes last
    graph = bivec.as_graph(known)
    nothing = np.ones((500, 2)), np.ones((900, 2))
    found = {}
    for n_codes in (0, 128):
        scorer = Blend(regularization=20, n_inputs=20, n_codes=n_codes, known="last", discount=0)
        scores = scorer.fit(*nothing, graph).scores(np.arange(500))
        above = (scores > scores[np.arange(500), held][:, None]).sum(axis=1)
        found[n_codes] = (above[kept] < 10).mean()
    assert found[128] > 0.3 > 0.2 > found[0]
