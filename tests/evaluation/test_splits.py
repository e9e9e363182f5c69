"""Splits hold out what they say, leak nothing, and say no when they cannot be made."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bivec
from bivec.datasets import southern_women
from bivec.evaluation import given_split, hold_out, per_user_split, temporal_split

DATA = Path(os.environ.get("BIVEC_DATA") or "no-such-directory")


def graph_of(pairs, n_left=None, n_right=None, weights=None):
    left, right = zip(*sorted(pairs), strict=True)
    return bivec.BipartiteGraph(
        left,
        right,
        weights,
        left_ids=range(n_left or max(left) + 1),
        right_ids=range(n_right or max(right) + 1),
    )


pair_sets = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=50)


def plain_hold_out(graph, share, seed):
    """The paper's sentence, edge by edge, with the draws of the same generator."""
    draw = np.random.default_rng(seed)
    chance = draw.random(graph.n_edges)
    edges = list(zip(graph.left_rows().tolist(), graph.left.indices.tolist(), strict=True))
    kept = set(edges)
    for position in draw.permutation(graph.n_edges):
        i, j = edges[position]
        if (
            chance[position] >= share
            and sum(a == i for a, _ in kept) > 1
            and sum(b == j for _, b in kept) > 1
        ):
            kept.remove((i, j))
    return kept


@given(pair_sets, st.floats(0.05, 0.95), st.integers(0, 100), st.booleans())
def test_hold_out_is_sound_or_refused(pairs, share, seed, connected):
    graph = graph_of(pairs, 9, 9)
    try:
        split = hold_out(graph, share, random_state=seed, connected=connected)
    except bivec.InputError:
        absent = len({i for i, _ in pairs}) * len({j for _, j in pairs}) - len(pairs)
        removed = graph.n_edges - len(plain_hold_out(graph, share, seed))
        assert connected or removed == 0 or removed > absent
        return
    split.verify()
    kept = set(zip(split.train.left_rows().tolist(), split.train.left.indices.tolist()))  # noqa: B905
    if not connected:
        assert kept == plain_hold_out(graph, share, seed)
    # Nodes without edges are in no pair.
    assert graph.left.degrees[split.negative_left].min() > 0
    assert graph.right.degrees[split.negative_right].min() > 0


def test_hold_out_is_a_function_of_its_seed():
    graph = southern_women()
    one, same, other = (hold_out(graph, random_state=s) for s in (3, 3, 4))
    for name in ("test_left", "test_right", "negative_left", "negative_right"):
        assert np.array_equal(getattr(one, name), getattr(same, name))
    assert not np.array_equal(one.test_left, other.test_left)
    assert one.parameters == {"train_share": 0.5, "random_state": 3, "connected": False}


def test_connected_keeps_components_whole():
    # Two cycles: without care, a hold-out tears most of them.
    cycle = [(i, j % 20) for i in range(20) for j in (i, i + 1)]
    graph = graph_of(cycle + [(i + 20, j + 20) for i, j in cycle])
    torn = [hold_out(graph, 0.2, random_state=s).train.components()[0] for s in range(5)]
    whole = [hold_out(graph, 0.01, random_state=s, connected=True).verify() for s in range(5)]
    assert max(torn) > 2
    assert {split.train.components()[0] for split in whole} == {2}
    # A spanning forest of a cycle lacks one edge, so no more than one can go from each.
    assert max(len(split.test_left) for split in whole) == 2


def test_hold_out_removes_about_the_asked_share():
    rng = np.random.default_rng(0)
    graph = bivec.as_graph(rng.random((200, 200)) < 0.2)
    for share in (0.2, 0.5, 0.8):
        split = hold_out(graph, share)
        assert split.train.n_edges / graph.n_edges == pytest.approx(share, abs=0.03)


def test_negatives_are_uniform_over_absent_pairs():
    graph = graph_of([(i, j % 6) for i in range(6) for j in (i, i + 1, i + 2)])
    counts = np.zeros((6, 6))
    for seed in range(1000):
        split = hold_out(graph, 0.6, random_state=seed)
        np.add.at(counts, (split.negative_left, split.negative_right), 1)
    absent = counts[graph.to_scipy().toarray() == 0]
    assert counts.sum() == absent.sum()
    assert len(absent) == 18
    assert absent.max() / absent.min() < 1.4  # five standard deviations


def refuse(message, call, *args, **kwargs):
    with pytest.raises(bivec.InputError, match=message):
        call(*args, **kwargs)


def test_what_cannot_be_held_out():
    star = graph_of([(0, j) for j in range(5)])
    refuse("none of the 5 edges could be held out", hold_out, star, 0.1)
    complete = graph_of([(i, j) for i in range(5) for j in range(5)])
    refuse("only 0 pairs are absent.*raise train_share", hold_out, complete, 0.5)
    for share in (0, 1, -1, np.nan, "half"):
        refuse("train_share", hold_out, star, share)
    # In a tree, every edge is needed.
    path = graph_of([(0, 0), (1, 0), (1, 1), (2, 1)])
    refuse("with connected=True", hold_out, path, 0.1, connected=True)
    refuse("leaves 5 for training and 0", per_user_split, star, 0.01)
    refuse("leaves 0 for training", per_user_split, graph_of([(0, 0)]), 0.9, min_train=0)


BREAKS = {
    "a test pair stands twice": lambda s: {
        "test_left": np.append(s.test_left, s.test_left[0]),
        "test_right": np.append(s.test_right, s.test_right[0]),
        "test_weight": np.append(s.test_weight, s.test_weight[0]),
    },
    "test pairs are edges of the training graph": lambda s: {"train": s.graph},
    "together are not the edges": lambda s: {
        "test_left": s.test_left[1:],
        "test_right": s.test_right[1:],
        "test_weight": s.test_weight[1:],
    },
    "another weight": lambda s: {"test_weight": s.test_weight + 1},
    "not equally many": lambda s: {"test_weight": s.test_weight[1:]},
    "a negative is an edge": lambda s: {
        "negative_left": s.test_left,
        "negative_right": s.test_right,
    },
    "a negative stands twice": lambda s: {
        "negative_left": np.repeat(s.negative_left[:1], len(s.test_left)),
        "negative_right": np.repeat(s.negative_right[:1], len(s.test_left)),
    },
    "not as many negatives": lambda s: {
        "negative_left": s.negative_left[1:],
        "negative_right": s.negative_right[1:],
    },
    "names no node": lambda s: {"negative_left": s.negative_left + 1000},
    "other nodes": lambda s: {
        "train": bivec.BipartiteGraph(s.train.left_rows(), s.train.left.indices)
    },
}


@pytest.mark.parametrize("message", BREAKS)
def test_verify_finds_what_is_wrong(message):
    split = hold_out(southern_women()).verify()
    broken = dataclasses.replace(split, **BREAKS[message](split))
    refuse(message, broken.verify)


def test_verify_finds_isolated_nodes_and_torn_components():
    graph = graph_of([(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)])
    split = per_user_split(graph_of([(0, 0), (0, 1), (1, 0)]), 0.5)
    claimed = dataclasses.replace(
        split, name="hold-out", negative_left=np.array([1]), negative_right=np.array([1])
    )
    refuse("right nodes lost all their edges", claimed.verify)
    cycle = graph_of([(i, j % 4) for i in range(4) for j in (i, i + 1)])
    torn = next(
        split
        for seed in range(50)
        if (split := hold_out(cycle, 0.3, random_state=seed)).train.components()[0] > 1
    )
    refuse("more components", dataclasses.replace(torn, parameters={"connected": True}).verify)
    assert graph.n_edges == 5


# Ratings


@given(pair_sets, st.floats(0.05, 0.95), st.integers(0, 3), st.integers(0, 100))
def test_per_user_shares(pairs, share, least, seed):
    graph = graph_of(pairs, 9, 9)
    try:
        split = per_user_split(graph, share, min_train=least, random_state=seed).verify()
    except bivec.InputError:
        return
    held = np.bincount(split.test_left, minlength=graph.n_left)
    for d, n in zip(graph.left.degrees, held, strict=True):
        assert n == max(0, min(int(share * d + 0.5), d - least))


def test_given_split_keeps_order_weights_and_unknown_nodes():
    split = given_split(
        (["u2", "u1", "u1"], ["b", "a", "b"], [1, 2, 3]),
        (["u2", "u1", "u2", "u9"], ["z", "c", "a", "a"], [4, 5, 6, 7]),
    ).verify()
    assert list(split.graph.left.ids) == ["u1", "u2", "u9"]
    assert list(split.graph.right.ids) == ["a", "b", "c", "z"]
    assert split.train.left.degrees.tolist() == [2, 1, 0]
    assert split.test_left.tolist() == [1, 0, 1, 2]
    assert split.test_right.tolist() == [3, 2, 0, 0]
    assert split.test_weight.tolist() == [4, 5, 6, 7]


def test_given_split_takes_graphs_with_isolated_nodes_and_tables():
    train = bivec.BipartiteGraph([0], [1], left_ids=["x", "lone"], right_ids=["b", "a"])
    test = pa.table({"user": ["x", "x", "y", "x"], "item": ["b", "c", "a", "b"]})
    split = given_split(train, test).verify()
    assert list(split.graph.left.ids) == ["lone", "x", "y"]
    assert split.test_weight.tolist() == [2, 1, 1]  # a repeated pair stands where it came first
    assert split.test_right.tolist() == [1, 2, 0]


def test_given_split_refuses():
    train = (["a", "b"], ["x", "y"])
    refuse("1 pairs are in the training and in the test.*'a' - 'x'", given_split, train,
           (["a", "a"], ["x", "y"]))  # fmt: skip
    refuse("leaves 2 for training and 0", given_split, train, (["a"], ["y"], [0]))
    refuse("three arrays, not triples", given_split, [("a", "x", 1)] * 4, train)
    refuse("lengths 2, 1", given_split, train, (["a", "b"], ["x"]))
    refuse("int64 in the other", given_split, train, ([1], ["y"]))
    refuse("the weight is NaN", given_split, train, (["a"], ["y"], [np.nan]))
    refuse("given more than once", given_split, train, (["a"] * 2, ["y"] * 2), duplicates="error")


def test_temporal_split():
    columns = (list("aabbc"), list("xyxyx"), [1, 2, 3, 4, 5])
    times = [10, 50, 20, 40, 30]
    split = temporal_split(columns, times, test_share=0.4).verify()
    assert (split.test_left.tolist(), split.test_right.tolist()) == ([0, 1], [1, 1])
    assert split.parameters == {"cut_time": 40.0, "repeated": 0}
    late = temporal_split(columns, times, cut_time=45).verify()
    assert late.test_weight.tolist() == [2]
    days = np.array(times, dtype="datetime64[D]")
    assert temporal_split(columns, days, test_share=0.4).test_left.tolist() == [0, 1]
    # As a graph, the same edges have the same split.
    graph = bivec.as_graph(list(zip(*columns, strict=True)))
    same = temporal_split(graph, times, test_share=0.4).verify()
    assert same.train == split.train


def test_temporal_split_leaves_repetitions_out():
    columns = (["a", "a", "a", "b"], ["x", "y", "x", "y"])
    split = temporal_split(columns, [1, 2, 3, 4], cut_time=2).verify()
    assert split.parameters["repeated"] == 1
    assert split.train.left.weights.tolist() == [1]  # not 2: the later row is not known yet
    assert split.test_right.tolist() == [1, 1]


def test_temporal_split_refuses():
    columns = (["a", "b"], ["x", "y"])
    refuse("leaves 0 for training", temporal_split, columns, [5, 5], test_share=0.5)
    refuse("not one finite number", temporal_split, columns, [5, np.nan], test_share=0.5)
    refuse("not one finite number", temporal_split, columns, [5], test_share=0.5)
    refuse("not both", temporal_split, columns, [1, 2])
    refuse("not both", temporal_split, columns, [1, 2], test_share=0.5, cut_time=1)


# Real data


def tsv(name):
    if not (DATA / name).exists():
        pytest.skip(f"BIVEC_DATA has no {name}")
    rows = [line.split("\t") for line in (DATA / name).read_text().splitlines()]
    left, right, weight = zip(*rows, strict=True)
    return left, right, np.array(weight, dtype=float)


@pytest.mark.parametrize("name, unknown", [("bine-dblp", 131), ("bine-wiki", 685)])
def test_bine_splits(name, unknown):
    split = given_split(tsv(f"{name}/rating_train.dat"), tsv(f"{name}/rating_test.dat")).verify()
    assert (split.train.right.degrees == 0).sum() == unknown
    first = tsv(f"{name}/rating_test.dat")[1][0]
    assert split.graph.right.ids[int(split.test_right[0])] == first
