"""Places: clusters of one side put together from below, and vectors brought to them."""

import numpy as np
import pandas as pd
import pytest

import bivec
from bivec import FOBE, BipartiteGraph, rehearsal
from bivec import places as places_of
from bivec.models import sampled
from bivec.places import OWN, OWN_OF_MEMBERS, Places, agglomerate, link, refine
from bivec.rehearsal import Rehearsed, rehearse
from bivec.smoothing import Shape


def crowds(n=20, groups=30, members=16_000, more=0.2, seed=0):
    """Return a sparse graph: a member is in one group, some in a second one of the same crowd."""
    rng = np.random.default_rng(seed)
    crowd = rng.integers(n, size=members)
    first = crowd * groups + (groups * rng.random(members) ** 2).astype(np.int64)
    some = np.flatnonzero(rng.random(members) < more)
    second = crowd[some] * groups + (groups * rng.random(len(some)) ** 2).astype(np.int64)
    left, right = np.append(np.arange(members), some), np.append(first, second)
    return BipartiteGraph(left, right, left_ids=range(members + 1), right_ids=range(n * groups + 1))


def unit(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def links_of(n, density=0.3, seed=0):
    """Return random links between n nodes, and their sizes."""
    rng = np.random.default_rng(seed)
    a, b = np.nonzero(np.triu(rng.random((n, n)) < density, 1))
    return a.astype(np.int64), b.astype(np.int64), rng.random(len(a)), rng.random(n) / n


def same(clusters, others):
    """Return whether two clusterings are one but for the numbers."""
    pairs = set(zip(clusters.tolist(), others.tolist(), strict=True))
    return len(pairs) == len(set(clusters.tolist())) == len(set(others.tolist()))


def plain_linkage(a, b, weights, sizes, most):
    """Return average linkage, one merge after the other, in plain Python."""
    clusters = [{i} for i in range(len(sizes))]
    table = np.zeros((len(sizes),) * 2)
    table[a, b] = table[b, a] = weights
    while True:
        best = 0, None
        for i, one in enumerate(clusters):
            for j in range(i):
                other = clusters[j]
                size, theirs = sizes[list(one)].sum(), sizes[list(other)].sum()
                close = table[np.ix_(list(one), list(other))].sum() / (size * theirs)
                if size + theirs <= most and close > best[0]:
                    best = close, (i, j)
        if best[1] is None:
            break
        i, j = best[1]
        clusters[j] |= clusters.pop(i)
    found = np.empty(len(sizes), np.int64)
    for k, one in enumerate(clusters):
        found[list(one)] = k
    return found


@pytest.mark.parametrize("most", [0.1, 0.25, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_closest_are_merged_first(most, seed):
    a, b, weights, sizes = links_of(24, seed=seed)
    made = agglomerate(a, b, weights, sizes, most)
    assert same(made, plain_linkage(a, b, weights, sizes, most))
    assert made[np.unique(made, return_index=True)[1]].tolist() == list(range(made.max() + 1))


def test_no_cluster_is_too_large_even_in_a_chain():
    """Links of one weight in a row take many rounds, in which those behind come along."""
    n = 20_000
    chain = np.arange(n - 1)
    sizes = np.full(n, 1 / n)
    weights = np.linspace(1, 2, n - 1)  # the closest two are at one end
    made = agglomerate(chain, chain + 1, weights, sizes, 0.01)
    held = np.bincount(made, sizes)
    assert held.max() <= 0.01 + 1e-9
    assert len(held) < 400
    large = agglomerate(np.array([0]), np.array([1]), np.ones(1), np.array([0.5, 0.1]), 0.3)
    assert large.tolist() == [0, 1]


def quality(a, b, weights, sizes, clusters):
    """Return what moving is to make larger: weight within, less what chance would have."""
    total, n = weights.sum(), clusters.max() + 1
    ends = np.bincount(np.append(a, b), np.tile(weights, 2), len(sizes)) / (2 * total)
    held, heard = np.bincount(clusters, sizes, n), np.bincount(clusters, ends, n)
    return weights[clusters[a] == clusters[b]].sum() / total - held @ heard


@pytest.mark.parametrize("seed", range(4))
def test_nodes_move_where_they_are_better_off(seed, monkeypatch):
    monkeypatch.setattr(places_of, "_MOVES", 100)
    a, b, weights, sizes = links_of(40, 0.15, seed)
    sizes /= sizes.sum()
    start = np.random.default_rng(seed).integers(4, size=40)
    most = np.bincount(start, sizes).max() + 0.1
    moved = start.copy()
    refine(a, b, weights, sizes, most, moved)
    before, after = (quality(a, b, weights, sizes, c) for c in (start, moved))
    assert after > before
    assert np.bincount(moved, sizes).max() <= most + 1e-12
    for i in range(40):  # nothing is left to gain where a node has links
        for c in {*moved[b[a == i]].tolist(), *moved[a[b == i]].tolist()}:
            other = moved.copy()
            other[i] = c
            if np.bincount(other, sizes)[c] <= most:
                assert quality(a, b, weights, sizes, other) <= after + 1e-9


def test_groups_are_linked_by_what_they_share():
    graph = BipartiteGraph([0, 0, 1, 1, 1, 2, 3], [0, 1, 0, 1, 2, 2, 3])
    a, b, weights = link(graph.left, 4, 0)
    assert list(zip(a.tolist(), b.tolist(), weights.tolist(), strict=True)) == [
        (0, 1, 1.5), (0, 2, 0.5), (1, 2, 0.5)
    ]  # fmt: skip


def test_groups_of_a_member_of_many_form_a_ring():
    graph = BipartiteGraph(np.repeat([0, 1], 30), np.tile(np.arange(30), 2))
    one = BipartiteGraph(np.zeros(30, np.int64), np.arange(30))
    a, b, weights = link(one.left, 30, 0)
    assert np.bincount(np.append(a, b)).tolist() == [8] * 30
    np.testing.assert_allclose(weights, 15 / 120)
    assert not np.array_equal(a, link(one.left, 30, 1)[0])
    assert link(graph.left, 30, 0)[2].sum() == pytest.approx(30)


@pytest.mark.parametrize("degree", [2, 3, 8, 9, 10, 12])
def test_all_pairs_of_a_member_of_few_are_linked(degree):
    graph = BipartiteGraph(np.zeros(degree, np.int64), np.arange(degree))
    a, b, weights = link(graph.left, degree, 0)
    assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(a)
    assert len(a) == (degree * (degree - 1) // 2 if degree < 10 else 4 * degree)
    assert weights.sum() == pytest.approx(degree / 2)


@pytest.mark.parametrize("side", [0, 1])
def test_vectors_come_to_their_places(side, monkeypatch):
    monkeypatch.setattr(places_of, "_CHUNK", 100)
    graph = crowds(4, 10, 900)
    places = Places(graph.left, graph.right, 0)
    assert places.groups_side == 1
    rng = np.random.default_rng(0)
    groups = rng.standard_normal((graph.n_right, 12)).astype(np.float32)
    own = rng.standard_normal(((graph.n_left, graph.n_right)[side], 12)).astype(np.float32)
    marks = places.marks(side, 0.3, groups)
    table = own.copy()
    places.settle(side, table, marks)

    clusters, degrees = places.clusters(side, 0.3), graph.right.degrees
    assert 1 < len(set(clusters[degrees > 0].tolist())) < 12
    centered = groups.astype(np.float64) - degrees @ groups.astype(np.float64) / degrees.sum()
    sums = np.stack([centered[(clusters == clusters[g]) & (degrees > 0)].sum(0) for g in range(40)])
    goal = unit(sums)
    np.testing.assert_allclose(marks[:40], goal, atol=1e-5)
    assert not marks[40].any()  # a group without members
    if side == 0:
        goal = np.stack([goal[graph.neighbors(m, side="left")].sum(0) for m in range(900)])
    wanted = unit(unit(goal) + (OWN if side else OWN_OF_MEMBERS) * unit(own)[: len(goal)])
    np.testing.assert_allclose(table[: len(goal)], wanted, atol=1e-5)
    np.testing.assert_allclose(table[-1], unit(own)[-1], atol=1e-6)  # without edges


def test_the_side_of_the_groups_is_the_smaller_one():
    graph = crowds(4, 10, 900)
    turned = Places(graph.right, graph.left, 0)
    assert turned.groups_side == 0
    straight = Places(graph.left, graph.right, 0)
    for side in (0, 1):
        assert turned.clusters(side, 0.2).tolist() == straight.clusters(1 - side, 0.2).tolist()


def test_dense_graphs_are_not_for_places():
    rng = np.random.default_rng(0)
    dense = BipartiteGraph(np.repeat(np.arange(500), 4), rng.integers(90, size=2000))
    assert not Places(dense.left, dense.right, 0).sparse
    graph = crowds(4, 10, 900)
    assert Places(graph.left, graph.right, 0).sparse


def test_a_graph_without_edges_has_no_places():
    graph = BipartiteGraph([], [], left_ids=range(3), right_ids=range(2))
    places = Places(graph.left, graph.right, 0)
    table = np.eye(3, 4, dtype=np.float32)
    places.settle(0, table, places.marks(0, 0.1, np.ones((2, 4), np.float32)))
    np.testing.assert_array_equal(table, np.eye(3, 4))


def test_rehearsals_find_places_in_sparse_crowds():
    found = rehearse(crowds(), 0)
    assert all(shape.place for shape in found.shapes)


def test_without_a_gain_vectors_stay_where_smoothing_has_them():
    rng = np.random.default_rng(0)
    graph = BipartiteGraph(rng.integers(9000, size=15000), rng.integers(4000, size=15000))
    assert [shape.place for shape in rehearse(graph).shapes] == [0, 0]


def test_few_answers_change_no_lengths(monkeypatch):
    """In what is nearly a forest, all shapes with places have the lengths that were found."""
    asked = set()
    choose = rehearsal.choose

    def watch(shapes, *args, **kwargs):
        asked.update(shape for shape in shapes if shape.place)
        return choose(shapes, *args, **kwargs)

    monkeypatch.setattr(rehearsal, "choose", watch)
    star = np.arange(12_000) // 20
    extra = np.random.default_rng(0).choice(400, 150, replace=False)
    right = np.append(star, star[extra] ^ 1)
    assert rehearse(BipartiteGraph(np.append(np.arange(12_000), extra), right)).few
    assert asked
    assert all(shape.plain and shape.norm == 5 for shape in asked)


@pytest.fixture
def fitted(monkeypatch):
    shapes = Shape(64, place=0.15, evened=True), Shape(64, place=0.05, evened=True)
    found = Rehearsed(shapes, 0.8, communities=True)
    monkeypatch.setattr(sampled, "rehearse", lambda *_: found)
    return FOBE(dim=24, epochs=2, n_samples=4, random_state=0).fit(crowds())


def test_members_of_a_crowd_are_at_one_place_and_say_so(fitted, tmp_path):
    assert fitted.places_ == (0.15, 0.05)
    assert fitted.embedding_.params["places"] == [0.15, 0.05]
    graph, table = fitted.graph_, unit(fitted.left_embedding_[:-1])
    crowd = np.array([graph.neighbors(m, side="left")[0] for m in range(2000)]) // 30
    cosines = table[:2000] @ table[:2000].T
    alike = crowd[:, None] == crowd
    assert (cosines[alike] > 0.95).mean() > 0.9
    assert (cosines[~alike] > 0.95).mean() < 0.15
    fitted.embedding_.save(tmp_path / "crowds.bivec")
    assert bivec.load(tmp_path / "crowds.bivec").params["places"] == [0.15, 0.05]


def test_new_nodes_come_to_the_place_of_their_neighbours(fitted):
    graph = fitted.graph_
    member = int(np.flatnonzero(graph.left.degrees == 1)[0])
    folded = fitted.fold_in({"new": graph.neighbors(member, side="left")}, side="left").vectors[0]
    old = fitted.left_embedding_[member]
    assert folded @ old > 0.98 * np.linalg.norm(folded) * np.linalg.norm(old)

    group = graph.neighbors(member, side="left")[0]
    fitted.update(pd.DataFrame({"left": [20_000, 20_001], "right": [group, group]}))
    for row in fitted.left_embedding_[-2:]:
        assert row @ old > 0.95 * np.linalg.norm(row) * np.linalg.norm(old)


def test_the_same_bytes_for_any_number_of_threads():
    graph = crowds().flipped()
    made = [
        FOBE(dim=32, epochs=1, n_samples=4, random_state=0, n_jobs=n).fit(graph) for n in (1, 3)
    ]
    assert any(made[0].places_)
    assert made[0].left_embedding_.tobytes() == made[1].left_embedding_.tobytes()
    assert made[0].right_embedding_.tobytes() == made[1].right_embedding_.tobytes()
