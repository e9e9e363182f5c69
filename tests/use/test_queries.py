"""Queries against whole matrices, and what odd questions are told."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bivec
from bivec.embedding import Embedding, EmbeddingSide
from bivec.errors import InputError, UnknownIdError
from bivec.graph import BipartiteGraph
from bivec.queries import SCORERS, Scorer, ranking
from bivec.queries.parts import facing

sys.path.insert(0, str(Path(__file__).parent))
from conftest import HOSTILE, plain_order, plain_scores, random_embedding

VECTOR_SCORERS = [name for name in SCORERS if name not in ("popularity", "blend", "blend-new")]


@pytest.mark.parametrize("side", ["left", "right"])
def test_blend_ranks_what_is_new_by_its_scores(side, small_blocks):
    emb = random_embedding()
    graph = facing(emb.graph, side)
    sides = (emb.left, emb.right) if side == "left" else (emb.right, emb.left)
    blend = SCORERS["blend"]().fit(sides[0].vectors, sides[1].vectors, graph)
    for row, got in enumerate(emb.recommend(list(sides[0].ids), n=8, side=side, scorer="blend")):
        scores = blend.scores(np.array([row]))[0]
        fresh = ~(graph.to_scipy()[[row]].toarray()[0] > 0)
        order = plain_order(scores, fresh)[:8]
        np.testing.assert_allclose(got.scores, scores[order], rtol=1e-5)
        assert len(got) == min(8, fresh.sum())


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("allow", [None, ["u1", "u3", "u9", "v0", "v2", "v5", "v7", "v8"]])
def test_blend_lets_known_nodes_compete_where_they_are_kept(side, allow):
    emb = random_embedding()
    own, far = (emb.left, emb.right) if side == "left" else (emb.right, emb.left)
    allow = allow and [key for key in allow if key in far.ids]
    blend = SCORERS["blend"]().fit(own.vectors, far.vectors, facing(emb.graph, side))
    open_to = np.ones(len(far), bool) if allow is None else np.isin(list(far.ids), allow)
    denied = [far.ids[2]]
    open_to[2] = False
    rankings = emb.recommend(
        list(own.ids), n=6, side=side, exclude_known=False, allow=allow, deny=denied
    )
    known = 0
    for row, got in enumerate(rankings):
        if got.scorer == "popularity":
            continue
        scores = blend.scores([row])[0]
        order = plain_order(scores, open_to)[:6]
        np.testing.assert_allclose(got.scores, scores[order], rtol=1e-5, atol=1e-7)
        known += len(set(got.ids) & set(emb.graph.neighbors(own.ids[row], side)))
    assert known


def test_the_default_gives_the_same_lists_alone_or_together_by_any_number_of_threads(small_blocks):
    emb = random_embedding(60, 50, 400)
    together = emb.recommend(list(emb.left.ids), n=7, n_jobs=1)
    assert {got.scorer for got in together} == {"blend"}
    assert together == emb.recommend(list(emb.left.ids), n=7, n_jobs=3)
    assert together == [emb.recommend(key, n=7) for key in emb.left.ids]


def test_without_a_graph_the_default_is_the_product():
    emb = random_embedding(graph=False)
    assert emb.recommend("u0").scorer == "dot"
    with pytest.raises(InputError, match="needs the graph"):
        emb.recommend("u0", scorer="blend")


def test_a_node_that_was_folded_in_is_ranked_by_its_edges(women):
    new = women.fold_in({"Zoe": ["E11", "E12"], "Yan": ["E99"]})
    more = women.extended(new)
    zoe, yan = more.recommend(["Zoe", "Yan"], n=3)
    assert (zoe.scorer, yan.scorer) == ("blend", "popularity")
    assert not {"E11", "E12"} & set(zoe.ids)
    assert more.recommend("E9", side="right", n=30).scorer == "blend"


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(ranking, "_ROWS", 7)
    monkeypatch.setattr(ranking, "_COLUMNS", 5)


@pytest.mark.parametrize("scorer", VECTOR_SCORERS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_recommend_is_the_plain_ranking(scorer, side, small_blocks):
    emb = random_embedding()
    own, far = (emb.left, emb.right) if side == "left" else (emb.right, emb.left)
    scores = plain_scores(emb, scorer, side)
    matrix = emb.graph.to_scipy().toarray()
    known = (matrix if side == "left" else matrix.T) > 0
    rankings = emb.recommend(list(own.ids), n=8, side=side, scorer=scorer)
    for row, got in enumerate(rankings):
        order = plain_order(scores[row], ~known[row])
        order = order[np.argsort(known.sum(axis=0)[order] == 0, kind="stable")][:8]
        assert got.ids == [far.ids[c] for c in order]
        finite = np.isfinite(got.scores)
        np.testing.assert_allclose(got.scores[finite], scores[row, order][finite], atol=1e-6)
        assert (got.of, got.of_side, got.scorer) == (own.ids[row], side, scorer)
        assert got.side != side


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(0, 25),
    n_right=st.integers(1, 24),
    dim=st.integers(1, 9),
    grid=st.sampled_from([None, 1, 2]),
    exclude=st.booleans(),
    allow=st.none() | st.lists(st.integers(0, 23)),
    deny=st.none() | st.lists(st.integers(0, 23)),
)
def test_any_recommendation_is_the_plain_one(seed, n, n_right, dim, grid, exclude, allow, deny):
    emb = random_embedding(9, n_right, 30, dim, seed, grid=grid)
    matrix = emb.graph.to_scipy().toarray() > 0
    scores = plain_scores(emb, "dot")
    scores[:, ~matrix.any(axis=0)] = -np.inf
    names = [f"v{c}" for c in range(n_right)]
    permitted = np.ones(n_right, bool)
    if allow is not None:
        allow = [names[c % n_right] for c in allow]
        permitted &= np.isin(names, allow)
    if deny is not None:
        deny = [f"v{c}" for c in deny]  # some may not exist
        permitted &= ~np.isin(names, deny)
    rankings = emb.recommend(
        emb.left.ids, n, exclude_known=exclude, allow=allow, deny=deny, scorer="dot"
    )
    for row, got in enumerate(rankings):
        order = plain_order(scores[row], permitted & ~(exclude & matrix[row]))[:n]
        assert len(got) == len(order)
        assert np.array_equal(got.scores, scores[row, order]) or np.allclose(
            got.scores, scores[row, order], rtol=1e-6
        )
        if grid:  # sums of small multiples of 1/4 are exact, so ties are true ties
            assert got.ids == [names[c] for c in order]
        assert len(set(got.ids)) == len(got.ids)


def test_the_answer_does_not_depend_on_blocks_threads_or_company(monkeypatch):
    emb = random_embedding(300, 900, 3000, 20)
    reference = emb.recommend(emb.left.ids, n=25, n_jobs=1)
    for rows, columns, jobs in ((7, 33, 3), (256, 4096, 2), (1, 900, 1)):
        monkeypatch.setattr(ranking, "_ROWS", rows)
        monkeypatch.setattr(ranking, "_COLUMNS", columns)
        assert emb.recommend(emb.left.ids, n=25, n_jobs=jobs) == reference
    assert [emb.recommend(key, n=25) for key in emb.left.ids[:20]] == reference[:20]
    again = emb.recommend(emb.left.ids[50:80], n=25, allow=list(emb.right.ids))
    assert again == reference[50:80]


def test_equal_nodes_come_in_row_order():
    """Nodes with one and the same vector tie exactly, wherever they stand in a block."""
    vector = np.random.default_rng(0).normal(size=(1, 33)).astype(np.float32)
    emb = Embedding(
        EmbeddingSide(range(3), np.random.default_rng(1).normal(size=(3, 33))),
        EmbeddingSide(range(1000), np.repeat(vector, 1000, axis=0)),
    )
    for got in emb.recommend([0, 1, 2], n=40):
        assert got.ids == list(range(40))
        assert len(set(got.scores.tolist())) == 1


@pytest.mark.parametrize("side", ["left", "right"])
def test_similar_is_the_plain_cosine_without_oneself(side):
    emb = random_embedding(40, 30, 200, graph=False)
    table = emb.side(side).vectors.astype(float)
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    cosine = unit @ unit.T
    ids = emb.side(side).ids
    for row, got in enumerate(emb.similar(ids, side=side, n=6)):
        order = plain_order(cosine[row], np.arange(len(ids)) != row)[:6]
        assert got.ids == [ids[c] for c in order]
        np.testing.assert_allclose(got.scores, cosine[row, order], atol=1e-6)
    assert len(emb.similar(ids[0], side=side, n=1000)) == len(ids) - 1


@pytest.mark.parametrize("scorer", [*VECTOR_SCORERS, "blend"])
def test_score_is_what_recommend_says(scorer):
    emb = random_embedding()
    pairs, expected = [], []
    for got in emb.recommend(emb.left.ids, n=4, scorer=scorer, exclude_known=False):
        pairs += [(got.of, key) for key in got.ids]
        expected += got.scores.tolist()
    assert emb.score(pairs, scorer=scorer).tolist() == expected
    assert emb.score([]).shape == (0,)


@pytest.mark.parametrize("scorer", [*VECTOR_SCORERS, "popularity"])
def test_predicted_links_are_the_best_absent_pairs(scorer, small_blocks):
    emb = random_embedding(20, 16, 60, grid=4)
    matrix = emb.graph.to_scipy().toarray() > 0
    links = emb.predict_links(50, scorer=scorer)
    if scorer == "popularity":
        scores = np.repeat(emb.graph.right.degrees[None].astype(np.float32), 20, axis=0)
    else:
        scores = plain_scores(emb, scorer)
    scores[~matrix.any(axis=1)] = -np.inf
    scores[:, ~matrix.any(axis=0)] = -np.inf
    order = plain_order(scores.ravel(), ~matrix.ravel())[:50]
    np.testing.assert_allclose(links.scores, scores.ravel()[order], rtol=1e-6)
    if scorer in ("dot", "popularity"):
        assert [(a, b) for a, b, _ in links] == [(f"u{p // 16}", f"v{p % 16}") for p in order]
    assert not any(b in emb.graph.neighbors(a, "left") for a, b, _ in links)
    absent = 20 * 16 - emb.graph.n_edges
    everything = emb.predict_links(10_000, scorer=scorer)
    assert len(everything) == len({(a, b) for a, b, _ in everything}) == absent


def test_a_scorer_of_ones_own():
    class Alphabetical(Scorer):
        name = "alphabetical"

        def fit(self, own, far, graph):
            self.n = len(far)
            return self

        def block(self, queries, columns):
            row = -np.arange(self.n, dtype=np.float32)[columns]
            return np.repeat(row[None], len(queries), axis=0)

    emb = random_embedding(graph=False)
    got = emb.recommend("u1", n=3, scorer=Alphabetical())
    assert (got.ids, got.scorer) == (["v0", "v1", "v2"], "alphabetical")
    assert emb.score([("u0", "v3"), ("u1", "v2")], scorer=Alphabetical()).tolist() == [-3, -2]


# Edges of the world


def test_without_a_graph_the_product_ranks_and_nothing_is_known():
    emb = random_embedding(graph=False)
    got = emb.recommend("u0", n=100)
    assert (len(got), got.scorer) == (20, "dot")
    for ask in (
        lambda: emb.predict_links(),
        lambda: emb.explain("u0", "v0"),
        lambda: emb.recommend("u0", scorer="centroid"),
        lambda: emb.recommend("u0", scorer="popularity"),
    ):
        with pytest.raises(InputError, match="needs the graph, and this embedding has none"):
            ask()


def test_a_node_without_edges_gets_what_is_popular():
    graph = BipartiteGraph([0, 1, 2, 2], [1, 1, 1, 0], left_ids=range(4), right_ids=range(4))
    emb = Embedding(
        EmbeddingSide(range(4), np.eye(4)), EmbeddingSide(range(4), np.eye(4)), graph=graph
    )
    got = emb.recommend(3, n=10)
    assert (got.ids, got.scorer) == ([1, 0, 2, 3], "popularity")
    assert got.to_dict()["results"][2] == {"id": 2, "score": None}  # never trained, so last
    mixed = emb.recommend([0, 3, 1], n=2)
    assert [ranking.scorer for ranking in mixed] == ["blend", "popularity", "blend"]
    assert emb.recommend(3, scorer="dot").scorer == "dot"
    assert emb.explain(3, 1).n_bridges == 0
    assert emb.similar(3, n=5).ids == [0, 1, 2]


def test_exactly_n_while_there_are_n():
    emb = random_embedding()
    for row, got in enumerate(emb.recommend(emb.left.ids, n=1000)):
        assert len(got) == 20 - emb.graph.left.degrees[row]
    assert len(emb.recommend("u0", n=0)) == 0
    assert len(emb.recommend("u0", allow=[])) == 0
    assert len(emb.recommend("u0", deny=emb.right.ids)) == 0
    assert emb.recommend([]) == []


def test_an_empty_side():
    graph = BipartiteGraph([], [], left_ids=["a", "b"], right_ids=[])
    emb = Embedding(
        EmbeddingSide(["a", "b"], np.eye(2)), EmbeddingSide([], np.empty((0, 2))), graph=graph
    )
    assert len(emb.recommend("a")) == 0
    assert len(emb.predict_links()) == 0
    assert emb.similar("a").ids == ["b"]
    with pytest.raises(UnknownIdError, match="no right node 'x' among 0 ids"):
        emb.recommend("x", side="right")


def test_unknown_ids_name_the_side_and_near_ones(women):
    with pytest.raises(InputError, match=r"no left node 'flora price' among 18 ids; did you mean"):
        women.recommend("flora price")
    with pytest.raises(UnknownIdError, match="no right node 'E99'") as caught:
        women.explain("Flora Price", "E99")
    assert caught.value.side == "right"
    with pytest.raises(UnknownIdError, match="no right node 'E99'"):
        women.recommend("Flora Price", allow=["E1", "E99"])
    assert women.recommend("Flora Price", deny=["E99"]) == women.recommend("Flora Price")
    bare = Embedding(EmbeddingSide(["ann"], [[1]]), EmbeddingSide(["Alien"], [[1]]))
    with pytest.raises(UnknownIdError, match=r"no right node 'Aliens'.*did you mean 'Alien'"):
        bare.score([("ann", "Aliens")])


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda e: e.recommend("u0", n=-1), "n=-1 is out of range"),
        (lambda e: e.recommend("u0", n=2.5), "n=2.5 is no integer"),
        (lambda e: e.recommend("u0", side="top"), "'top' is no side"),
        (lambda e: e.similar("u0", side="top"), "'top' is no side"),
        (lambda e: e.recommend("u0", scorer="best"), "scorer='best' is no choice"),
        (lambda e: e.recommend("u0", allow="v1"), "allow='v1' is no list of ids"),
        (lambda e: e.recommend("u0", deny="v1"), "deny='v1' is no list of ids"),
        (lambda e: e.recommend(None), "ids=None is no list of ids"),
        (lambda e: e.score("u0"), "score takes pairs"),
        (lambda e: e.score([("u0", "v0", "v1")]), "score takes pairs"),
        (lambda e: e.predict_links(-5), "n=-5 is out of range"),
    ],
)
def test_odd_questions(ask, message):
    with pytest.raises(InputError, match=message):
        ask(random_embedding())


# What comes back


@pytest.mark.parametrize("side", ["left", "right"])
def test_hostile_ids_come_back_as_they_are(side):
    graph = bivec.as_graph([(a, b) for k, a in enumerate(HOSTILE) for b in HOSTILE[k % 5 :: 2]])
    emb = bivec.FOBE(dim=4, epochs=2, n_samples=4).fit(graph).embedding_
    for key in emb.side(side).ids:
        got = emb.recommend(key, n=50, side=side)
        assert got.of == key
        assert set(got.ids) <= set(HOSTILE)
        lines = repr(got).splitlines()
        assert len(lines) == 1 + len(got)
        assert "\t" not in repr(got)
        again = json.loads(json.dumps(got.to_dict()))
        assert [entry["id"] for entry in again["results"]] == got.ids
        assert emb.similar(key, side=side).of == key
    explanation = emb.explain("<script>alert(1)</script>", "two words")
    assert json.loads(json.dumps(explanation.to_dict()))["left"] == "<script>alert(1)</script>"
    assert all(c.isprintable() for line in str(explanation).splitlines() for c in line)


def test_rankings_are_friendly(women):
    got = women.recommend("Flora Price", n=3)
    assert list(got) == [
        (key, pytest.approx(s)) for key, s in zip(got.ids, got.scores, strict=True)
    ]
    assert got[0] == next(iter(got))
    assert got[:2] == list(got)[:2]
    assert got.to_pandas().columns.tolist() == ["id", "score"]
    assert repr(got).splitlines()[0] == "Flora Price: 3 right nodes by blend"
    assert repr(women.predict_links(30)).splitlines()[-1] == "  and 10 more"
    assert women.predict_links(3).to_pandas().shape == (3, 3)
    assert set(women.predict_links(1).to_dict()["results"][0]) == {"left", "right", "score"}
    with pytest.raises(AttributeError):
        got.ids = []


def test_integer_ids_and_their_digits_name_one_node():
    graph = BipartiteGraph([0, 1, 1], [0, 1, 0], left_ids=[10, 20], right_ids=[7, 8])
    emb = Embedding(
        EmbeddingSide([10, 20], np.eye(2)), EmbeddingSide([7, 8], np.eye(2)), graph=graph
    )
    assert emb.recommend("10") == emb.recommend(10) == emb.recommend(np.int64(10))
    assert emb.recommend(10).of == 10


def test_a_saved_embedding_answers_the_same(tmp_path, women):
    women.save(tmp_path / "w.bivec")
    again = bivec.load(tmp_path / "w.bivec")
    assert again.recommend(women.left.ids, n=5) == women.recommend(women.left.ids, n=5)
    assert str(again.explain("Flora Price", "E5")) == str(women.explain("Flora Price", "E5"))
    assert again == women


def test_an_embedding_survives_pickling_after_questions(women):
    import pickle

    women.recommend("Flora Price")
    women.explain("Flora Price", "E5")
    again = pickle.loads(pickle.dumps(women))
    assert again == women
    assert again.recommend("Flora Price") == women.recommend("Flora Price")


def test_vectors_too_long_for_single_precision_still_rank_exactly():
    """BLAS gives infinities that cancel to what is no number; the exact dot does not."""
    rng = np.random.default_rng(0)
    emb = Embedding(
        EmbeddingSide(range(5), rng.normal(size=(5, 8)) * 1e25),
        EmbeddingSide(range(300), rng.normal(size=(300, 8)) * 1e14),
    )
    with np.errstate(all="ignore"):
        rankings = emb.recommend(range(5), n=20)
        exact = emb.left.vectors.astype(float) @ emb.right.vectors.astype(float).T
        scores = exact.astype(np.float32)
    assert np.isinf(scores).any()
    for row, got in enumerate(rankings):
        assert got.ids == plain_order(scores[row], np.ones(300, bool))[:20].tolist()
