"""The approximate index: what it proposes is scored exactly, lists are never short."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import bivec
from bivec.cli import main
from bivec.embedding import Embedding, EmbeddingSide
from bivec.errors import FormatError, InputError
from bivec.queries import Scorer

pytest.importorskip("usearch", reason="needs the extra index")
sys.path.insert(0, str(Path(__file__).parent))
from conftest import random_embedding


@pytest.fixture(scope="module")
def indexed():
    emb = random_embedding(800, 1500, 6000, 16)
    emb.build_index(n_jobs=1)
    return emb


def recall(exact, near):
    pairs = zip(exact, near, strict=True)
    return np.mean([len(set(a.ids) & set(b.ids)) / len(a) for a, b in pairs])


class Odd(Scorer):
    name = "odd"

    def fit(self, own, far, graph):
        return self

    def block(self, queries, columns):
        raise AssertionError


@pytest.mark.parametrize("scorer", ["centroid", "centroid-cosine", "dot", "cosine"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_lists_by_the_index_are_nearly_the_exact_ones(indexed, scorer, side):
    ids = indexed.side(side).ids[:200]
    exact = indexed.recommend(ids, side=side, scorer=scorer)
    near = indexed.recommend(ids, side=side, scorer=scorer, approximate=True)
    assert recall(exact, near) > 0.95
    for a, b in zip(exact, near, strict=True):
        assert len(a) == len(b)
        known = dict(a)
        assert all(known.get(key, score) == score for key, score in b)
        assert b.scores.tolist() == sorted(b.scores.tolist(), reverse=True)
        assert not set(b.ids) & set(indexed.graph.neighbors(a.of, side))


def test_similar_by_the_index(indexed):
    ids = indexed.right.ids[:200]
    near = indexed.similar(ids, side="right", approximate=True)
    assert recall(indexed.similar(ids, side="right"), near) > 0.95
    assert all(ranking.of not in ranking.ids for ranking in near)


def test_lists_are_whole_whatever_is_left_out(indexed):
    right = list(indexed.right.ids)
    got = indexed.recommend("u1", n=20, deny=right[:1450], approximate=True)
    assert got.scorer == "centroid"  # which the index serves, and blend it does not
    assert got == indexed.recommend("u1", n=20, deny=right[:1450], scorer="centroid")
    got = indexed.recommend("u1", n=5000, approximate=True)
    assert len(got) == 1500 - len(indexed.graph.neighbors("u1", "left"))
    allowed = indexed.recommend("u1", allow=right[7:30], approximate=True)
    assert allowed == indexed.recommend("u1", allow=right[7:30], scorer="centroid")
    with pytest.raises(InputError, match="no index serves the scorer 'blend'"):
        indexed.recommend("u1", scorer="blend", approximate=True)
    assert len(indexed.recommend("u1", n=0, approximate=True)) == 0


def test_reports_tell_the_measured_recall(indexed):
    reports = indexed.build_index(n_jobs=1)
    assert {(r.side, r.kind) for r in reports} == {
        (side, kind) for side in ("left", "right") for kind in ("product", "cosine")
    }
    assert all(0.95 < r.recall <= 1 and r.sample == 500 for r in reports)
    linked = {"left": indexed.graph.left.degrees > 0, "right": indexed.graph.right.degrees > 0}
    assert all(r.vectors == linked[r.side].sum() for r in reports)


def test_a_poor_index_is_reported_as_poor():
    rng = np.random.default_rng(0)
    emb = Embedding(
        EmbeddingSide(range(50), rng.normal(size=(50, 48))),
        EmbeddingSide(range(4000), rng.normal(size=(4000, 48))),
    )
    poor = emb.build_index(connectivity=2, expansion=1, n_jobs=1)
    good = emb.build_index(expansion=400, n_jobs=1)
    recalls = [
        next(r.recall for r in reports if (r.side, r.kind) == ("right", "cosine"))
        for reports in (poor, good)
    ]
    assert recalls[0] < 0.9 < recalls[1]


def test_any_number_of_threads_builds_the_same_bytes(tmp_path, indexed):
    for jobs in (1, 2, 4):
        indexed.build_index(n_jobs=jobs)
        indexed.save(tmp_path / f"{jobs}.bivec")
    files = sorted(path.name for path in (tmp_path / "1.bivec" / "index").iterdir())
    assert sum(name.endswith(".usearch") for name in files) == 4
    for name in files:
        contents = {(tmp_path / f"{jobs}.bivec/index" / name).read_bytes() for jobs in (1, 2, 4)}
        assert len(contents) == 1, name


def test_saved_with_the_embedding(tmp_path, indexed):
    path = tmp_path / "m.bivec"
    indexed.save(path)
    again = bivec.load(path)
    assert again == indexed
    ids = indexed.left.ids[:20]
    assert again.recommend(ids, approximate=True) == indexed.recommend(ids, approximate=True)
    again.save(tmp_path / "copy.bivec")  # the index goes along
    assert bivec.load(tmp_path / "copy.bivec").similar("u1", approximate=True).ids
    bivec.load(path).save(path)  # replaces the files it came from
    assert bivec.load(path).similar("u1", approximate=True).ids
    (path / "index" / "left.cosine.usearch").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="Build it again with: bivec index"):
        bivec.load(path).similar("u1", approximate=True)
    assert bivec.load(path).similar("u1").ids  # exact search does not need it
    shutil.rmtree(path / "index")
    with pytest.raises(InputError, match="this embedding has no index"):
        bivec.load(path).similar("u1", approximate=True)


def test_what_no_index_can_do(indexed):
    with pytest.raises(InputError, match="no index serves the scorer 'odd'"):
        indexed.recommend("u1", scorer=Odd(), approximate=True)
    tiny = Embedding(EmbeddingSide(["a"], [[1.0]]), EmbeddingSide([], np.empty((0, 1))))
    tiny.build_index(n_jobs=1)
    assert len(tiny.recommend("a", approximate=True)) == 0


def test_command(capsys, tmp_path, indexed):
    path = tmp_path / "m.bivec"
    random_embedding(100, 80, 400, 8).save(path)
    assert main(["recommend", str(path), "u1", "--approximate"]) == 2
    assert "this embedding has no index" in capsys.readouterr().err
    assert main(["index", str(path), "--jobs", "1", "--json"]) == 0
    reports = json.loads(capsys.readouterr().out)
    assert {report["recall"] for report in reports} == {1.0}
    assert main(["recommend", str(path), "u1", "--approximate", "--json"]) == 0
    near = json.loads(capsys.readouterr().out)
    assert main(["recommend", str(path), "u1", "--scorer", "centroid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == near
    assert main(["similar", str(path), "u1", "--approximate"]) == 0
    assert main(["index", str(path)]) == 0
    assert "recall at 10" in capsys.readouterr().out
    assert main(["info", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["index recall"]["left cosine"] == 1.0
