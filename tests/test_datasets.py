"""The graphs that come with bivec."""

import os
from pathlib import Path

import numpy as np
import pytest

import bivec
from bivec import InputError
from bivec.datasets import southern_women, viewer_movies


def test_southern_women():
    summary = southern_women().summary()
    assert (summary.left.nodes, summary.right.nodes, summary.edges) == (18, 14, 89)
    assert summary.components == 1


def test_southern_women_is_the_published_table():
    file = Path(os.environ.get("BIVEC_DATA", "")) / "southern-women" / "edges.tsv"
    if not file.is_file():
        pytest.skip("needs BIVEC_DATA with southern-women/edges.tsv")
    assert southern_women() == bivec.read_edges(file)


def test_viewer_movies_has_its_tastes():
    planted = viewer_movies(n_viewers=300, n_movies=120, n_tastes=4, loyalty=0.9)
    graph = planted.graph
    own = planted.left_labels[graph.left_rows()] == planted.right_labels[graph.left.indices]
    assert own.mean() > 0.8
    assert graph.left.weights[own].mean() > graph.left.weights[~own].mean() + 0.5
    assert set(np.unique(graph.left.weights)) <= {1, 2, 3, 4, 5}
    for key, label in zip(graph.right.ids, planted.right_labels, strict=True):
        assert key.startswith(planted.names[label])
    assert list(graph.right.ids) == sorted(graph.right.ids)
    assert (graph.n_left, graph.n_right) == (300, 120)


def test_viewer_movies_without_loyalty_has_none():
    planted = viewer_movies(n_viewers=500, n_movies=100, n_tastes=5, loyalty=0.0)
    graph = planted.graph
    own = planted.left_labels[graph.left_rows()] == planted.right_labels[graph.left.indices]
    assert 0.1 < own.mean() < 0.3


def test_viewer_movies_is_seeded():
    assert viewer_movies(random_state=3).graph == viewer_movies(random_state=3).graph
    assert viewer_movies(random_state=3).graph != viewer_movies(random_state=4).graph


@pytest.mark.parametrize("n_tastes", [1, 12, 15])
def test_viewer_movies_any_number_of_tastes(n_tastes):
    planted = viewer_movies(n_viewers=40, n_movies=30, n_tastes=n_tastes)
    assert len(planted.names) == n_tastes
    assert list(planted.graph.right.ids) == sorted(planted.graph.right.ids)


@pytest.mark.parametrize(
    "bad, message",
    [
        ({"n_tastes": 0}, "cannot make 0 tastes"),
        ({"n_tastes": 300}, "cannot make 300 tastes of 240 movies"),
        ({"n_viewers": 0}, "for 0 viewers"),
        ({"loyalty": 1.5}, "loyalty=1.5"),
        ({"views": 0}, "views=0"),
    ],
)
def test_viewer_movies_refuses(bad, message):
    with pytest.raises(InputError, match=message):
        viewer_movies(**bad)
