"""Small embeddings behind a client that speaks to the application without a socket."""

import numpy as np
import pytest

import bivec

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from fastapi.testclient import TestClient

from bivec.serve.app import create_app
from bivec.serve.explorer import Explorer

SCRIPT = "<script>alert('left')</script>"
HOSTILE = [
    SCRIPT,
    "a/b/../c?d=e#f&g",
    "Zoë \u202e 日本",
    "100%25 \"quoted\", 'so'",
    "=1+1",
    "..",
    " x ",
]


def make_embedding(left, right, pairs, seed=0, graph=True):
    """Return an embedding with random vectors on the ids, and the pairs as its graph."""
    random = np.random.default_rng(seed)
    edges = bivec.BipartiteGraph(
        [left.index(a) for a, _, _ in pairs],
        [right.index(b) for _, b, _ in pairs],
        [w for _, _, w in pairs],
        left_ids=left,
        right_ids=right,
    )
    return bivec.Embedding(
        bivec.EmbeddingSide(left, random.normal(size=(len(left), 6))),
        bivec.EmbeddingSide(right, random.normal(size=(len(right), 6))),
        graph=edges if graph else None,
        method="example",
    )


def rated(graph=True):
    people = ["ann", "bob", "cy", *HOSTILE]
    things = [f"film {i:02d}" for i in range(12)] + ["<img src=x onerror=alert(1)>"]
    pairs = [
        (person, things[(3 * i + j) % 13], 1.0 + j)
        for i, person in enumerate(people)
        for j in range(4)
    ]
    return make_embedding(people, things, pairs, graph=graph)


def client_for(embedding, **settings):
    explorer = Explorer.prepare(embedding, layout_method="pca", title="films", **settings)
    return TestClient(create_app(explorer), base_url="http://127.0.0.1:8642")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIVEC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def hostile_ids():
    return HOSTILE


@pytest.fixture
def embedding():
    return rated()


@pytest.fixture
def make():
    """Return the function that makes an embedding of ids and pairs."""
    return make_embedding


@pytest.fixture
def serve():
    """Return the function that puts a client before an embedding."""
    return client_for


@pytest.fixture(scope="session")
def client(_own_cache):
    return client_for(rated())


@pytest.fixture(scope="session")
def bare(_own_cache):
    """A client on an embedding without its graph."""
    return client_for(rated(graph=False))


@pytest.fixture(scope="session")
def empty(_own_cache):
    """A client on an embedding of nothing."""
    return client_for(make_embedding([], [], []))
