"""The verbs that ask a saved embedding, as a person or a script meets them."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bivec
from bivec.cli import main

sys.path.insert(0, str(Path(__file__).parent))
from conftest import HOSTILE, random_embedding


@pytest.fixture
def model(tmp_path, women):
    women.save(tmp_path / "women.bivec")
    return tmp_path / "women.bivec"


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_recommend_says_what_the_library_says(capsys, model, women):
    code, out, err = run(capsys, "recommend", model, "Flora Price", "Nora Fayette", "-n", 4)
    assert (code, err) == (0, "")
    for ranking in women.recommend(["Flora Price", "Nora Fayette"], n=4):
        for key, score in ranking:
            assert f"{key:<4}" in out
            assert f"{score:.4f}" in out
    code, out, _ = run(capsys, "recommend", model, "E1", "--side", "right", "-n", 2, "--json")
    assert json.loads(out) == [women.recommend("E1", n=2, side="right").to_dict()]


def test_recommend_takes_lists_from_files_and_ids_from_standard_input(
    capsys, model, women, tmp_path, monkeypatch
):
    (tmp_path / "allow.txt").write_text("E1\r\nE2\nE9\n\n", encoding="utf-8")
    (tmp_path / "deny.txt").write_text("\ufeffE2\nnobody\n", encoding="utf-8")
    files = ("--allow", tmp_path / "allow.txt", "--deny", tmp_path / "deny.txt", "--json")
    _, out, _ = run(capsys, "recommend", model, "Flora Price", *files)
    assert [entry["id"] for entry in json.loads(out)[0]["results"]] == ["E1"]
    _, out, _ = run(capsys, "recommend", model, "Flora Price", "--keep-known", *files)
    assert [entry["id"] for entry in json.loads(out)[0]["results"]] == ["E9", "E1"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("Flora Price\nNora Fayette\n"))
    _, out, _ = run(capsys, "recommend", model, "-", "--json")
    assert [entry["id"] for entry in json.loads(out)] == ["Flora Price", "Nora Fayette"]
    code, _, err = run(capsys, "recommend", model, "Flora Price", "--allow", tmp_path / "none")
    assert code == 2
    assert "cannot read it (No such file or directory)" in err


def test_similar_score_links_explain(capsys, model, women, tmp_path):
    _, out, _ = run(capsys, "similar", model, "E1", "--side", "right", "-n", 3, "--json")
    assert json.loads(out) == [women.similar("E1", side="right", n=3).to_dict()]
    _, out, _ = run(capsys, "score", model, "Flora Price", "E1", "--json")
    expected = float(women.score([("Flora Price", "E1")])[0])
    assert json.loads(out) == [{"left": "Flora Price", "right": "E1", "score": expected}]
    (tmp_path / "pairs.csv").write_text('Flora Price,E1\n"Nora Fayette",E2\n')
    _, out, _ = run(capsys, "score", model, "--pairs", tmp_path / "pairs.csv")
    assert len(out.splitlines()) == 3
    _, out, _ = run(capsys, "predict-links", model, "-n", 7, "--json")
    assert json.loads(out) == women.predict_links(7).to_dict()
    _, out, _ = run(capsys, "predict-links", model, "-n", 2)
    assert len(out.splitlines()) == 3
    _, out, _ = run(capsys, "explain", model, "Flora Price", "E10")
    assert out == f"{women.explain('Flora Price', 'E10')}\n"
    _, out, _ = run(capsys, "explain", model, "Flora Price", "E10", "--json", "-n", 1)
    assert json.loads(out) == women.explain("Flora Price", "E10", n=1).to_dict()


def test_pairs_are_read_as_a_table(capsys, tmp_path):
    odd = "y\u2028z"
    graph = bivec.BipartiteGraph([0, 1], [0, 0], left_ids=["a", odd], right_ids=["x", "void"])
    bivec.SVD(dim=2).fit(graph).embedding_.save(tmp_path / "odd.bivec")
    asked = "score", tmp_path / "odd.bivec"
    _, out, _ = run(capsys, *asked, "a", "void", "--json")
    assert '"score": null' in out  # no edge: minus infinity, which JSON cannot hold
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"{odd},x\n", encoding="utf-8")
    code, out, _ = run(capsys, *asked, "--pairs", pairs, "--json")
    assert (code, json.loads(out)[0]["left"]) == (0, odd)
    for text, message in (
        ("\n\na,x\nfoo\n", "line 4: found 1 where a left and a right id belong"),
        ('a,"x\n', "this is no comma-separated text (unexpected end of data)"),
    ):
        pairs.write_text(text)
        code, _, err = run(capsys, *asked, "--pairs", pairs)
        assert code == 2
        assert message in err


def test_long_ids_are_whole_in_a_pipe(tmp_path):
    name = "http://example.org/" + "a" * 120
    graph = bivec.BipartiteGraph([0, 0, 1], [0, 1, 1], left_ids=["u", "v"], right_ids=[name, "x"])
    bivec.SVD(dim=2).fit(graph).embedding_.save(tmp_path / "long.bivec")
    words = ["recommend", str(tmp_path / "long.bivec"), "v"]
    code = f"import sys; from bivec.cli import main; sys.exit(main({words}))"
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert name in done.stdout


@pytest.mark.parametrize(
    "words, message",
    [
        (("recommend", "MODEL", "flora price"), "did you mean 'Flora Price'?"),
        (("recommend", "MODEL", "Flora Price", "--side", "up"), "'up' is no side"),
        (("recommend", "MODEL", "Flora Price", "--scorer", "x"), "scorer='x' is no choice"),
        (("similar", "MODEL", "E1"), "no left node 'E1'"),
        (("explain", "MODEL", "Flora Price", "E99"), "no right node 'E99'"),
        (("score", "MODEL"), "give a left and a right id, or --pairs FILE"),
        (("score", "MODEL", "Flora Price"), "found 1 where a left and a right id belong"),
        (("recommend", "nothing.bivec", "x"), "there is no nothing.bivec"),
    ],
)
def test_errors_are_one_line(capsys, model, words, message):
    code, out, err = run(capsys, *(model if word == "MODEL" else word for word in words))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_without_a_graph_it_is_said(capsys, tmp_path):
    random_embedding(graph=False).save(tmp_path / "m.bivec")
    code, out, err = run(capsys, "recommend", tmp_path / "m.bivec", "u0")
    assert (code, len(out.splitlines())) == (0, 11)
    assert "what is known cannot be left out" in err
    code, _, err = run(capsys, "explain", tmp_path / "m.bivec", "u0", "v0")
    assert code == 2
    assert "explaining needs the graph" in err


def test_hostile_ids(capsys, tmp_path):
    graph = bivec.as_graph([(a, b) for k, a in enumerate(HOSTILE) for b in HOSTILE[k % 5 :: 2]])
    path = tmp_path / "h.bivec"
    bivec.FOBE(dim=4, epochs=2, n_samples=4).fit(graph).embedding_.save(path)
    for key in HOSTILE:
        code, out, _ = run(capsys, "recommend", path, "--json", "--", key)
        assert code == 0
        assert json.loads(out)[0]["id"] == key
        code, out, _ = run(capsys, "recommend", path, "-n", 3, "--", key)
        assert (code, len(out.splitlines())) == (0, 4)
    code, out, _ = run(capsys, "explain", path, "--", "[bold]markup[/bold]", "two words")
    assert "[bold]markup[/bold]" in out


@pytest.mark.parametrize(
    "verb", ["recommend", "similar", "score", "predict-links", "explain", "index"]
)
def test_help_has_examples(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0
    assert f"bivec {verb} ratings.bivec" in " ".join(out.split())
