"""A data set, loaded: its graph with split, times and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bivec.datasets.registry import Entry
from bivec.graph import BipartiteGraph

Ids = npt.NDArray[Any]
"""Ids of nodes, one an edge: integers, or objects that are strings."""


class Edges(NamedTuple):
    """Edges by the ids of their ends, in the order of the file they come from."""

    left: Ids
    right: Ids
    weights: npt.NDArray[np.float32]


class GivenSplit(NamedTuple):
    """The split that a data set was published with; no edge is in both parts.

    Nodes of the test edges may be without any training edge.
    """

    train: Edges
    test: Edges


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set, loaded.

    Attributes
    ----------
    name : str
        Its name in the registry.
    graph : BipartiteGraph
        As the paper prepares it, or as it is in the files (``raw=True``).
    given_split : GivenSplit or None
        Training and test edges as published.
    times : array of int or None
        When each edge came to be, in the order of ``graph.left.indices``.
    labels : array of str or None
        What each row of ``graph.right`` is called or belongs to.
    entry : Entry
        What the registry knows of it.
    """

    name: str
    graph: BipartiteGraph
    given_split: GivenSplit | None = None
    times: npt.NDArray[np.int64] | None = None
    labels: npt.NDArray[np.object_] | None = None
    entry: Entry | None = None
