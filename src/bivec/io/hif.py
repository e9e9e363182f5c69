"""The Hypergraph Interchange Format (HIF): JSON with a list of incidences.

Nodes are the left side, hyperedges the right side; the weight of an incidence is the weight of the
edge between them. Directions and attributes are passed over. See https://github.com/HIF-org.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.ids import to_id_array
from bivec.io.columns import MISSING_END, UNUSABLE_WEIGHT, graph_from_columns, number_column
from bivec.io.source import Progress, Source


def read_hif(
    source: Source, weighted: bool, duplicates: str, progress: Progress | None
) -> tuple[BipartiteGraph, str]:
    """Read a hypergraph with its isolated nodes and empty hyperedges."""
    with source.open(progress) as stream:
        content = stream.read()
    try:
        data = json.loads(content)
    except UnicodeDecodeError as error:
        raise InputError("the file is no UTF-8", "Save it as UTF-8.", path=source.path) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is no valid JSON ({error.msg})",
            "Mend it or write the file again.",
            path=source.path,
            line=error.lineno,
            column=str(error.colno),
        ) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, deep nesting
        raise InputError(
            f"this JSON is no HIF hypergraph ({error})", _EXAMPLE, path=source.path
        ) from None
    incidences = data.get("incidences") if isinstance(data, dict) else None
    if not isinstance(incidences, list) or not all(isinstance(i, dict) for i in incidences):
        raise InputError(
            "this JSON is no HIF hypergraph: it needs a list 'incidences' of objects",
            _EXAMPLE,
            path=source.path,
        )

    def fail(problem: str, row: int) -> NoReturn:
        if problem.startswith("weight: "):
            raise InputError(
                f"in incidence {row + 1:,}, {problem.removeprefix('weight: ')}",
                UNUSABLE_WEIGHT,
                path=source.path,
            )
        kind = {"left": "node", "right": "edge"}[problem]
        raise InputError(
            f"incidence {row + 1:,} has no {kind!r}", MISSING_END, path=source.path, side=problem
        )

    nodes, edges = (_ids(incidences, key, side, fail) for key, side in _KEYS)
    isolated = (_listed(data, "nodes", "node", source), _listed(data, "edges", "edge", source))
    if not incidences and not any(isolated):
        raise InputError("the hypergraph has no incidences", "List at least one.", path=source.path)
    graph = graph_from_columns(
        nodes,
        edges,
        _weights(incidences, fail) if weighted else None,
        duplicates=duplicates,
        fail=fail,
        isolated=isolated,
    )
    return graph, "HIF hypergraph; left is the node, right the hyperedge"


_KEYS = (("node", "left"), ("edge", "right"))
_EXAMPLE = 'It should look like {"incidences": [{"node": "ann", "edge": "party"}]}.'


def _ids(incidences: list[dict[str, Any]], key: str, side: str, fail: Any) -> pa.ChunkedArray:
    values = [incidence.get(key) for incidence in incidences]
    if None in values or "" in values:
        fail(side, next(i for i, value in enumerate(values) if value in (None, "")))
    return pa.chunked_array([to_id_array(values, side)])


def _weights(incidences: list[dict[str, Any]], fail: Any) -> pa.ChunkedArray | None:
    if not any("weight" in incidence for incidence in incidences):
        return None
    return number_column([incidence.get("weight", 1) for incidence in incidences], fail)


def _listed(data: dict[str, Any], table: str, key: str, source: Source) -> list[Any]:
    rows = data.get(table) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) and key in row for row in rows):
        raise InputError(
            f"{table!r} is not a list of objects with a {key!r}",
            "Mend it or leave it out.",
            path=source.path,
        )
    return [row[key] for row in rows]


def write_hif(graph: BipartiteGraph, path: Path) -> None:
    """Write every node, hyperedge and incidence."""
    lefts, rights = list(graph.left.ids), list(graph.right.ids)
    ends = zip(graph.left_rows().tolist(), graph.left.indices.tolist(), strict=True)
    incidences: list[dict[str, Any]] = [{"node": lefts[i], "edge": rights[j]} for i, j in ends]
    if graph.weighted:
        for incidence, weight in zip(incidences, graph.left.weights.tolist(), strict=True):
            incidence["weight"] = weight
    content = {
        "network-type": "undirected",
        "metadata": {},
        "nodes": [{"node": key} for key in lefts],
        "edges": [{"edge": key} for key in rights],
        "incidences": incidences,
    }
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
