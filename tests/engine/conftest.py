"""Graphs that the engine is tried on."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from bivec.graph import BipartiteGraph

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode leaves plain_reference unfindable


@pytest.fixture
def small():
    """20 by 15 nodes, one isolated on each side, one leaf, nothing regular about the rest."""
    rng = np.random.default_rng(5)
    left, right = rng.integers(0, 19, 60), rng.integers(0, 13, 60)
    left, right = np.append(left, 3), np.append(right, 13)
    return BipartiteGraph(left, right, left_ids=range(20), right_ids=range(15), duplicates="max")


@pytest.fixture
def planted():
    """Four blocks of 60 left and 30 right nodes, 6 edges inside for each left node, few outside."""
    return planted_blocks()


def planted_blocks(blocks=4, left=60, right=30, inside=6, outside=60, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(blocks * left), inside)
    columns = rows // left * right + rng.integers(0, right, rows.size)
    stray_rows = rng.integers(0, blocks * left, outside)
    stray_columns = rng.integers(0, blocks * right, outside)
    return BipartiteGraph(
        np.append(rows, stray_rows), np.append(columns, stray_columns), duplicates="max",
        left_ids=range(blocks * left), right_ids=range(blocks * right),
    )  # fmt: skip


@pytest.fixture
def blocks_of():
    """Return the planted block of each row."""
    return lambda n, blocks=4: np.arange(n) // (n // blocks)
