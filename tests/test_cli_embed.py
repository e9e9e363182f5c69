"""The verb embed: from a graph file to a saved embedding."""

import dataclasses
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import bivec
from bivec import kernels
from bivec.baselines import ALL_METHODS
from bivec.cli import main
from bivec.cli.embed import Parameters
from bivec.datasets import viewer_movies
from bivec.models import PRESETS


@pytest.fixture
def edges(tmp_path):
    file = tmp_path / "edges.csv"
    bivec.write_graph(viewer_movies(60, 24, 3).graph, file)
    return file


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("method", ALL_METHODS)
def test_embed_saves_what_the_estimator_learns(capsys, edges, tmp_path, method):
    few = {"dim": 8, "epochs": 3, "n_walks": 3, "n_samples": 6}
    few = {k: v for k, v in few.items() if k in inspect.signature(ALL_METHODS[method]).parameters}
    words = [word for k, v in few.items() for word in (f"--{k.replace('_', '-')}", v)]
    code, out, err = run(
        capsys, "embed", edges, "--method", method, "--seed", 5, *words,
        "--output", tmp_path / "x.bivec",
    )  # fmt: skip
    assert (code, out) == (0, "")
    assert re.search(rf"wrote .*x.bivec: {method}, dim 8, 60 left and 24 right vectors; ", err)
    emb = bivec.load(tmp_path / "x.bivec")
    model = ALL_METHODS[method](**few, random_state=5).fit(bivec.read_edges(edges))
    assert emb == model.embedding_
    assert emb.graph == bivec.read_edges(edges)
    assert emb.params.items() >= few.items()
    assert ("loss" in err) == bool(model.history_)


def test_any_parameter_can_be_set(capsys, edges, tmp_path):
    words = ["embed", edges, "--method", "deepwalk", "--dim", 4, "-o", tmp_path / "x.bivec"]
    code, _, _ = run(capsys, *words, "--set", "n_walks=3", "--set", "weighted=false")
    assert code == 0
    params = bivec.load(tmp_path / "x.bivec").params
    assert (params["n_walks"], params["weighted"]) == (3, False)


def test_same_seed_same_bytes_on_disk_for_any_number_of_threads(capsys, edges, tmp_path):
    for jobs in (1, 2, 4):
        run(capsys, "embed", edges, "--dim", 16, "--jobs", jobs, "-o", tmp_path / f"{jobs}.bivec")
    assert files(tmp_path / "1.bivec") == files(tmp_path / "2.bivec") == files(tmp_path / "4.bivec")


def test_embed_as_json_and_without_graph(capsys, edges, tmp_path):
    words = ["embed", edges, "--dim", 4, "--epochs", 2, "--no-graph", "-o", tmp_path / "x.bivec"]
    code, out, _ = run(capsys, *words, "--json")
    report = json.loads(out)
    assert code == 0
    assert (report["method"], report["epochs"], report["left"]) == ("fobe", 2, 60)
    assert report["loss"] < report["first_loss"]
    assert bivec.load(tmp_path / "x.bivec").graph is None


def test_embed_goes_on_from_an_embedding(capsys, edges, tmp_path):
    words = ["embed", edges, "--dim", 8, "--epochs", 1]
    run(capsys, *words, "-o", tmp_path / "a.bivec")
    run(capsys, *words, "-o", tmp_path / "b.bivec", "--init", tmp_path / "a.bivec")
    first, second = (bivec.load(tmp_path / f"{name}.bivec") for name in "ab")
    assert not np.array_equal(first.left.vectors, second.left.vectors)
    model = bivec.FOBE(dim=8, epochs=1).fit(first.graph, init=first)
    np.testing.assert_array_equal(model.left_embedding_, second.left.vectors)


def test_help_tells_the_defaults(capsys):
    _, out, _ = run(capsys, "embed", "--help")
    text = " ".join(out.replace("│", " ").split())
    offered = {field.name for field in dataclasses.fields(Parameters)} - {"set"}
    named = re.search(r"--method NAME (.*?)\.", text)[1]
    assert set(named.split(", ")) == {*ALL_METHODS, *PRESETS}
    needed = set()
    for method, estimator in ALL_METHODS.items():
        for name, parameter in inspect.signature(estimator).parameters.items():
            if name in ("random_state", "n_jobs", "progress"):
                continue
            needed.add(name)
            if name not in offered:  # it goes by --set
                assert method not in ("fobe", "hobe", "deepwalk", "node2vec", "metapath2vec"), name
                continue
            if isinstance(parameter.default, bool) or parameter.default is None:
                continue
            found = re.search(rf"--{name.replace('_', '-')} .*?Default: (.*?)\. ", text)
            assert found, name
            own = re.search(rf"[(; ,]{method}(?:, \w+)*: (.*?)[;)]", found[1])
            told = own[1] if own else found[1].split()[0]
            assert told == str(parameter.default), (method, name)
    assert needed >= offered


@pytest.mark.parametrize(
    "words, message",
    [
        (["--method", "word2vec"], "'word2vec' is no method. Choose one of fobe, hobe, deepwalk"),
        (["--set", "dim"], "--set dim sets nothing. Write --set NAME=VALUE"),
        (["--set", "depth=3"], "'depth' is no parameter of FOBE"),
        (["--trials", "3"], "'trials' is no parameter of FOBE"),
        (["--dim", "0"], "dim=0 is out of range"),
        (["--epochs", "0"], "epochs=0 is out of range"),
        (["--learning-rate", "-1"], "learning_rate=-1 is out of range"),
        (["--draw", "jump"], "draw='jump' is no choice"),
        (["--seed", "-1"], "random_state=-1 is out of range"),
        (["--jobs", "0"], "n_jobs=0 is no number of threads"),
        (["--init", "nothing.bivec"], "there is no nothing.bivec"),
    ],
)
def test_bad_embeds(capsys, edges, tmp_path, words, message):
    code, out, err = run(capsys, "embed", edges, "-o", tmp_path / "x.bivec", *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "x.bivec").exists()


def test_a_bad_place_is_told_before_the_work(capsys, edges, tmp_path):
    code, _, err = run(capsys, "embed", edges, "-o", tmp_path / "nowhere" / "x.bivec")
    assert code == 2
    assert "Create it first" in err
    code, _, err = run(capsys, "embed", edges, "-o", edges)
    assert code == 2
    assert "something else of that name" in err


def test_ctrl_c_saves_what_was_reached(tmp_path):
    kernels.warmup()  # so that the process below trains when the signal comes
    file = tmp_path / "edges.csv"
    bivec.write_graph(viewer_movies(3000, 600).graph, file)
    for seconds in (3, 6, 12, 24):  # a busy machine may still be importing when the signal comes
        process = subprocess.Popen(
            [
                sys.executable, "-m", "bivec", "embed", str(file), "-o", str(tmp_path / "x.bivec"),
                "--epochs", "100000", "--n-samples", "100000", "--dim", "8",
            ],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
        if "bivec: interrupted" not in err:
            break
    assert process.returncode == 130, err
    assert "interrupted after" in err
    assert "Traceback" not in err
    emb = bivec.load(tmp_path / "x.bivec")
    assert 0 < len(emb.history) < 100000


def test_progress_on_a_terminal(monkeypatch):
    from bivec.cli.training import training_progress

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with training_progress("fobe") as progress:
        bivec.FOBE(dim=4, epochs=2, progress=progress).fit(viewer_movies(20, 9, 3).graph)
