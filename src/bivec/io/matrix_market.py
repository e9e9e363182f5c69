"""MatrixMarket files: rows are the left side, columns the right.

The format knows no ids. Nodes are numbered from 1, as the file does, unless bivec wrote the file:
it puts the ids into comment lines (``%left "ann"``), which other programs pass over.
"""

from __future__ import annotations

import io
import json
import re
from contextlib import nullcontext
from gzip import GzipFile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.ids import Vocabulary
from bivec.io.matrix import graph_from_matrix
from bivec.io.source import Progress, Source

_ID_LINE = re.compile(rb'^%(left|right) ("(?:.*)"|-?\d+)\s*$')


def read_matrix_market(
    source: Source, weighted: bool, duplicates: str, progress: Progress | None
) -> tuple[BipartiteGraph, str]:
    """Read a coordinate or dense matrix as a biadjacency matrix."""
    ids = _stored_ids(source)
    with source.open(progress) as stream:
        try:
            matrix = scipy_io.mmread(stream, spmatrix=False)
        except (ValueError, OverflowError) as error:
            line = re.match(r"Line (\d+): (.*)", str(error))
            what = (line[2] if line else str(error)).rstrip(".")
            raise InputError(
                f"this is no valid MatrixMarket file ({what})",
                "Mend the line or write the matrix again.",
                path=source.path,
                line=int(line[1]) if line else None,
            ) from error
    if not weighted:  # every entry of the file is an edge, a 0 too
        entries = sparse.coo_array(matrix)
        ones = np.ones(len(entries.data), dtype=np.int8)
        matrix = sparse.coo_array((ones, entries.coords), shape=matrix.shape)
    left_ids, right_ids = (
        stored or np.arange(1, n + 1) for stored, n in zip(ids, matrix.shape, strict=True)
    )
    graph = graph_from_matrix(matrix, left_ids, right_ids, duplicates)
    return graph, "MatrixMarket; rows are left, columns right"


def _stored_ids(source: Source) -> tuple[list[Any], list[Any]]:
    ids: dict[bytes, list[Any]] = {b"left": [], b"right": []}
    if not re.search(rb"(?m)^%(left|right) ", source.head):
        return [], []
    with source.open() as stream:
        for number, line in enumerate(io.BufferedReader(stream), 1):
            if not line.startswith(b"%"):
                break
            if match := _ID_LINE.match(line):
                try:
                    ids[match[1]].append(json.loads(match[2]))
                except ValueError as error:
                    raise InputError(
                        f"the id in this comment cannot be read ({error})",
                        'Write it as %left "ann", or remove all such comments.',
                        path=source.path,
                        line=number,
                    ) from None
    return ids[b"left"], ids[b"right"]


def write_matrix_market(graph: BipartiteGraph, path: Path, compressed: bool) -> None:
    """Write the biadjacency matrix with the ids as comments."""
    comments = [
        f"{name} {json.dumps(key)}"
        for name, side in (("left", graph.left), ("right", graph.right))
        if side.ids != Vocabulary(np.arange(1, len(side) + 1))
        for key in side.ids
    ]
    matrix = graph.to_scipy().tocoo()
    field = "real" if graph.weighted else "pattern"
    # No name and no time in the gzip header: the same graph gives the same bytes.
    with (
        path.open("wb") as plain,
        GzipFile("", "wb", fileobj=plain, mtime=0) if compressed else nullcontext(plain) as file,
    ):
        scipy_io.mmwrite(file, matrix, comment="\n".join(comments), field=field, symmetry="general")
