"""What the page and the HTTP interface know: an embedding, its maps, and what to colour them by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bivec.arrow import to_numpy
from bivec.embedding import Embedding
from bivec.graph import BipartiteGraph, Side
from bivec.ids import Id
from bivec.serve.columns import Column, categories, numbers, read_labels
from bivec.serve.communities import communities
from bivec.serve.layout import Layout, layout

SIDES: tuple[Side, Side] = ("left", "right")
OTHER: dict[Side, Side] = {"left": "right", "right": "left"}
_NAME = "name"
"""The column of labels that people read in place of ids."""


@dataclass(frozen=True)
class Explorer:
    """An embedding made ready to be looked at.

    Attributes
    ----------
    embedding : Embedding
    layouts, columns : dict
        For each side, where its nodes are and what they can be coloured by.
    title : str
        What the page calls it.
    names : dict
        What the page calls the sides.
    shown : dict
        For each side, what people read in place of the ids, or None; empty where there is none.
    """

    embedding: Embedding
    layouts: dict[Side, Layout]
    columns: dict[Side, list[Column]]
    title: str = "embedding"
    names: dict[Side, str] = field(default_factory=lambda: {"left": "left", "right": "right"})
    shown: dict[Side, npt.NDArray[Any] | None] = field(
        default_factory=lambda: {"left": None, "right": None}
    )

    @classmethod
    def prepare(
        cls,
        embedding: Embedding,
        *,
        folder: Path | None = None,
        labels: Path | None = None,
        layout_method: str = "auto",
        title: str = "embedding",
        names: dict[Side, str] | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> Explorer:
        """Lay out both sides, find communities and read labels.

        Parameters
        ----------
        embedding : Embedding
        folder : path, optional
            The embedding's directory, where the layouts are kept.
        labels : path, optional
            A table of metadata; see :func:`bivec.serve.columns.read_labels`.
        layout_method : {"auto", "umap", "pca"}
        title : str
        names : dict, optional
            What the page calls the sides.
        say : callable
            Told what takes time and what is odd.
        """
        extra: dict[Side, list[Column]] = {"left": [], "right": []}
        if labels is not None:
            extra = read_labels(labels, embedding.left.ids, embedding.right.ids, say)
        layouts: dict[Side, Layout] = {}
        for side in SIDES:
            vectors = embedding.side(side).vectors
            layouts[side] = layout(vectors, side, folder, layout_method, say)
        if note := next((layouts[side].note for side in SIDES if layouts[side].note), ""):
            say(f"the maps show {note}")
        columns = {
            side: [*own, *(column for column in extra[side] if column.name != _NAME)]
            for side, own in _own_columns(embedding).items()
        }
        shown: dict[Side, npt.NDArray[Any] | None] = {
            side: next((c.texts for c in extra[side] if c.name == _NAME), None) for side in SIDES
        }
        return cls(embedding, layouts, columns, title, names or {s: s for s in SIDES}, shown)

    @property
    def graph(self) -> BipartiteGraph | None:
        """The graph, if there is one."""
        return self.embedding.graph

    def summary(self) -> dict[str, Any]:
        """Return what the page shows before anything is chosen."""
        graph = self.graph
        return {
            "title": self.title,
            "method": self.embedding.method,
            "dim": self.embedding.dim,
            "edges": None if graph is None else graph.n_edges,
            "weighted": graph is not None and graph.weighted,
            "sides": {
                side: {
                    "name": self.names[side],
                    "nodes": len(self.embedding.side(side)),
                    "named": self.shown[side] is not None,
                    "layout": self.layouts[side].method,
                    "note": self.layouts[side].note,
                    "columns": [column.describe() for column in self.columns[side]],
                }
                for side in SIDES
            },
        }

    def column(self, side: Side, name: str) -> Column | None:
        """Return a column by its name."""
        return next((column for column in self.columns[side] if column.name == name), None)

    def ids(self, side: Side, start: int, count: int) -> list[str]:
        """Return ids as text, in row order."""
        return [str(key) for key in self.embedding.side(side).ids[start : start + count]]

    def names_of(self, side: Side, rows: Iterable[int]) -> list[str]:
        """Return what people read for rows; empty where that is the id."""
        shown = self.shown[side]
        return ["" if shown is None or row < 0 else str(shown[row]) for row in rows]

    def node(self, side: Side, key: Id, most: int) -> dict[str, Any]:
        """Return a node with its heaviest neighbours and the values of its columns."""
        own = self.embedding.side(side)
        row = own.ids.row(key)
        x, y = (float(value) for value in self.layouts[side].places[row])
        return {
            "id": str(own.ids[row]),
            "name": self.names_of(side, [row])[0],
            "side": side,
            "row": row,
            "x": x,
            "y": y,
            "values": [
                {"name": column.name, "value": column.show(row)} for column in self.columns[side]
            ],
            **self._neighbours(side, row, most),
        }

    def _neighbours(self, side: Side, row: int, most: int) -> dict[str, Any]:
        if self.graph is None:
            return {"degree": None, "neighbours": []}
        edges = self.graph.side(side)
        place = slice(int(edges.indptr[row]), int(edges.indptr[row + 1]))
        rows, weights = edges.indices[place], edges.weights[place]
        order = np.argsort(-weights, kind="stable")[:most]
        other = self.embedding.side(OTHER[side]).ids
        return {
            "degree": len(rows),
            "neighbours": [
                {"id": str(key), "weight": float(weight)}
                for key, weight in zip(
                    other.take(rows[order].astype(np.int64)), weights[order], strict=True
                )
            ],
        }

    def search(self, words: str, sides: tuple[Side, ...], most: int) -> list[dict[str, Any]]:
        """Return nodes whose id or name is, begins with, or contains the words, in this order.

        Capitals do not matter. Among equals the node of the highest degree comes first.
        """
        words = words.casefold()
        found = [hit for side in sides for hit in self._search_side(words, side, most)]
        found.sort(key=lambda hit: hit[:2])
        return [
            {"id": key, "name": name, "side": side, "degree": degree}
            for _, _, degree, side, key, name in found[:most]
        ]

    def _search_side(self, words: str, side: Side, most: int) -> list[Any]:
        best = np.full(len(self.embedding.side(side)), 3, dtype=np.int64)
        for folded in self._folded[side]:
            rows = np.flatnonzero(to_numpy(pc.match_substring(folded, words).cast(pa.uint8())))
            hits = folded.take(pa.array(rows))
            begins = to_numpy(pc.starts_with(hits, words).cast(pa.uint8())).astype(bool)
            whole = to_numpy(pc.equal(hits, words).cast(pa.uint8())).astype(bool)
            best[rows] = np.minimum(best[rows], np.where(whole, 0, np.where(begins, 1, 2)))
        rows = np.flatnonzero(best < 3)
        rank = best[rows]
        degrees = self._degrees(side)
        order = np.lexsort((rows, -degrees[rows], rank))[:most]
        ids = self.embedding.side(side).ids
        return [
            (
                int(rank[i]),
                -int(degrees[rows[i]]),
                int(degrees[rows[i]]) if self.graph is not None else None,
                side,
                str(ids[int(rows[i])]),
                self.names_of(side, [int(rows[i])])[0],
            )
            for i in order
        ]

    @cached_property
    def _folded(self) -> dict[Side, list[pa.Array]]:
        """Ids, and names where there are some, in small letters."""
        found: dict[Side, list[pa.Array]] = {}
        for side in SIDES:
            texts = [self.embedding.side(side).ids, self.shown[side]]
            found[side] = [
                pa.array([str(text).casefold() for text in column], pa.large_string())
                for column in texts
                if column is not None
            ]
        return found

    def _degrees(self, side: Side) -> npt.NDArray[np.int64]:
        if self.graph is None:
            return np.zeros(len(self.embedding.side(side)), dtype=np.int64)
        return self.graph.side(side).degrees


def _own_columns(embedding: Embedding) -> dict[Side, list[Column]]:
    left, right, how = communities(embedding)
    found: dict[Side, list[Column]] = {}
    for side, labels in zip(SIDES, (left, right), strict=True):
        names = [f"community {i + 1}" for i in range(int(labels.max()) + 1 if len(labels) else 0)]
        found[side] = [categories("community", labels, names, how)]
        if embedding.graph is not None:
            found[side].append(
                numbers("degree", embedding.graph.side(side).degrees, "number of neighbours")
            )
    return found


def with_graph(
    embedding: Embedding, graph: BipartiteGraph, say: Callable[[str], None] = lambda text: None
) -> Embedding:
    """Return the embedding with this graph's edges between its own nodes.

    Nodes that only the graph has are left out and counted; nodes that only the embedding has are
    isolated.
    """
    rows = {side: embedding.side(side).ids.find(graph.side(side).ids) for side in SIDES}
    for side in SIDES:
        if unknown := int((rows[side] < 0).sum()):
            say(f"{unknown:,} {side} nodes of the graph have no vector and are left out")
    left, right = rows["left"][graph.left_rows()], rows["right"][graph.left.indices]
    kept = (left >= 0) & (right >= 0)
    aligned = BipartiteGraph(
        left[kept],
        right[kept],
        graph.left.weights[kept],
        left_ids=embedding.left.ids,
        right_ids=embedding.right.ids,
    )
    return Embedding(
        embedding.left,
        embedding.right,
        graph=aligned,
        method=embedding.method,
        params=embedding.params,
        history=embedding.history,
    )
