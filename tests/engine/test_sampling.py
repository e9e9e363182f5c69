"""Samples against the paper's formulas in plain Python, their distribution, and hubs."""

from __future__ import annotations

import time
from collections import Counter

import numba
import numpy as np
import plain_reference as reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.kernels.sample import SHARING, fill_pool, make_pool, pool_arrays
from bivec.kernels.train import Steps, make_scratch, sample_visit, scratch_arrays
from bivec.kernels.vector import pointer
from bivec.kernels.view import look
from bivec.sampling import graph_views, make_plan, sample_observations
from bivec.similarity import edge_similarities


def graphs():
    """Small graphs of every shape, isolated nodes included."""
    edge = st.tuples(st.integers(0, 7), st.integers(0, 5))
    return st.lists(edge, min_size=1, max_size=30).map(
        lambda edges: BipartiteGraph(
            *np.array(edges).T, left_ids=range(9), right_ids=range(7), duplicates="max"
        )
    )


def check_against_reference(graph, samples, similarity=None):
    """Compare every sample with the literal formulas; return how many pairs were seen."""
    plain = reference.Reference(graph, None if similarity is None else similarity.left)
    for k in range(len(samples)):
        side, relation = int(samples.owner_side[k]), int(samples.relation[k])
        i, j, seen = int(samples.owner[k]), int(samples.other[k]), float(samples.observation[k])
        if relation < 2:
            assert relation == side
            binary = plain.first_order_left if side == 0 else plain.first_order_right
            strong = plain.strong_left if side == 0 else plain.strong_right
            assert i != j
            assert (j in plain.two_hop(side, i)) == (not samples.negative[k])
            expected = binary(i, j) if similarity is None else strong(i, j)
        else:
            a, b = (i, j) if side == 0 else (j, i)
            if samples.negative[k]:
                assert not plain.direct(a, b)
                expected = 0
            elif similarity is None:
                expected = plain.direct(a, b)
                assert expected == 1
            else:
                assert j in plain.three_hop(side, i)
                expected = plain.second_order(a, b)
            for chosen, pool, skip in (
                (samples.left_neighbors[k], plain.right[b], a),
                (samples.right_neighbors[k], plain.left[a], b),
            ):
                assert set(chosen) <= ((pool - {skip}) or pool)
        assert seen == pytest.approx(expected, abs=1e-7)
    return len(samples)


@pytest.mark.parametrize("draw", ["walk", "set"])
@given(graph=graphs(), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_fobe_samples_are_what_the_paper_says(draw, graph, seed):
    samples = sample_observations(
        graph,
        "fobe",
        n_samples=4,
        n_neighbors=3,
        n_negatives=2,
        draw=draw,
        random_state=seed,
        n_jobs=1,
    )
    assert check_against_reference(graph, samples)


@pytest.mark.parametrize("draw", ["walk", "set"])
@given(graph=graphs(), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_hobe_samples_are_what_the_paper_says(draw, graph, seed):
    similarity = edge_similarities(graph, sweeps=3, random_state=seed, n_jobs=1)
    samples = sample_observations(
        graph, "hobe", n_samples=4, n_neighbors=3, n_negatives=2, draw=draw, similarity=similarity,
        random_state=seed, n_jobs=1,
    )  # fmt: skip
    assert check_against_reference(graph, samples, similarity)


def test_each_node_has_its_samples(small):
    samples = sample_observations(small, n_samples=7, n_neighbors=2)
    assert samples.relations == ("left-left", "right-right", "direct")
    direct = samples.relation == 2
    for side, degrees in enumerate((small.left.degrees, small.right.degrees)):
        counts = np.bincount(
            samples.owner[direct & (samples.owner_side == side)], minlength=len(degrees)
        )
        np.testing.assert_array_equal(counts, np.where(degrees > 0, 7, 0))


@numba.njit
def visit(graph, plan, steps, arrays, pools, i):
    view, pool = look(graph), make_pool(pools, steps.first)
    fill_pool(view, plan, i, steps.first + steps.number, pool)
    row = pointer(np.empty(1, np.float32))  # rows are asked for only, and not on a small graph
    sample_visit(view, plan, pool, steps, row, row, 1, i, make_scratch(arrays))


def ring(n):
    """Every node has the two nearest of the other side."""
    rows = np.arange(n)
    return BipartiteGraph(np.repeat(rows, 2), np.stack([rows, (rows + 1) % n], axis=1).ravel())


def test_nodes_that_share_a_pool_draw_negatives_like_any_others():
    n = SHARING + 200
    graph = ring(n)
    samples = sample_observations(graph, n_samples=400, n_neighbors=2, n_negatives=1)
    for owner in (0, SHARING - 1, SHARING, n - 1):
        for relation in (0, 2):
            mine = (samples.owner == owner) & (samples.owner_side == 0) & samples.negative
            others = samples.other[mine & (samples.relation == relation)]
            # 400 draws from n nodes: about n (1 - exp(-400 / n)) distinct ones, deviation 7.
            expected = n * (1 - np.exp(-len(others) / n))
            assert abs(len(np.unique(others)) - expected) < 35
            assert abs(others.mean() / n - 0.5) < 0.08  # a standard deviation is 0.0144


def test_a_pool_does_not_depend_on_where_a_thread_begins():
    graph = ring(SHARING + 100)
    one, two = (
        sample_observations(graph, n_samples=9, n_negatives=3, n_neighbors=2, n_jobs=n_jobs)
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.other, two.other)
    np.testing.assert_array_equal(one.left_neighbors, two.left_neighbors)


@pytest.mark.parametrize("method", ["fobe", "hobe"])
def test_training_draws_the_same_samples(small, method):
    similarity = edge_similarities(small)
    parameters = {
        "n_samples": 6,
        "n_neighbors": 3,
        "n_negatives": 2,
        "draw": "walk",
        "method": method,
    }
    shown = sample_observations(small, similarity=similarity, random_state=11, **parameters)
    for side, view in enumerate(graph_views(small, method, "walk", similarity)):
        plan = make_plan(side=side, seed=11, **parameters)
        pools = pool_arrays(plan, 2)  # as a thread keeps them, from node to node
        for i in np.flatnonzero(np.diff(view.indptr)):
            rows, others, observed, neighbors = [], [], [], []
            for epoch in range(3):
                arrays = scratch_arrays(plan, 2)
                steps = Steps(2 * epoch, 2, 0.1, 1.0)
                visit(view, plan, steps, arrays, pools, int(i))
                kept = arrays.same_observed >= 0
                rows += arrays.rows[: len(kept)][kept].tolist()
                observed += arrays.same_observed[kept].tolist()
                kept = arrays.cross_observed >= 0
                others += arrays.cross[kept].tolist()
                neighbors += arrays.own_neighbors.reshape(-1, 3)[kept].tolist()
            mine = (shown.owner == i) & (shown.owner_side == side)
            same, cross = mine & (shown.relation < 2), mine & (shown.relation == 2)
            assert rows == shown.other[same].tolist()
            assert observed == shown.observation[same].tolist()
            assert others == shown.other[cross].tolist()
            seen = shown.left_neighbors if side == 0 else shown.right_neighbors
            assert neighbors == seen[cross].tolist()


def frequencies(samples, side, relation, owner):
    mine = (samples.owner == owner) & (samples.owner_side == side) & (samples.relation == relation)
    return Counter(samples.other[mine].tolist())


def unlike(counts, expected):
    """Return how many standard deviations of chi square the counts are from the probabilities."""
    n = sum(counts.values())
    assert set(counts) <= set(expected)
    chi = sum((counts[k] - n * p) ** 2 / (n * p) for k, p in expected.items())
    return (chi - (len(expected) - 1)) / np.sqrt(2 * max(len(expected) - 1, 1))


def test_walk_and_set_have_their_distributions(small):
    plain = reference.Reference(small)
    owner = int(np.argmax(small.left.degrees))
    for method, relation, reach in (("fobe", 0, plain.two_hop), ("hobe", 2, plain.three_hop)):
        among = sorted(reach(0, owner))
        shown = sample_observations(small, method, n_samples=4000, draw="set")
        uniform = dict.fromkeys(among, 1 / len(among))
        assert unlike(frequencies(shown, 0, relation, owner), uniform) < 5
        walk = dict.fromkeys(among, 0.0)
        if method == "fobe":
            bridges = [b for b in plain.left[owner] if len(plain.right[b]) > 1]
            for b in bridges:
                for j in plain.right[b] - {owner}:
                    walk[j] += 1 / len(bridges) / (len(plain.right[b]) - 1)
        else:
            for b in plain.left[owner]:
                for a in plain.right[b]:
                    for j in plain.left[a]:
                        walk[j] += (
                            1 / len(plain.left[owner]) / len(plain.right[b]) / len(plain.left[a])
                        )
        shown = sample_observations(small, method, n_samples=4000, draw="walk")
        counts = frequencies(shown, 0, relation, owner)
        assert unlike(counts, walk) < 5
        assert unlike(counts, uniform) > 5


def test_steps_share_the_neighbour_that_has_its_turn(planted):
    owner = int(np.argmax(planted.left.degrees))
    degree = int(planted.left.degrees[owner])
    for n_samples, each in ((200, 4), (100, 2), (40, 1)):
        shown = sample_observations(planted, "fobe", n_samples=n_samples, n_negatives=0)
        mine = (shown.relation == 2) & (shown.owner_side == 0) & (shown.owner == owner)
        found = shown.other[mine].reshape(-1, each)
        assert (found == found[:, :1]).all()
        assert len(set(found[:, 0])) >= 0.6 * min(degree, n_samples // each)


def test_threads_do_not_change_a_sample(planted):
    tables = [
        sample_observations(planted, "hobe", n_samples=3, n_negatives=2, n_jobs=n).to_arrow()
        for n in (1, 2, 4)
    ]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


@pytest.mark.parametrize("method", ["fobe", "hobe"])
@pytest.mark.parametrize("draw", ["walk", "set"])
def test_a_hub_of_a_million_neighbours_is_sampled_quickly(method, draw):
    n = 1_000_000
    star = BipartiteGraph(np.arange(n), np.zeros(n, np.int64))
    sample_observations(BipartiteGraph([0, 1], [0, 0]), method, n_samples=1, draw=draw)  # compile
    similarity = edge_similarities(star, trials=2, sweeps=2)
    start = time.process_time()
    samples = sample_observations(
        star, method, n_samples=1, n_neighbors=2, n_negatives=1, draw=draw, similarity=similarity
    )
    assert time.process_time() - start < 15
    assert (samples.relation == 0).sum() == n  # every leaf has another leaf
    assert not (samples.relation == 1).any()  # and the hub no other hub
    assert not samples.negative.any()  # all leaves share the hub, and there is no unlinked pair


def test_two_hubs_share_their_work(monkeypatch):
    """Observations on hubs are bounded, close to the exact ones, and never above them."""
    rng = np.random.default_rng(0)
    left = np.concatenate([np.arange(3000), np.arange(3000), rng.integers(0, 3000, 3000)])
    right = np.concatenate([np.zeros(3000), np.ones(3000), rng.integers(2, 50, 3000)]).astype(int)
    graph = BipartiteGraph(left, right, duplicates="max")
    similarity = edge_similarities(graph, sweeps=2)
    bounded = sample_observations(graph, "hobe", n_samples=1, similarity=similarity)
    monkeypatch.setattr("bivec.sampling.EXACT_UP_TO", 1 << 40)
    exact = sample_observations(graph, "hobe", n_samples=1, similarity=similarity)
    np.testing.assert_array_equal(bounded.other, exact.other)
    assert (bounded.observation <= exact.observation).all()
    assert (exact.observation - bounded.observation).mean() < 0.01


def test_nothing_to_sample_is_no_error():
    pair = BipartiteGraph([0], [0])
    samples = sample_observations(pair, n_samples=2, n_negatives=3)
    assert set(samples.relation.tolist()) == {2}
    assert (samples.left_neighbors == 0).all()  # the only neighbour is the other end
    two_by_one = sample_observations(BipartiteGraph([0, 1], [0, 0]), "hobe", n_samples=2)
    assert (two_by_one.observation > 0.9).all()
    lone = BipartiteGraph([], [], left_ids=["a", "b"], right_ids=["c"])
    assert len(sample_observations(lone)) == 0
    assert sample_observations(lone).to_arrow().num_rows == 0
    full = BipartiteGraph(*np.indices((4, 3)).reshape(2, -1))
    assert not sample_observations(full, n_samples=5, n_negatives=5).negative.any()


def test_the_table_names_ids():
    graph = BipartiteGraph([0, 0, 1], [0, 1, 1], left_ids=["ann", "bob"], right_ids=[10, 20])
    table = sample_observations(graph, n_samples=2, n_neighbors=2, random_state=1).to_arrow()
    rows = table.to_pylist()
    assert {row["relation"] for row in rows} == {"left-left", "right-right", "direct"}
    for row in rows:
        if row["relation"] == "direct":
            assert {row["owner"], row["other"]} & {"ann", "bob"}
            assert len(row["left_neighbors"]) == len(row["right_neighbors"]) == 2
        else:
            assert row["left_neighbors"] == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"method": "gobe"}, {"n_samples": 0}, {"n_neighbors": 0}, {"n_negatives": -1},
        {"draw": "lot"}, {"n_samples": 2.5}, {"random_state": 1.5},
    ],
)  # fmt: skip
def test_bad_parameters_name_themselves(small, parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        sample_observations(small, **parameters)


def test_foreign_similarity(small, planted):
    with pytest.raises(InputError, match="the similarity is for"):
        sample_observations(small, "hobe", similarity=edge_similarities(planted))
