"""The ``.bivec`` directory: a manifest and Parquet tables, nothing that runs code when opened.

::

    ratings.bivec/
      manifest.json    format and version, method, parameters, history, sizes
      left.parquet     id, vector (fixed-size list of float)
      right.parquet    id, vector
      graph.parquet    left_row, right_row, weight: the training graph, optional
      index/           approximate indexes and their reports, optional

Rows of ``graph.parquet`` point into the two id tables, counted from 0. Pages carry checksums. No
time and no machine is recorded, so equal embeddings are equal byte for byte.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import bivec
from bivec.arrow import from_numpy, to_numpy
from bivec.embedding.embedding import Embedding, EmbeddingSide
from bivec.errors import FormatError, InputError, SaveError, is_text
from bivec.graph import BipartiteGraph, Side
from bivec.ids import Vocabulary
from bivec.io.atomic import atomic_directory, check_replaceable
from bivec.queries.index import indexes_of
from bivec.queries.index import save as save_indexes

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
INDEX = "index"
_OURS = (MANIFEST, INDEX, *(f"{name}.parquet" for name in (
    "left", "right", "graph", "layout.left", "layout.right",
)))  # fmt: skip
"""What may lie in such a directory; layouts are the explorer's."""
_ROWS_AT_ONCE = 1 << 16


def save(embedding: Embedding, path: str | os.PathLike[str], *, graph: bool = True) -> None:
    """Write an embedding; see :meth:`bivec.Embedding.save`."""
    target = Path(path)
    check_target(target)
    stored = embedding.graph if graph else None
    with atomic_directory(target) as folder:
        for side in ("left", "right"):
            _write_side(embedding.side(side), folder / f"{side}.parquet")
        if stored is not None:
            _write_graph(stored, folder / "graph.parquet")
        if (indexes := indexes_of(embedding)) is not None:
            save_indexes(indexes, folder / INDEX)
        manifest = {
            "format": "bivec",
            "format_version": FORMAT_VERSION,
            "bivec_version": bivec.__version__,
            "method": embedding.method,
            "params": embedding.params,
            "history": embedding.history,
            "dim": embedding.dim,
            "left": len(embedding.left),
            "right": len(embedding.right),
            "edges": None if stored is None else stored.n_edges,
        }
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def check_target(target: Path) -> None:
    """Refuse a place where an embedding cannot go, before the work and not after it."""
    if not is_text(target):
        raise SaveError(f"cannot write {target}: its name is no UTF-8 text. Choose another name.")
    check_replaceable(target, _OURS, MANIFEST)
    if target.exists() and not (target / "left.parquet").exists():
        read_manifest(target)  # somebody else's manifest
    if not target.parent.is_dir():
        raise SaveError(
            f"cannot write {target}: the directory {target.parent} does not exist. Create it first."
        )


def load(path: str | os.PathLike[str]) -> Embedding:
    """Open a ``.bivec`` directory.

    Parameters
    ----------
    path : str or path
        The directory that :meth:`bivec.Embedding.save` wrote.

    Returns
    -------
    Embedding
        With its training graph if that was saved.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> emb = Embedding(EmbeddingSide(["ann"], [[1, 0]]), EmbeddingSide(["Alien"], [[3, 4]]))
    >>> with TemporaryDirectory() as folder:
    ...     emb.save(f"{folder}/small.bivec")
    ...     load(f"{folder}/small.bivec") == emb
    True
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    try:
        left = _read_side(folder, "left", manifest)
        right = _read_side(folder, "right", manifest)
        graph = None
        if manifest["edges"] is not None:
            graph = _read_graph(folder, manifest, left.ids, right.ids)
        embedding = Embedding(
            left,
            right,
            graph=graph,
            method=manifest["method"],
            params=manifest["params"],
            history=manifest["history"],
        )
    except (pa.ArrowException, OSError, InputError, KeyError, TypeError, ValueError) as error:
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(
            f"{folder} is damaged or incomplete ({detail}). Save or copy the embedding again."
        ) from error
    if (folder / INDEX).is_dir():
        embedding.cache["index folder"] = folder / INDEX  # read on first use
    return embedding


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read and check the manifest alone."""
    file = folder / MANIFEST
    if not is_text(folder):
        raise FormatError(f"the name of {folder} is no UTF-8 text. Rename it.")
    if not folder.exists():
        beside = sorted(folder.parent.glob(f".{folder.name}.*/{MANIFEST}"))  # written last
        hint = "Check the path."
        if beside:
            found = ", ".join(str(manifest.parent) for manifest in beside)
            hint = f"A save was interrupted; complete beside it is {found}: rename it."
        raise FormatError(f"there is no {folder}. {hint}")
    if not file.is_file():
        raise FormatError(
            f"{folder} is no saved embedding: it has no {MANIFEST}. "
            "A saved embedding is the directory that Embedding.save wrote."
        )
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(
            f"{file} cannot be read ({error}). Save or copy the embedding again."
        ) from error
    if not isinstance(manifest, dict) or manifest.get("format") != "bivec":
        raise FormatError(f"{file} is not the manifest of a bivec embedding.")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION or not isinstance(version, int):
        made = manifest.get("bivec_version", "another version")
        raise FormatError(
            f"{folder} has format version {version!r}, written by bivec {made}; this is bivec "
            f"{bivec.__version__}, which reads version {FORMAT_VERSION}. "
            "Install a bivec that knows it, or embed again."
        )
    return manifest


def vector_type(dim: int) -> pa.DataType:
    """Return the Arrow type of a vector."""
    return pa.list_(pa.float32(), dim)


def vector_array(vectors: npt.NDArray[np.float32]) -> pa.Array:
    """Return vectors as an Arrow array, without a copy."""
    return pa.FixedSizeListArray.from_arrays(
        from_numpy(vectors.ravel()), type=vector_type(vectors.shape[1])
    )


def _write_side(side: EmbeddingSide, path: Path) -> None:
    ids = side.ids.to_arrow()
    schema = pa.schema([("id", ids.type), ("vector", vector_type(side.vectors.shape[1]))])
    with _writer(path, schema, compressed=["id"]) as out:
        for start in range(0, len(side), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            out.write_batch(
                pa.record_batch([ids[rows], vector_array(side.vectors[rows])], schema=schema)
            )


def _write_graph(graph: BipartiteGraph, path: Path) -> None:
    table = pa.table(
        {
            "left_row": from_numpy(graph.left_rows()),
            "right_row": from_numpy(graph.left.indices),
            "weight": from_numpy(graph.left.weights),
        }
    )
    with _writer(path, table.schema, compressed=table.column_names) as out:
        out.write_table(table)


def _writer(path: Path, schema: pa.Schema, compressed: list[str]) -> pq.ParquetWriter:
    # Vectors are noise to a compressor: only the other columns are worth its time.
    leaves = [f"{name}.list.element" if name == "vector" else name for name in schema.names]
    return pq.ParquetWriter(
        path,
        schema,
        compression={leaf: "zstd" if leaf in compressed else "none" for leaf in leaves},
        use_dictionary=False,
        write_page_checksum=True,
    )


def _open(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path, page_checksum_verification=True)


def _read_side(folder: Path, name: Side, manifest: dict[str, Any]) -> EmbeddingSide:
    path = folder / f"{name}.parquet"
    ids = []
    with _open(path) as file:
        rows = file.metadata.num_rows
        dim = getattr(file.schema_arrow.field("vector").type, "list_size", None)
        if (rows, dim) != (manifest[name], manifest["dim"]):
            raise FormatError(
                f"{path} has {rows} vectors of dimension {dim} where the manifest says "
                f"{manifest[name]} of {manifest['dim']}. Save or copy the embedding again."
            )
        vectors = np.empty((rows, manifest["dim"]), dtype=np.float32)
        start = 0
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
            stop = start + batch.num_rows
            ids.append(batch.column("id"))
            vectors[start:stop] = to_numpy(batch.column("vector").flatten()).reshape(
                stop - start, -1
            )
            start = stop
    return EmbeddingSide(Vocabulary(pa.chunked_array(ids or [[]]).combine_chunks(), name), vectors)


def _read_graph(
    folder: Path, manifest: dict[str, Any], left: Vocabulary, right: Vocabulary
) -> BipartiteGraph:
    with _open(folder / "graph.parquet") as file:
        table = file.read()
    if table.num_rows != manifest["edges"]:
        raise FormatError(
            f"{folder / 'graph.parquet'} has {table.num_rows:,} edges where the manifest says "
            f"{manifest['edges']:,}. Save or copy the embedding again."
        )
    return BipartiteGraph(
        to_numpy(table["left_row"]),
        to_numpy(table["right_row"]),
        to_numpy(table["weight"]),
        left_ids=left,
        right_ids=right,
        duplicates="error",
    )
