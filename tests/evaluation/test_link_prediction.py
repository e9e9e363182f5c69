"""Link prediction end to end: tasks, references, several seeds, sensitivity."""

import dataclasses
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from bivec import FOBE
from bivec.datasets import southern_women, viewer_movies
from bivec.errors import InputError
from bivec.evaluation import (
    evaluate_links,
    hold_out,
    link_prediction,
    reference_scores,
    sensitivity,
    summarize_links,
)
from bivec.evaluation.personalized import decide
from bivec.evaluation.references import best_threshold, item_knn, popularity
from bivec.evaluation.scores import measure
from bivec.graph import BipartiteGraph

DATA = Path(os.environ.get("BIVEC_DATA", ""))


@pytest.fixture(scope="module")
def split():
    return hold_out(viewer_movies(n_viewers=200, n_movies=80, n_tastes=4).graph, random_state=3)


@pytest.fixture(scope="module")
def vectors(split):
    model = FOBE(dim=16, epochs=20, norm=3, n_jobs=1).fit(split.train)
    return model.left_embedding_, model.right_embedding_


def figures(scores):
    return {
        task: (score.accuracy, score.auc, score.average_precision, score.n_models)
        for task, score in scores.items()
    }


def test_figures_are_those_of_the_decisions(split, vectors):
    score = link_prediction(split, *vectors, ["right"], random_state=5)["right"]
    lefts = np.append(split.test_left, split.negative_left)
    rights = np.append(split.test_right, split.negative_right)
    truth = np.repeat([1, 0], len(split.test_left))
    decisions, n = decide(split.train.right, vectors[0], rights, lefts, side=1, seed=5)
    assert score.n_models == n == len(np.unique(rights))
    assert score.n_pairs == 2 * len(split.test_left)
    assert score.accuracy == np.mean((decisions > 0) == truth)
    assert score.auc == roc_auc_score(truth, decisions)
    assert score.average_precision == average_precision_score(truth, decisions)
    assert score.wall_seconds > 0


def test_vectors_that_know_the_tastes_beat_noise(split, vectors):
    rng = np.random.default_rng(0)
    noise = [rng.normal(size=table.shape).astype(np.float32) for table in vectors]
    good, none = link_prediction(split, *vectors), link_prediction(split, *noise)
    for task in ("left", "right", "unified"):
        assert good[task].auc > none[task].auc + 0.1
    # Noise says nothing about test pairs; a higher figure would be a leak.
    for task in ("left", "right"):
        assert none[task].auc < 0.55
        assert none[task].accuracy < 0.55


def test_a_decision_of_zero_is_no_link():
    score = measure(np.zeros(4), np.array([True, True, True, False]), started=(0.0, 0.0))
    assert (score.accuracy, score.auc) == (0.25, 0.5)


def test_same_seed_same_figures_for_any_number_of_threads(split, vectors):
    runs = [
        figures(link_prediction(split, *vectors, random_state=seed, n_jobs=jobs))
        for seed, jobs in ((1, 1), (1, 3), (2, 1))
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_task_does_not_depend_on_the_others(split, vectors):
    everything = figures(link_prediction(split, *vectors, random_state=1))
    for task in ("left", "right", "unified"):
        alone = figures(link_prediction(split, *vectors, [task], random_state=1))
        assert alone[task] == everything[task]


def test_sides_may_differ_in_length_and_kind_of_number(split, vectors):
    wide = np.hstack([vectors[0], vectors[0]]).astype(np.float64)
    scores = link_prediction(split, wide, np.asfortranarray(vectors[1]))
    same = link_prediction(split, wide.astype(np.float32), vectors[1])
    assert figures(scores) == figures(same)


def test_progress_rises_and_names_the_task(split, vectors):
    told = []
    link_prediction(
        split, *vectors, ["left", "unified"], n_jobs=1, progress=lambda *now: told.append(now)
    )
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert (shares[-1], {label for _, label in told}) == (1, {"left", "unified"})


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda left, right: (left[1:], right), "left vectors have the shape"),
        (lambda left, right: (left, right[:, :0]), "right vectors have the shape"),
        (lambda left, right: (left, right[0]), "right vectors have the shape"),
        (lambda left, right: (left.astype(str), right), "left vectors hold"),
        (lambda left, right: (left.astype(np.float64) * 1e300, right), "are not finite"),
        (lambda left, right: (left, np.where(np.eye(*right.shape), np.nan, right)),
         "16 of 80 right vectors are not finite, the first in row 0"),
    ],
)  # fmt: skip
def test_vectors_of_no_use_are_refused(split, vectors, spoil, message):
    with pytest.raises(InputError, match=message):
        link_prediction(split, *spoil(*vectors))


def test_unknown_tasks_and_splits_without_negatives_are_refused(split, vectors):
    with pytest.raises(InputError, match="left, right, unified"):
        link_prediction(split, *vectors, ["middle"])
    none = np.empty(0, np.int64)
    ratings = dataclasses.replace(split, negative_left=none, negative_right=none)
    with pytest.raises(InputError, match="no negatives"):
        link_prediction(ratings, *vectors)
    with pytest.raises(InputError, match="no negatives"):
        reference_scores(ratings)


# References


def plain_knn(graph, left, right):
    matrix = (graph.to_scipy().toarray() > 0).astype(float)
    matrix[left, right] = 0
    total = 0.0
    for j in np.flatnonzero(matrix[left]):
        common = matrix[:, j] @ matrix[:, right]
        norm = np.sqrt(matrix[:, j].sum() * matrix[:, right].sum())
        total += common / norm if norm else 0
    return total


def test_references_against_dense_matrices():
    rng = np.random.default_rng(7)
    graph = BipartiteGraph(
        rng.integers(0, 25, 90), rng.integers(0, 18, 90),
        left_ids=range(26), right_ids=range(19), duplicates="max",
    )  # fmt: skip
    lefts, rights = (array.ravel() for array in np.meshgrid(np.arange(26), np.arange(19)))
    expected = [plain_knn(graph, i, j) for i, j in zip(lefts, rights, strict=True)]
    np.testing.assert_allclose(item_knn(graph, lefts, rights), expected, atol=1e-12)
    matrix = graph.to_scipy().toarray() > 0
    own = matrix[lefts, rights]
    product = (matrix.sum(axis=1)[lefts] - own) * (matrix.sum(axis=0)[rights] - own)
    np.testing.assert_array_equal(popularity(graph, lefts, rights), product)


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=25))
def test_threshold_is_the_best_there_is(pairs):
    scores = np.array([score for score, _ in pairs], float)
    truth = np.array([link for _, link in pairs])
    found = np.mean((scores > best_threshold(scores, truth)) == truth)
    assert found == max(np.mean((scores > t) == truth) for t in np.arange(-1.5, 8))


def test_references_do_not_look_at_test_pairs(split):
    """With links and others exchanged, what was right is wrong: thresholds stay as they were."""
    exchanged = dataclasses.replace(
        split, test_left=split.negative_left, test_right=split.negative_right,
        negative_left=split.test_left, negative_right=split.test_right,
    )  # fmt: skip
    ours, theirs = reference_scores(split), reference_scores(exchanged)
    for name in ("popularity", "item-knn"):
        assert ours[name].accuracy == pytest.approx(1 - theirs[name].accuracy)
    assert ours["item-knn"].accuracy > 0.6


def test_references_where_no_edge_is_to_spare():
    """A training graph of single edges has nothing to choose a threshold on; it is scored yet."""
    graph = BipartiteGraph([0, 1, 0], [0, 1, 1])
    for seed in range(5):
        found = reference_scores(hold_out(graph, 0.01, random_state=seed))
        assert {score.n_pairs for score in found.values()} == {2}


# Several seeds


class Spy:
    """An estimator that keeps what it was fitted on."""

    fitted: tuple = ()
    spoiled_from = 10**9
    interrupted = False

    def __init__(self, random_state=None, dim=4):
        self.random_state, self.dim = random_state, dim

    def get_params(self, deep=True):
        return {"random_state": self.random_state, "dim": self.dim}

    def set_params(self, **params):
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, graph):
        type(self).fitted += ((self.random_state, graph),)
        rng = np.random.default_rng(self.random_state)
        self.left_embedding_ = rng.normal(size=(graph.n_left, self.dim))
        self.right_embedding_ = rng.normal(size=(graph.n_right, self.dim))
        if self.random_state >= self.spoiled_from:
            self.right_embedding_[0] = np.nan
        self.interrupted_ = self.interrupted
        return self


@pytest.fixture
def spy():
    return type("Spy", (Spy,), {})


def test_methods_see_training_edges_only_and_the_same_ones(spy):
    other = type("Other", (spy,), {"fitted": ()})
    original = spy()
    runs = evaluate_links(southern_women(), {"a": original, "b": other()}, 0.6, [4, 5], ["left"])
    assert [(run.method, run.seed) for run in runs] == [("a", 4), ("b", 4), ("a", 5), ("b", 5)]
    for (seed, seen), (_, seen_too) in zip(spy.fitted, other.fitted, strict=True):
        assert seen == seen_too == hold_out(southern_women(), 0.6, random_state=seed).train
    assert original.random_state is None
    assert not hasattr(original, "left_embedding_")


def test_figures_over_seeds(spy):
    seeds = [0, 1, 2, 3]
    runs = evaluate_links(southern_women(), {"spy": spy()}, 0.6, seeds)
    rows = {(row.method, row.task): row for row in summarize_links(runs)}
    assert set(rows) == {
        ("popularity", "unified"), ("item-knn", "unified"),
        ("spy", "left"), ("spy", "right"), ("spy", "unified"),
    }  # fmt: skip
    row = rows["spy", "left"]
    values = []
    for seed in seeds:
        split = hold_out(southern_women(), 0.6, random_state=seed)
        model = spy(random_state=seed).fit(split.train)
        tables = model.left_embedding_, model.right_embedding_
        values.append(link_prediction(split, *tables, random_state=seed)["left"].accuracy)
    assert (row.seeds, row.failed) == (4, 0)
    assert row.accuracy == pytest.approx(np.mean(values))
    assert row.accuracy_std == pytest.approx(np.std(values, ddof=1))
    single = summarize_links(runs[:3])[-1]
    assert math.isnan(single.accuracy_std)
    assert not math.isnan(single.accuracy)


def test_a_method_that_fails_is_said_and_does_not_stop_the_others(spy):
    spy.spoiled_from = 1
    lost = type("Lost", (spy,), {"spoiled_from": 0})
    runs = evaluate_links(
        southern_women(), {"half": spy(), "lost": lost()}, 0.6, [0, 1], ["left"], references=()
    )
    assert [run.error is None for run in runs] == [True, False, False, False]
    assert "right vectors are not finite" in runs[1].error
    half, nothing = summarize_links(runs)
    assert (half.seeds, half.failed, half.accuracy) == (1, 1, runs[0].scores["left"].accuracy)
    assert (nothing.task, nothing.seeds, nothing.failed) == ("-", 0, 2)


def test_an_interrupted_fit_is_not_measured(spy):
    spy.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        evaluate_links(southern_women(), {"spy": spy()}, 0.6)


def test_odd_requests_are_refused(spy):
    with pytest.raises(InputError, match="name of a reference"):
        evaluate_links(southern_women(), {"popularity": spy()})
    with pytest.raises(InputError, match="popularity, item-knn"):
        evaluate_links(southern_women(), {"spy": spy()}, references=["magic"])
    with pytest.raises(InputError, match="left, right, unified"):
        evaluate_links(southern_women(), {"spy": spy()}, tasks=["middle"])


def test_sensitivity_is_over_the_trials_of_each_rate(spy):
    told = []
    rows = sensitivity(
        southern_women(), lambda rate: spy(dim=rate), rates=(2, 8), trials=3, train_share=0.6,
        tasks=("left", "right"), first_seed=7, progress=lambda *now: told.append(now),
    )  # fmt: skip
    assert [(row.rate, row.task) for row in rows] == [
        (2, "left"), (2, "right"), (8, "left"), (8, "right"),
    ]  # fmt: skip
    assert told[-1][0] == 1
    runs = evaluate_links(
        southern_women(), {"spy": spy(dim=8)}, 0.6, [7, 8, 9], ["right"], references=()
    )
    values = tuple(run.scores["right"].accuracy for run in runs)
    last = rows[-1]
    assert last.accuracies == values
    assert (last.minimum, last.mean, last.maximum, last.trials, last.failed) == (
        min(values), pytest.approx(np.mean(values)), max(values), 3, 0,
    )  # fmt: skip


@pytest.mark.skipif(
    not (DATA / "snap-com-amazon").is_dir(), reason="BIVEC_DATA names no directory with com-Amazon"
)
def test_amazon():
    from bivec import read_edges

    graph = read_edges(DATA / "snap-com-amazon" / "com-amazon.top5000.cmty.txt")
    method = FOBE(dim=32, epochs=10, n_samples=50, learning_rate=0.1, norm=5)
    runs = evaluate_links(graph, {"fobe": method}, 0.5, tasks=["left", "right", "unified"])
    scores = {run.method: run.scores for run in runs}
    assert scores["item-knn"]["unified"].accuracy > 0.97
    assert scores["popularity"]["unified"].accuracy < 0.8
    assert scores["fobe"]["left"].accuracy > 0.85
    assert scores["fobe"]["right"].accuracy > 0.85
    assert scores["fobe"]["left"].n_models > 15_000
