"""The penalty of the default ranking and the power of the degree, and how they are chosen."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import bivec
from bivec.queries import Blend, tuning
from bivec.queries.codes import codes
from bivec.queries.ridge import Ridge
from bivec.queries.tuning import PENALTIES, POWERS, tuned


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
    rest, held = tuning._cut(sparse.csr_array(x.astype(np.float32)))
    np.testing.assert_array_equal(rest.toarray() + held.toarray(), x)
    assert not (rest.toarray() * held.toarray()).any()
    for row, part in zip(x, held.toarray(), strict=True):
        n = int((row != 0).sum())
        assert (part != 0).sum() == min(math.floor(n / 4 + 0.5), max(n - 1, 0))


def plain_ndcg(matrix, power, trust, settings):
    """Rank and measure each row that has entries held out, one by one."""
    rest, held = tuning._cut(matrix)
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
def test_the_first_penalty_and_power_that_are_as_good_as_the_best(popular):
    matrix, trust = lists(popular), np.full(120, 0.7, np.float32)
    pairs = list(product((50.0, 5.0), POWERS))
    here = np.array([plain_ndcg(matrix, power, trust, (x, 30, 0.5)) for x, power in pairs])
    behind = here[here.mean(axis=1).argmax()] - here
    allowed = behind.std(axis=1) / np.sqrt(here.shape[1])
    expected = pairs[int((behind.mean(axis=1) <= allowed).argmax())]
    assert tuned(matrix, trust, 30, 0.5, penalties=(50.0, 5.0))[:2] == expected


def test_the_echo_is_how_much_lower_held_out_entries_are_predicted():
    matrix, trust = lists(0.8), np.full(120, 0.7, np.float32)
    rest, held = tuning._cut(matrix)
    here = Ridge(9, 30, 0.5).fit(rest, np.zeros((40, 0), np.float32))
    there = Ridge(9, 30, 0.5).fit(rest.T.tocsr(), np.zeros((120, 0), np.float32))
    absent = here.features(rest) @ here.coefficients.T
    absent = absent + 0.7 * (there.coefficients @ there.features(rest.T.tocsr()).T)
    known = np.zeros(matrix.shape)
    known[rest.toarray() != 0] = here.left_out
    known.T[rest.toarray().T != 0] += 0.7 * there.left_out
    factor = (1 + (rest.toarray() != 0).sum(axis=0) / 10.0) ** -0.2
    means = [
        np.mean([(row * factor)[where].mean() for row, where in zip(values, part, strict=True)])
        for values, part in ((absent, held.toarray() != 0), (known, rest.toarray() != 0))
    ]
    found = tuned(matrix, trust, 30, 0.5, penalties=(9.0,), powers=(0.2,))
    assert found == (9, 0.2, pytest.approx(np.clip(means[0] / means[1], 0, 1), rel=1e-4))
    assert 0 < found[2] < 1
    one = sparse.csr_array(np.ones((1, 1)))
    for seen, ratio in ((2.0, 0.5), (0.5, 1), (0, 1), (-1, 1)):
        assert tuning._echo(one, one * seen, np.ones(1)) == ratio


def test_a_graph_of_rare_items_gets_a_smaller_penalty():
    # Items come in sixes, and few users have any: what is seen together is all there is to know
    rng, n_groups = np.random.default_rng(0), 150
    x = np.zeros((300, 6 * n_groups), np.float32)
    for user in x:
        group = 6 * rng.integers(n_groups)
        user[group + rng.choice(6, 4, replace=False)] = 1
        user[rng.choice(x.shape[1], 2)] = 1
    assert tuned(sparse.csr_array(x), np.ones(300, np.float32), 500, 0.5, (32, 32))[0] == 20
    assert tuned(lists(1.5), np.ones(120, np.float32), 30, 0.5, (8, 8))[0] == 500


def test_vectors_in_place_of_the_learned_ones_have_not_seen_what_is_held_out():
    matrix = lists(0.5)
    rest, _ = tuning._cut(matrix)
    left, right = codes(rest, (16, 8))
    assert (left.shape, right.shape) == ((120, 16), (40, 8))
    np.testing.assert_allclose(np.linalg.norm(left, axis=1), 1, rtol=1e-5)
    assert codes(rest, (16, 0))[1].shape == (40, 0)


def test_a_standard_error_decides():
    rng = np.random.default_rng(0)
    good = rng.random((400, 1))
    far_behind, a_little = good - 0.2 - rng.random((400, 1)) / 9, good + rng.normal(0, 1, (400, 1))
    a_little += good.mean() - a_little.mean() - 1e-4
    assert tuning._least(np.hstack([far_behind, a_little, good])) == 1
    assert tuning._least(np.hstack([good, good, far_behind])) == 0


def test_popular_items_that_everyone_likes_are_not_held_back():
    assert tuned(lists(1.5), np.ones(120, np.float32), 30, 0.5, penalties=(20.0,))[1] <= 0


def test_nothing_to_hold_out():
    matrix = sparse.csr_array(np.eye(5, dtype=np.float32))
    assert tuned(matrix, np.ones(5, np.float32), 5, 0.5) == (PENALTIES[0], 0, 1)


def test_what_is_given_is_taken_as_it_is():
    graph = bivec.as_graph(lists(0.5))
    tables = np.ones((120, 2)), np.ones((40, 2))
    chosen = Blend().fit(*tables, graph)
    assert (chosen.regularization_, chosen.discount_) in product(PENALTIES, POWERS)
    again = Blend().fit(*tables, graph)
    assert (again.regularization_, again.discount_) == (chosen.regularization_, chosen.discount_)
    assert Blend(regularization=7).fit(*tables, graph).regularization_ == 7
    given, none = (
        Blend(regularization=7, discount=d, peers=0, known="last").fit(*tables, graph)
        for d in (0.25, 0)
    )
    assert (given.regularization_, given.discount_) == (7, 0.25)
    factor = (1 + graph.right.degrees / 10.0) ** -0.25
    np.testing.assert_allclose(given.scores([3]), none.scores([3]) * factor, rtol=1e-5, atol=1e-7)
