"""Both kinds of combination as methods that experiments know by name."""

import importlib
import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from bivec import FOBE, HOBE, Combination, InputError, experiments
from bivec.cli import main
from bivec.datasets import southern_women
from bivec.errors import MissingExtraError
from bivec.experiments.methods import chosen_methods, every_method, make_method

from .conftest import experiment

BOTH = ("combination-direct", "combination-auto-regularized")
QUICK = {name: {"dim": 4, "epochs": 2} for name in BOTH}


@pytest.fixture
def no_torch(monkeypatch):
    """Hide torch from those who ask for it, not from other packages that have it loaded."""
    find, load = importlib.util.find_spec, importlib.import_module

    def find_other(name, package=None):
        return None if name == "torch" else find(name, package)

    def load_other(name, package=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'")
        return load(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_other)
    monkeypatch.setattr(importlib, "import_module", load_other)


def test_names_make_the_kinds_at_their_own_norm():
    for name in BOTH:
        model = make_method(name, dim=5)
        assert (f"{model.method}-{model.kind}", model.dim, model.norm) == (name, 5, "auto")


def test_inputs_are_trained_on_the_training_graph_with_the_seed():
    pytest.importorskip("torch")
    graph = southern_women()
    ours = make_method(BOTH[0], dim=4, epochs=2, random_state=7).fit(graph)
    inputs = [model(dim=4, random_state=7).fit(graph).embedding_ for model in (FOBE, HOBE)]
    given = Combination("direct", dim=4, epochs=2, embeddings=inputs, random_state=7)
    np.testing.assert_array_equal(ours.left_embedding_, given.fit(graph).left_embedding_)


@pytest.mark.parametrize("kind", ["link-prediction", "recommendation"])
def test_both_kinds_in_an_experiment(kind, movies, store):
    pytest.importorskip("torch")
    small = experiment(kind, methods=list(BOTH), parameters=QUICK)
    small, sources = replace(small, datasets=("movies",)), {"movies": movies}
    outcome = experiments.run_experiment(small, store=store, sources=sources)
    done = [r for r in outcome.results if r.cell.method in BOTH]
    assert {r.cell.method for r in done} == set(BOTH)
    assert all(r.error is None for r in done)
    again = experiments.run_experiment(small, store=store, sources=sources)
    assert all(r.cached for r in again.results if r.cell.method in BOTH)


def test_the_code_of_the_network_decides_what_is_kept(movies, store, monkeypatch):
    from bivec.experiments import code, plan

    small = experiment(methods=[BOTH[0]], parameters=QUICK)

    def key():
        plan._code.cache_clear()
        cells = plan.plan(small, movies)
        return next(cell.key for cell in cells if cell.method == BOTH[0])

    before = key()
    dump = code._dump
    monkeypatch.setattr(code, "_dump", lambda m: dump(m) + "x" * (m == "bivec.combine.network"))
    assert key() != before
    plan._code.cache_clear()


def test_command_line(capsys, tmp_path):
    pytest.importorskip("torch")
    words = ["evaluate", "link-prediction", "--dataset", "southern-women", "--tasks", "unified",
             "--methods", ",".join(BOTH), "--set", "dim=4", "--set", "epochs=2"]  # fmt: skip
    assert main(words) == 0
    out = capsys.readouterr().out
    assert all(any(line.startswith(name) for line in out.splitlines()) for name in BOTH)


def test_without_torch_all_leaves_them_out_and_says_so(no_torch, capsys):
    with pytest.warns(UserWarning, match=r"torch is not installed: combination-direct, .*combine"):
        usable = chosen_methods("all")
    assert "fobe" in usable
    assert not set(usable) & set(BOTH)
    words = ["evaluate", "link-prediction", "--dataset", "southern-women", "--tasks", "unified",
             "--methods", "all", "--set", "dim=4", "--set", "epochs=2"]  # fmt: skip
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "note: left out, as torch is not installed: combination-direct" in err
    assert "fobe" in out
    assert "combination" not in out


def test_without_torch_a_named_one_is_refused_at_once(no_torch, capsys):
    with pytest.raises(MissingExtraError, match=r"combination-direct needs the package 'torch'"):
        chosen_methods("fobe,combination-direct")
    words = ["evaluate", "link-prediction", "--dataset", "southern-women", "--methods", BOTH[1]]
    assert main(words) == 2
    assert "pip install 'bivec[combine]'" in capsys.readouterr().err


def test_without_torch_an_experiment_goes_on_without_them(no_torch, store):
    small = experiment(methods=["fobe", BOTH[0]])
    outcome = experiments.run_experiment(small, store=store)
    errors = {r.cell.method: r.error for r in outcome.results}
    assert errors["fobe"] is None
    assert "pip install 'bivec[combine]'" in errors[BOTH[0]]


def test_a_sensitivity_study_is_of_methods_that_take_samples():
    assert not set(every_method("n_samples")) & set(BOTH)
    assert {"fobe", "hobe"} <= set(every_method("n_samples"))
    with pytest.raises(InputError, match="combination-direct takes no samples of nodes"):
        experiment("sensitivity", methods=["fobe", BOTH[0]], parameters={})
