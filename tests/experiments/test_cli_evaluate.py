"""The verbs ``evaluate`` and ``reproduce``, as a person or a script meets them."""

import csv
import json

import pytest

from bivec.cli import main
from bivec.datasets import viewer_movies

SMALL = ["--set", "dim=8", "--set", "epochs=3", "--set", "n_samples=6"]
MINE = """
kind = "link-prediction"
title = "Mine"
datasets = ["southern-women"]
methods = ["fobe"]
seeds = [0, 1]
tasks = ["left", "unified"]
[parameters.fobe]
dim = 8
epochs = 3
n_samples = 6
[quick]
seeds = [0]
"""


@pytest.fixture
def run(capsys):
    def call(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def file(tmp_path):
    from bivec.io import write_graph

    path = tmp_path / "movies.csv"
    write_graph(viewer_movies(60, 40, 3, views=10).graph.prune(1, 1), path)
    return path


def test_link_prediction_on_a_data_set(run):
    code, out, err = run("evaluate", "link-prediction", "--dataset", "southern-women",
                         "--seeds", 2, "--train-share", "0.5,0.7", *SMALL)  # fmt: skip
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:5] == ["method", "share", "task", "seeds", "accuracy"]
    assert sum(line.startswith("hobe") for line in lines) == 6
    assert sum(line.startswith("item-knn") for line in lines) == 2
    assert " ± " in lines[1]
    assert "1/12 southern-women, references, share 0.5, seed 0" in err


def test_link_prediction_on_a_file_with_reading_options(run, file, tmp_path):
    target = tmp_path / "table.csv"
    code, out, _ = run("evaluate", "link-prediction", file, "--unweighted", "--methods", "fobe",
                       "--tasks", "left", "--set", "fobe.norm=5", *SMALL, "--json",
                       "-o", target)  # fmt: skip
    report = json.loads(out)
    assert code == 0
    assert report["methods"]["fobe"]["norm"] == 5
    assert report["graphs"]["movies.csv"]["edges"] == 415
    (row,) = report["rows"]
    assert (row["method"], row["task"], row["accuracy_std"]) == ("fobe", "left", None)
    (line,) = csv.DictReader(target.read_text().splitlines())
    assert float(line["accuracy"]) == row["accuracy"]


@pytest.mark.parametrize("suffix", ["md", "html", "json"])
def test_output_kinds(run, tmp_path, suffix):
    target = tmp_path / f"report.{suffix}"
    code, _, err = run("evaluate", "link-prediction", "--dataset", "southern-women",
                       "--methods", "fobe", "--tasks", "left", *SMALL, "-o", target)  # fmt: skip
    assert code == 0
    assert f"wrote {target}" in err
    assert "southern-women" in target.read_text()


def test_recommendation_has_every_reference_ranker(run, file):
    code, out, err = run("evaluate", "recommendation", file, "--methods", "all", "--k", 5,
                         "--scorer", "centroid,dot", *SMALL)  # fmt: skip
    assert code == 0
    first, second = out.split("\n\n")
    assert first.startswith("movies.csv, protocol bine")
    assert second.startswith("movies.csv, protocol masked")
    for name in ("popularity", "item-knn", "ease", "pure-svd", "FOBE", "HOBE", "FOBE (dot)"):
        assert any(line.startswith(name) for line in first.splitlines()), name
    assert "F1@5" in first
    assert "FAILED" not in err


def test_recommendation_notes_go_to_standard_error(run):
    _, out, err = run("evaluate", "recommendation", "--dataset", "southern-women", "--k", 50,
                      "--methods", "fobe", *SMALL)  # fmt: skip
    assert "note: southern-women, protocol masked: k=50 is more than the 14 candidates" in err
    assert "note" not in out


def test_sensitivity(run, file):
    code, out, _ = run("evaluate", "sensitivity", file, "--rates", "1,4", "--trials", 2,
                       "--methods", "fobe", "--tasks", "left", "--set", "dim=8",
                       "--set", "epochs=2")  # fmt: skip
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[2:]] == [["1", "2"], ["4", "2"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["link-prediction"], "there is no graph to measure on. Name one"),
        (["link-prediction", "x.csv", "--dataset", "amazon"], "there are two graphs"),
        (["link-prediction", "--dataset", "amazn"], "Did you mean 'amazon'"),
        (["link-prediction", "--dataset", "davis", "--methods", "fob"], "Did you mean 'fobe'"),
        (["link-prediction", "--dataset", "davis", "--train-share", "half"], "'half' is no number"),
        (["link-prediction", "--dataset", "davis", "--train-share", "1"], "train_shares=1 is out"),
        (["link-prediction", "--dataset", "davis", "--tasks", "up"], "tasks='up' is no choice"),
        (["link-prediction", "--dataset", "davis", "--set", "x=1"], "no method has a parameter"),
        (["link-prediction", "--dataset", "davis", "-o", "x.pdf"], "does not say what to write"),
        (["recommendation", "--dataset", "davis", "--k", "0"], "k=0 is out of range"),
        (["recommendation", "--dataset", "davis", "--protocol", "x"], "protocols='x' is no choice"),
        (["recommendation", "--dataset", "davis", "--scorer", "x"], "scorers='x' is no choice"),
        (["sensitivity", "--dataset", "davis", "--rates", "0.5"], "'0.5' is no whole number"),
        (["sensitivity", "--dataset", "davis", "--set", "n_samples=3"], "the rates decide it"),
    ],
)
def test_bad_words_are_one_line(run, words, message):
    code, out, err = run("evaluate", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("bivec: ")
    assert err.count("\n") == 1


def test_a_graph_that_cannot_be_split_is_a_failure(run, tmp_path):
    file = tmp_path / "path.csv"
    file.write_text("a,x\nb,y\nc,z\n")
    code, _, err = run("evaluate", "link-prediction", file, "--no-header", *SMALL)
    assert code == 1
    assert "none of the 3 edges could be held out" in err


def test_madgrades_is_the_default_of_sensitivity(run, tmp_path, monkeypatch):
    monkeypatch.delenv("BIVEC_DATA", raising=False)
    code, _, err = run("evaluate", "sensitivity", "--quick")
    assert code == 2
    assert "the data set madgrades is not on this machine" in err


# reproduce


def test_reproduce_lists(run):
    code, out, _ = run("reproduce")
    assert code == 0
    assert "link-prediction-friendster" in out
    _, out, _ = run("reproduce", "--json")
    assert {"name", "title", "paper", "datasets"} <= json.loads(out)[0].keys()


def test_reproduce_a_file_resumes_and_reports(run, tmp_path, no_drawing):
    (tmp_path / "mine.toml").write_text(MINE)
    words = ["reproduce", tmp_path / "mine.toml", "-o", tmp_path / "out"]
    code, out, err = run(*words, "--quick")
    assert code == 0
    assert out.strip().endswith("mine.md")
    assert "mine: 2 cells, 0 of them kept from before" in err
    assert "Quick version" in (tmp_path / "out" / "mine.md").read_text()
    code, _, err = run(*words)
    assert "mine: 4 cells, 2 of them kept from before" in err
    assert "Quick version" not in (tmp_path / "out" / "mine.md").read_text()
    assert len(list((tmp_path / "cache" / "results").iterdir())) == 4
    _, out, err = run(*words, "--fresh", "--cache", tmp_path / "other", "--json")
    assert "0 of them kept" in err
    assert set(json.loads(out)["mine"]) == {"html", "md", "json"}


def test_reproduce_interrupted_says_how_to_go_on(run, tmp_path, monkeypatch, no_drawing):
    from bivec.experiments import run as module

    (tmp_path / "mine.toml").write_text(MINE)
    real = module.measure

    def interrupted(cell, *args, **kwargs):
        if cell.seed == 1:
            raise KeyboardInterrupt
        return real(cell, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(module, "measure", interrupted)
        code, _, err = run("reproduce", tmp_path / "mine.toml", "-o", tmp_path / "out")
    assert code == 130
    assert "mine: finished cells are kept; run it again to go on" in err
    assert not (tmp_path / "out").exists()
    _, _, err = run("reproduce", tmp_path / "mine.toml", "-o", tmp_path / "out")
    assert "mine: 4 cells, 2 of them kept from before" in err


def test_reproduce_without_its_data_says_so(run, tmp_path):
    code, _, err = run("reproduce", "link-prediction-livejournal", "--quick", "-o", tmp_path,
                       "--data-dir", tmp_path)  # fmt: skip
    assert code == 0
    assert "note: the data set snap-com-livejournal is not on this machine" in err
    assert "is not on this machine" in (tmp_path / "link-prediction-livejournal.md").read_text()


def test_reproduce_unknown_name(run):
    code, _, err = run("reproduce", "recommendation-dbpl")
    assert code == 2
    assert "Did you mean 'recommendation-dblp'" in err


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "link-prediction"],
        ["evaluate", "recommendation"],
        ["evaluate", "sensitivity"],
        ["reproduce"],
    ],
)
def test_help_has_examples(run, words):
    code, out, _ = run(*words, "--help")
    assert code == 0
    assert "Examples" in out
    assert f"bivec {' '.join(words)}" in out
