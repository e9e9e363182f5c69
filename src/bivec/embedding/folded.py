"""New nodes that were folded in: their vectors, and an embedding that holds them, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.embedding.embedding import Embedding, EmbeddingSide
from bivec.errors import InputError, shown
from bivec.graph import BipartiteGraph, Side
from bivec.ids import Id
from bivec.queries.fold import NewNodes, fold_in, new_nodes
from bivec.queries.parts import OTHER, side_of
from bivec.queries.scorers import needs_a_graph


@dataclass(frozen=True, eq=False, slots=True, init=False, repr=False)
class FoldedSide(EmbeddingSide):
    """Ids and vectors of new nodes.

    Attributes
    ----------
    ids, vectors
        As of any side of an embedding.
    side : {"left", "right"}
        The side that they belong to.
    unknown : dict
        For each new node that has any, its neighbours that the embedding does not know. They were
        left out.
    """

    side: Side
    unknown: dict[Id, list[Id]]
    nodes: NewNodes

    def __init__(self, nodes: NewNodes, vectors: npt.NDArray[np.float32], side: Side) -> None:
        super(FoldedSide, self).__init__(nodes.ids, vectors)
        object.__setattr__(self, "side", side)
        object.__setattr__(self, "unknown", nodes.unknown)
        object.__setattr__(self, "nodes", nodes)

    def __repr__(self) -> str:
        text = f"FoldedSide({len(self):,} {self.side}, dim {self.vectors.shape[1]}"
        count = sum(map(len, self.unknown.values()))
        if count:
            text += f", {count:,} unknown neighbour{'s' if count > 1 else ''}"
        return text + ")"


def folded(embedding: Any, rows: Any, side: Side, n_jobs: int | None) -> FoldedSide:
    """Fold new nodes in; see :meth:`bivec.Embedding.fold_in`."""
    side_of(embedding, side)
    nodes = new_nodes(rows, side_of(embedding, OTHER[side]).ids, side)
    return FoldedSide(nodes, fold_in(embedding, nodes, side, n_jobs), side)


def extended(embedding: Any, new: FoldedSide) -> Embedding:
    """Return an embedding with new nodes; see :meth:`bivec.Embedding.extended`."""
    graph: BipartiteGraph | None = embedding.graph
    if graph is None:
        raise needs_a_graph("extending")
    side, nodes = new.side, new.nodes
    own, far = embedding.side(side), embedding.side(OTHER[side])
    ids, places = own.ids.joined(nodes.ids, side)
    if (known := places < len(own)).any():
        raise InputError(
            f"the {side} node {shown(nodes.ids[int(np.argmax(known))])} is there already",
            "Give new nodes ids of their own.",
            side=side,
        )
    rows = np.repeat(len(own) + np.arange(len(nodes.ids)), np.diff(nodes.indptr))
    ends = [(graph.left_rows(), graph.left.indices), (rows, nodes.indices)]
    if side == "right":
        ends[1] = (nodes.indices, rows)
    left, right = (np.concatenate(column) for column in zip(*ends, strict=True))
    weights = np.concatenate([graph.left.weights, nodes.weights])
    sides = (ids, far.ids) if side == "left" else (far.ids, ids)
    vectors = EmbeddingSide(ids, np.concatenate([own.vectors, new.vectors]))
    return Embedding(
        vectors if side == "left" else far,
        far if side == "left" else vectors,
        graph=BipartiteGraph(left, right, weights, left_ids=sides[0], right_ids=sides[1]),
        method=embedding.method,
        params=embedding.params,
        history=embedding.history,
    )
