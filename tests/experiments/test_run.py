"""Running: what is kept and when it is computed anew."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from bivec import experiments
from bivec.datasets import Edges, GivenSplit, available, load, southern_women
from bivec.errors import NotEnoughMemoryError
from bivec.evaluation import hold_out, link_prediction
from bivec.experiments import CellStore, Source, make_method
from bivec.experiments import methods as methods_module
from bivec.experiments import run as run_module
from bivec.experiments.code import code_fingerprint, imported
from bivec.experiments.plan import plan
from bivec.experiments.summary import link_rows, problems, ranking_rows, rate_rows
from bivec.graph import BipartiteGraph
from bivec.models import FOBE

from .conftest import experiment


@pytest.fixture
def computed(monkeypatch):
    """The cells that were computed and not found."""
    found = []
    real = run_module.measure

    def spy(cell, *args, **kwargs):
        found.append(str(cell))
        return real(cell, *args, **kwargs)

    monkeypatch.setattr(run_module, "measure", spy)
    return found


def test_figures_are_those_of_the_library(store):
    outcome = experiments.run_experiment(experiment(methods=["fobe"], seeds=[3]), store=store)
    split = hold_out(southern_women(), 0.5, random_state=3)
    model = make_method("fobe", dim=8, epochs=3, n_samples=6, random_state=3).fit(split.train)
    expected = link_prediction(split, model.left_embedding_, model.right_embedding_, random_state=3)
    found = {r.figures.task: r.figures for r in link_rows(outcome) if r.figures.method == "fobe"}
    for task in ("left", "right", "unified"):
        assert found[task].accuracy == expected[task].accuracy
        assert found[task].auc == expected[task].auc


def test_second_run_computes_nothing(store, computed):
    small = experiment(train_shares=[0.5, 0.7], seeds=[0, 1])
    first = experiments.run_experiment(small, store=store)
    assert len(computed) == len(first.results) == 2 * 2 * 3  # two methods and the references
    computed.clear()
    again = experiments.run_experiment(small, store=CellStore(store.directory))
    assert computed == []
    assert all(result.cached for result in again.results)
    assert [r.figures for r in again.results] == [r.figures for r in first.results]


def test_more_seeds_compute_only_what_is_new(store, computed):
    experiments.run_experiment(experiment(seeds=[0]), store=store)
    computed.clear()
    experiments.run_experiment(experiment(name="other", seeds=[0, 1]), store=store)
    assert len(computed) == 3
    assert all("seed 1" in cell for cell in computed)


def test_what_is_kept_can_be_shown_without_computing(store, computed):
    experiments.run_experiment(experiment(seeds=[0]), store=store)
    computed.clear()
    shown = experiments.run_experiment(experiment(seeds=[0, 1]), store=store, compute=False)
    assert computed == []
    assert len(shown.results) == 3
    assert len([note for note in shown.notes if "seed 1: not measured" in note]) == 3


def test_what_decides_figures_decides_the_key():
    source = Source("women", southern_women())
    base = experiment(methods=["fobe"])

    def keys(changed, on=source):
        return {cell.key for cell in plan(changed, on) if cell.kind == "links"}

    other = BipartiteGraph([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    assert keys(base) == keys(replace(base, name="other", title="x", notes=("y",)))
    assert keys(base) == keys(base, Source("renamed", source.graph))
    for changed in (
        keys(replace(base, seeds=(1,))),
        keys(replace(base, train_shares=(0.6,))),
        keys(replace(base, tasks=("left",))),
        keys(replace(base, parameters={"fobe": {"dim": 9, "epochs": 3, "n_samples": 6}})),
        keys(experiment(methods=["hobe"])),
        keys(base, Source("women", other)),
    ):
        assert not keys(base) & changed


def test_a_change_of_code_or_version_changes_the_key(monkeypatch):
    source = Source("women", southern_women())
    before = [cell.key for cell in plan(experiment(), source)]
    monkeypatch.setattr("bivec.__version__", "99")
    assert not set(before) & {cell.key for cell in plan(experiment(), source)}
    monkeypatch.undo()
    monkeypatch.setattr("bivec.experiments.plan._code", lambda method: "changed")
    assert not set(before) & {cell.key for cell in plan(experiment(), source)}


def test_code_fingerprint_follows_imports():
    everything = set()
    waiting = ["bivec.experiments.measure", "bivec.models.hobe"]
    while waiting:
        module = waiting.pop()
        if module not in everything:
            everything.add(module)
            waiting += imported(module)
    for module in ("kernels.train", "kernels.svm", "evaluation.unified", "similarity", "training"):
        assert f"bivec.{module}" in everything, module
    assert not any(module.startswith("bivec.cli") for module in everything)
    fobe, hobe = (code_fingerprint([f"bivec.models.{name}"]) for name in ("fobe", "hobe"))
    assert fobe != hobe


def test_code_fingerprint_ignores_words_but_not_code(tmp_path):
    package = tmp_path / "bivec"
    package.mkdir()
    (package / "__init__.py").write_text("")
    prints = []
    for text in ('"""One."""\nx = 1\n', "# why\nx  =  1\n", "x = 2\n"):
        (package / "part.py").write_text(text)
        script = (
            "import runpy, sys; sys.path.insert(0, sys.argv[1]); "
            "print(runpy.run_path(sys.argv[2])['code_fingerprint'](['bivec.part']))"
        )
        words = [sys.executable, "-c", script, str(tmp_path), str(code_file())]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
        prints.append(done.stdout)
    assert prints[0] == prints[1] != prints[2]


def code_file():
    from bivec.experiments import code

    return code.__file__


@pytest.mark.parametrize("damage", ["truncate", "figures", "format", "key", "list"])
def test_a_damaged_file_is_noted_and_computed_anew(store, computed, damage):
    small = experiment(methods=["fobe"], tasks=["left"])
    first = experiments.run_experiment(small, store=store)
    computed.clear()
    (file,) = store.directory.glob("*.json")
    record = json.loads(file.read_text())
    if damage == "truncate":
        file.write_text(file.read_text()[:100])
    elif damage == "list":
        file.write_text("[]")
    else:
        record[damage] = {"figures": {"scores": {}}, "format": 0, "key": "0"}[damage]
        file.write_text(json.dumps(record))
    again = experiments.run_experiment(small, store=CellStore(store.directory))
    assert len(computed) == 1
    assert "was damaged" in again.notes[0]
    assert file.name in problems(again)[0]
    assert link_rows(again)[0].figures.accuracy == link_rows(first)[0].figures.accuracy
    computed.clear()
    assert experiments.run_experiment(small, store=CellStore(store.directory)).notes == []
    assert computed == []


def test_fresh_computes_anew(store, computed):
    small = experiment(methods=["fobe"], tasks=["left"])
    experiments.run_experiment(small, store=store)
    experiments.run_experiment(small, store=CellStore(store.directory, fresh=True))
    assert len(computed) == 2


def test_interrupted_in_the_middle_keeps_what_was_done(store, monkeypatch, computed):
    real = run_module.measure

    def interrupted(cell, *args, **kwargs):
        if len(computed) == 4:
            raise KeyboardInterrupt
        return real(cell, *args, **kwargs)

    small = experiment(seeds=[0, 1])
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            experiments.run_experiment(small, store=store)
    assert len(list(store.directory.glob("*.json"))) == 4
    computed.clear()
    outcome = experiments.run_experiment(small, store=store)
    assert len(computed) == 2
    assert sum(result.cached for result in outcome.results) == 4


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from bivec import experiments
from bivec.experiments import run as module
values = {"kind": "link-prediction", "datasets": ["southern-women"], "methods": ["fobe"],
          "seeds": [0, 1, 2], "tasks": ["left"],
          "parameters": {"fobe": {"dim": 8, "epochs": 3, "n_samples": 6}}}
experiment = experiments.check_experiment("tiny", values)
module._warm_up = lambda: None
real = module.measure
def slow(cell, *args, **kwargs):
    if cell.seed == 2:
        print("hanging", flush=True)
        import time
        time.sleep(60)
    return real(cell, *args, **kwargs)
module.measure = slow
experiments.run_experiment(experiment, store=experiments.CellStore(Path(sys.argv[2])))
"""


def test_killed_in_the_middle_loses_one_cell(store, computed):
    import bivec

    source = os.path.dirname(os.path.dirname(bivec.__file__))  # noqa: PTH120
    words = [sys.executable, "-c", KILLED, source, str(store.directory)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "hanging\n"
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert len(list(store.directory.glob("*.json"))) == 2
    same = experiment(methods=["fobe"], tasks=["left"], seeds=[0, 1, 2])
    outcome = experiments.run_experiment(same, store=store)
    assert [result.cached for result in outcome.results] == [True, True, False]
    assert outcome.notes == []
    assert len(computed) == 1


def test_threads_change_no_figure(movies):
    small = experiment(methods=["hobe"])
    small = replace(small, datasets=("movies",))
    one, two = (
        [
            (row.figures.task, row.figures.accuracy, row.figures.auc)
            for row in link_rows(
                experiments.run_experiment(small, sources={"movies": movies}, n_jobs=n)
            )
        ]
        for n in (1, 2)
    )
    assert one == two


class Diverged(FOBE):
    """Vectors that are no numbers."""

    def fit(self, X, y=None, init=None):  # noqa: N803
        super().fit(X)
        self.right_embedding_ = np.full_like(self.right_embedding_, np.nan)
        return self


class Huge(FOBE):
    """Asks for more than there is."""

    def fit(self, X, y=None, init=None):  # noqa: N803
        raise NotEnoughMemoryError("this needs 1 TB")


@pytest.fixture
def odd_methods(monkeypatch):
    known = methods_module.registry()
    both = {**known, "diverged": Diverged, "huge": Huge}
    monkeypatch.setattr(methods_module, "registry", lambda: both)
    monkeypatch.setattr("bivec.experiments.plan.registry", lambda: both)
    monkeypatch.setattr("bivec.experiments.plan._code", str)


def test_a_method_that_returns_nan_is_noted_and_the_rest_goes_on(store, computed, odd_methods):
    small = experiment(methods=["diverged", "fobe"], seeds=[0, 1], parameters={})
    small = replace(small, parameters={"fobe": {"dim": 8, "epochs": 2}, "diverged": {"dim": 4}})
    outcome = experiments.run_experiment(small, store=store)
    (text,) = problems(outcome)
    assert "southern-women, diverged, share 0.5, seed 0; southern-women, diverged" in text
    assert "14 of 14 right vectors are not finite" in text
    rows = {row.figures.method: row.figures for row in link_rows(outcome)}
    assert (rows["diverged"].failed, rows["diverged"].seeds) == (2, 0)
    assert rows["fobe"].seeds == 2
    computed.clear()
    experiments.run_experiment(small, store=store)  # it would fail again: kept
    assert computed == []


def test_nan_in_recommendation_is_noted(odd_methods, movies):
    small = replace(
        experiment("recommendation", methods=["diverged"], parameters={}), datasets=("movies",)
    )
    outcome = experiments.run_experiment(small, sources={"movies": movies})
    (text,) = [text for text in problems(outcome) if "no figures" in text]
    assert "movies, diverged, seed 0: 40 of 40 right vectors are not finite" in text
    assert "popularity" in {row.method for row in ranking_rows(outcome)}


def test_lack_of_memory_is_noted_and_tried_again(store, computed, odd_methods):
    small = replace(experiment(methods=["huge"], parameters={}), tasks=("left",))
    outcome = experiments.run_experiment(small, store=store)
    assert "this needs 1 TB" in problems(outcome)[0]
    computed.clear()
    experiments.run_experiment(small, store=store)
    assert len(computed) == 1


def test_a_graph_with_too_few_edges_is_noted():
    path = BipartiteGraph([0, 1, 2], [0, 1, 2])  # every edge is the last of its nodes
    small = replace(experiment(), datasets=("path",))
    outcome = experiments.run_experiment(small, sources={"path": Source("path", path)})
    assert all(result.error for result in outcome.results)
    (text,) = problems(outcome)
    assert "none of the 3 edges could be held out" in text


def test_k_beyond_the_items_and_users_without_test_items_are_noted():
    graph = BipartiteGraph([0, 0, 0, 1, 2, 2], [0, 1, 2, 0, 1, 2])
    small = replace(experiment("recommendation", methods=["fobe"], k=10), datasets=("tiny",))
    outcome = experiments.run_experiment(small, sources={"tiny": Source("tiny", graph)})
    notes = problems(outcome)
    assert any("k=10 is more than the" in note for note in notes)
    assert "tiny, protocol masked: 1 users not measured (no test items)" in notes
    assert all(row.users == 2 for row in ranking_rows(outcome))


def test_missing_data_set_is_left_out(store, tmp_path):
    small = experiment(datasets=["livejournal", "southern-women"])
    outcome = experiments.run_experiment(small, store=store, data_dir=tmp_path)
    assert list(outcome.missing) == ["snap-com-livejournal"]
    assert "bivec datasets get snap-com-livejournal" in outcome.missing["snap-com-livejournal"]
    assert {r.cell.dataset for r in outcome.results} == {"southern-women"}


def test_sensitivity_is_over_trials(store):
    study = experiment("sensitivity", methods=["fobe"], rates=[1, 4], seeds=[0, 1, 2],
                       tasks=["unified"], parameters={"fobe": {"dim": 4, "epochs": 2}})  # fmt: skip
    rows = rate_rows(experiments.run_experiment(study, store=store))
    assert [(row.rate, row.trials) for row in rows] == [(1, 3), (4, 3)]
    for row in rows:
        assert row.minimum <= row.mean <= row.maximum


def test_deterministic_rankers_run_once_on_a_given_split():
    graph = southern_women()
    ends = [
        np.array(ids[:], dtype=object)[rows]
        for ids, rows in (
            (graph.left.ids, graph.left_rows()),
            (graph.right.ids, graph.left.indices),
        )
    ]
    test = np.arange(graph.n_edges) % 3 == 0
    weights = np.ones(graph.n_edges, np.float32)
    given = GivenSplit(*(Edges(ends[0][part], ends[1][part], weights[part])
                         for part in (~test, test)))  # fmt: skip
    source = Source("given", graph, given)
    small = replace(experiment("recommendation", seeds=[0, 1]), datasets=("given",))
    counts = {}
    for cell in plan(small, source):
        counts[cell.method] = counts.get(cell.method, 0) + 1
    assert counts["popularity"] == counts["ease"] == 1
    assert counts["fobe"] == 2
    other = GivenSplit(given.train, Edges(*(column[::-1] for column in given.test)))
    assert Source("given", graph, other).fingerprint != source.fingerprint


def test_popularity_on_dblp_is_as_documented():
    data_dir = os.environ.get("BIVEC_DATA")
    if not data_dir or not available("bine-dblp", data_dir):
        pytest.skip("BIVEC_DATA names no directory with bine-dblp")
    data = load("bine-dblp", data_dir)
    source = Source("bine-dblp", data.graph, data.given_split)
    cell = next(c for c in plan(experiments.find("recommendation-dblp"), source))
    assert cell.method == "popularity"
    rows = run_module.measure(cell, source)["rows"]
    found = [round(rows[0]["mean"][m], 4) for m in ("f1", "ndcg", "map", "mrr")]
    assert found == [0.1111, 0.2625, 0.2057, 0.3276]


def test_progress_tells_of_every_cell(store):
    steps = []
    experiments.run_experiment(experiment(methods=["fobe"]), store=store, progress=steps.append)
    finished = [step for step in steps if step.finished is not None]
    assert [step.done for step in finished] == [1, 2]
    assert steps[-1].share == 1
    assert all(a.share <= b.share + 1e-9 for a, b in itertools.pairwise(steps))
    assert time.perf_counter() > finished[0].seconds >= 0
