"""What cells measure."""

from types import SimpleNamespace

import numpy as np

from bivec import FOBE, BipartiteGraph
from bivec.evaluation import EmbeddingRanker
from bivec.experiments.measure import _by_scorer
from bivec.models import sampled
from bivec.rehearsal import Rehearsed
from bivec.smoothing import Shape


def test_rankings_take_vectors_at_one_length(monkeypatch):
    """Lengths that go by degree are for machines; the centroid would put popular items last."""
    monkeypatch.setattr(sampled, "rehearse", lambda *_: Rehearsed((Shape(8), Shape(8, 0.5)), 0.6))
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, 41)
    right = [rng.choice(40, 8, replace=False, p=share / share.sum()) for _ in range(60)]
    graph = BipartiteGraph(np.repeat(np.arange(60), 8), np.concatenate(right))
    model = FOBE(dim=16, epochs=3, n_samples=9).fit(graph)
    assert model.shortening_ == (0, 0.5)
    cell = SimpleNamespace(method="fobe", spec={"scorers": ["centroid"]})
    ranker = _by_scorer(cell, model, SimpleNamespace(train=graph))["fobe"]
    rows = np.arange(10)
    wanted = EmbeddingRanker(model.embedding_, graph, scorer="centroid")._scores(rows)
    np.testing.assert_array_equal(ranker._scores(rows), wanted)
    bare = (model.left_embedding_, model.right_embedding_)
    assert not np.allclose(EmbeddingRanker(bare, graph, scorer="centroid")._scores(rows), wanted)
