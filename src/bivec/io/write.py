"""Write a graph to a file, so that reading it back gives an equal graph."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from bivec.errors import SaveError
from bivec.graph import BipartiteGraph
from bivec.ids import Vocabulary
from bivec.io.atomic import atomic_file
from bivec.io.hif import write_hif
from bivec.io.matrix_market import write_matrix_market
from bivec.io.tables import to_table

WRITABLE = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".mtx": "matrix-market",
    ".json": "hif",
    ".cmty.txt": "communities",
}
"""Which suffix means which format."""

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_ROWS_AT_ONCE = 1 << 20
_LONGEST_CELL = 100_000  # what every reader of text takes, Python's csv module among them


def write_graph(graph: BipartiteGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph in the format that the file's suffix names.

    ``.csv`` and ``.tsv`` (also ``.gz`` or ``.zst`` behind it), ``.parquet``, ``.arrow`` or
    ``.feather``, ``.mtx`` (also ``.gz``), ``.json`` (HIF) and ``.cmty.txt`` (SNAP communities).
    The file is written whole or not at all. What a format cannot hold is an error, not a loss:
    text has no place for nodes without edges, communities none for weights or names of groups.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bivec import as_graph, read_edges
    >>> graph = as_graph([("ann", "Alien", 5), ("bob", "Alien", 3)])
    >>> with TemporaryDirectory() as folder:
    ...     write_graph(graph, f"{folder}/ratings.csv.gz")
    ...     read_edges(f"{folder}/ratings.csv.gz") == graph
    True
    """
    target = Path(path)
    name = target.name.lower()
    compression = next((kind for end, kind in _COMPRESSIONS.items() if name.endswith(end)), None)
    if compression:
        name = name.rpartition(".")[0]
    kind = next((kind for suffix, kind in WRITABLE.items() if name.endswith(suffix)), None)
    if kind is None:
        raise SaveError(
            f"cannot write {target}: its name does not tell the format. "
            f"Use one of the suffixes {', '.join(WRITABLE)}."
        )
    if problem := _problem(graph, kind, compression):
        raise SaveError(f"cannot write {target}: {problem}")
    with atomic_file(target) as temporary:
        if kind in ("csv", "tsv"):
            _write_text(graph, temporary, "," if kind == "csv" else "\t", compression)
        elif kind == "parquet":
            pq.write_table(to_table(graph), temporary, compression="zstd")
        elif kind == "arrow":
            table = to_table(graph)
            with (
                pa.OSFile(str(temporary), "wb") as file,
                pa.ipc.new_file(file, table.schema) as out,
            ):
                out.write_table(table)
        elif kind == "matrix-market":
            write_matrix_market(graph, temporary, compressed=compression is not None)
        elif kind == "hif":
            write_hif(graph, temporary)
        else:
            _write_communities(graph, temporary)


def _problem(graph: BipartiteGraph, kind: str, compression: str | None) -> str | None:
    """Say what this format would lose, and the way out."""
    if compression and kind in ("parquet", "arrow", "hif", "communities"):
        return f"a {kind} file is not written compressed. Drop the last suffix."
    if compression == "zstd" and kind == "matrix-market":
        return "a matrix-market file is compressed with gzip only. Use the suffix .mtx.gz."
    if graph.n_left + graph.n_right == 0:
        return "the graph is empty. Add a node or an edge."
    if kind not in ("csv", "tsv", "communities"):
        return None
    alone = int((graph.left.degrees == 0).sum() + (graph.right.degrees == 0).sum())
    if alone:
        what = "a community file" if kind == "communities" else "text"
        return (
            f"{alone:,} node{'s have' if alone > 1 else ' has'} no edge, and {what} has no place "
            "for that. Write .parquet, .arrow, .mtx or .json, or prune(1, 1) the graph first."
        )
    return _community_problem(graph) if kind == "communities" else _text_problem(graph)


def _text_problem(graph: BipartiteGraph) -> str | None:
    for side in (graph.left, graph.right):
        ids = side.ids.to_arrow()
        if not side.ids.is_integer and pc.max(pc.binary_length(ids)).as_py() > _LONGEST_CELL:
            return f"an id is longer than {_LONGEST_CELL:,} bytes. Write .json (HIF) or .parquet."
    return None


def _community_problem(graph: BipartiteGraph) -> str | None:
    other = "Write .json (HIF) or .parquet."
    if graph.weighted:
        return f"a community file has no place for weights. {other}"
    if graph.right.ids != Vocabulary(np.arange(1, graph.n_right + 1)):
        return (
            "a community file numbers its groups by line, so the right ids would be lost "
            f"unless they are 1 to {graph.n_right:,}. {other}"
        )
    # Control characters end cells or lines, a leading # or % makes a comment, U+FEFF a BOM.
    names = graph.left.ids.to_arrow().cast(pa.large_string())
    if pc.any(pc.match_substring_regex(names, r"[\x00-\x20\x7f]|^[#%\x{feff}]")).as_py():
        return f"a left id holds a blank or control character or starts with # or %. {other}"
    return None


def _write_text(graph: BipartiteGraph, path: Path, delimiter: str, compression: str | None) -> None:
    table = graph.to_arrow()
    if not graph.weighted:
        table = table.drop_columns("weight")
    plain = pa.schema(
        [(field.name, getattr(field.type, "value_type", field.type)) for field in table.schema]
    )
    options = pa_csv.WriteOptions(delimiter=delimiter)
    with (
        pa.output_stream(str(path), compression=compression) as file,
        pa_csv.CSVWriter(file, plain, write_options=options) as out,
    ):
        for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
            out.write_table(pa.table(batch).cast(plain))


def _write_communities(graph: BipartiteGraph, path: Path) -> None:
    """Write one line a right node."""
    names = graph.left.ids.to_arrow().cast(pa.large_string())
    members = names.take(pa.array(graph.right.indices))
    groups = pa.LargeListArray.from_arrays(pa.array(graph.right.indptr), members)
    lines = pc.binary_join(groups, pa.scalar("\t", type=pa.large_string()))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line.as_py() + "\n")
