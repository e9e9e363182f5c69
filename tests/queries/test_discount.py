"""The power of the degree that is held against popular nodes, and how it is chosen."""

import math

import numpy as np
import pytest
from scipy import sparse

import bivec
from bivec.queries import Blend, discount
from bivec.queries.discount import POWERS, best_power
from bivec.queries.ridge import Ridge


def lists(popular, n_users=120, n_items=40, seed=0):
    """Everybody has ten items; ``popular`` says how much more some items are liked."""
    rng = np.random.default_rng(seed)
    likes = np.arange(1, n_items + 1) ** -float(popular)
    x = np.zeros((n_users, n_items), np.float32)
    for user in x:
        user[rng.choice(n_items, 10, replace=False, p=likes / likes.sum())] = 1
    return sparse.csr_array(x)


def test_a_quarter_of_each_row_is_held_out_and_one_entry_stays():
    rng = np.random.default_rng(1)
    x = np.where(rng.random((30, 20)) < rng.random((30, 1)), rng.integers(1, 9, (30, 20)), 0)
    x[0], x[1] = 0, np.eye(20)[3]
    rest, held = discount._cut(sparse.csr_array(x.astype(np.float32)))
    np.testing.assert_array_equal(rest.toarray() + held.toarray(), x)
    assert not (rest.toarray() * held.toarray()).any()
    for row, part in zip(x, held.toarray(), strict=True):
        n = int((row != 0).sum())
        assert (part != 0).sum() == min(math.floor(n / 4 + 0.5), max(n - 1, 0))


def plain_ndcg(matrix, power, trust, settings):
    """Rank and measure each row that has entries held out, one by one."""
    rest, held = discount._cut(matrix)
    here = Ridge(*settings).fit(rest, np.zeros((matrix.shape[1], 0), np.float32))
    there = Ridge(*settings).fit(rest.T.tocsr(), np.zeros((matrix.shape[0], 0), np.float32))
    scores = here.features(rest) @ here.coefficients.T
    scores = scores + trust[:, None] * (there.coefficients @ there.features(rest.T.tocsr()).T)
    degrees = (rest.toarray() != 0).sum(axis=0)
    scores = scores / (degrees + 10.0) ** power
    out = []
    for u in range(matrix.shape[0]):
        known, right = rest.toarray()[u] != 0, set(np.flatnonzero(held.toarray()[u]))
        if right:
            free = [j for j in np.argsort(-scores[u], kind="stable") if degrees[j] and not known[j]]
            gains = [1 / math.log2(p + 2) for p in range(10)]
            hits = sum(g for g, j in zip(gains, free, strict=False) if j in right)
            out.append(hits / sum(gains[: len(right)]))
    return np.array(out)


@pytest.mark.parametrize("popular", [0.2, 1.0])
def test_the_first_power_that_is_as_good_as_the_best(popular):
    matrix = lists(popular)
    trust, settings = np.full(120, 0.7, np.float32), (20.0, 30, 0.5)
    found = np.array([plain_ndcg(matrix, power, trust, settings) for power in POWERS])
    behind = found[found.mean(axis=1).argmax()] - found
    allowed = behind.std(axis=1) / np.sqrt(found.shape[1])
    expected = POWERS[int((behind.mean(axis=1) <= allowed).argmax())]
    assert best_power(matrix, trust, settings) == expected


def test_a_standard_error_decides():
    rng = np.random.default_rng(0)
    good = rng.random((400, 1))
    far_behind, a_little = good - 0.2 - rng.random((400, 1)) / 9, good + rng.normal(0, 1, (400, 1))
    a_little += good.mean() - a_little.mean() - 1e-4
    assert discount._least(np.hstack([far_behind, a_little, good])) == 1
    assert discount._least(np.hstack([good, good, far_behind])) == 0


def test_popular_items_that_everyone_likes_are_not_held_back():
    assert best_power(lists(1.5), np.ones(120, np.float32), (20.0, 30, 0.5)) <= 0


def test_nothing_to_hold_out():
    matrix = sparse.csr_array(np.eye(5, dtype=np.float32))
    assert best_power(matrix, np.ones(5, np.float32), (500.0, 5, 0.5)) == 0


def test_a_given_power_is_taken_as_it_is(monkeypatch):
    graph = bivec.as_graph(lists(0.5))
    tables = np.ones((120, 2)), np.ones((40, 2))
    chosen = Blend().fit(*tables, graph)
    assert chosen.discount_ in POWERS
    assert Blend().fit(*tables, graph).discount_ == chosen.discount_
    monkeypatch.setattr("bivec.queries.blend.best_power", None)
    given, none = (Blend(discount=d).fit(*tables, graph) for d in (0.25, 0))
    assert given.discount_ == 0.25
    factor = (graph.right.degrees + 10.0) ** -0.25
    np.testing.assert_allclose(given.scores([3]), none.scores([3]) * factor, rtol=1e-5, atol=1e-7)
