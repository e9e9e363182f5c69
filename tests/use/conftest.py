"""Plain references for what queries answer: slow, whole matrices, nothing shared with the code."""

from __future__ import annotations

import numpy as np
import pytest

import bivec
from bivec.embedding import Embedding, EmbeddingSide
from bivec.graph import BipartiteGraph

HOSTILE = [
    "two words",
    "tab\there",
    "new\nline",
    "<script>alert(1)</script>",
    "Ünïcödé",
    "日本語",
    "a,b;c",
    '"quoted"',
    "[bold]markup[/bold]",
    "--help",
    "zero\u200bwidth",
    "مرحبا",
]


def random_embedding(n_left=30, n_right=20, n_edges=90, dim=6, seed=0, graph=True, grid=None):
    """Return a random graph with random vectors; ``grid`` rounds them, so that scores tie."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, n_left, n_edges), rng.integers(0, n_right, n_edges)
    weights = rng.integers(1, 6, n_edges)
    built = BipartiteGraph(
        left, right, weights, duplicates="last",
        left_ids=[f"u{i}" for i in range(n_left)], right_ids=[f"v{i}" for i in range(n_right)],
    )  # fmt: skip
    tables = [rng.normal(size=(n, dim)) for n in (n_left, n_right)]
    if grid:
        tables = [np.rint(table * grid) / grid for table in tables]
    return Embedding(
        EmbeddingSide(built.left.ids, tables[0]),
        EmbeddingSide(built.right.ids, tables[1]),
        graph=built if graph else None,
        method="random",
    )


def plain_scores(emb, scorer, side="left"):
    """Return the whole matrix of scores in double precision."""
    own, far = emb.left.vectors, emb.right.vectors
    matrix = emb.graph.to_scipy().toarray().astype(float) if emb.graph else None
    if side == "right":
        own, far, matrix = far, own, matrix.T if matrix is not None else None
    own, far = own.astype(float), far.astype(float)
    if scorer.startswith("centroid"):
        total = matrix.sum(axis=1, keepdims=True)
        own = (matrix @ far / np.where(total > 0, total, 1)).astype(np.float32).astype(float)
    if "cosine" in scorer:
        far = (far / np.linalg.norm(far, axis=1, keepdims=True)).astype(np.float32).astype(float)
    if scorer == "cosine":
        own = (own / np.linalg.norm(own, axis=1, keepdims=True)).astype(np.float32).astype(float)
    return (own @ far.T).astype(np.float32)


def plain_order(scores, allowed):
    """Return the allowed positions, best first, of equals the lower one."""
    at = np.flatnonzero(allowed)
    return at[np.lexsort((at, -scores[at]))]


@pytest.fixture(scope="session")
def women():
    return bivec.FOBE(dim=16, random_state=0).fit(bivec.datasets.southern_women()).embedding_
