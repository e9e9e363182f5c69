"""Graphs that baselines are tried on."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bivec.graph import BipartiteGraph


@pytest.fixture(scope="session")
def planted():
    """Four blocks of 60 left and 30 right nodes, 6 edges inside for each left node, few outside."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(240), 6)
    columns = rows // 60 * 30 + rng.integers(0, 30, rows.size)
    return BipartiteGraph(
        np.append(rows, rng.integers(0, 240, 60)), np.append(columns, rng.integers(0, 120, 60)),
        duplicates="max", left_ids=range(240), right_ids=range(120),
    )  # fmt: skip


@pytest.fixture(scope="session")
def weighted():
    """12 by 9 nodes with uneven weights, one isolated on each side."""
    rng = np.random.default_rng(3)
    left, right = rng.integers(0, 11, 40), rng.integers(0, 8, 40)
    return BipartiteGraph(
        left,
        right,
        rng.integers(1, 9, 40),
        left_ids=range(12),
        right_ids=range(9),
        duplicates="max",
    )


@pytest.fixture(scope="session")
def same_block():
    """Return the share of nodes whose nearest neighbour by cosine is of their own block."""

    def share(vectors, blocks=4):
        block = np.arange(len(vectors)) // (len(vectors) // blocks)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosine = unit @ unit.T
        np.fill_diagonal(cosine, -2)
        return (block[cosine.argmax(axis=1)] == block).mean()

    return share


@pytest.fixture(scope="session")
def links_of_dblp():
    """Return a function: the AUC of dots of both sides on held-out edges of DBLP."""
    place = os.environ.get("BIVEC_DATA")
    if not place or not (Path(place) / "bine-dblp").is_dir():
        pytest.skip("BIVEC_DATA has no bine-dblp")
    from bivec.datasets import load
    from bivec.evaluation import hold_out
    from bivec.evaluation.scores import labelled_pairs

    split = hold_out(load("bine-dblp").graph, 0.5)

    def auc(model):
        from sklearn.metrics import roc_auc_score

        model.fit(split.train)
        left, right, is_link = labelled_pairs(split)
        dots = (model.left_embedding_[left] * model.right_embedding_[right]).sum(axis=1)
        return roc_auc_score(is_link, dots)

    return auc
