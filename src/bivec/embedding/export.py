"""Vectors for other programs: Parquet, word2vec, npz, safetensors, TensorBoard, AnnData."""

from __future__ import annotations

import json
import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from bivec.embedding.embedding import Embedding, EmbeddingSide
from bivec.embedding.store import vector_array
from bivec.errors import InputError, SaveError, require
from bivec.graph import Side
from bivec.io.atomic import atomic_directory, atomic_file, check_replaceable

if TYPE_CHECKING:
    from collections.abc import Callable

_SUFFIXES = {
    ".parquet": "parquet",
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".npz": "npz",
    ".safetensors": "safetensors",
    ".h5ad": "anndata",
}
_ROWS_AT_ONCE = 1 << 16
_SAFETENSORS_HEADER = 100_000_000
"""What the format allows for names and ids."""


def export(
    embedding: Embedding,
    path: str | os.PathLike[str],
    format: str | None = None,
    side: Side | None = None,
) -> list[Path]:
    """Write vectors in a format that other programs read.

    =============  ===========================================================================
    parquet        columns ``id`` and ``vector``; a file a side
    word2vec       text, as gensim reads it; a file a side. Blanks, ``%`` and ``"`` in an id are
                   written as in web addresses (``%20``); ``urllib.parse.unquote`` undoes it
    npz            ``left_ids``, ``left_vectors``, ``right_ids``, ``right_vectors``, no pickle
    safetensors    tensors ``left`` and ``right``; ids as JSON in the metadata
    projector      a directory for TensorBoard's embedding projector, degrees beside the ids
    anndata        left nodes are observations, right nodes variables; vectors in ``obsm`` and
                   ``varm``, the graph as ``X``
    =============  ===========================================================================

    Parameters
    ----------
    embedding : Embedding
    path : str or path
        Where to. A format with a file a side puts ``.left`` and ``.right`` before the suffix
        unless one side is chosen.
    format : str, optional
        One of the above; told by the suffix where not given.
    side : {"left", "right"}, optional
        Only this side. AnnData always holds both.

    Returns
    -------
    list of Path
        What was written.
    """
    target = Path(path)
    kind = format or _SUFFIXES.get(target.suffix.lower())
    if kind not in EXPORTS:
        what = repr(format) if format else f"the suffix {target.suffix!r}"
        raise InputError(
            f"cannot tell from {what} what to write", f"Choose a format: {', '.join(EXPORTS)}."
        )
    if side is not None:
        embedding.side(side)  # refuses what is no side
    sides = [side] if side else list(get_args(Side))
    return EXPORTS[kind](embedding, target, sides)


def _file_a_side(
    embedding: Embedding,
    target: Path,
    sides: list[Side],
    write: Callable[[EmbeddingSide, Path], None],
) -> list[Path]:
    """Write a file for each side; none takes its name before all are complete."""
    paths = [target]
    if len(sides) > 1:
        paths = [target.with_name(f"{target.stem}.{side}{target.suffix}") for side in sides]
    with ExitStack() as stack:
        for side, path in zip(sides, paths, strict=True):
            write(embedding.side(side), stack.enter_context(atomic_file(path)))
    return paths


def _parquet(embedding: Embedding, target: Path, sides: list[Side]) -> list[Path]:
    def write(side: EmbeddingSide, path: Path) -> None:
        table = pa.table({"id": side.ids.to_arrow(), "vector": vector_array(side.vectors)})
        pq.write_table(table, path, compression="zstd", use_dictionary=False)

    return _file_a_side(embedding, target, sides, write)


def _word2vec(embedding: Embedding, target: Path, sides: list[Side]) -> list[Path]:
    def write(side: EmbeddingSide, path: Path) -> None:
        with path.open("wb") as file:
            file.write(f"{len(side)} {embedding.dim}\n".encode())
            for start in range(0, len(side), _ROWS_AT_ONCE):
                _word2vec_lines(side, slice(start, start + _ROWS_AT_ONCE), file)

    return _file_a_side(embedding, target, sides, write)


def _word2vec_lines(side: EmbeddingSide, rows: slice, file: Any) -> None:
    words = pa.array([word(str(key)) for key in side.ids[rows]], type=pa.string())
    columns = [pa.array(column) for column in np.ascontiguousarray(side.vectors[rows].T)]
    pa_csv.write_csv(
        pa.table([words, *columns], names=[str(i) for i in range(len(columns) + 1)]),
        file,
        pa_csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none"),
    )


def word(key: str) -> str:
    """Return an id without blanks, control characters, ``%`` or quotes.

    >>> word("Blade Runner"), word("Zoë"), word("100%")
    ('Blade%20Runner', 'Zoë', '100%25')
    """
    return re.sub(
        r'[\s%"\x00-\x1f\x7f]',
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()),
        key,
    )


def _id_array(side: EmbeddingSide) -> npt.NDArray[Any]:
    """Return ids as a numpy array that needs no pickle."""
    if side.ids.is_integer:
        return side.ids.to_numpy()
    keys = list(side.ids)
    array = np.array(keys, dtype=np.str_)
    if array.tolist() != keys:
        raise SaveError(
            "an id ends in a NUL character, which npz cannot hold. Export to parquet instead."
        )
    return array


def _npz(embedding: Embedding, target: Path, sides: list[Side]) -> list[Path]:
    arrays = {}
    for side in sides:
        arrays[f"{side}_ids"] = _id_array(embedding.side(side))
        arrays[f"{side}_vectors"] = embedding.side(side).vectors
    with atomic_file(target) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return [target]


def _safetensors(embedding: Embedding, target: Path, sides: list[Side]) -> list[Path]:
    numpy = require("safetensors.numpy", "export", "exporting to safetensors")
    metadata = {"method": embedding.method, "params": json.dumps(embedding.params)}
    for side in sides:
        metadata[f"{side}_ids"] = json.dumps(list(embedding.side(side).ids))
    if len(json.dumps(metadata)) > _SAFETENSORS_HEADER:
        raise SaveError(
            "the ids take more than the 100 MB that a safetensors header holds. "
            "Export to parquet instead."
        )
    tensors = {side: embedding.side(side).vectors for side in sides}
    content = numpy.save(tensors, metadata=metadata)
    with atomic_file(target) as temporary:
        temporary.write_bytes(content)
    return [target]


def _projector(embedding: Embedding, target: Path, sides: list[Side]) -> list[Path]:
    """Write what ``tensorboard --logdir DIRECTORY`` shows under Projector."""
    tables = [
        f"{side}_{what}.tsv" for side in ("left", "right") for what in ("vectors", "metadata")
    ]
    check_replaceable(target, [*tables, "projector_config.pbtxt"], "projector_config.pbtxt")
    config = []
    with atomic_directory(target) as folder:
        for side in sides:
            own = embedding.side(side)
            columns = [pa.array(column) for column in np.ascontiguousarray(own.vectors.T)]
            pa_csv.write_csv(
                pa.table(columns, names=[str(i) for i in range(len(columns))]),
                folder / f"{side}_vectors.tsv",
                pa_csv.WriteOptions(include_header=False, delimiter="\t"),
            )
            _write_labels(embedding, side, folder / f"{side}_metadata.tsv")
            config.append(
                f'embeddings {{\n  tensor_name: "{side}"\n  tensor_path: "{side}_vectors.tsv"\n'
                f'  metadata_path: "{side}_metadata.tsv"\n}}\n'
            )
        (folder / "projector_config.pbtxt").write_text("".join(config), encoding="utf-8")
    return [target]


def _write_labels(embedding: Embedding, side: Side, path: Path) -> None:
    # A tab or line end in an id would shift every label below it; a label is only looked at.
    shown = [re.sub(r"[\t\r\n]", " ", str(key)) for key in embedding.side(side).ids]
    if embedding.graph is not None:  # two columns take a header, one column must not have it
        degrees = embedding.graph.side(side).degrees
        shown = ["id\tdegree", *(f"{key}\t{n}" for key, n in zip(shown, degrees, strict=True))]
    path.write_text("".join(f"{line}\n" for line in shown), encoding="utf-8", newline="\n")


def _anndata(embedding: Embedding, target: Path, sides: list[Side]) -> list[Path]:
    if len(sides) == 1:
        raise InputError("AnnData holds both sides", "Leave the side out.")
    anndata = require("anndata", "export", "exporting to AnnData")
    pandas = require("pandas", "export", "exporting to AnnData")
    graph = embedding.graph
    names = [[str(key) for key in embedding.side(side).ids] for side in sides]
    if any("\x00" in key for side_names in names for key in side_names):
        raise SaveError("an id holds a NUL character, which HDF5 cannot hold. Export to parquet.")
    tables = [pandas.DataFrame(index=pandas.Index(side_names)) for side_names in names]
    if graph is not None:
        for table, side in zip(tables, sides, strict=True):
            table["degree"] = graph.side(side).degrees
    data = anndata.AnnData(
        X=None if graph is None else graph.to_scipy().copy(),
        obs=tables[0],
        var=tables[1],
        obsm={"bivec": embedding.left.vectors},
        varm={"bivec": embedding.right.vectors},
        uns={"bivec": {"method": embedding.method, "params": json.dumps(embedding.params)}},
    )
    with atomic_file(target) as temporary:
        data.write_h5ad(temporary, compression="gzip")
    return [target]


EXPORTS: dict[str, Callable[[Embedding, Path, list[Side]], list[Path]]] = {
    "parquet": _parquet,
    "word2vec": _word2vec,
    "npz": _npz,
    "safetensors": _safetensors,
    "projector": _projector,
    "anndata": _anndata,
}
"""Each format's name and its writer."""
