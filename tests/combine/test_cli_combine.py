"""The verb combine, end to end."""

import contextlib
import dataclasses
import inspect
import json
import re
import signal
import sys

import numpy as np
import pytest

import bivec
from bivec.cli import main
from bivec.cli.combine import Parameters
from bivec.combine import Combination


@pytest.fixture
def saved(graph, inputs, tmp_path):
    bivec.write_graph(graph, tmp_path / "edges.csv")
    for name, embedding in zip("ab", inputs, strict=True):
        embedding.save(tmp_path / f"{name}.bivec")
    return tmp_path


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def words(saved, *more):
    return [
        "combine", saved / "a.bivec", saved / "b.bivec", "--graph", saved / "edges.csv",
        "--output", saved / "joint.bivec", "--dim", 6, "--epochs", 3, *more,
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["direct", "auto-regularized"])
def test_combine_saves_what_the_estimator_learns(capsys, saved, inputs, kind):
    code, out, err = run(capsys, *words(saved, "--kind", kind, "--seed", 4))
    assert (code, out) == (0, "")
    assert re.search(
        rf"wrote .*joint.bivec: {kind} combination of first \(8\) and second \(5\), dim 6, "
        r"60 left and 24 right vectors; loss .* in 3 epochs",
        err,
    )
    joint = bivec.load(saved / "joint.bivec")
    graph = bivec.read_edges(saved / "edges.csv")
    model = Combination(kind, dim=6, embeddings=inputs, epochs=3, random_state=4).fit(graph)
    assert joint == model.embedding_
    assert joint.graph == graph
    assert [made["method"] for made in joint.params["embeddings"]] == ["first", "second"]


def test_degrees_in_place_of_inputs_are_told(capsys, saved):
    _, _, err = run(capsys, *words(saved, "--kind", "direct"))
    assert "by degrees" not in err
    _, _, err = run(capsys, *words(saved, "--kind", "direct", "--by-degree"))
    assert "by degrees alone" in err
    assert "--no-by-degree" in err
    joint = bivec.load(saved / "joint.bivec")
    assert joint.params["by_degree"] is True
    degrees = joint.graph.right.degrees
    first, other = np.flatnonzero(degrees == np.bincount(degrees).argmax())[:2]
    assert np.array_equal(joint.right.vectors[first], joint.right.vectors[other])


def test_a_choice_that_is_none(graph, inputs):
    with pytest.raises(bivec.InputError, match="by_degree='often'"):
        Combination("direct", embeddings=inputs, by_degree="often").fit(graph)


def test_same_bytes_twice(capsys, saved):
    contents = []
    for _ in range(2):
        run(capsys, *words(saved))
        folder = saved / "joint.bivec"
        contents.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert contents[0] == contents[1]


def test_json_and_without_graph(capsys, saved):
    code, out, _ = run(capsys, *words(saved, "--json", "--no-save-graph"))
    report = json.loads(out)
    assert code == 0
    assert (report["kind"], report["epochs"], report["edges"] > 0) == ("auto-regularized", 3, True)
    assert [made["dim"] for made in report["inputs"]] == [8, 5]
    assert bivec.load(saved / "joint.bivec").graph is None


def test_graph_of_the_first_input_is_the_default(capsys, saved, graph, inputs):
    plain = ["combine", saved / "a.bivec", "-o", saved / "j.bivec", "--dim", 4, "--epochs", 1]
    code, _, err = run(capsys, *plain)
    assert code == 2
    assert "saved without its graph. Name the graph's file with --graph" in err
    bivec.Embedding(inputs[0].left, inputs[0].right, graph=graph).save(saved / "a.bivec")
    assert run(capsys, *plain)[0] == 0
    assert bivec.load(saved / "j.bivec").graph == graph


def test_help_tells_the_defaults(capsys):
    _, out, _ = run(capsys, "combine", "--help")
    text = " ".join(out.replace("│", " ").split())
    assert "bivec combine fobe.bivec hobe.bivec" in text
    offered = {field.name for field in dataclasses.fields(Parameters)}
    elsewhere = {"kind", "embeddings", "random_state", "n_jobs", "progress"}
    parameters = inspect.signature(Combination).parameters
    assert offered == set(parameters) - elsewhere
    for name in offered:
        found = re.search(rf"--{name.replace('_', '-')} .*?Default: (\S+)\. ", text)
        assert found, name
        assert found[1] == str(parameters[name].default), name


@pytest.mark.parametrize(
    "more, message",
    [
        (["--kind", "both"], "kind='both' is no choice"),
        (["--missing", "skip"], "missing='skip' is no choice"),
        (["--dim", "0"], "dim=0 is out of range"),
        (["--device", "abacus"], "device='abacus'"),
        (["--graph", "nothing.csv"], "nothing.csv"),
    ],
)
def test_bad_words(capsys, saved, more, message):
    code, out, err = run(capsys, *words(saved, *more))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert not (saved / "joint.bivec").exists()


def test_missing_nodes(capsys, saved):
    with (saved / "edges.csv").open("a") as file:
        file.write("stranger,movie,1\n")
    code, _, err = run(capsys, *words(saved))
    assert code == 2
    assert "input 1 (first) lacks 1 of 61 left nodes: 'stranger'" in err
    assert "--missing zero" in err
    assert run(capsys, *words(saved, "--missing", "zero"))[0] == 0


def test_no_such_input(capsys, saved):
    code, _, err = run(capsys, "combine", saved / "c.bivec", "-o", saved / "j.bivec")
    assert code == 2
    assert "there is no" in err


def test_ctrl_c_saves_what_was_reached(capsys, saved, monkeypatch):
    def interrupt(step):
        if step.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(
        "bivec.cli.training.training_progress", lambda kind: contextlib.nullcontext(interrupt)
    )
    code, _, err = run(capsys, *words(saved, "--epochs", 1000, "--patience", 1000))
    assert code == 130
    assert "interrupted after 2 epochs" in err
    joint = bivec.load(saved / "joint.bivec")
    assert len(joint.history) == 2


def test_without_torch_the_message_names_the_extra(capsys, saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, out, err = run(capsys, *words(saved))
    assert (code, out) == (2, "")
    assert "Combining embeddings needs the package 'torch'" in err
    assert "pip install 'bivec[combine]'" in err
    assert not (saved / "joint.bivec").exists()
