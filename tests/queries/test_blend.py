"""The default ranking against plain regressions, and its corner cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse

import bivec
from bivec.errors import InputError, NotFittedError
from bivec.evaluation import EmbeddingRanker, evaluate_recommendation, per_user_split
from bivec.queries import Blend, blend
from bivec.queries.ridge import Ridge


def random_graph(n_left=30, n_right=12, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    return bivec.as_graph(
        rng.integers(1, 6, (n_left, n_right)) * (rng.random((n_left, n_right)) < density)
    )


def vectors(graph, dim=4, seed=1):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((graph.n_left, dim)).astype(np.float32),
        rng.standard_normal((graph.n_right, dim)).astype(np.float32),
    )


def counted(x):
    """Return what weights count: the root of the share of a row's edges that are not heavier."""
    share = np.array([[(row[row != 0] <= w).mean() if w else 0 for w in row] for row in x])
    return np.sqrt(share / share[x != 0].mean())


def aimed_at(x):
    """Return what is predicted: squares, at a mean square of 1."""
    return x**2 / np.sqrt(np.mean(x[x != 0] ** 4))


def plain_inputs(x, table, regularization, n_inputs):
    """Return what each column is described by, and which columns are inputs of their own."""
    degrees = (x != 0).sum(axis=0)
    own = sorted(sorted(range(len(degrees)), key=lambda j: (-degrees[j], j))[:n_inputs])
    own = [j for j in own if degrees[j]]
    unit = table / np.linalg.norm(table, axis=1, keepdims=True) * (degrees > 0)[:, None]
    spread = sum(d * np.outer(v, v) for d, v in zip(degrees, unit, strict=True)) / degrees.sum()
    even = unit @ linalg.fractional_matrix_power(spread, -0.25)
    even /= np.maximum(np.linalg.norm(even, axis=1, keepdims=True), 1e-12)
    constant = (degrees > 0)[:, None] / 2
    described = np.hstack([even, constant, np.eye(len(degrees))[:, own]])
    return described / np.sqrt(regularization)


def plain_regression(x, phi, damping, j, without=None):
    """Return the coefficients of column j and the inputs of every row, j left out."""
    degrees = (x != 0).sum(axis=1)
    omega = np.maximum(degrees, 1.0) ** -damping
    omega *= degrees.sum() / (omega @ degrees)
    if without is not None:
        omega[without] = 0
    z = x @ phi - np.outer(x[:, j], phi[j])
    return np.linalg.solve(
        z.T @ (omega[:, None] * z) + np.eye(z.shape[1]), z.T @ (omega * aimed_at(x)[:, j])
    ), z


def plain_shares(x, u, j, without=False):
    """Return the share of column j in what rows with about as many entries as u have."""
    rows = (x != 0).astype(float)
    kind = np.floor(np.log2(np.maximum(rows.sum(axis=1), 0.5))).clip(max=4)
    like = kind == kind[u]
    n = rows[like].sum() + 10 if kind[u] >= 0 else 10
    if without:
        rows[u, j] = 0
    return (rows[like, j].sum() * (kind[u] >= 0) + 10 * rows[:, j].sum() / (x != 0).sum()) / n


def plain_scores(x, own, far, regularization, n_inputs, damping, balance, peers, discount, echo):
    """Return all scores, each edge as if it were absent."""
    out = np.empty(x.shape)
    n_left, n_right = x.shape
    by_far = plain_inputs(x, far, regularization, n_inputs)
    by_own = plain_inputs(x.T, own, regularization, n_inputs)
    degrees = (x != 0).sum(axis=1)
    for u in range(n_left):
        for j in range(n_right):
            known = x[u, j] != 0
            w, z = plain_regression(x, by_far, damping, j, u if known else None)
            here = z[u] @ w
            w, z = plain_regression(x.T, by_own, damping, u, j if known else None)
            there = 2 * degrees[u] / (degrees[u] + balance) * (z[j] @ w)
            predicted = (here + there) / (1 + (x[:, j] != 0).sum() / 10) ** discount
            predicted *= echo if known else 1
            out[u, j] = predicted + peers * plain_shares(x, u, j, known)
    return out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_inputs", [0, 5, 100])
def test_scores_are_two_regressions_and_known_pairs_are_left_out_of_both(weighted, n_inputs):
    graph = random_graph(14, 9, density=0.5)
    assert graph.left.degrees.all()
    assert graph.right.degrees.all()
    own, far = vectors(graph)
    x = graph.to_scipy().toarray().astype(float)
    x = counted(x) if weighted else (x != 0).astype(float)
    chosen = {
        "regularization": 3.0, "n_inputs": n_inputs, "damping": 0.4, "balance": 2.0, "peers": 0.7,
        "discount": 0.3,
    }  # fmt: skip
    scorer = Blend(**chosen, n_codes=0, weighted=weighted).fit(own, far, graph)
    assert 0 < scorer.echo_ <= 1
    expected = plain_scores(x, own, far, **chosen, echo=scorer.echo_)
    np.testing.assert_allclose(scorer.scores(range(14)), expected, rtol=1e-4, atol=1e-4)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(0, 6), st.floats(0.1, 1000))
def test_leaving_an_entry_out_is_the_same_as_solving_without_its_row(seed, n_inputs, strength):
    rng = np.random.default_rng(seed)
    x = (rng.random((9, 6)) < 0.4) * rng.integers(1, 3, (9, 6))
    x[0, 0] = 1
    table = rng.standard_normal((6, 3)).astype(np.float32)
    matrix = sparse.csr_array(x.astype(np.float32))
    ridge = Ridge(strength, n_inputs, 0.5).fit(matrix, table)
    phi = plain_inputs(x, table, strength, n_inputs)
    entries = zip(*np.nonzero(x), strict=True)
    expected = []
    for u, j in entries:
        w, z = plain_regression(x.astype(float), phi, 0.5, j, without=u)
        expected.append(z[u] @ w)
    np.testing.assert_allclose(ridge.left_out, expected, atol=1e-3, rtol=1e-3)


def test_without_vectors_and_with_every_input_it_is_ease():
    graph = random_graph(40, 10)
    x = (graph.to_scipy().toarray() != 0).astype(float)
    p = np.linalg.inv(x.T @ x + 7 * np.eye(10))
    b = np.eye(10) - p / np.diag(p)
    matrix = sparse.csr_array(x.astype(np.float32))
    ridge = Ridge(7, 10, 0).fit(matrix, np.zeros((10, 0), np.float32))
    np.testing.assert_allclose(
        ridge.coefficients.T / np.sqrt(7), b - np.diag(np.diag(b)), atol=1e-4
    )


def test_a_user_without_edges_gets_popular_items_and_an_item_without_edges_comes_last():
    x = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]])
    graph = bivec.as_graph(sparse.csr_array(x))
    scores = Blend().fit(*vectors(graph), graph).scores([2, 0])
    assert list(np.argsort(-scores[0], kind="stable")) == [1, 2, 0, 3]
    assert (scores[:, 3] == -np.inf).all()
    assert np.isfinite(scores[:, :3]).all()


def test_a_vector_that_nothing_moved_does_not_matter():
    graph = bivec.as_graph(sparse.csr_array(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]])))
    own, far = vectors(graph)
    first = Blend().fit(own, far, graph).scores(range(3))
    far[2] *= 100
    np.testing.assert_array_equal(Blend().fit(own, far, graph).scores(range(3)), first)


def test_vectors_of_length_zero_and_graphs_without_edges():
    graph = random_graph(6, 5, density=0.8)
    own, far = vectors(graph)
    far[1] = 0
    assert np.isfinite(Blend(n_inputs=0).fit(own, far, graph).scores(range(6))).all()
    empty = bivec.BipartiteGraph([], [], left_ids=["a"], right_ids=["b", "c"])
    assert (Blend().fit(np.ones((1, 2)), np.ones((2, 2)), empty).scores([0]) == -np.inf).all()


def test_the_length_of_vectors_does_not_matter():
    graph = random_graph()
    own, far = vectors(graph)
    first = Blend(n_inputs=3).fit(own, far, graph).scores(range(5))
    second = Blend(n_inputs=3).fit(own * 7, far * np.float32(0.01), graph).scores(range(5))
    np.testing.assert_allclose(second, first, rtol=1e-4, atol=1e-6)


def test_the_order_of_weights_counts_where_asked():
    graph = random_graph()

    def scores(weights, weighted):
        other = bivec.BipartiteGraph(
            graph.left_rows(), graph.left.indices, weights,
            left_ids=graph.left.ids, right_ids=graph.right.ids,
        )  # fmt: skip
        scorer = Blend(weighted=weighted, discount=0)
        return scorer.fit(*vectors(graph), other).scores(range(graph.n_left))

    weights = graph.left.weights
    one, two = scores(None, False), scores(weights, True)
    np.testing.assert_array_equal(scores(weights, False), one)
    np.testing.assert_array_equal(scores(np.full_like(weights, 7), True), one)
    np.testing.assert_array_equal(scores(10**weights, True), two)
    assert not np.allclose(one, two)


def test_users_of_one_item_get_what_other_users_of_one_item_have():
    """They have one of two items that are never seen together; others have one and four more."""
    rng = np.random.default_rng(0)
    x = np.zeros((400, 22), int)
    x[np.arange(200), np.arange(200) % 2] = 1
    for user in x[200:]:
        user[rng.choice(np.arange(2, 22), 4, replace=False)] = 1
    x[np.arange(200, 300), np.arange(100) % 2] = 1
    graph = bivec.as_graph(sparse.csr_array(x))
    for peers, expected in ((0.1, True), (0, False)):
        scorer = Blend(peers=peers, known="last").fit(*vectors(graph), graph)
        first = scorer.scores(range(200)).argmax(axis=1)
        assert ((first == 1 - np.arange(200) % 2).mean() > 0.9) == expected
        assert (scorer.scores(range(200, 400)).argmax(axis=1) > 1).all()


def test_columns_and_pairs_are_parts_of_the_whole():
    graph = random_graph(20, 15)
    scorer = Blend(n_inputs=4).fit(*vectors(graph), graph)
    whole = scorer.scores(np.arange(20))
    some = np.array([1, 4, 9, 14])
    np.testing.assert_allclose(scorer.scores([3, 7], some), whole[[3, 7]][:, some], atol=1e-7)
    np.testing.assert_allclose(scorer.scores([5], slice(2, 6)), whole[[5], 2:6], atol=1e-7)
    rows, columns = np.array([0, 0, 19, 8]), np.array([3, 14, 0, 8])
    np.testing.assert_allclose(scorer.pairs(rows, columns), whole[rows, columns], atol=1e-7)


def test_known_pairs_last():
    graph = random_graph()
    tables = vectors(graph)
    absent = Blend().fit(*tables, graph).scores(range(30))
    last = Blend(known="last").fit(*tables, graph).scores(range(30))
    known = graph.to_scipy().toarray() != 0
    assert (last[known] == -np.inf).all()
    np.testing.assert_array_equal(last[~known], absent[~known])


def test_large_graphs_have_fewer_inputs_of_their_own(monkeypatch):
    graph = random_graph()
    tables = vectors(graph)
    monkeypatch.setattr(blend, "_MOST_COEFFICIENTS", 5 * (30 + 12) + 1)
    small = Blend().fit(*tables, graph)
    assert small.targets.shape == (12, 2 * (4 + 2 + 1 + 3) + 6)
    np.testing.assert_array_equal(
        small.scores([1, 2]), Blend(n_inputs=3, n_codes=2).fit(*tables, graph).scores([1, 2])
    )


def test_clusters_are_found():
    """Two kinds of users with items of their own, and one item that everybody has."""
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    x = rng.random((60, 21)) < np.where(np.arange(21)[None] % 2 == kind[:, None], 0.5, 0.02)
    x[:, 20] = True
    graph = bivec.as_graph(sparse.csr_array(x.astype(int)))
    model = bivec.FOBE(dim=8, epochs=20).fit(graph)
    scorer = Blend(regularization=5, known="last")
    scores = scorer.fit(model.left_embedding_, model.right_embedding_, graph).scores(range(60))
    assert (scores.argmax(axis=1) % 2 == kind).mean() > 0.95


def test_mistakes_are_named():
    graph = random_graph()
    own, far = vectors(graph)
    with pytest.raises(InputError, match="needs the graph"):
        Blend().fit(own, far, None)
    with pytest.raises(InputError, match="right vectors"):
        Blend().fit(own, far[:-1], graph)
    own[0, 0] = np.nan
    with pytest.raises(InputError, match="left vectors"):
        Blend().fit(own, far, graph)
    with pytest.raises(NotFittedError):
        Blend().scores([0])
    for wrong in (
        {"regularization": 0},
        {"n_inputs": -1},
        {"known": "first"},
        {"discount": -1},
        {"peers": -1},
    ):
        with pytest.raises(InputError):
            Blend(**wrong)


def test_as_a_ranker():
    split = per_user_split(random_graph(50, 20), 0.3)
    model = bivec.FOBE(dim=8, epochs=5, n_samples=10).fit(split.train)
    rankers = {
        scorer: EmbeddingRanker(model.embedding_, split.train, scorer=scorer)
        for scorer in ("blend", "blend-new")
    }
    table = evaluate_recommendation(split, rankers, k=5)
    # Where training items are removed anyway, it does not matter where they stood.
    assert table.row("blend", "masked").mean == table.row("blend-new", "masked").mean
    assert table.row("blend", "masked").params["scorer"] == "blend"
    direct = Blend().fit(model.left_embedding_, model.right_embedding_, split.train)
    np.testing.assert_array_equal(rankers["blend"].scores([4, 2]), direct.scores([4, 2]))


def test_the_same_bytes_whatever_the_threads(printed_with_blas_threads):
    """What is learned; a score is a product of two of its rows, to the rounding of BLAS."""
    code = (
        "import hashlib, numpy as np, bivec\n"
        "from bivec.queries import Blend\n"
        "rng = np.random.default_rng(0)\n"
        "graph = bivec.as_graph((rng.random((300, 200)) < 0.05).astype(int))\n"
        "tables = [rng.standard_normal((n, 32)).astype('f4') for n in (300, 200)]\n"
        "scorer = Blend().fit(*tables, graph)\n"
        "learned = scorer.targets, scorer.queries(range(300))\n"
        "print(*(hashlib.sha256(table.tobytes()).hexdigest() for table in learned))\n"
        "print(scorer.scores(range(300)).round(5).sum().round(2))\n"
    )
    assert len(printed_with_blas_threads(code)) == 1
