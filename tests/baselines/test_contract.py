"""What every method keeps to: one set of tests, run on each of the registry."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import bivec
from bivec import baselines
from bivec.baselines import ALL_METHODS, METHODS
from bivec.errors import InputError, NotFittedError
from bivec.graph import BipartiteGraph
from bivec.models import METHODS as PAPER
from bivec.models import PRESETS

FEW = {"dim": 8, "epochs": 3, "n_walks": 3, "n_samples": 6, "n_jobs": 1}
SOLVERS = {"svd", "gsvd"}
"""Methods that solve instead of training: no history, and the seed need not matter."""
BAD = {
    "dim": [0, "8", True], "epochs": [0], "n_walks": [0], "walk_length": [1], "window": [0, 2.5],
    "n_negatives": [-1], "learning_rate": [-1, float("nan")], "weighted": ["yes"],
    "p": [0, float("inf")], "q": [-1], "n_samples": [0], "norm": [0], "random_state": ["seed", -1],
    "n_jobs": [0],
}  # fmt: skip


def make(method, **parameters):
    """Return an estimator that is quick to fit."""
    known = inspect.signature(ALL_METHODS[method]).parameters
    few = {k: v for k, v in FEW.items() if k in known}
    return ALL_METHODS[method](**{**few, **parameters})


def parameters(method):
    return inspect.signature(ALL_METHODS[method]).parameters


def tables(model):
    return model.left_embedding_.tobytes() + model.right_embedding_.tobytes()


def blocks(n_left=240, n_right=120, seed=0):
    """Four blocks, 6 edges inside for each left node, few outside."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n_left), 6)
    columns = rows // (n_left // 4) * (n_right // 4) + rng.integers(0, n_right // 4, rows.size)
    return BipartiteGraph(
        np.append(rows, rng.integers(0, n_left, 40)),
        np.append(columns, rng.integers(0, n_right, 40)),
        left_ids=range(n_left), right_ids=range(n_right), duplicates="max",
    )  # fmt: skip


def with_weights(graph, weights):
    return BipartiteGraph(
        graph.left_rows(), graph.left.indices, weights,
        left_ids=graph.left.ids, right_ids=graph.right.ids,
    )  # fmt: skip


GRAPH = blocks()


class Contract:
    """The tests; a subclass names the method."""

    method: str

    def test_vectors_belong_to_ids(self):
        names = [f"v{k}" for k in range(30)]
        rng = np.random.default_rng(1)
        left, right = rng.integers(0, 30, 90), rng.integers(0, 12, 90)
        order = rng.permutation(90)
        one, two = (
            BipartiteGraph(a, b, left_ids=names, right_ids=range(100, 112), duplicates="max")
            for a, b in ((left, right), (left[order], right[order]))
        )
        model = make(self.method).fit(one)
        emb = model.embedding_
        assert list(emb.left.ids) == names
        assert list(emb.right.ids) == list(range(100, 112))
        assert (emb.left.vectors.shape, emb.right.vectors.shape) == ((30, 8), (12, 8))
        assert emb.left.vectors.dtype == np.float32
        assert emb.method == self.method
        np.testing.assert_array_equal(emb.left["v7"], model.left_embedding_[7])
        assert tables(make(self.method).fit(two)) == tables(model)

    def test_seeds(self):
        model = make(self.method, random_state=3).fit(GRAPH)
        assert tables(clone(model).fit(GRAPH)) == tables(model)
        generator = make(self.method, random_state=np.random.default_rng(0)).fit(GRAPH)
        assert tables(make(self.method, random_state=generator.seed_).fit(GRAPH)) == tables(
            generator
        )
        if self.method not in SOLVERS:
            assert tables(make(self.method, random_state=4).fit(GRAPH)) != tables(model)

    def test_same_bytes_for_any_number_of_threads(self):
        graph = blocks(1200, 400, seed=2)
        one, two, four = (tables(make(self.method, n_jobs=n).fit(graph)) for n in (1, 2, 4))
        assert one == two == four

    def test_save_and_load(self, tmp_path):
        for jobs in (1, 2):
            model = make(self.method, n_jobs=jobs).fit(GRAPH)
            model.embedding_.save(tmp_path / f"{jobs}.bivec")
        assert bivec.load(tmp_path / "1.bivec") == model.embedding_
        files = [
            {file.name: file.read_bytes() for file in (tmp_path / f"{jobs}.bivec").iterdir()}
            for jobs in (1, 2)
        ]
        assert files[0] == files[1]

    def test_isolated_nodes_keep_a_row(self):
        graph = BipartiteGraph(
            [0, 0, 2, 3], [1, 2, 1, 2], left_ids=["a", "alone", "b", "c"],
            right_ids=["lonely", "x", "y"],
        )  # fmt: skip
        emb = make(self.method).fit(graph).embedding_
        assert emb.left.vectors.shape == (4, 8)
        assert emb.right.vectors.shape == (3, 8)
        assert np.isfinite(emb.left["alone"]).all()
        assert np.isfinite(emb.right["lonely"]).all()

    def test_weights(self):
        rng = np.random.default_rng(0)
        graph = with_weights(GRAPH, rng.integers(1, 9, GRAPH.n_edges))
        model = make(self.method).fit(graph)
        assert np.isfinite(model.left_embedding_).all()
        if self.method in ("fobe", "hobe"):
            assert tables(model) == tables(make(self.method).fit(GRAPH))
        else:
            assert tables(model) != tables(make(self.method).fit(GRAPH))
        if "weighted" in parameters(self.method):
            alike = make(self.method, weighted=False).fit(graph)
            assert tables(alike) == tables(make(self.method).fit(GRAPH))

    @pytest.mark.parametrize("ends", [([0], [0]), ([0, 1], [0, 0]), ([0, 0], [0, 1]), ([0], [1])])
    def test_tiny_graphs(self, ends):
        n_left, n_right = max(ends[0]) + 1, max(ends[1]) + 1
        graph = BipartiteGraph(*ends, left_ids=range(n_left), right_ids=range(n_right))
        model = make(self.method).fit(graph)
        assert model.left_embedding_.shape == (n_left, 8)
        assert model.right_embedding_.shape == (n_right, 8)
        assert np.isfinite(model.left_embedding_).all()
        assert np.isfinite(model.right_embedding_).all()

    def test_no_edges_at_all(self):
        graph = BipartiteGraph([], [], left_ids=["a", "b"], right_ids=["x"])
        emb = make(self.method).fit(graph).embedding_
        assert emb.left.vectors.shape == (2, 8)
        assert np.isfinite(emb.left.vectors).all()

    def test_bad_parameters_are_named(self):
        for name in BAD.keys() & parameters(self.method).keys():
            for value in BAD[name]:
                with pytest.raises(InputError, match=name):
                    make(self.method, **{name: value}).fit(GRAPH)

    def test_history_and_progress(self):
        told = []
        model = make(self.method, progress=told.append).fit(GRAPH)
        if self.method in SOLVERS:
            return
        assert model.n_iter_ == 3
        assert [record.epoch for record in model.history_] == [1, 2, 3]
        assert all(np.isfinite(record.loss) and record.pairs > 0 for record in model.history_)
        training = [step for step in told if step.stage == "training"]
        assert [(step.epoch, step.epochs) for step in training] == [(1, 3), (2, 3), (3, 3)]
        assert [step.record for step in training] == model.history_
        stages = {step.stage for step in told} - {"training"}
        assert stages == ({"rehearsal", "smoothing"} if self.method in PAPER else set())

    def test_goes_on_from_an_embedding(self):
        first = make(self.method).fit(GRAPH)
        if self.method in SOLVERS:
            return
        second = make(self.method).fit(GRAPH, init=first.embedding_)
        assert tables(second) != tables(first)
        with pytest.raises(InputError, match="dim=4"):
            make(self.method, dim=4).fit(GRAPH, init=first.embedding_)

    def test_norm(self):
        model = make(self.method, norm=3).fit(GRAPH)
        for table in (model.left_embedding_, model.right_embedding_):
            assert np.sqrt((table**2).sum(axis=1).mean()) == pytest.approx(3, rel=1e-5)

    def test_finds_planted_blocks(self):
        enough = {"epochs": 50} if "epochs" in parameters(self.method) else {}
        model = ALL_METHODS[self.method](dim=16, **enough).fit(GRAPH)
        for table in (model.left_embedding_, model.right_embedding_):
            block = np.arange(len(table)) // (len(table) // 4)
            unit = table / np.linalg.norm(table, axis=1, keepdims=True)
            cosine = unit @ unit.T
            np.fill_diagonal(cosine, -2)
            assert (block[cosine.argmax(axis=1)] == block).mean() > 0.9

    def test_names(self):
        kind = ALL_METHODS[self.method]
        assert kind.method == self.method
        assert repr(kind()) == f"{kind.__name__}()"
        assert kind().get_params().keys() == parameters(self.method).keys()
        with pytest.raises(InputError, match="'depth' is no parameter"):
            kind().set_params(depth=3)
        with pytest.raises(NotFittedError, match="Call fit first"):
            kind().embedding_  # noqa: B018


for _method in ALL_METHODS:
    globals()[f"Test{ALL_METHODS[_method].__name__}"] = type(
        f"Test{ALL_METHODS[_method].__name__}", (Contract,), {"method": _method}
    )

with warnings.catch_warnings():  # that the estimators do without BaseEstimator is on purpose
    warnings.filterwarnings("ignore", message=".*does not inherit from")
    contract = parametrize_with_checks([make(method) for method in METHODS])


@contract
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_every_method_has_a_public_name_and_is_on_the_command_line():
    from bivec.cli import embed
    from bivec.experiments.methods import chosen_methods, registry

    helped = inspect.signature(embed.embed, eval_str=True).parameters["method"].annotation
    named = helped.__metadata__[0].help.rstrip(".").split(", ")
    assert named == [*PAPER, *PRESETS, *METHODS]
    assert set(ALL_METHODS) <= set(registry())
    assert set(ALL_METHODS) <= set(chosen_methods("all"))
    for kind in ALL_METHODS.values():
        assert getattr(bivec, kind.__name__) is kind


def test_every_estimator_of_the_package_is_registered():
    exported = {name for name in baselines.__all__ if inspect.isclass(getattr(baselines, name))}
    assert exported == {kind.__name__ for kind in METHODS.values()}
