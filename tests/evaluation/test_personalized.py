"""The machines of a node: against scikit-learn's, and the same for any number of threads."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from bivec.evaluation.personalized import decide, machine_rows
from bivec.graph import BipartiteGraph
from bivec.kernels.svm import classify

PLENTY = 1 << 24


def ours(points, labels, queries, tol=1e-3, room=PLENTY, gamma=0.1):
    out = np.full(len(queries), np.nan)
    trained = classify(points.copy(), labels.astype(float), queries, 1.0, gamma, tol, room, out)
    return out, trained


def problem(seed, n_positive, dim, scale, shift, repeated, ratio=5):
    rng = np.random.default_rng(seed)
    n = n_positive * (1 + ratio)
    points = rng.normal(size=(n, dim)) * scale
    points[:n_positive] += shift
    if repeated:
        points = points[rng.integers(0, n, n)]
    labels = np.where(np.arange(n) < n_positive, 1, -1)
    queries = np.vstack([points[:: max(1, n // 5)], rng.normal(size=(8, dim)) * scale])
    return points.astype(np.float32), labels, queries.astype(np.float32)


@given(
    seed=st.integers(0, 10**6),
    n_positive=st.integers(1, 25),
    dim=st.integers(1, 40),
    scale=st.sampled_from([0.01, 0.3, 1.0, 4.0]),
    shift=st.sampled_from([0.0, 0.5, 3.0]),
    repeated=st.booleans(),
)
def test_solution_is_that_of_libsvm(seed, n_positive, dim, scale, shift, repeated):
    points, labels, queries = problem(seed, n_positive, dim, scale, shift, repeated)
    found, trained = ours(points, labels, queries, tol=1e-6)
    machine = SVC(C=1.0, gamma=0.1, tol=1e-6).fit(points, labels)
    assert trained
    np.testing.assert_allclose(found, machine.decision_function(queries), atol=2e-3)


def test_at_the_usual_tolerance_it_is_as_near_to_the_optimum_as_libsvm():
    mine, theirs = [], []
    for seed in range(150):
        points, labels, queries = problem(seed, 1 + seed % 20, 16, 0.8, 0.5, seed % 4 == 0)
        exact = SVC(C=1.0, gamma=0.1, tol=1e-8).fit(points, labels).decision_function(queries)
        usual = SVC(C=1.0, gamma=0.1).fit(points, labels).decision_function(queries)
        found, _ = ours(points, labels, queries)
        mine.append(np.abs(found - exact).max())
        theirs.append(np.abs(usual - exact).max())
    assert np.max(mine) < 0.05
    assert np.mean(mine) <= 1.5 * np.mean(theirs)


def test_little_room_for_kernel_rows_changes_nothing():
    points, labels, queries = problem(3, 30, 12, 1.0, 0.5, repeated=True)
    np.testing.assert_array_equal(
        ours(points, labels, queries, room=0)[0], ours(points, labels, queries)[0]
    )


def test_all_points_alike():
    """K is 1 everywhere: the machine can only follow the majority."""
    points, labels = np.ones((6, 3), np.float32), np.array([1, -1, -1, -1, -1, -1])
    found, trained = ours(points, labels, points[:1])
    expected = SVC(C=1.0, gamma=0.1).fit(points, labels).decision_function(points[:1])
    assert trained
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert found[0] < 0


@pytest.mark.parametrize("label, n, decision", [(1, 3, 1.0), (-1, 3, -1.0), (1, 0, -1.0)])
def test_a_single_label_decides_alone(label, n, decision):
    points, labels = np.ones((n, 2), np.float32), np.full(n, label)
    found, trained = ours(points, labels, np.zeros((2, 2), np.float32))
    assert not trained
    np.testing.assert_array_equal(found, decision)


# Machines of a graph


def example(n_left=40, n_right=90, edges=200, seed=1):
    rng = np.random.default_rng(seed)
    graph = BipartiteGraph(
        rng.integers(0, n_left, edges), rng.integers(0, n_right, edges),
        left_ids=range(n_left), right_ids=range(n_right), duplicates="max",
    )  # fmt: skip
    tables = [rng.normal(size=(n, 8)).astype(np.float32) for n in (n_left, n_right)]
    pairs = rng.integers(0, n_left, 500), rng.integers(0, n_right, 500)
    return graph, tables, pairs


@pytest.mark.parametrize("side", [0, 1])
def test_each_pair_is_decided_by_the_machine_of_its_owner(side):
    graph, tables, pairs = example()
    train, table = (graph.left, graph.right)[side], tables[1 - side]
    owners, others = pairs[side], pairs[1 - side]
    decisions, n = decide(train, table, owners, others, side=side, seed=4)
    trained = 0
    for node in np.unique(owners):
        degree = train.degrees[node]
        mine = owners == node
        if degree == 0:
            assert (decisions[mine] == -1).all()
            continue
        trained += 1
        rows = machine_rows(train, len(table), node, side=side, seed=4)
        labels = np.where(np.arange(len(rows)) < degree, 1, -1)
        machine = SVC(C=1.0, gamma=0.1).fit(table[rows], labels)
        expected = machine.decision_function(table[others[mine]])
        np.testing.assert_allclose(decisions[mine], expected, atol=0.02)
    assert n == trained


@given(seed=st.integers(0, 2**63 - 1), node=st.integers(0, 39))
def test_negatives_are_distinct_and_no_neighbours(seed, node):
    graph, _, _ = example()
    degree = graph.left.degrees[node]
    neighbors = graph.left.indices[graph.left.indptr[node] : graph.left.indptr[node + 1]]
    rows = machine_rows(graph.left, 90, node, side=0, seed=seed)
    assert list(rows[:degree]) == list(neighbors)
    assert len(rows) == len(np.unique(rows)) == min(6 * degree, 90)
    assert rows.min(initial=0) >= 0
    assert rows.max(initial=0) < 90


@pytest.mark.parametrize("degree, n_other", [(2, 40), (2, 15)])
def test_negatives_are_uniform(degree, n_other):
    """Both ways to draw: by repetition (10 of 38), and from a shuffled list (10 of 13)."""
    star = BipartiteGraph([0] * degree, range(degree), right_ids=range(n_other))
    trials = 4000
    counts = np.zeros(n_other)
    for seed in range(trials):
        counts[machine_rows(star.left, n_other, 0, side=0, seed=seed)[degree:]] += 1
    share = 5 * degree / (n_other - degree)
    assert (counts[:degree] == 0).all()
    spread = np.sqrt(share * (1 - share) / trials)
    assert np.abs(counts[degree:] / trials - share).max() < 5 * spread


def test_sides_and_seeds_draw_apart():
    graph, _, _ = example(60, 60)
    node = int(graph.left.degrees.argmax())
    drawn = [
        tuple(machine_rows(graph.left, 60, node, side=side, seed=seed))
        for side in (0, 1)
        for seed in (0, 1)
    ]
    assert len(set(drawn)) == 4


def test_where_negatives_are_few_all_are_taken():
    full_row = BipartiteGraph([0, 0, 0, 1], [0, 1, 2, 3], right_ids=range(5))
    assert sorted(machine_rows(full_row.left, 5, 0, side=0, seed=0)[3:]) == [3, 4]
    all_neighbors = BipartiteGraph([0] * 3, range(3))
    table = np.eye(3, dtype=np.float32)
    decisions, n = decide(all_neighbors.left, table, np.array([0]), np.array([1]), side=0)
    assert (list(decisions), n) == ([1.0], 0)


def test_threads_and_order_change_no_bit():
    graph, tables, (lefts, rights) = example(300, 200, 3000)
    lefts, rights = np.tile(lefts, 3) * 7 % 300, np.tile(rights, 3)
    once, n = decide(graph.left, tables[1], lefts, rights, side=0, seed=1, n_jobs=1)
    more, n_more = decide(graph.left, tables[1], lefts, rights, side=0, seed=1, n_jobs=3)
    assert n == n_more
    np.testing.assert_array_equal(once, more)
    order = np.random.default_rng(0).permutation(len(lefts))
    shuffled, _ = decide(graph.left, tables[1], lefts[order], rights[order], side=0, seed=1)
    np.testing.assert_array_equal(shuffled, once[order])
    assert (once != decide(graph.left, tables[1], lefts, rights, side=0, seed=2)[0]).any()


def test_progress_rises_to_one():
    graph, tables, (lefts, rights) = example(300, 90, 1500)
    shares = []
    decide(
        graph.left, tables[1], lefts % 40 * 7, rights, side=0, n_jobs=1, progress=shares.append
    )  # fmt: skip
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_an_interrupt_stops_all_threads():
    from bivec.parallel import Workers

    ran, main = [], threading.get_ident()

    def task(start, stop):
        ran.append(start)
        if threading.get_ident() == main:
            raise KeyboardInterrupt
        threading.Event().wait(0.01)

    with Workers(2) as workers, pytest.raises(KeyboardInterrupt):
        workers.run(task, 1000, 1)
    assert len(ran) < 1000
