"""Measures against a plain reference, against ir-measures, and against what can be proved."""

import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, nDCG

import bivec
from bivec.evaluation import given_split, measure_ranking, per_user_split, ranking_task
from bivec.evaluation.metrics import METRICS

PER_USER = ("precision", "recall", "ndcg", "map", "mrr")


def plain_measures(split, scores, protocol, k):
    """Return the list of (precision, recall, ndcg, ap, rr) of the users with test items."""
    train = split.train
    test = {}
    rows = zip(split.test_left.tolist(), split.test_right.tolist(), split.test_weight, strict=True)
    for user, item, rating in rows:
        test.setdefault(user, []).append((item, rating))
    result = []
    for user in sorted(test):
        if protocol == "bine":
            candidates = sorted(set(split.test_right.tolist()))
            by_rating = sorted(test[user], key=lambda pair: -pair[1])  # stable
            truth = {item for item, _ in by_rating[:k]}
        else:
            known = set(train.left.indices[train.left.indptr[user] : train.left.indptr[user + 1]])
            candidates = [j for j in range(train.n_right) if j not in known]
            truth = {item for item, _ in test[user]}
        ranked = sorted(candidates, key=lambda j: (-scores[user][j], j))[:k]
        hits = [item in truth for item in ranked]
        gain = sum(1 / math.log2(p + 2) for p, hit in enumerate(hits) if hit)
        ideal = sum(1 / math.log2(p + 2) for p in range(min(k, len(truth))))
        ap = sum(sum(hits[: p + 1]) / (p + 1) for p, hit in enumerate(hits) if hit) / len(truth)
        rr = next((1 / (p + 1) for p, hit in enumerate(hits) if hit), 0.0)
        result.append((sum(hits) / k, sum(hits) / len(truth), gain / ideal, ap, rr))
    return result


def random_split(seed, n_left=12, n_right=15, density=0.4):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, (n_left, n_right)) * (rng.random((n_left, n_right)) < density)
    ratings[0, :2] = 1
    return per_user_split(bivec.as_graph(ratings), 0.5, random_state=seed)


def measured(split, scores, protocol, k, **options):
    task = ranking_task(split, protocol, k)
    return measure_ranking(task, lambda rows: np.asarray(scores, np.float32)[rows], **options)


@given(
    st.integers(0, 10_000),
    st.sampled_from(["bine", "masked"]),
    st.integers(1, 20),
    st.integers(1, 5),
)
def test_against_the_plain_reference(seed, protocol, k, levels):
    """Few levels of scores: most are tied, and k reaches beyond the items."""
    split = random_split(seed)
    scores = np.random.default_rng(seed).integers(0, levels, (12, 15))
    measures = measured(split, scores, protocol, k)
    plain = np.array(plain_measures(split, scores, protocol, k))
    for column, name in enumerate(PER_USER):
        np.testing.assert_allclose(measures.per_user[name], plain[:, column], rtol=1e-12)
        assert measures.mean[name] == pytest.approx(plain[:, column].mean())
    p, r = plain[:, 0].mean(), plain[:, 1].mean()
    assert measures.mean["f1"] == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    assert tuple(measures.mean) == tuple(measures.standard_error) == METRICS


@pytest.mark.parametrize("protocol", ["bine", "masked"])
@pytest.mark.parametrize("k", [1, 5, 10])
def test_against_ir_measures(protocol, k):
    split = random_split(5, n_left=200, n_right=60)
    scores = np.random.default_rng(0).permutation(200 * 60).reshape(200, 60)  # no ties
    task = ranking_task(split, protocol, k)
    measures = measured(split, scores, protocol, k)
    qrels, run = {}, {}
    for place, user in enumerate(task.users.tolist()):
        truth = task.truth[task.indptr[place] : task.indptr[place + 1]].tolist()
        qrels[str(user)] = {str(item): 1 for item in truth}
        known = set() if protocol == "bine" else set(split.train.to_scipy()[[user]].indices)
        run[str(user)] = {
            str(item): float(scores[user, item]) for item in task.candidates if item not in known
        }
    oracle = {"precision": P @ k, "recall": R @ k, "ndcg": nDCG @ k, "map": AP @ k, "mrr": RR @ k}
    expected = ir_measures.calc_aggregate(oracle.values(), qrels, run)
    for name, measure in oracle.items():
        assert measures.mean[name] == pytest.approx(expected[measure], abs=1e-9), name
    assert measures.mean["map"] > 0


scores_and_k = st.tuples(st.integers(0, 10_000), st.integers(1, 12), st.integers(2, 1000))


@given(scores_and_k, st.sampled_from(["bine", "masked"]))
def test_the_bound_that_published_rows_break(drawn, protocol):
    """MAP <= recall and MRR <= k x precision, hence F1 >= 2 / (k / MRR + 1 / MAP)."""
    seed, k, levels = drawn
    scores = np.random.default_rng(seed).integers(0, levels, (12, 15))
    mean = measured(random_split(seed), scores, protocol, k).mean
    assert mean["map"] <= mean["recall"] + 1e-12
    assert mean["mrr"] <= k * mean["precision"] + 1e-12
    if mean["map"] > 0:
        assert mean["f1"] >= 2 / (k / mean["mrr"] + 1 / mean["map"]) - 1e-12


def test_bine_cuts_the_truth_by_rating_and_keeps_file_order():
    test = (["u"] * 4, ["d", "a", "c", "b"], [1, 2, 2, 1])
    split = given_split((["u"], ["z"]), test)
    task = ranking_task(split, "bine", 3)
    ids = split.graph.right.ids
    assert [ids[int(item)] for item in task.truth] == ["a", "c", "d"]  # d before b, as in the file
    assert len(ranking_task(split, "masked", 3).truth) == 4
    assert len(task.candidates) == 4
    assert len(ranking_task(split, "masked", 3).candidates) == 5


def test_equal_scores_do_not_favour_what_is_relevant():
    split = given_split((["u", "v"], ["a", "a"]), (["u", "v"], ["c", "b"]))
    mean = measured(split, np.zeros((2, 3)), "masked", 1).mean
    assert mean["recall"] == 0.5  # b is first for both, by its row alone


def test_masked_leaves_training_items_out_and_bine_does_not():
    split = given_split((["u", "v"], ["a", "c"]), (["u", "v"], ["b", "a"]))
    scores = [[9, 5, 1], [9, 5, 1]]
    assert measured(split, scores, "bine", 1).per_user["recall"].tolist() == [0, 1]
    assert measured(split, scores, "masked", 1).per_user["recall"].tolist() == [1, 1]


def test_standard_error():
    split = random_split(3, n_left=200)
    scores = np.random.default_rng(1).random((200, 15))
    measures = measured(split, scores, "masked", 3)
    for name in PER_USER:
        values = measures.per_user[name]
        assert measures.standard_error[name] == pytest.approx(
            values.std(ddof=1) / len(values) ** 0.5
        )
    # F1 by resampling users
    rng, f1 = np.random.default_rng(0), []
    p, r = measures.per_user["precision"], measures.per_user["recall"]
    for _ in range(2000):
        chosen = rng.integers(len(p), size=len(p))
        a, b = p[chosen].mean(), r[chosen].mean()
        f1.append(2 * a * b / (a + b))
    assert measures.standard_error["f1"] == pytest.approx(np.std(f1), rel=0.1)
    alone = given_split((["u"], ["a"]), (["u"], ["b"]))
    assert np.isnan(measured(alone, [[1, 1]], "bine", 1).standard_error["mrr"])


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    split = per_user_split(bivec.as_graph(rng.random((700, 50)) < 0.2), 0.4)
    scores = rng.integers(0, 9, (700, 50))
    one, two = (measured(split, scores, "masked", 10, n_jobs=n) for n in (1, 2))
    assert one.mean == two.mean
    assert one.standard_error == two.standard_error


# Odd input


def test_k_beyond_the_items_gives_shorter_lists_and_a_note():
    split = given_split((["u"], ["a"]), (["u"], ["b"]))
    measures = measured(split, [[0, 1]], "masked", 5)
    assert "k=5 is more than the 2 candidates" in measures.task.notes[0]
    assert measures.mean["precision"] == pytest.approx(1 / 5)
    assert measures.mean["recall"] == measures.mean["mrr"] == 1


def test_users_without_test_items_are_counted_and_cold_users_are_measured():
    split = given_split((["u", "v"], ["a", "b"]), (["u", "new"], ["b", "a"]))
    task = ranking_task(split, "masked", 1)
    assert task.skipped == {"no test items": 1}
    assert task.notes == ["1 of 2 users have no training edge; they are measured"]


@pytest.mark.parametrize("value, fails", [(np.nan, True), (np.inf, False), (-np.inf, False)])
def test_scores_that_are_no_numbers(value, fails):
    split = given_split((["u", "v"], ["a", "b"]), (["u", "v"], ["b", "a"]))
    scores = np.array([[1, 2], [value, 2]])
    if not fails:
        assert measured(split, scores, "bine", 2).mean["recall"] == 1
        return
    with pytest.raises(bivec.InputError, match="fancy gave NaN as the score of 'v' and 'a'"):
        measured(split, scores, "bine", 1, name="fancy")


def test_what_is_refused():
    split = given_split((["u"], ["a"]), (["u"], ["b"]))
    for protocol, k in (("bine", 0), ("bine", 2.5), ("other", 1)):
        with pytest.raises(bivec.InputError):
            ranking_task(split, protocol, k)
    with pytest.raises(bivec.InputError, match=r"fancy gave scores of shape \(1, 3\)"):
        measured(split, [[1, 2, 3]], "bine", 1, name="fancy")
