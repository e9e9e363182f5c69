"""The graphs that experiments run on, each with a fingerprint of what decides figures."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivec.datasets import GivenSplit, load
from bivec.evaluation.rating_splits import given_split, per_user_split
from bivec.evaluation.splits import Split
from bivec.graph import BipartiteGraph


@dataclass(frozen=True, eq=False)
class Source:
    """A graph to measure on, and the split that it came with."""

    name: str
    graph: BipartiteGraph
    given: GivenSplit | None = None

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the graph: ends, weights and numbers of nodes, not what the nodes are called.

        The given split is part of it, in the order of its pairs, since that order decides ties.
        """
        arrays: list[Any] = [self.graph.n_right, *_arrays(self.graph)]
        if self.split is not None:
            split = self.split
            arrays += [*_arrays(split.train), split.test_left, split.test_right, split.test_weight]
        return _hash(arrays)

    @functools.cached_property
    def split(self) -> Split | None:
        """The given split, verified."""
        return None if self.given is None else given_split(*self.given).verify()

    def rating_split(self, test_share: float, seed: int) -> Split:
        """Return the given split, or else one that holds this share of every user's edges out."""
        if self.split is not None:
            return self.split
        return per_user_split(self.graph, test_share, random_state=seed).verify()


def load_source(name: str, data_dir: Any = None) -> Source:
    """Load a data set of the registry.

    >>> load_source("southern-women").graph.n_edges
    89
    """
    data = load(name, data_dir)
    return Source(data.name, data.graph, data.given_split)


def _arrays(graph: BipartiteGraph) -> list[Any]:
    side = graph.left
    return [side.indptr.astype(np.int64), side.indices.astype(np.int64), side.weights]


def _hash(arrays: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        values = np.ascontiguousarray(array)
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()
