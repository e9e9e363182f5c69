"""Inputs by id: order, scale, what is missing."""

import numpy as np
import pytest

from bivec import BipartiteGraph, Embedding, EmbeddingSide, InputError
from bivec.combine.align import align, provenance

GRAPH = BipartiteGraph([0, 1, 2], [0, 1, 1], left_ids=["a", "b", "c"], right_ids=[10, 20])


def embedding(left_ids, right_ids=(10, 20), dim=2, seed=0):
    draw = np.random.default_rng(seed)
    sides = [
        EmbeddingSide(ids, draw.normal(3, 7, (len(ids), dim))) for ids in (left_ids, right_ids)
    ]
    return Embedding(*sides, method="given")


def test_rows_follow_the_graph_whatever_the_order_of_an_embedding():
    mixed = embedding(["c", "extra", "a", "b"], right_ids=["20", "10"])
    plain = Embedding(
        EmbeddingSide(["a", "b", "c"], mixed.left.vectors[[2, 3, 0]]),
        EmbeddingSide([10, 20], mixed.right.vectors[[1, 0]]),
    )
    for ours, theirs in zip(align(GRAPH, [mixed]), align(GRAPH, [plain]), strict=True):
        np.testing.assert_array_equal(ours.table, theirs.table)
        assert ours.known is None


def test_inputs_stand_side_by_side_centred_and_at_one_scale():
    first, second = embedding("abc", dim=2), embedding("abc", dim=5, seed=1)
    left, right = align(GRAPH, [first, second])
    assert left.table.shape == (3, 7)
    assert right.table.shape == (2, 7)
    centred = second.left.vectors - second.left.vectors.mean(axis=0)
    expected = centred / np.sqrt((centred**2).mean())
    np.testing.assert_allclose(left.table[:, 2:], expected, rtol=1e-5)
    np.testing.assert_allclose(left.table.mean(axis=0), 0, atol=1e-6)
    # the norm of an input is the root of its length, so that divided by it the norm is 1
    assert np.isclose((left.table**2).sum(axis=1).mean(), 7)


def test_constant_vectors_are_no_division_by_zero():
    flat = Embedding(
        EmbeddingSide("abc", np.ones((3, 2))), EmbeddingSide([10, 20], np.ones((2, 2)))
    )
    assert not align(GRAPH, [flat])[0].table.any()


def test_missing_ids_are_named():
    graph = BipartiteGraph(range(6), range(6), left_ids=list("abcdef"))
    with pytest.raises(
        InputError, match=r"input 2 .given. lacks 5 of 6 left nodes: 'b', 'c', 'd' and 2 more"
    ) as error:
        align(graph, [embedding("abcdef", range(6)), embedding("a", range(6))])
    assert 'missing="zero"' in str(error.value)
    with pytest.raises(InputError, match=r"lacks 1 of 6 right nodes: 5. "):
        align(graph, [embedding("abcdef", range(5))])


def test_missing_ids_as_zero_with_a_mask():
    left, right = align(GRAPH, [embedding("abc"), embedding("ca", dim=3)], missing="zero")
    assert right.known is None
    expected = np.ones((3, 5), bool)
    expected[1, 2:] = False
    np.testing.assert_array_equal(left.known, expected)
    assert not left.table[1, 2:].any()
    assert left.table[1, :2].all()


def test_nothing_known_at_all():
    left, _ = align(GRAPH, [embedding("xyz")], missing="zero")
    assert not left.known.any()
    assert not left.table.any()


def test_provenance_tells_inputs_apart():
    made = provenance(embedding("abc"))
    assert (made["method"], made["dim"], len(made["sha256"])) == ("given", 2, 64)
    assert made == provenance(embedding("abc"))
    assert made["sha256"] != provenance(embedding("abd"))["sha256"]
    assert made["sha256"] != provenance(embedding("abc", seed=1))["sha256"]


def test_torch_is_there():
    pytest.importorskip("torch", reason="no torch (extra combine): its tests were left out")
