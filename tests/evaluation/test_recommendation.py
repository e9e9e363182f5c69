"""The table of a recommendation experiment, and the figures that settle the protocol."""

import os
import re
import time
from pathlib import Path

import numpy as np
import pytest

import bivec
from bivec.datasets import southern_women
from bivec.evaluation import (
    EmbeddingRanker,
    Popularity,
    Ranker,
    available_rankers,
    evaluate_recommendation,
    given_split,
    per_user_split,
    recommendation,
)

DATA = Path(os.environ.get("BIVEC_DATA") or "no-such-directory")


def needed(name):
    if not (DATA / name).exists():
        pytest.skip(f"BIVEC_DATA has no {name}")
    return DATA / name


def columns(name):
    rows = [line.split("\t") for line in needed(name).read_text().splitlines()]
    left, right, weight = zip(*rows, strict=True)
    return left, right, np.array(weight, dtype=float)


def test_popularity_on_bine_dblp():
    """The figures that several implementations of the protocol must agree on."""
    split = given_split(columns("bine-dblp/rating_train.dat"), columns("bine-dblp/rating_test.dat"))
    row = evaluate_recommendation(split, ["popularity"], protocols=["bine"]).rows[0]
    assert row.users == 2996
    assert row.skipped == {"no test items": 6001 - 2996}
    figures = [round(row.mean[name], 4) for name in ("f1", "ndcg", "map", "mrr")]
    assert figures == [0.1111, 0.2625, 0.2057, 0.3276]


def test_movielens_within_a_second():
    graph = bivec.read_edges(needed("movielens-100k/ml-100k.inter"))
    split = per_user_split(graph, 0.4)
    rng = np.random.default_rng(0)
    vectors = [rng.random((n, 128), np.float32) for n in (graph.n_left, graph.n_right)]
    ranker = EmbeddingRanker(vectors, split.train)
    evaluate_recommendation(split, [ranker])  # compiles or loads the kernels
    start = time.process_time()
    table = evaluate_recommendation(split, [ranker])
    assert time.process_time() - start < 1
    assert [row.users for row in table] == [943, 943]


def test_rows_of_the_table():
    split = per_user_split(southern_women(), 0.4)
    seen = []
    table = evaluate_recommendation(
        split,
        {"most seen": "popularity", "fobe": bivec.FOBE(dim=4, epochs=2, random_state=0)},
        k=3,
        progress=lambda *now: seen.append(now),
    )
    assert seen == [(0, 2, "most seen"), (1, 2, "fobe"), (2, 2, "done")]
    assert [(row.method, row.protocol) for row in table] == [
        ("most seen", "bine"),
        ("most seen", "masked"),
        ("fobe", "bine"),
        ("fobe", "masked"),
    ]
    row = table.row("fobe", "masked")
    assert (row.k, row.users, row.params["dim"]) == (3, 18, 4)
    assert row.fit_wall > 0
    assert row.score_wall > 0
    assert 0 < row.mean["f1"] < 1
    assert f"{row.mean['f1']:.4f}" in str(table).splitlines()[4]
    with pytest.raises(bivec.InputError, match="no row fobe/other"):
        table.row("fobe", "other")


def test_reference_rankers_are_the_default(monkeypatch):
    split = per_user_split(southern_women(), 0.4)
    monkeypatch.setattr(recommendation.importlib.util, "find_spec", lambda name: None)
    assert available_rankers() == ["popularity", "item-knn", "ease", "pure-svd", "rp3beta"]
    table = evaluate_recommendation(split, protocols=["masked"], k=5)
    assert [row.method for row in table] == available_rankers()


class Broken(Ranker):
    name = "broken"
    params = {}  # noqa: RUF012

    def _fit(self, train):
        pass

    def _scores(self, rows):
        return np.full((len(rows), self.train_.n_right), np.nan)


def test_a_method_that_returns_nan_is_named():
    split = per_user_split(southern_women(), 0.4)
    with pytest.raises(bivec.InputError, match=r"^broken gave NaN"):
        evaluate_recommendation(split, ["popularity", Broken()])


def test_the_docs_mark_the_published_rows_that_break_the_bound():
    page = Path(__file__).parents[2] / "docs" / "recommendation.md"
    figure = r" (\.\d{4}) \|"
    rows = re.findall(rf"^\| ([\w+-]+) \|{figure * 5} (\w*) ?\|$", page.read_text(), re.M)
    assert len(rows) == 18
    for name, *figures, mark in rows:
        f1, _, mean_ap, mrr, stated = map(float, figures)
        assert stated == pytest.approx(2 / (10 / mrr + 1 / mean_ap), abs=1e-4), name
        half = 5e-5  # published figures are rounded to four digits
        least = 2 / (10 / (mrr - half) + 1 / (mean_ap - half))
        assert (mark == "broken") == (f1 + half < least), name
    assert sum(mark == "broken" for *_, mark in rows) == 3 + 8


def test_two_of_one_name_are_refused():
    split = per_user_split(southern_women(), 0.4)
    with pytest.raises(bivec.InputError, match="two rankers are called 'popularity'"):
        evaluate_recommendation(split, ["popularity", Popularity(weighted=True)])
