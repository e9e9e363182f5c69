"""The result of every method: ids and vectors of two sides, and how they were made."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.embedding.verbs import Verbs
from bivec.errors import InputError
from bivec.graph import BipartiteGraph, Side
from bivec.ids import Id, Vocabulary


@dataclass(frozen=True, eq=False, slots=True)
class EmbeddingSide:
    """Ids of one side and a vector for each, row by row.

    Examples
    --------
    >>> side = EmbeddingSide(["ann", "bob"], [[1, 0], [0, 2]])
    >>> side["bob"]
    array([0., 2.], dtype=float32)
    """

    ids: Vocabulary
    vectors: npt.NDArray[np.float32]

    def __init__(self, ids: Iterable[Id] | Vocabulary, vectors: npt.ArrayLike) -> None:
        vocabulary = ids if isinstance(ids, Vocabulary) else Vocabulary(ids)
        try:
            table = np.ascontiguousarray(vectors, dtype=np.float32)
        except (TypeError, ValueError):
            raise InputError("the vectors are no table of numbers", "Pass a 2-D array.") from None
        if table.ndim != 2 or table.shape[1] == 0 or len(table) != len(vocabulary):
            raise InputError(
                f"vectors of shape {table.shape} for {len(vocabulary):,} ids",
                "Pass a 2-D array with one row for each id and at least one column.",
            )
        if not (finite := np.isfinite(table).all(axis=1)).all():
            row = int(np.argmin(finite))
            raise InputError(
                f"{int((~finite).sum()):,} of {len(table):,} vectors are not finite, "
                f"the first that of {vocabulary[row]!r}",
                "Train again with a lower learning rate, or leave those nodes out.",
            )
        object.__setattr__(self, "ids", vocabulary)
        object.__setattr__(self, "vectors", table)

    def __getitem__(self, key: Id) -> npt.NDArray[np.float32]:
        """Return the vector of one id."""
        vector: npt.NDArray[np.float32] = self.vectors[self.ids.row(key)]
        return vector

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EmbeddingSide):
            return NotImplemented
        return self.ids == other.ids and np.array_equal(self.vectors, other.vectors)

    __hash__ = None  # type: ignore[assignment]


class Embedding(Verbs):
    """Vectors for both sides of a bipartite graph.

    The two sides live in spaces of their own: a left and a right vector are not meant to be
    multiplied with each other unless the method says so.

    Parameters
    ----------
    left, right : EmbeddingSide
        Ids and vectors; both sides have vectors of the same length.
    graph : BipartiteGraph, optional
        The graph that was trained on, with the same ids in the same order.
    method : str
        The name of the method.
    params : mapping, optional
        Its parameters, as JSON can hold them.
    history : sequence, optional
        What training reported, epoch by epoch, as JSON can hold it.

    Examples
    --------
    >>> emb = Embedding(EmbeddingSide(["ann", "bob"], [[1, 0], [0, 2]]),
    ...                 EmbeddingSide(["Alien"], [[3, 4]]), method="example")
    >>> emb
    Embedding(example, 2 left, 1 right, dim 2)
    >>> emb.right.ids[0], emb.right.vectors
    ('Alien', array([[3., 4.]], dtype=float32))
    """

    __slots__ = ("cache", "graph", "history", "left", "method", "params", "right")

    def __init__(
        self,
        left: EmbeddingSide,
        right: EmbeddingSide,
        *,
        graph: BipartiteGraph | None = None,
        method: str = "unknown",
        params: Mapping[str, Any] | None = None,
        history: Iterable[Any] | None = None,
    ) -> None:
        if left.vectors.shape[1] != right.vectors.shape[1]:
            raise InputError(
                f"left vectors have {left.vectors.shape[1]} entries, "
                f"right vectors {right.vectors.shape[1]}",
                "Both sides need the same dimension.",
            )
        if graph is not None and (graph.left.ids != left.ids or graph.right.ids != right.ids):
            raise InputError(
                "the graph has other ids than the vectors, or the same in another order",
                "Pass the graph that was trained on, or none.",
            )
        self.left: EmbeddingSide = left
        self.right: EmbeddingSide = right
        self.graph = graph
        self.method = method
        self.params = _plain(dict(params or {}), "params")
        self.history = _plain(list(history or []), "history")
        self.cache: dict[Any, Any] = {}

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.left.vectors.shape[1])

    def side(self, side: Side) -> EmbeddingSide:
        """Return one side by its name."""
        if side not in ("left", "right"):
            raise InputError(f"{side!r} is no side", "A side is 'left' or 'right'.")
        return self.left if side == "left" else self.right

    def save(self, path: str | os.PathLike[str], *, graph: bool = True) -> None:
        """Write a ``.bivec`` directory, whole or not at all.

        An older embedding of that name is replaced; anything else there is left alone and is an
        error. The same embedding always gives the same bytes.

        Parameters
        ----------
        path : str or path
            The directory, by custom ending in ``.bivec``.
        graph : bool
            Whether the training graph goes with it. Recommending and explaining need it.
        """
        from bivec.embedding.store import save

        save(self, path, graph=graph)

    def export(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        side: Side | None = None,
    ) -> list[Path]:
        """Write the vectors for other programs; see :func:`bivec.embedding.export`."""
        from bivec.embedding.export import export

        return export(self, path, format=format, side=side)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Embedding):
            return NotImplemented
        return (
            self.left == other.left
            and self.right == other.right
            and self.graph == other.graph
            and (self.method, self.params, self.history)
            == (other.method, other.params, other.history)
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Leave out what can be derived again, when copied or pickled."""
        return None, {
            **{name: getattr(self, name) for name in self.__slots__},
            "cache": {k: v for k, v in self.cache.items() if k == "index folder"},
        }

    def __repr__(self) -> str:
        graph = ", with graph" if self.graph is not None else ""
        return (
            f"Embedding({self.method}, {len(self.left):,} left, {len(self.right):,} right, "
            f"dim {self.dim}{graph})"
        )


def _plain(value: Any, name: str) -> Any:
    """Return a copy that JSON can hold, refusing what it cannot."""

    def simple(item: Any) -> Any:
        if isinstance(item, np.generic):
            return item.item()
        raise TypeError(f"{type(item).__name__}")

    try:
        return json.loads(json.dumps(value, default=simple, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} cannot be written as JSON ({error})",
            "Use finite numbers, strings, lists and dicts.",
        ) from None
