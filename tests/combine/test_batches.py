"""What the network is shown: every edge, checked negatives, masks that can be derived again."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bivec import BipartiteGraph
from bivec.combine.batches import Batches, Strangers, dropout_mask
from bivec.datasets import viewer_movies

BIG = viewer_movies(300, 80, 4).graph


def joined(batches):
    return [
        np.concatenate([getattr(b, name) for b in batches]) for name in ("left", "right", "target")
    ]


def edges_of(graph):
    return set(zip(graph.left_rows().tolist(), graph.left.indices.tolist(), strict=True))


def test_an_epoch_has_every_edge_once_and_five_checked_negatives_for_each_node():
    batches = Batches(BIG, n_negatives=5, size=100, seed=0)
    left, right, target = joined(batches.epoch(0))
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    shown = [pair for pair, one in zip(pairs, target, strict=True) if one]
    held = batches.validation
    kept = set(zip(held.left.tolist(), held.right.tolist(), strict=True))
    positives = kept & edges_of(BIG)
    assert len(shown) == len(set(shown))
    assert set(shown) | positives == edges_of(BIG)
    assert not set(shown) & positives
    negatives = [pair for pair, one in zip(pairs, target, strict=True) if not one]
    assert not set(negatives) & edges_of(BIG)
    assert len(negatives) == 5 * (BIG.n_left + BIG.n_right)
    of_left = np.bincount(left[target == 0], minlength=BIG.n_left)
    of_right = np.bincount(right[target == 0], minlength=BIG.n_right)
    assert of_left.min() >= 5
    assert of_right.min() >= 5
    assert all(len(batch) <= 100 for batch in batches.epoch(0))


def test_held_out_edges_come_with_as_many_negatives():
    held = Batches(BIG, 5, 100, seed=3).validation
    n = BIG.n_edges // 10
    assert (held.target == 1).sum() == (held.target == 0).sum() == n
    edges = edges_of(BIG)
    for a, b, one in zip(held.left.tolist(), held.right.tolist(), held.target, strict=True):
        assert ((a, b) in edges) == bool(one)


def test_negatives_are_drawn_afresh_and_can_be_drawn_again():
    batches = Batches(BIG, 5, 256, seed=0)
    first, second = joined(batches.epoch(0)), joined(batches.epoch(1))
    again = joined(Batches(BIG, 5, 256, seed=0).epoch(1))
    other = joined(Batches(BIG, 5, 256, seed=1).epoch(1))
    for x, y in zip(second, again, strict=True):
        np.testing.assert_array_equal(x, y)

    def negatives(pairs):
        left, right, target = pairs
        return set(zip(left[target == 0].tolist(), right[target == 0].tolist(), strict=True))

    for pairs in (first, other):
        shared = len(negatives(second) & negatives(pairs)) / len(negatives(second))
        assert shared < 0.3


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_node_of_the_larger_side_has_its_pairs_in_one_batch_or_two(side):
    rows = BIG.left_rows(), BIG.left.indices
    graph = BIG if side == "left" else BipartiteGraph(*rows[::-1])
    parts = [set(getattr(b, side).tolist()) for b in Batches(graph, 5, 200, seed=0).epoch(1)]
    shared = sum(len(a & b) for a, b in pairwise(parts))
    assert shared < len(parts)  # a node is cut by the end of a batch at most
    assert sum(map(len, parts)) == 300 + shared


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_strangers_are_uniform_over_what_is_absent(data):
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    matrix = np.array(data.draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m)))
    matrix = matrix.reshape(n, m)
    if not matrix.any():
        return
    graph = BipartiteGraph(*np.nonzero(matrix), left_ids=range(n), right_ids=range(m))
    own, theirs = Strangers(graph.left, graph.right).draw(50, np.random.default_rng(0))
    active = matrix.any(axis=0)
    for i in range(n):
        absent = set(np.flatnonzero(~matrix[i] & active).tolist()) if matrix[i].any() else set()
        drawn = theirs[own == i]
        assert len(drawn) == (50 if absent else 0)
        assert set(drawn.tolist()) <= absent
        if absent:
            assert len(set(drawn.tolist())) == len(absent) or len(absent) > 4


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_strangers_nearby_are_strangers_and_as_many(data):
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    matrix = np.array(data.draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m)))
    matrix = matrix.reshape(n, m)
    if not matrix.any():
        return
    graph = BipartiteGraph(*np.nonzero(matrix), left_ids=range(n), right_ids=range(m))
    strangers, draw = Strangers(graph.left, graph.right), np.random.default_rng(0)
    orders = draw.permutation(n), draw.permutation(m)
    own, theirs = strangers.draw_near(5, *orders, draw)
    np.testing.assert_array_equal(own, strangers.draw(5, draw)[0])
    assert not matrix[own, theirs].any()
    assert matrix.any(axis=0)[theirs].all()


def test_strangers_nearby_are_uniform_over_the_orders():
    strangers = Strangers(BIG.left, BIG.right)
    counts = np.zeros((BIG.n_left, BIG.n_right))
    for epoch in range(400):
        draw = np.random.default_rng(epoch)
        orders = draw.permutation(BIG.n_left), draw.permutation(BIG.n_right)
        np.add.at(counts, strangers.draw_near(5, *orders, draw), 1)
    edges = BIG.to_scipy().toarray() > 0
    assert not counts[edges].any()
    expected = 400 * 5 / (~edges).sum(axis=1, keepdims=True)
    # draws of one epoch share a window: the variance is somewhat above that of free draws
    chi = ((counts - expected) ** 2 / expected)[~edges].mean()
    assert 0.8 < chi < 1.3


def test_nodes_of_a_batch_share_their_negatives():
    rows = np.random.default_rng(0).integers(3000, size=(2, 6000))
    graph = BipartiteGraph(*np.unique(rows, axis=1))
    batches = Batches(graph, 5, 1000, seed=0)
    for batch in batches.epoch(0)[:5]:
        absent = batch.take(np.flatnonzero(batch.target == 0))
        assert len(np.unique(absent.right)) < 0.3 * len(absent)


def test_small_and_full_graphs():
    one = Batches(BipartiteGraph([0], [0]), 5, 10, seed=0)
    assert len(one.validation) == 0
    assert [len(batch) for batch in one.epoch(0)] == [1]
    full = Batches(BipartiteGraph(*np.nonzero(np.ones((12, 12)))), 5, 1000, seed=0)
    assert full.epoch(0)[0].target.all()


@pytest.mark.parametrize("dropout", [0.0, 0.1, 0.5, 0.9])
def test_dropout_hides_its_share_and_keeps_the_mean(dropout):
    mask = dropout_mask((500, 400), dropout, 0, 1, 2, 0)
    assert abs((mask == 0).mean() - dropout) < 4 * np.sqrt(0.25 / mask.size)
    np.testing.assert_allclose(mask[mask > 0], 1 / (1 - dropout), rtol=1e-6)
    assert abs(mask.mean() - 1) < 0.02 / (1 - dropout)
    # no row or column is hidden more than chance allows
    for axis in (0, 1):
        share = (mask == 0).mean(axis=axis)
        assert np.abs(share - dropout).max() < 5 * np.sqrt(0.25 / mask.shape[axis])


def test_masks_are_a_function_of_their_place():
    masks = {
        place: dropout_mask((16, 16), 0.5, 7, *place)
        for place in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    }
    for place, mask in masks.items():
        np.testing.assert_array_equal(mask, dropout_mask((16, 16), 0.5, 7, *place))
        for other in masks:
            assert place == other or not np.array_equal(mask, masks[other])
    assert not np.array_equal(masks[0, 0, 0], dropout_mask((16, 16), 0.5, 8, 0, 0, 0))
