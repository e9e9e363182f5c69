"""Edges as a table: Parquet and Arrow files, and any Arrow table in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.io.columns import (
    MISSING_END,
    UNUSABLE_WEIGHT,
    Column,
    Roles,
    WeightColumn,
    are_times,
    graph_from_columns,
    is_numeric,
    resolve_roles,
)
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
        if len(set(schema.names)) < len(schema.names):
            raise InputError(
                "two columns have the same name", "Give each column its own name.", path=source.path
            )
        roles = _roles(
            schema,
            lambda i: _read(source, kind, [schema.names[i]], schema).column(0),
            (left, right, weight),
            source.path,
        )
        names = [schema.names[i] for i in (roles.left, roles.right, roles.weight) if i is not None]
        table = _read(source, kind, names, schema)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"the {kind} file is damaged or incomplete ({str(error).splitlines()[0].rstrip('.')})",
            "Write or fetch it again.",
            path=source.path,
        ) from error
    graph = graph_from_roles(
        table, Roles(0, 1, None if roles.weight is None else 2), duplicates, source.path
    )
    weighting = "unweighted" if roles.weight is None else f"weight {names[2]!r}"
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
    text = [name for name in names[:2] if _is_text(schema.field(name).type)]
    return pq.read_table(source.path, columns=names, read_dictionary=text, partitioning=None)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def graph_from_table(
    table: pa.Table, left: Column, right: Column, weight: WeightColumn, duplicates: str
) -> BipartiteGraph:
    """Build a graph from an Arrow table."""
    return graph_from_roles(
        table, _roles(table.schema, table.column, (left, right, weight)), duplicates
    )


def _roles(
    schema: pa.Schema,
    column: Callable[[int], pa.ChunkedArray],
    chosen: tuple[Column, Column, WeightColumn],
    path: Any = None,
) -> Roles:
    numeric = [is_numeric(kind) for kind in schema.types]
    return resolve_roles(schema.names, numeric, *chosen, lambda: are_times(column(2)), path)


def graph_from_roles(
    table: pa.Table, roles: Roles, duplicates: str, path: Any = None
) -> BipartiteGraph:
    """Build a graph from chosen columns of an Arrow table."""

    def fail(problem: str, row: int) -> NoReturn:
        where = f"in row {row + 1:,}, " if row >= 0 else ""
        if problem.startswith("weight: "):
            raise InputError(
                where + problem.removeprefix("weight: "),
                UNUSABLE_WEIGHT,
                path=path,
                column=repr(table.schema.names[roles.weight or 0]),
            )
        position = roles.left if problem == "left" else roles.right
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
        table.column(roles.left),
        table.column(roles.right),
        None if roles.weight is None else table.column(roles.weight),
        duplicates=duplicates,
        fail=fail,
        isolated=isolated,
    )


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
