"""Explanations against a walk over all paths."""

import sys
from pathlib import Path

import numpy as np
import pytest

import bivec
from bivec.graph import BipartiteGraph
from bivec.queries import Blend
from bivec.similarity import algebraic_coordinates

sys.path.insert(0, str(Path(__file__).parent))
from conftest import random_embedding


def plain_bridges(emb, left, right, coordinates):
    """Return (shared, other, strength, term) of every bridge, strongest first."""
    graph = emb.graph

    def s(a, b):
        i, j = graph.left.ids.row(a), graph.right.ids.row(b)
        gap = coordinates.left[i].astype(float) - coordinates.right[j].astype(float)
        return 1 - np.sqrt((gap**2).mean())

    def like(side, a, b):
        x, y = side[a].astype(float), side[b].astype(float)
        if emb.method == "fobe":
            return 1 / (1 + np.exp(-x @ y))
        if emb.method == "hobe":
            return max(0.0, x @ y)
        return max(0.0, x @ y / np.linalg.norm(x) / np.linalg.norm(y))

    found = []
    for b in graph.neighbors(left, "left"):
        for a in graph.neighbors(right, "right"):
            if b != right and a != left and b in graph.neighbors(a, "left"):
                strength = min(s(a, b), max(s(left, b), s(a, right)))
                term = like(emb.left, left, a) * like(emb.right, right, b)
                found.append((b, a, strength, term))
    whole = sum(
        like(emb.left, left, a) * like(emb.right, right, b)
        for b in graph.neighbors(left, "left")
        for a in graph.neighbors(right, "right")
    )
    return sorted(found, key=lambda x: -x[2]), whole


def compare(emb, left, right, coordinates):
    got = emb.explain(left, right, n=10_000, scorer="centroid")
    expected, whole = plain_bridges(emb, left, right, coordinates)
    assert got.n_bridges == len(got) == len(expected)
    assert {(x.shared, x.other) for x in got} == {(b, a) for b, a, _, _ in expected}
    assert [x.strength for x in got] == sorted((x.strength for x in got), reverse=True)
    by_path = {(b, a): (strength, term) for b, a, strength, term in expected}
    total = sum(term for *_, term in expected)
    for bridge in got:
        strength, term = by_path[bridge.shared, bridge.other]
        assert bridge.strength == pytest.approx(strength, abs=1e-5)
        assert bridge.estimate == pytest.approx(term, rel=1e-5, abs=1e-6)
        if total > 0:
            assert bridge.share == pytest.approx(term / total, abs=1e-5)
        inner = min(bridge.other_shared, max(bridge.left_shared, bridge.other_right))
        assert bridge.strength == pytest.approx(inner, abs=1e-6)
    if total > 0:
        assert sum(x.share for x in got) == pytest.approx(1)
        assert got.bridged == pytest.approx(total / whole, abs=1e-5)
    matrix, vectors = emb.graph.to_scipy().toarray(), emb.right.vectors.astype(float)
    weights = matrix[emb.graph.left.ids.row(left)].astype(float)
    parts = weights / max(weights.sum(), 1) * (vectors @ emb.right[right].astype(float))
    bridged = {emb.graph.right.ids.row(x.shared) for x in got}
    found = sum(x.contribution for x in got)
    assert found == pytest.approx(sum(parts[b] for b in bridged), abs=1e-5)
    assert parts.sum() == pytest.approx(got.score, abs=1e-5)
    if expected:
        assert got.observation == got[0].strength
    assert got.known == (right in emb.graph.neighbors(left, "left"))
    assert got.score == pytest.approx(float(emb.score([(left, right)], scorer="centroid")[0]))
    few = emb.explain(left, right, n=2, scorer="centroid")
    assert few.bridges == got.bridges[:2]
    assert few.n_bridges == got.n_bridges


@pytest.mark.parametrize("seed", range(3))
def test_bridges_are_all_paths(seed):
    emb = random_embedding(14, 11, 45, seed=seed)
    coordinates = algebraic_coordinates(emb.graph)
    for left in emb.left.ids:
        for right in emb.right.ids:
            compare(emb, left, right, coordinates)


def test_estimates_are_those_of_the_method(women):
    compare(women, "Flora Price", "E11", algebraic_coordinates(women.graph))
    hobe = bivec.HOBE(dim=8, epochs=5, sweeps=7, random_state=3).fit(women.graph).embedding_
    own = algebraic_coordinates(women.graph, sweeps=7, random_state=3)
    compare(hobe, "Flora Price", "E10", own)  # the coordinates that training saw


def test_the_terms_of_both_regressions_go_to_the_bridges():
    """An absent pair's score is the sum of its bridges and of the nodes that are on none."""
    emb = random_embedding(14, 11, 60, seed=4)
    scorer = Blend(n_inputs=5).fit(emb.left.vectors, emb.right.vectors, emb.graph)
    whole = 0
    for i, left in enumerate(emb.left.ids):
        for j, right in enumerate(emb.right.ids):
            got = emb.explain(left, right, n=10_000, scorer=scorer)
            shared, others = emb.graph.neighbors(left, "left"), emb.graph.neighbors(right, "right")
            if got.known or not shared or not others:
                continue
            parts, far_parts = scorer.parts(i, j), scorer.far_parts(i, j)
            assert got.score == pytest.approx(parts.sum() + far_parts.sum(), abs=1e-6)
            over = {x.shared for x in got}, {x.other for x in got}
            loose = [p for b, p in zip(shared, parts, strict=True) if b not in over[0]]
            loose += [p for a, p in zip(others, far_parts, strict=True) if a not in over[1]]
            found = sum(x.contribution for x in got)
            assert found + sum(loose) == pytest.approx(got.score, abs=1e-6)
            whole += not loose
    assert whole


def test_words(women):
    absent = str(women.explain("Flora Price", "E10", n=2)).splitlines()
    assert absent[0].startswith("Flora Price is not linked to E10; score ")
    assert absent[1] == "6 bridges between them, the 2 strongest:"
    assert len(absent) == 4
    assert " share E9, and " in absent[2]
    known = str(women.explain("Flora Price", "E9"))
    assert known.startswith("Flora Price is linked to E9;")
    assert women.explain("Flora Price", "E10").to_pandas().shape[1] == 9
    by_dot = women.explain("Flora Price", "E10", scorer="dot")
    assert by_dot[0].contribution is None
    assert "of the score" not in str(by_dot)


def test_no_bridge_is_an_answer():
    graph = BipartiteGraph([0, 1], [0, 1])
    emb = bivec.FOBE(dim=4, epochs=1).fit(graph).embedding_
    apart = emb.explain(0, 1)
    assert (apart.n_bridges, len(apart), apart.observation, apart.known) == (0, 0, 0.0, False)
    assert "No bridge: no neighbour of 0 is shared with a neighbour of 1." in str(apart)
    alone = emb.explain(0, 0)  # the edge itself is no bridge
    assert (alone.n_bridges, alone.known) == (0, True)
    assert apart.to_dict()["bridges"] == []


def test_hubs_are_exact():
    """A hub with many thousand paths is walked whole."""
    rng = np.random.default_rng(0)
    left = np.concatenate([np.zeros(300, int), np.repeat(np.arange(1, 200), 60)])
    right = np.concatenate([np.arange(300), rng.integers(0, 300, 199 * 60)])
    graph = BipartiteGraph(left, right, duplicates="max")
    emb = bivec.FOBE(dim=4, epochs=1, n_samples=1).fit(graph).embedding_
    matrix = graph.to_scipy().toarray() > 0
    got = emb.explain(0, 7)
    others = np.flatnonzero(matrix[:, 7])
    assert got.n_bridges == sum(int(matrix[a].sum()) - 1 for a in others if a != 0)
