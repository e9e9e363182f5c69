"""Take a graph from an object: a matrix, a frame, a networkx graph, pairs, a hypergraph."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from scipy import sparse

from bivec.errors import InputError, shown
from bivec.graph import BipartiteGraph
from bivec.ids import Id, to_id_array
from bivec.io.columns import (
    AUTO,
    Auto,
    Column,
    Roles,
    WeightColumn,
    are_times,
    graph_from_columns,
    number_column,
    resolve_roles,
)
from bivec.io.matrix import graph_from_matrix
from bivec.io.read import read_edges
from bivec.io.tables import graph_from_roles, graph_from_table


def as_graph(
    data: Any,
    *,
    left: Column = 0,
    right: Column = 1,
    weight: WeightColumn = AUTO,
    left_ids: Iterable[Id] | None = None,
    right_ids: Iterable[Id] | None = None,
    duplicates: str = "sum",
) -> BipartiteGraph:
    """Turn whatever holds a bipartite graph into a :class:`~bivec.BipartiteGraph`.

    Parameters
    ----------
    data
        One of

        * a :class:`~bivec.BipartiteGraph`, returned as it is, or a path for :func:`read_edges`;
        * a scipy sparse matrix or array, or a two-dimensional numpy array: the biadjacency matrix,
          rows left, columns right. Row order is kept; an explicit 0 or a masked entry is no edge;
        * a pandas, polars or pyarrow frame (anything narwhals knows): one row an edge;
        * a networkx graph: nodes with ``bipartite=0`` are left, or those in ``left_ids``; without
          either a connected graph is two-coloured, its first node left;
        * an iterable of pairs ``(left, right)`` or triples ``(left, right, weight)``;
        * a dict of sets, a hypergraph: ``{"party": {"ann", "bob"}}``; members are left, hyperedges
          right.
    left, right
        Columns of a frame, as in :func:`read_edges`.
    weight
        A column of a frame, as in :func:`read_edges`, or an edge attribute of a networkx graph
        (``"weight"`` unless another is named; an edge without it has weight 1). None takes no
        weights, whatever the input.
    left_ids, right_ids : iterable, optional
        For a matrix, the ids of its rows and columns; for a networkx graph, ``left_ids`` says
        which nodes are left.
    duplicates : {"sum", "max", "last", "error"}
        What becomes of an edge that is given more than once.

    Examples
    --------
    >>> as_graph([("ann", "Alien"), ("bob", "Alien"), ("bob", "Brazil")])
    BipartiteGraph(2 left, 2 right, 3 edges)
    >>> as_graph({"party": {"ann", "bob"}, "choir": {"bob"}}).neighbors("bob", side="left")
    ['choir', 'party']
    """
    named = left_ids is not None or right_ids is not None
    matrix, network = _is_matrix(data), _is_networkx(data)
    if named and not (matrix or network):
        raise InputError(
            "left_ids and right_ids go with matrices and networkx graphs only",
            "Other input carries its own ids.",
        )
    if isinstance(data, (str, os.PathLike)):
        return read_edges(data, left=left, right=right, weight=weight, duplicates=duplicates)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return graph_from_table(data, left, right, weight, duplicates)
    plain = matrix or network or isinstance(data, (BipartiteGraph, Mapping))
    if not plain and (frame := _as_frame(data)) is not None:
        return _from_frame(frame, left, right, weight, duplicates)
    attribute = network and isinstance(weight, str)
    if (left, right) != (0, 1) or not (attribute or weight is None or isinstance(weight, Auto)):
        raise InputError(
            f"left, right and weight choose columns, and a {type(data).__name__} has none",
            "Drop them; weight=None reads without weights.",
        )
    if isinstance(data, BipartiteGraph):
        return data if weight is not None else _unweighted(data)
    if matrix:
        return _from_matrix(data, weight, left_ids, right_ids, duplicates)
    if network:
        if right_ids is not None:
            raise InputError(
                "right_ids does not go with a networkx graph", "Pass left_ids; the rest are right."
            )
        return _from_networkx(data, weight, left_ids, duplicates)
    if isinstance(data, Mapping):
        return _from_hypergraph(data, duplicates)
    if hasattr(data, "read"):
        raise InputError(
            f"cannot take a graph from an open file ({type(data).__name__})",
            "Pass its path; compressed files are read as they are.",
        )
    if isinstance(data, Iterable) and not isinstance(data, (bytes, bytearray)):
        return _from_pairs(data, weight, duplicates)
    raise InputError(
        f"cannot take a graph from an object of type {type(data).__name__}",
        "Pass a path, a scipy matrix, a frame, a networkx graph, pairs or a dict of sets.",
    )


def _unweighted(graph: BipartiteGraph) -> BipartiteGraph:
    return BipartiteGraph(
        graph.left_rows(), graph.left.indices, left_ids=graph.left.ids, right_ids=graph.right.ids
    )


def _is_matrix(data: Any) -> bool:
    return sparse.issparse(data) or isinstance(data, np.ndarray)


def _from_matrix(
    matrix: Any, weight: WeightColumn, left_ids: Any, right_ids: Any, duplicates: str
) -> BipartiteGraph:
    pairs = isinstance(matrix, np.ndarray) and matrix.dtype.kind in "iu" and matrix.ndim == 2
    if pairs and len(matrix) > 2 == matrix.shape[1] and left_ids is right_ids is None:
        raise InputError(
            f"an array of integers of shape {matrix.shape} may be a list of pairs or a matrix",
            "Pass list(map(tuple, a)) for pairs, scipy.sparse.csr_array(a) for a matrix.",
        )
    if isinstance(matrix, np.ma.MaskedArray):
        matrix = matrix.filled(0)
    if weight is None and isinstance(matrix, np.ndarray):
        matrix = matrix != 0
    elif weight is None:
        entries = sparse.coo_array(matrix)
        matrix = sparse.coo_array((entries.data != 0, entries.coords), shape=matrix.shape)
    return graph_from_matrix(matrix, left_ids, right_ids, duplicates)


def _as_frame(data: Any) -> Any:
    import narwhals as nw

    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            f"two columns of the frame have the same name ({error})",
            "Give each column its own name.",
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_frame(
    frame: Any, left: Column, right: Column, weight: WeightColumn, duplicates: str
) -> BipartiteGraph:
    names = [str(name) for name in frame.columns]
    numeric = [kind.is_numeric() for kind in frame.schema.values()]
    roles = resolve_roles(
        names, numeric, left, right, weight, lambda: are_times(frame[:, 2].to_arrow())
    )
    chosen = [i for i in (roles.left, roles.right, roles.weight) if i is not None]
    try:
        columns = [frame[:, i].to_arrow() for i in chosen]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            f"a column of the frame mixes types ({str(error).splitlines()[0]})",
            "Convert the id columns to strings or integers first.",
        ) from error
    table = pa.Table.from_arrays(columns, names=[names[i] for i in chosen])
    return graph_from_roles(table, Roles(0, 1, 2 if len(chosen) == 3 else None), duplicates)


def _fail(problem: str, row: int) -> NoReturn:
    if problem.startswith("weight: "):
        raise InputError(
            f"in edge {row + 1:,}, {problem.removeprefix('weight: ')}",
            "Weights are finite numbers, not negative.",
        )
    raise InputError(
        f"edge {row + 1:,} has an empty {problem} id", "Every node needs an id.", side=problem
    )


def _from_lists(
    lefts: list[Any],
    rights: list[Any],
    weights: list[Any] | None,
    duplicates: str,
    isolated: tuple[list[Any], list[Any]] = ([], []),
) -> BipartiteGraph:
    return graph_from_columns(
        pa.chunked_array([to_id_array(lefts, "left")]),
        pa.chunked_array([to_id_array(rights, "right")]),
        None if weights is None else number_column(weights, _fail),
        duplicates=duplicates,
        fail=_fail,
        isolated=isolated,
    )


def _from_pairs(pairs: Iterable[Any], weight: WeightColumn, duplicates: str) -> BipartiteGraph:
    edges = list(pairs)
    if not edges:
        raise InputError("there are no edges", "Pass at least one pair (left, right).")
    for i, edge in enumerate(edges):
        if not isinstance(edge, (tuple, list)) or len(edge) not in (2, 3):
            raise InputError(
                f"edge {i + 1:,} is {shown(edge)}, not a pair",
                "Pass (left, right) or (left, right, weight).",
            )
    weights = [edge[2] if len(edge) == 3 else 1 for edge in edges]
    weighted = weight is not None and any(len(edge) == 3 for edge in edges)
    return _from_lists(
        [edge[0] for edge in edges], [edge[1] for edge in edges], weights if weighted else None,
        duplicates,
    )  # fmt: skip


def _from_hypergraph(groups: Mapping[Any, Any], duplicates: str) -> BipartiteGraph:
    if not groups:
        raise InputError("the hypergraph is empty", "Pass {hyperedge: members}.")
    lefts: list[Any] = []
    rights: list[Any] = []
    for key, members in groups.items():
        if isinstance(members, (str, bytes, Mapping)) or not isinstance(members, Iterable):
            raise InputError(
                f"the members of hyperedge {shown(key)} are a {type(members).__name__}",
                "A hypergraph is a dict of sets: {hyperedge: {members}}.",
            )
        lefts.extend(members)
        rights.extend([key] * (len(lefts) - len(rights)))
    return _from_lists(lefts, rights, None, duplicates, isolated=([], list(groups)))


def _is_networkx(data: Any) -> bool:
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(data, networkx.Graph)


def _from_networkx(
    graph: Any, weight: WeightColumn, left_ids: Any, duplicates: str
) -> BipartiteGraph:
    if len(graph) == 0:
        raise InputError("the networkx graph is empty", "A graph needs at least one edge.")
    side = _sides(graph, left_ids)
    name = weight if isinstance(weight, str) else "weight"
    if name is weight and not any(name in attributes for *_, attributes in graph.edges(data=True)):
        raise InputError(
            f"no edge of the networkx graph has an attribute {name!r}",
            "Name one that edges have, or pass weight=None.",
        )
    lefts, rights, weights = [], [], []
    for u, v, attributes in graph.edges(data=True):
        if side[u] == side[v]:
            where = ("left", "right")[side[u]]
            raise InputError(
                f"the graph is not bipartite: the edge {shown(u)} - {shown(v)} joins "
                f"two {where} nodes",
                "Remove such edges, or say with left_ids which nodes are left.",
            )
        lefts.append(u if side[u] == 0 else v)
        rights.append(v if side[u] == 0 else u)
        weights.append(attributes.get(name, 1))
    alone: tuple[list[Any], list[Any]] = ([], [])
    for node in graph:
        if graph.degree(node) == 0:
            alone[side[node]].append(node)
    weighted = weight is not None and any(value != 1 for value in weights)
    return _from_lists(lefts, rights, weights if weighted else None, duplicates, isolated=alone)


def _sides(graph: Any, left_ids: Any) -> dict[Any, int]:
    """Decide the side of every node: by choice, by attribute, or by colouring."""
    if left_ids is not None:
        chosen = set(left_ids)
        if unknown := chosen - set(graph):
            raise InputError(
                f"left_ids names {shown(next(iter(unknown)))}, which is no node of the graph",
                "Name nodes of the graph.",
            )
        return {node: int(node not in chosen) for node in graph}
    marks = {node: attributes.get("bipartite") for node, attributes in graph.nodes(data=True)}
    if any(mark is not None for mark in marks.values()):
        for node, mark in marks.items():
            if mark not in (0, 1):
                raise InputError(
                    f"the attribute 'bipartite' of node {shown(node)} is {shown(mark)}, "
                    "but other nodes have it",
                    "Set it to 0 (left) or 1 (right) for every node, or pass left_ids.",
                )
        return {node: int(mark) for node, mark in marks.items()}
    networkx = sys.modules["networkx"]
    undirected = graph.to_undirected() if graph.is_directed() else graph
    try:
        colors = networkx.bipartite.color(undirected)
    except networkx.NetworkXError:
        cycle = _odd_cycle(networkx, undirected)
        raise InputError(
            f"the graph is not bipartite: it has an odd cycle through {cycle}",
            "Remove such edges, or say with left_ids which nodes are left.",
        ) from None
    if not networkx.is_connected(undirected):
        raise InputError(
            "the graph falls into several components, so it is not clear which nodes are left",
            "Set the node attribute bipartite=0 or 1, or pass left_ids.",
        )
    first = colors[next(iter(graph))]
    return {node: int(color != first) for node, color in colors.items()}


def _odd_cycle(networkx: Any, graph: Any) -> str:
    """Name an edge whose ends are an even number of steps from the root of their component."""
    for component in networkx.connected_components(graph):
        depth = networkx.single_source_shortest_path_length(graph, next(iter(component)))
        for u, v in graph.edges(component):
            if depth[u] % 2 == depth[v] % 2:
                return f"the edge {shown(u)} - {shown(v)}"
    return "one of its edges"
