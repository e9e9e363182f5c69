"""Reference rankers against their formulas, and on a problem whose answer is known."""

import sys

import numpy as np
import pytest

import bivec
from bivec.evaluation import (
    RANKERS,
    EmbeddingRanker,
    ItemKNN,
    Popularity,
    PureSVD,
    make_ranker,
)


def random_graph(n_left, n_right, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    return bivec.as_graph(
        rng.integers(1, 6, (n_left, n_right)) * (rng.random((n_left, n_right)) < density)
    )


def values(graph, weighted):
    dense = graph.to_scipy().toarray().astype(float)
    return dense if weighted else (dense != 0).astype(float)


def every_row(ranker):
    return ranker.scores(np.arange(ranker.train_.n_left))


@pytest.mark.parametrize("weighted", [False, True])
def test_popularity(weighted):
    graph = random_graph(20, 8)
    ranker = Popularity(weighted).fit(graph)
    np.testing.assert_allclose(ranker.scores([3, 1])[1], values(graph, weighted).sum(axis=0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_ease_is_the_closed_form_from_either_side(shape, weighted):
    graph = random_graph(*shape)
    x = values(graph, weighted)
    p = np.linalg.inv(x.T @ x + 7 * np.eye(shape[1]))
    b = np.eye(shape[1]) - p / np.diag(p)
    np.fill_diagonal(b, 0)
    ranker = make_ranker("ease", regularization=7, weighted=weighted).fit(graph)
    np.testing.assert_allclose(every_row(ranker), x @ b, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (0.6, 0.3)])
def test_rp3beta_is_the_sum_over_walks(alpha, beta, weighted):
    graph = random_graph(9, 7, density=0.4)
    x = values(graph, weighted)
    out = x / np.maximum(x.sum(axis=1, keepdims=True), 1)
    back = (x / np.maximum(x.sum(axis=0), 1)).T
    expected = np.zeros(x.shape)
    for u, i, k, j in np.ndindex(9, 7, 9, 7):
        if i != j:
            expected[u, j] += (out[u, i] * back[i, k] * out[k, j]) ** alpha
    expected *= np.maximum(x.sum(axis=0), 1) ** -float(beta)
    ranker = make_ranker("rp3beta", alpha=alpha, beta=beta, weighted=weighted).fit(graph)
    np.testing.assert_allclose(every_row(ranker), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n_neighbors", [1, 3, 100, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_item_knn(n_neighbors, weighted):
    graph = random_graph(25, 10, density=0.5)
    x = values(graph, weighted)
    unit = x / np.linalg.norm(x, axis=0)
    cosine = (unit.T @ unit).astype(np.float32)
    expected = np.zeros_like(x)
    for j in range(10):
        others = sorted((i for i in range(10) if i != j), key=lambda i: (-cosine[j, i], i))
        for i in others[:n_neighbors]:
            expected[:, j] += x[:, i] * cosine[j, i]
    ranker = ItemKNN(n_neighbors, weighted).fit(graph)
    np.testing.assert_allclose(every_row(ranker), expected, rtol=1e-4)


@pytest.mark.parametrize("n_factors", [3, 50])
def test_pure_svd(n_factors):
    graph = random_graph(25, 10)
    x = values(graph, True)
    v = np.linalg.svd(x)[2][:n_factors].T
    ranker = PureSVD(n_factors).fit(graph)
    np.testing.assert_allclose(every_row(ranker), x @ v @ v.T, atol=1e-4)


def test_what_rankers_learn_does_not_depend_on_threads(printed_with_blas_threads):
    code = (
        "import hashlib, numpy as np, bivec\n"
        "from bivec.evaluation import make_ranker\n"
        "rng = np.random.default_rng(0)\n"
        "graph = bivec.as_graph((rng.random((400, 300)) < 0.05).astype(int))\n"
        "for table in (make_ranker('ease').fit(graph).weights_,\n"
        "              make_ranker('pure-svd').fit(graph).factors_):\n"
        "    print(hashlib.sha256(table.tobytes()).hexdigest())\n"
    )
    assert len(printed_with_blas_threads(code)) == 1


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_finds_the_blocks(name):
    """Users of a block like its items; each lacks one, which must beat the other block's items."""
    if name in ("als", "bpr"):
        pytest.importorskip("implicit")
    rng = np.random.default_rng(0)
    likes = np.kron(np.eye(2), np.ones((20, 6))) * (rng.random((40, 12)) < 0.8)
    params = {"n_factors": 4} if name in ("als", "bpr", "pure-svd") else {}
    graph = bivec.as_graph(likes)
    ranker = make_ranker(name, **params).fit(graph)
    scores = every_row(ranker)
    assert scores.dtype == np.float32
    assert scores.shape == (40, 12)
    same = make_ranker(name, **params).fit(graph)
    assert every_row(same).tobytes() == scores.tobytes()
    if name != "popularity":
        block = np.kron(np.eye(2), np.ones((20, 6))) > 0
        new = block & (likes == 0)
        assert scores[new].mean() > scores[~block].mean() + 0.05


def test_a_node_without_edges_has_a_row_everywhere():
    graph = bivec.BipartiteGraph(
        [0, 1, 1, 2, 0], [0, 0, 1, 2, 2], left_ids=range(5), right_ids=range(6)
    )
    for name in RANKERS:
        if name in ("als", "bpr"):
            pytest.importorskip("implicit")
        scores = every_row(make_ranker(name).fit(graph))
        assert np.isfinite(scores).all(), name


def test_embedding_ranker():
    graph = bivec.BipartiteGraph(
        [0, 0, 1], [0, 1, 1], [3, 1, 2], left_ids=["u", "v", "w"], right_ids=["a", "b", "c"]
    )
    left, right = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[2, 0], [0, 4], [9, 9]])
    centroid = EmbeddingRanker((left, right), graph, scorer="centroid").scores([0, 1, 2])
    # u's centroid is (3 * (2, 0) + 1 * (0, 4)) / 4 = (1.5, 1); c has no edge and comes last.
    np.testing.assert_allclose(centroid, [[3, 4, -np.inf], [0, 16, -np.inf], [0, 0, -np.inf]])
    cosine = EmbeddingRanker((left, right), graph, scorer="centroid-cosine").scores([0])
    np.testing.assert_allclose(cosine, [[1.5, 1, -np.inf]])
    dot = EmbeddingRanker((left, right), graph, scorer="dot").scores([0, 1])
    np.testing.assert_allclose(dot, [[2, 0, -np.inf], [0, 4, -np.inf]])


def test_embedding_ranker_trains_an_estimator_or_takes_its_vectors():
    graph = random_graph(20, 10)
    model = bivec.FOBE(dim=4, epochs=2, random_state=0)
    trained = EmbeddingRanker(model).fit(graph)
    taken = EmbeddingRanker(model.embedding_, graph)
    assert trained.name == taken.name == "fobe"
    assert trained.params["dim"] == 4
    assert trained.params["scorer"] == "blend"
    assert np.array_equal(every_row(trained), every_row(taken))
    with pytest.raises(bivec.InputError, match="other ids"):
        EmbeddingRanker(model.embedding_, random_graph(20, 9))
    with pytest.raises(bivec.InputError, match="not finite"):
        EmbeddingRanker((np.full((20, 2), np.nan), np.ones((10, 2))), graph)


def test_what_is_refused(monkeypatch):
    graph = random_graph(6, 5)
    with pytest.raises(bivec.NotFittedError, match="Call fit first"):
        Popularity().scores([0])
    with pytest.raises(bivec.InputError, match=r"'eaes' is no ranker.*item-knn"):
        make_ranker("eaes")
    with pytest.raises(bivec.InputError, match=r"'ease' cannot be made.*strength"):
        make_ranker("ease", strength=1)
    for name, params in (
        ("ease", {"regularization": 0}),
        ("item-knn", {"n_neighbors": 0}),
        ("pure-svd", {"n_factors": 0}),
    ):
        with pytest.raises(bivec.InputError, match=next(iter(params))):
            make_ranker(name, **params).fit(graph)
    with pytest.raises(bivec.InputError, match="scorer"):
        EmbeddingRanker((graph, graph), scorer="best")
    monkeypatch.setitem(sys.modules, "implicit", None)
    with pytest.raises(bivec.MissingExtraError, match=r"'als' needs the package 'implicit'"):
        make_ranker("als").fit(graph)
