"""How long vectors are by degree: powers, and hubs at one place."""

import numpy as np
import pandas as pd
import pytest

import bivec
from bivec import FOBE, BipartiteGraph
from bivec.lengths import DEGREE, HUB, Length, hub_degree, write_degrees
from bivec.models import sampled
from bivec.queries.parts import levelled
from bivec.rehearsal import Rehearsed, rehearse
from bivec.smoothing import Shape


def hubs(n=6000, draws=2, popular=10, seed=0):
    """Return a graph of which half of the edges end at a few hubs and the rest anywhere."""
    rng = np.random.default_rng(seed)
    left = np.repeat(np.arange(n), draws)
    anywhere = rng.integers(popular, 3 * n, size=len(left))
    right = np.where(rng.random(len(left)) < 0.5, rng.integers(popular, size=len(left)), anywhere)
    return BipartiteGraph(left, right, left_ids=range(n), right_ids=range(3 * n))


def value(degrees, least):
    """Return what the formula of hubs is worth, node by node."""
    there = [degree for degree in degrees if degree >= least]
    nodes, edges = len(there) / sum(degrees > 0), sum(there) / sum(degrees)
    return edges**2 * (1 - nodes) ** 5 if edges >= 2.5 * nodes else 0


@pytest.mark.parametrize("power", [1.2, 1.8, 2.5])
def test_hubs_begin_where_the_formula_is_largest(power):
    degrees = np.ceil(1000 * np.arange(1, 400) ** -power).astype(np.int64)
    degrees[-20:] = 0
    values = {least: value(degrees, least) for least in set(degrees.tolist()) - {0}}
    assert hub_degree(degrees) == max(values, key=values.get)
    assert (degrees >= hub_degree(degrees)).mean() < 0.2


@pytest.mark.parametrize("degrees", [[], [0, 0], [1, 1, 1], [0, 0, 0, 1], [3, 4, 5, 6, 7, 8]])
def test_degrees_that_are_alike_make_no_hub(degrees):
    degrees = np.array(degrees, np.int64)
    assert hub_degree(degrees) == 0
    assert Shape(8, hubs=True).length(degrees).plain


@pytest.mark.parametrize("length", [Length(0.5), Length(hubs=7), Length(0.3, 7)])
def test_vectors_have_their_length_and_keep_their_direction(length):
    degrees = np.array([0, 1, 6, 7, 50])
    table = np.random.default_rng(0).standard_normal((5, 6)).astype(np.float32)
    directions = table[:, :-1] / np.linalg.norm(table[:, :-1], axis=1, keepdims=True)
    write_degrees(table, degrees, length)
    wanted = np.maximum(degrees, 1.0) ** -length.power
    if length.hubs:
        wanted[3:] = HUB
    np.testing.assert_allclose(table[:, :-1], directions * wanted[:, None], rtol=1e-5)
    np.testing.assert_allclose(table[:, -1], DEGREE * np.log2(1 + degrees) * wanted, rtol=1e-5)


def test_hubs_are_found_where_they_say_all():
    shape = rehearse(hubs()).shapes[1]
    assert shape.hubs
    assert shape.power == 0


def fitted(monkeypatch, graph):
    """Return a model of which the right side has its hubs at one place."""
    shapes = Shape(8), Shape(8, norm=7.0, hubs=True)
    monkeypatch.setattr(sampled, "rehearse", lambda *_: Rehearsed(shapes, 0.6))
    return FOBE(dim=16, epochs=2, n_samples=8).fit(graph)


def test_hubs_are_at_one_place_and_say_so(monkeypatch, tmp_path):
    graph = hubs()
    model = fitted(monkeypatch, graph)
    least = hub_degree(graph.right.degrees)
    assert model.hubs_ == (0, least)
    assert model.embedding_.params["hubs"] == [0, least]
    lengths = np.linalg.norm(model.right_embedding_[:, :-1], axis=1)
    there, known = graph.right.degrees >= least, graph.right.degrees > 0
    np.testing.assert_allclose(lengths[there], HUB * lengths[known & ~there].mean(), rtol=1e-3)

    # Cosines are what they were, and products see one length for all, also once it was saved
    model.embedding_.save(tmp_path / "hubs.bivec")
    loaded = bivec.load(tmp_path / "hubs.bivec")
    level = np.linalg.norm(levelled(loaded, "right")[known, :-1], axis=1)
    np.testing.assert_allclose(level, level[0], rtol=1e-3)
    hub = int(np.flatnonzero(there)[0])
    assert (
        loaded.similar(hub, side="right", n=3).ids
        == model.embedding_.similar(hub, side="right", n=3).ids
    )


def test_a_new_hub_joins_the_others(monkeypatch):
    """Folded in or updated, a node of many edges has the length of hubs, others have theirs."""
    graph = hubs()
    model = fitted(monkeypatch, graph)
    ordinary = np.linalg.norm(model.right_embedding_[graph.right.degrees == 1, :-1], axis=1)[0]
    least = model.hubs_[1]
    folded = model.fold_in({"few": [0], "many": list(range(least))}, side="right").vectors
    lengths = np.linalg.norm(folded[:, :-1], axis=1)
    np.testing.assert_allclose(lengths, [ordinary, HUB * ordinary], rtol=1e-3)

    small = int(np.flatnonzero(graph.right.degrees == 1)[0])
    fans = [k for k in range(2 * least) if small not in graph.neighbors(k, side="left")]
    model.update(pd.DataFrame({"left": fans, "right": [small] * len(fans)}))
    assert np.linalg.norm(model.right_embedding_[small, :-1]) < 2 * HUB * ordinary


def test_embeddings_of_before_there_were_hubs_have_none(monkeypatch):
    emb = fitted(monkeypatch, hubs()).embedding_
    del emb.params["hubs"]
    assert levelled(emb, "right") is emb.right.vectors
