r"""The inputs of a combination: vectors from several embeddings, brought together by id.

.. math:: In(v) = [\epsilon_1(v)\; \epsilon_2(v)\; \dots\; \epsilon_{e'}(v)]
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.embedding import Embedding
from bivec.errors import InputError, shown
from bivec.graph import BipartiteGraph
from bivec.ids import Vocabulary

Table = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, slots=True)
class Inputs:
    """What goes into the network for one side.

    Attributes
    ----------
    table : array of float32
        One row a node of the graph; the columns of all embeddings side by side. Each embedding is
        centred, and scaled so that its entries have a mean square of 1.
    known : array of bool, optional
        For each node and column, whether it was in the embedding; None where everything was. What
        is unknown is 0 in the table.
    """

    table: Table
    known: npt.NDArray[np.bool_] | None = None


def align(
    graph: BipartiteGraph, embeddings: Sequence[Embedding], missing: str = "error"
) -> tuple[Inputs, Inputs]:
    """Return the inputs of both sides, in the order of the graph's rows.

    Parameters
    ----------
    graph : BipartiteGraph
        Whose nodes are wanted. What an embedding has beyond them is left out.
    embeddings : sequence of Embedding
        Of any dimensions.
    missing : {"error", "zero"}
        What becomes of a node that an embedding does not have: an error, or a zero vector that is
        marked as unknown.

    Raises
    ------
    InputError
        If ``missing="error"`` and ids are missing; the message names a few.
    """
    left, right = (
        _side(
            [(e.method, getattr(e, name).ids, getattr(e, name).vectors) for e in embeddings],
            getattr(graph, name).ids,
            name,
            missing,
        )
        for name in ("left", "right")
    )
    return left, right


def degree_inputs(graph: BipartiteGraph) -> tuple[Inputs, Inputs]:
    """Return the logarithms of degrees as the inputs of both sides."""
    left, right = (
        Inputs(_standard(np.log2(1 + side.degrees).astype(np.float32)[:, None]))
        for side in (graph.left, graph.right)
    )
    return left, right


def _side(
    parts: list[tuple[str, Vocabulary, Table]], ids: Vocabulary, side: str, missing: str
) -> Inputs:
    widths = [vectors.shape[1] for _, _, vectors in parts]
    table = np.zeros((len(ids), sum(widths)), np.float32)
    known = np.ones(table.shape, bool) if missing == "zero" else None
    start = 0
    for k, ((method, theirs, vectors), width) in enumerate(zip(parts, widths, strict=True)):
        columns = slice(start, start + width)
        start += width
        rows = np.arange(len(ids)) if theirs == ids else theirs.find(ids)
        absent = np.flatnonzero(rows < 0)
        if len(absent) and known is None:
            few = ", ".join(shown(ids[int(row)]) for row in absent[:3])
            more = f" and {len(absent) - 3:,} more" if len(absent) > 3 else ""
            raise InputError(
                f"input {k + 1} ({method}) lacks {len(absent):,} of {len(ids):,} {side} nodes: "
                f"{few}{more}",
                'Embed the graph whole, or pass missing="zero" (--missing zero) to take a zero '
                "vector for them.",
                side=side,
            )
        found = rows >= 0
        table[found, columns] = _standard(vectors[rows[found]])
        if known is not None:
            known[absent, columns] = False
    return Inputs(table, None if known is None or known.all() else known)


def _standard(vectors: Table) -> Table:
    """Return vectors around their mean, at a mean square of 1 over all entries.

    One factor for all columns: what varies much in an embedding still does, and no embedding
    drowns another by its scale, of which the paper says nothing.
    """
    if not len(vectors):
        return vectors
    centred = vectors - vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    size = np.sqrt(np.einsum("ij,ij->", centred, centred, dtype=np.float64) / centred.size)
    standard: Table = centred / np.float32(size) if size > 0 else centred
    return standard


def provenance(embedding: Embedding) -> dict[str, Any]:
    """Return what an input was: its method and parameters, and a digest of ids and vectors."""
    digest = hashlib.sha256()
    for side in (embedding.left, embedding.right):
        for key in side.ids:
            digest.update(f"{key}\n".encode())
        digest.update(np.ascontiguousarray(side.vectors, "<f4").tobytes())
    return {
        "method": embedding.method,
        "dim": embedding.dim,
        "params": embedding.params,
        "sha256": digest.hexdigest(),
    }
