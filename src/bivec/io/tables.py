"""Edges as a table: Parquet and Arrow files, and any Arrow table in memory."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.io.columns import (
    MISSING_END,
    UNUSABLE_WEIGHT,
    Auto,
    Column,
    WeightColumn,
    graph_from_columns,
    resolve,
    resolve_ends,
)
from bivec.io.sniff import guess_weight
from bivec.io.source import Source

METADATA_KEY = b"bivec"
"""Where a table written by bivec keeps the nodes that have no edge."""


def read_table_file(
    source: Source, kind: str, left: Column, right: Column, weight: WeightColumn, duplicates: str
) -> tuple[BipartiteGraph, str]:
    """Read the needed columns of a Parquet or Arrow file."""
    if source.compression:
        raise InputError(
            f"this {kind} file is packed with {source.compression}, which bivec does not unpack",
            f"Unpack it first; {kind} compresses its own columns.",
            path=source.path,
        )
    try:
        schema = _schema(source, kind)
        positions = _positions(schema, left, right, weight, source.path)
        names = [schema.names[i] for i in positions if i is not None]
        if len(set(schema.names)) < len(schema.names):
            raise InputError(
                "two columns have the same name", "Give each column its own name.", path=source.path
            )
        table = _read(source, kind, names, schema)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"the {kind} file is damaged or incomplete ({str(error).splitlines()[0].rstrip('.')})",
            "Write or fetch it again.",
            path=source.path,
        ) from error
    weighted = positions[2] is not None
    graph = graph_from_table(
        table, 0, 1, 2 if weighted else None, duplicates=duplicates, path=source.path
    )
    weighting = f"weight {names[2]!r}" if weighted else "unweighted"
    what = {"parquet": "Parquet", "arrow": "Arrow"}[kind]
    return graph, f"{what} table; left is {names[0]!r}, right {names[1]!r}, {weighting}"


def _schema(source: Source, kind: str) -> pa.Schema:
    if kind == "parquet":
        return pq.read_schema(source.path)
    with pa.memory_map(str(source.path)) as file:
        return pa.ipc.open_file(file).schema


def _read(source: Source, kind: str, names: list[str], schema: pa.Schema) -> pa.Table:
    if kind == "arrow":
        with pa.memory_map(str(source.path)) as file:
            return pa.ipc.open_file(file).read_all().select(names)
    text = [name for name in names[:2] if not pa.types.is_integer(schema.field(name).type)]
    return pq.read_table(source.path, columns=names, read_dictionary=text, partitioning=None)


def graph_from_table(
    table: pa.Table,
    left: Column,
    right: Column,
    weight: WeightColumn,
    *,
    duplicates: str,
    path: Any = None,
) -> BipartiteGraph:
    """Build a graph from columns of an Arrow table."""
    columns = _positions(table.schema, left, right, weight, path)

    def fail(problem: str, row: int) -> NoReturn:
        where = f"in row {row + 1:,}, " if row >= 0 else ""
        if problem.startswith("weight: "):
            raise InputError(
                where + problem.removeprefix("weight: "),
                UNUSABLE_WEIGHT,
                path=path,
                column=repr(table.schema.names[columns[2] or 0]),
            )
        position = columns[0] if problem == "left" else columns[1]
        raise InputError(
            f"{where}the {problem} id is missing",
            MISSING_END,
            path=path,
            column=repr(table.schema.names[position]),
            side=problem,
        )

    isolated = _isolated(table.schema)
    if table.num_rows == 0 and not any(isolated):
        raise InputError("the table has no rows", "A graph needs at least one edge.", path=path)
    return graph_from_columns(
        table.column(columns[0]),
        table.column(columns[1]),
        None if columns[2] is None else table.column(columns[2]),
        duplicates=duplicates,
        fail=fail,
        isolated=isolated,
    )


def _positions(
    schema: pa.Schema, left: Column, right: Column, weight: WeightColumn, path: Any
) -> tuple[int, int, int | None]:
    names = [str(name) for name in schema.names]
    if len(names) < 2:
        raise InputError(
            f"the table has {len(names)} column{'s' * (len(names) != 1)}, but an edge has two ends",
            "Give a table with a left and a right column.",
            path=path,
        )
    ends = resolve_ends(left, right, names, path)
    if weight is None:
        return (*ends, None)
    if isinstance(weight, Auto):
        numeric = [pa.types.is_integer(t) or pa.types.is_floating(t) for t in schema.types]
        return (*ends, guess_weight(names, numeric, set(ends)))
    chosen = resolve(weight, names, "weight", path)
    if chosen in ends:
        raise InputError(
            f"column {names[chosen]!r} cannot be a weight and an end",
            "Choose another weight column, or weight=None (--unweighted).",
            path=path,
        )
    return (*ends, chosen)


def _isolated(schema: pa.Schema) -> tuple[list[Any], list[Any]]:
    stored = (schema.metadata or {}).get(METADATA_KEY)
    if stored is None:
        return [], []
    extra = json.loads(stored)
    return extra.get("isolated_left", []), extra.get("isolated_right", [])


def to_table(graph: BipartiteGraph) -> pa.Table:
    """Return the edges as a plain table that carries its isolated nodes along."""
    table = graph.to_arrow()
    if not graph.weighted:
        table = table.drop_columns("weight")
    extra = {}
    for name, side in (("left", graph.left), ("right", graph.right)):
        alone = (side.degrees == 0).nonzero()[0]
        if alone.size:
            extra[f"isolated_{name}"] = list(side.ids.take(alone))
    return table.replace_schema_metadata({METADATA_KEY: json.dumps(extra)} if extra else None)
