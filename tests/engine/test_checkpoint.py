"""Checkpoints: a training that was broken off reaches the bytes of one that was not."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import bivec
from bivec import checkpoint
from bivec.errors import FormatError, InputError, SaveError
from bivec.models import FOBE, HOBE


class BrokenOffError(Exception):
    pass


def break_off(epochs):
    def progress(step):
        if step.stage == "training" and step.epoch == epochs:
            raise BrokenOffError

    return progress


@pytest.fixture
def graph():
    return bivec.datasets.viewer_movies().graph


@pytest.fixture
def every_epoch(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)


@pytest.mark.usefixtures("every_epoch")
@pytest.mark.parametrize("model", [FOBE(dim=8, n_samples=12, epochs=6), HOBE(dim=8, n_samples=6)])
def test_broken_off_and_resumed_is_the_same_to_the_byte(graph, model, tmp_path):
    path = tmp_path / "state.npz"
    whole = type(model)(**model.get_params()).fit(graph)
    model.set_params(progress=break_off(4))
    with pytest.raises(BrokenOffError):
        model.fit(graph, checkpoint=path)
    seen = []
    model.set_params(progress=seen.append, n_jobs=2).fit(graph, checkpoint=path)
    training = [step for step in seen if step.stage == "training"]
    assert training[0].epoch == 4  # three epochs were in the file
    assert whole.left_embedding_.tobytes() == model.left_embedding_.tobytes()
    assert whole.right_embedding_.tobytes() == model.right_embedding_.tobytes()
    assert [r.loss for r in whole.history_] == [r.loss for r in model.history_]


def test_a_finished_training_is_not_done_again(graph, tmp_path):
    model = FOBE(dim=4, n_samples=4, epochs=2)
    first = model.fit(graph, checkpoint=tmp_path / "state.npz").left_embedding_.tobytes()
    model.set_params(progress=break_off(1)).fit(graph, checkpoint=tmp_path / "state.npz")
    assert model.left_embedding_.tobytes() == first


@pytest.mark.parametrize("change", [{"random_state": 1}, {"dim": 5}, {"epochs": 3}])
def test_a_checkpoint_of_another_training_is_refused(graph, tmp_path, change):
    model = FOBE(dim=4, n_samples=4, epochs=2, random_state=0)
    model.fit(graph, checkpoint=tmp_path / "state.npz")
    with pytest.raises(InputError, match="another training"):
        model.set_params(**change).fit(graph, checkpoint=tmp_path / "state.npz")


def test_other_edges_and_another_start_are_another_training(graph, tmp_path):
    model = FOBE(dim=4, n_samples=4, epochs=2).fit(graph, checkpoint=tmp_path / "state.npz")
    with pytest.raises(InputError, match="another training"):
        model.fit(bivec.datasets.southern_women(), checkpoint=tmp_path / "state.npz")
    with pytest.raises(InputError, match="another training"):
        model.fit(graph, init=model.embedding_, checkpoint=tmp_path / "state.npz")


def test_other_files_are_no_checkpoints(graph, tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n")
    for path in (tmp_path / "data.csv", tmp_path):
        with pytest.raises(InputError, match=r"is no checkpoint\. Choose another name"):
            FOBE(dim=4, n_samples=4, epochs=2).fit(graph, checkpoint=path)
    assert (tmp_path / "data.csv").read_text() == "a,b\n"


@pytest.mark.parametrize("keep", [0, 100, -200])
def test_a_cut_file_is_named(graph, tmp_path, keep):
    path = tmp_path / "state.npz"
    model = FOBE(dim=4, n_samples=4, epochs=2).fit(graph, checkpoint=path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(FormatError, match=r"state\.npz is no whole checkpoint"):
        model.fit(graph, checkpoint=path)


def test_a_place_that_cannot_be_written_is_said(graph, tmp_path):
    with pytest.raises(SaveError, match="does not exist"):
        FOBE(dim=4, n_samples=4, epochs=2).fit(graph, checkpoint=tmp_path / "no" / "state.npz")


CHILD = """
import sys, bivec
from bivec import checkpoint
checkpoint.EVERY = 0.0
graph = bivec.datasets.viewer_movies().graph
bivec.FOBE(dim=16, n_samples=4000, epochs=1000, random_state=3).fit(graph, checkpoint=sys.argv[1])
"""


def test_killed_in_the_middle_of_it(graph, tmp_path):
    path = tmp_path / "state.npz"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)])
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    with np.load(path) as file:  # a whole file, whenever the kill came
        assert file["left"].shape == (graph.n_left, 16)
    seen = []
    model = FOBE(dim=16, n_samples=4000, epochs=1000, random_state=3, progress=seen.append)

    def enough(step):
        if step.stage == "training":
            seen.append(step.epoch)
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        model.set_params(progress=enough).fit(graph, checkpoint=path)
    assert seen[0] > 1


def test_the_command_removes_its_checkpoint_when_the_vectors_are_saved(tmp_path):
    from bivec.cli import app

    edges = tmp_path / "edges.csv"
    edges.write_text("u,i\na,x\na,y\nb,x\n")
    done = CliRunner().invoke(
        app,
        ["embed", str(edges), "--epochs", "2", "--checkpoint", "state.npz", "-o", "out.bivec"],
    )
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "state.npz").exists()
    assert (tmp_path / "out.bivec").exists()
