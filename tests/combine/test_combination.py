"""The estimator: contract, seeds, inputs of every kind, odd graphs, Ctrl-C."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import bivec
from bivec import FOBE, HOBE, BipartiteGraph, Combination, InputError, rehearsal
from bivec.combine import KINDS
from bivec.errors import MissingExtraError
from bivec.rehearsal import rehearse

QUICK = {"dim": 6, "epochs": 3}


def same(a, b):
    return np.array_equal(a.left_embedding_, b.left_embedding_) and np.array_equal(
        a.right_embedding_, b.right_embedding_
    )


with warnings.catch_warnings():  # that the estimators do without BaseEstimator is on purpose
    warnings.filterwarnings("ignore", message=".*does not inherit from")
    part = FOBE(dim=2, epochs=1, n_samples=2, n_jobs=1)
    contract = parametrize_with_checks(
        [Combination("direct", dim=2, embeddings=[part], epochs=1, device="cpu", n_jobs=1)]
    )


@contract
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", KINDS)
def test_fit(graph, inputs, kind):
    model = Combination(kind, embeddings=inputs, **QUICK)
    assert model.fit(graph) is model
    assert model.left_embedding_.shape == (60, 6)
    assert model.right_embedding_.shape == (24, 6)
    assert model.left_embedding_.dtype == np.float32
    emb = model.embedding_
    assert emb.method == f"combination-{kind}"
    assert [made["method"] for made in emb.params["embeddings"]] == ["first", "second"]
    assert len(emb.history) == model.n_iter_ == 3
    assert "seconds" not in emb.history[0]
    assert clone(model).get_params()["kind"] == kind


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_bytes_for_any_number_of_threads(graph, inputs, kind):
    before = torch.get_num_threads()
    models = []
    try:
        for threads in (1, 2, 2):
            torch.set_num_threads(threads)
            models.append(Combination(kind, embeddings=inputs, n_jobs=threads, **QUICK).fit(graph))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    other = Combination(kind, embeddings=inputs, random_state=1, **QUICK).fit(graph)
    assert same(models[0], models[1])
    assert same(models[1], models[2])
    assert models[0].embedding_ == models[1].embedding_
    assert not same(models[0], other)


FIT = """
import hashlib, resource, sys
import numpy as np
import torch
from bivec import BipartiteGraph, Combination, Embedding, EmbeddingSide

def fit(kind, n_edges, dim):
    draw = np.random.default_rng(0)
    pairs = draw.choice(1000 * 500, n_edges, replace=False)
    graph = BipartiteGraph(pairs // 500, pairs % 500, left_ids=range(1000), right_ids=range(500))
    sides = [EmbeddingSide(range(n), draw.normal(size=(n, 256))) for n in (1000, 500)]
    return Combination(kind, dim=dim, embeddings=[Embedding(*sides)], epochs=1).fit(graph)

"""
BYTES = (
    FIT
    + """
assert torch.get_num_threads() == int(sys.argv[1])
for kind in ("direct", "auto-regularized"):
    model = fit(kind, 5_000, 64)
    for table in (model.left_embedding_, model.right_embedding_):
        print(hashlib.sha256(table.tobytes()).hexdigest())
"""
)
PEAK = (
    FIT
    + """
for n_edges in (10_000, 150_000):
    fit("direct", n_edges, 8)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""
)


def run_alone(code, *words, **settings):
    """Run code in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env={**os.environ, **settings}, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_same_bytes_in_processes_with_one_thread_and_two():
    one, two = (run_alone(BYTES, n, OMP_NUM_THREADS=n, MKL_NUM_THREADS=n) for n in ("1", "2"))
    assert len(one) == 4
    assert one == two


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is the system's own")
def test_memory_grows_with_edges_not_with_edges_times_dimension():
    few, many = map(int, run_alone(PEAK))
    # the inputs of the two ends of an edge alone are 2048 bytes
    assert (many - few) / 140_000 < 400


def test_result_ignores_the_order_of_ids_in_an_input(graph, inputs):
    order = np.random.default_rng(0).permutation(60)
    first = inputs[0]
    mixed = bivec.Embedding(
        bivec.EmbeddingSide(first.left.ids.take(order), first.left.vectors[order]), first.right
    )
    one = Combination(embeddings=[first], **QUICK).fit(graph)
    # centring sums in another order, so the last digits may differ
    two = Combination(embeddings=[mixed], **QUICK).fit(graph)
    np.testing.assert_allclose(one.left_embedding_, two.left_embedding_, atol=1e-4)


def test_inputs_as_objects_paths_and_estimators_are_the_same(graph, tmp_path):
    fobe = FOBE(dim=4, epochs=2, random_state=5)
    hobe = HOBE(dim=3, epochs=2, random_state=5)
    embeddings = [fobe.fit(graph).embedding_, hobe.fit(graph).embedding_]
    paths = [tmp_path / "a.bivec", str(tmp_path / "b.bivec")]
    for embedding, path in zip(embeddings, paths, strict=True):
        embedding.save(path)
    estimators = [FOBE(dim=4, epochs=2), HOBE(dim=3, epochs=2)]
    models = [
        Combination(embeddings=given, random_state=5, **QUICK).fit(graph)
        for given in (embeddings, paths, estimators)
    ]
    assert same(models[0], models[1])
    assert same(models[0], models[2])
    assert models[0].embedding_.params == models[1].embedding_.params
    assert not hasattr(estimators[0], "left_embedding_")


def test_default_inputs_are_fobe_and_hobe(graph):
    model = Combination("direct", dim=3, epochs=1).fit(graph)
    assert [(made["method"], made["dim"]) for made in model.inputs_] == [("fobe", 3), ("hobe", 3)]


def test_missing_ids(graph, inputs):
    part = bivec.Embedding(
        bivec.EmbeddingSide(graph.left.ids[:50], inputs[0].left.vectors[:50]), inputs[0].right
    )
    with pytest.raises(
        InputError, match=r"input 2 .unknown. lacks 10 of 60 left nodes: .* and 7 more"
    ):
        Combination(embeddings=[inputs[1], part], **QUICK).fit(graph)
    model = Combination(embeddings=[inputs[1], part], missing="zero", **QUICK).fit(graph)
    assert np.isfinite(model.left_embedding_).all()


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"kind": "both"}, "kind='both' is no choice"),
        ({"dim": 0}, "dim=0"),
        ({"missing": "skip"}, "missing='skip'"),
        ({"dropout": 1}, "dropout=1"),
        ({"n_negatives": 0}, "n_negatives=0"),
        ({"epochs": 0}, "epochs=0"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"patience": 0}, "patience=0"),
        ({"norm": 0}, "norm=0"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"device": "abacus"}, "device='abacus'"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"embeddings": []}, "no embeddings to combine"),
        ({"embeddings": "a.bivec"}, "is no list"),
        ({"embeddings": [3]}, "3 is no embedding"),
    ],
)
def test_bad_parameters(graph, inputs, parameters, message):
    with pytest.raises(InputError, match=message):
        Combination(**{"embeddings": inputs, **QUICK, **parameters}).fit(graph)


def test_init_is_refused(graph, inputs):
    with pytest.raises(InputError, match="one of its embeddings"):
        Combination(embeddings=inputs, **QUICK).fit(graph, init=inputs[0])


def test_norm(graph, inputs):
    for norm in (1, 3):
        model = Combination(embeddings=inputs, norm=norm, **QUICK).fit(graph)
        for table in (model.left_embedding_, model.right_embedding_):
            assert np.isclose(np.sqrt((table**2).sum(axis=1).mean()), norm, rtol=1e-5)
    for by_degree, norm in ((True, 2), (False, 5)):
        model = Combination(embeddings=inputs, by_degree=by_degree, **QUICK).fit(graph)
        for table in (model.left_embedding_, model.right_embedding_):
            assert np.isclose(np.sqrt((table**2).sum(axis=1).mean()), norm, rtol=1e-5)
    free = Combination(embeddings=inputs, norm=None, **QUICK).fit(graph)
    ratio = free.left_embedding_ / model.left_embedding_
    assert np.isclose(ratio, ratio[0, 0], rtol=1e-3).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "graph",
    [
        BipartiteGraph([0], [0]),
        BipartiteGraph([0, 0, 0], [0, 1, 2]),
        BipartiteGraph([0, 1, 2], [0, 0, 0]),
        BipartiteGraph(*np.nonzero(np.ones((4, 5)))),
        BipartiteGraph([0, 1], [0, 1], left_ids=["a", "b", "alone"], right_ids=["x", "y", "z"]),
        BipartiteGraph([], [], left_ids=["a"], right_ids=["x"]),
    ],
    ids=["edge", "star", "other star", "full", "isolated", "no edges"],
)
def test_tiny_graphs(graph, kind):
    draw = np.random.default_rng(0)
    sides = [
        bivec.EmbeddingSide(side.ids, draw.normal(size=(len(side), 2)))
        for side in (graph.left, graph.right)
    ]
    model = Combination(kind, embeddings=[bivec.Embedding(*sides)], **QUICK).fit(graph)
    assert model.left_embedding_.shape == (graph.n_left, 6)
    assert np.isfinite(model.left_embedding_).all()
    assert np.isfinite(model.right_embedding_).all()


def test_progress(graph, inputs):
    seen = []
    Combination(embeddings=inputs, progress=seen.append, **QUICK).fit(graph)
    assert [(step.epoch, step.epochs) for step in seen] == [(1, 3), (2, 3), (3, 3)]
    assert all(step.record.loss > 0 and step.pairs_per_second > 0 for step in seen)


def test_ctrl_c_keeps_what_was_reached(graph, inputs):
    before = signal.getsignal(signal.SIGINT)  # ignored where the tests run in the background

    def interrupt(step):
        if step.epoch == 2:
            os.kill(os.getpid(), signal.SIGINT)

    model = Combination(embeddings=inputs, dim=6, epochs=500, patience=500, progress=interrupt)
    with pytest.warns(UserWarning, match="interrupted after 2 of 500 epochs"):
        model.fit(graph)
    assert model.interrupted_
    assert np.isfinite(model.left_embedding_).all()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_while_an_input_is_fitted_is_no_half_trained_input(graph):
    def later():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    FOBE(dim=2, epochs=1).fit(graph)  # compiled before the clock starts
    threading.Thread(target=later).start()
    slow = FOBE(dim=64, epochs=100_000, n_samples=100_000)
    with pytest.raises(KeyboardInterrupt), pytest.warns(UserWarning, match="interrupted"):
        Combination(embeddings=[slow], **QUICK).fit(graph)


def test_without_torch_the_message_names_the_extra(graph, inputs, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"needs the package 'torch'.*bivec.combine."):
        Combination(embeddings=inputs, **QUICK).fit(graph)


def test_torch_is_imported_by_fit_only():
    code = (
        "import bivec, bivec.combine, sys; bivec.Combination().get_params(); import bivec.cli; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_it_is_a_plain_object(graph, inputs):
    model = Combination(embeddings=inputs, **QUICK).fit(graph)
    assert pickle.loads(pickle.dumps(model)).embedding_ == model.embedding_
    assert repr(Combination("direct", dim=3)) == "Combination(dim=3, kind='direct')"


def test_it_joins_the_evaluation(graph):
    from bivec.evaluation import evaluate_links

    parts = [FOBE(dim=4, epochs=5), HOBE(dim=4, epochs=5)]
    methods = {kind: Combination(kind, dim=4, embeddings=parts, epochs=3) for kind in KINDS}
    runs = evaluate_links(graph, methods, seeds=[0, 1], tasks=["unified"], references=())
    assert [(run.method, run.seed) for run in runs] == [(k, s) for s in (0, 1) for k in KINDS]
    assert all(run.error is None and 0 < run.scores["unified"].accuracy <= 1 for run in runs)


@pytest.mark.parametrize("kind", KINDS)
def test_joint_vectors_are_bounded(inputs, graph, kind):
    model = Combination(kind, embeddings=inputs, norm=None, **QUICK).fit(graph)
    for table in (model.left_embedding_, model.right_embedding_):
        assert 0 < np.abs(table).max() <= 2  # hyperbolic tangents around their mean


def test_inputs_that_are_fitted_rehearse_once(monkeypatch):
    graph = BipartiteGraph(np.arange(2400) % 1600, np.arange(2400) * 7 % 900)
    models = [FOBE(dim=34, epochs=1, n_samples=2), HOBE(dim=40, epochs=1, n_samples=2)]
    apart = [model.fit(graph).embedding_ for model in models]
    expected = Combination("direct", dim=6, embeddings=apart, epochs=1).fit(graph)
    asked = []

    def watch(*args, **kwargs):
        asked.append(args)
        return rehearse(*args, **kwargs)

    monkeypatch.setattr(rehearsal, "rehearse", watch)
    found = Combination("direct", dim=6, embeddings=models, epochs=1).fit(graph)
    assert len(asked) == 1
    assert found.left_embedding_.tobytes() == expected.left_embedding_.tobytes()
