"""Vectors for new nodes without training again: fold them in.

A new node's row is optimised alone, with the objective, samples and steps of training, against
tables that do not move. What the node's vector would be had it been there from the start differs by
what it would have moved of others, which for one node among many is little.

Its random numbers are named by its neighbours: the same neighbours give the same vector, whatever
its id and whoever is folded in with it.

That is for vectors as they were learned; smoothed ones are folded in by
:mod:`bivec.queries.fold_smoothed`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.errors import InputError
from bivec.graph import BipartiteGraph, Side
from bivec.ids import Id, Vocabulary
from bivec.parallel import Workers
from bivec.queries.coordinates import coordinates_of
from bivec.queries.fold_smoothed import fold_smoothed
from bivec.queries.parts import OTHER, Vectors, facing, side_of
from bivec.queries.scorers import Table, needs_a_graph
from bivec.sampling import graph_views
from bivec.settings import Settings
from bivec.similarity import edge_similarities

_STEPS = {"fobe": 4, "hobe": 2}
_RATE = {"fobe": 0.3, "hobe": 1.0}
"""Samples of an epoch and learning rate, times those of training.

A new node does not start at random but near its place, so FOBE's steps, whose length does not
depend on the slope, must be shorter; more samples take noise out of the slope. Chosen on the graph
of ``bivec.datasets.viewer_movies()``, checked on others.
"""


class NewNodes(NamedTuple):
    """New nodes and their known neighbours: compressed rows into the far side of the graph."""

    ids: Vocabulary
    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]
    unknown: dict[Id, list[Id]]


def fold_in(vectors: Vectors, nodes: NewNodes, side: Side, n_jobs: int | None = None) -> Table:
    """Return a vector for each new node; see :meth:`bivec.Embedding.fold_in`."""
    from bivec.kernels.fold import Schedule, fold_rows
    from bivec.kernels.train import scratch_arrays

    graph = facing(vectors.graph, side)
    if graph is None:
        raise needs_a_graph("folding in")
    settings, scales = training_settings(vectors)
    number = 0 if side == "left" else 1
    if is_smoothed(vectors):
        return fold_smoothed(vectors, graph, nodes, side, scales[number])
    own = side_of(vectors, side).vectors / np.float32(scales[number])
    far = side_of(vectors, OTHER[side]).vectors / np.float32(scales[1 - number])
    out = np.zeros((len(nodes.ids), settings.dim), np.float32)
    if not len(own):
        return out
    steps = settings.steps * _STEPS[settings.method]
    # Every sample is a fresh one.
    plan = settings.plan(number, ahead=False)._replace(n_samples=settings.epochs * steps)
    rate = settings.learning_rate * _RATE[settings.method]
    schedule = Schedule(settings.epochs, steps, rate, settings.negative_weight)
    fresh = _fresh(vectors, graph, nodes, side)
    view = _views(vectors, settings)[number]
    local = threading.local()

    def fold(start: int, stop: int) -> None:
        if not hasattr(local, "room"):
            room = scratch_arrays(plan, steps)
            local.room = room, np.empty(settings.dim, np.float32), np.empty(4)
        fold_rows(view, plan, schedule, own, far, fresh, *local.room, out, start, stop)  # type: ignore[call-arg]

    with Workers(n_jobs) as workers:
        workers.run(fold, len(out), 4)
    out *= np.float32(scales[number])
    return out


def is_smoothed(vectors: Vectors) -> bool:
    """Whether the vectors were smoothed after training."""
    return any(vectors.params.get("smoothing_steps", ()))


def training_settings(vectors: Vectors) -> tuple[Settings, tuple[float, float]]:
    """Return what an embedding was trained with, and the factors its sides were scaled by."""
    if vectors.method not in _RATE:
        raise InputError(
            f"folding in is for fobe and hobe, and this embedding is of {vectors.method}",
            "Train one of those, or train again with the new nodes.",
        )
    known = {field.name for field in fields(Settings)} - {"method", "seed", "dim"}
    params = {k: v for k, v in vectors.params.items() if k in known}
    seed = vectors.params.get("random_state", 0)
    dim = vectors.left.vectors.shape[1]
    scales = (1.0, 1.0)
    if vectors.params.get("norm") is not None:
        if "scales" not in vectors.params:
            raise InputError(
                "this embedding was scaled to a norm, and does not say by how much",
                "Train it again with this version, or without norm.",
            )
        left, right = vectors.params["scales"]
        scales = (left, right)
    return Settings(vectors.method, dim=dim, seed=seed, **params), scales


def _views(vectors: Vectors, settings: Settings) -> Any:
    """Return the graph as kernels see it from both sides, once."""
    if "views" not in vectors.cache:
        graph = vectors.graph
        assert graph is not None
        similarity = None
        if settings.method == "hobe":
            similarity = edge_similarities(graph, coordinates_of(vectors, graph))
        vectors.cache["views"] = graph_views(graph, settings.method, "walk", similarity)
    return vectors.cache["views"]


def _fresh(vectors: Vectors, graph: BipartiteGraph, nodes: NewNodes, side: Side) -> Any:
    """Return the new nodes as the kernel takes them."""
    from bivec.kernels.fold import Fresh

    degrees = graph.right.degrees[nodes.indices]
    paths = np.concatenate([[0], np.cumsum(degrees)])
    similarity = np.empty(0, np.float32)
    if vectors.method == "hobe":
        coordinates = coordinates_of(vectors, vectors.graph)  # type: ignore[arg-type]
        far = coordinates.right if side == "left" else coordinates.left
        similarity = _similarity(nodes, far, degrees)
    names = np.array(
        [
            int.from_bytes(_digest(nodes.indices[a:b]), "little") >> 2
            for a, b in zip(nodes.indptr[:-1], nodes.indptr[1:], strict=True)
        ],
        np.int64,
    )
    indices = np.ascontiguousarray(nodes.indices, graph.left.indices.dtype)
    return Fresh(nodes.indptr, indices, similarity, paths, names)


def _digest(rows: npt.NDArray[Any]) -> bytes:
    from hashlib import blake2b

    return blake2b(rows.astype("<i8").tobytes(), digest_size=8).digest()


def _similarity(nodes: NewNodes, far: Table, degrees: npt.NDArray[np.int64]) -> Table:
    """Return the similarity of the new edges.

    A new node's coordinates are where relaxation would lead it: the mean of its neighbours', each
    by one over its degree, the new edge counted.
    """
    pull = 1.0 / (degrees + 1)
    rows = np.repeat(np.arange(len(nodes.ids)), np.diff(nodes.indptr))
    matrix = sparse.csr_array((pull, nodes.indices, nodes.indptr), shape=(len(nodes.ids), len(far)))
    total = np.bincount(rows, pull, len(nodes.ids))
    own = (matrix @ far.astype(np.float64)) / np.where(total > 0, total, 1)[:, None]
    gap = own[rows] - far[nodes.indices]
    return np.asarray(1 - np.sqrt((gap * gap).mean(axis=1)), np.float32)


# What new nodes may be given as


def new_nodes(rows: Any, far: Vocabulary, side: Side) -> NewNodes:
    """Understand new nodes and their neighbours, whatever they are given as.

    Parameters
    ----------
    rows : mapping, sparse matrix, BipartiteGraph, or anything that :func:`bivec.as_graph` takes
        See :meth:`bivec.Embedding.fold_in`.
    far : Vocabulary
        The ids of the other side.
    side : {"left", "right"}
        The side of the new nodes.
    """
    if isinstance(rows, Mapping):
        return _from_mapping(rows, far)
    if sparse.issparse(rows) or isinstance(rows, np.ndarray):
        return _from_matrix(rows, far)
    from bivec.io import as_graph

    given = facing(as_graph(rows), side)
    assert given is not None
    found = far.find(given.right.ids)[given.left.indices]
    return _compressed(
        given.left.ids,
        np.repeat(np.arange(given.n_left), given.left.degrees),
        found,
        given.left.weights,
        lambda at: given.right.ids[int(given.left.indices[at])],
        len(far),
    )


def _from_mapping(rows: Mapping[Any, Any], far: Vocabulary) -> NewNodes:
    owners: list[int] = []
    keys: list[Id] = []
    weights: list[float] = []
    for owner, neighbors in enumerate(rows.values()):
        for key, weight in _neighbors(neighbors):
            owners.append(owner)
            keys.append(key)
            weights.append(weight)
    return _compressed(
        Vocabulary(rows.keys()),
        np.array(owners, np.int64),
        far.find(keys),
        np.array(weights, np.float32),
        lambda at: keys[at],
        len(far),
    )


def _neighbors(given: Any) -> Iterable[tuple[Id, float]]:
    """Return pairs of id and weight from a list of ids, of pairs, or a mapping."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(
            f"the neighbours of a new node are {given!r}", "Give a list of ids for each new node."
        )
    items = given.items() if isinstance(given, Mapping) else given
    pairs = [item if isinstance(item, tuple) else (item, 1.0) for item in items]
    for pair in pairs:
        weight = pair[1] if len(pair) == 2 else None
        if not isinstance(weight, (int, float, np.number)) or not 0 < float(weight) < np.inf:
            raise InputError(
                f"{pair!r} is no neighbour with a weight",
                "Give ids, or pairs of an id and a positive weight.",
            )
    return pairs


def _from_matrix(matrix: Any, far: Vocabulary) -> NewNodes:
    entries = sparse.csr_array(matrix)
    if entries.shape[1] != len(far):
        raise InputError(
            f"the matrix has {entries.shape[1]:,} columns for {len(far):,} nodes of the other side",
            "Give one row for each new node and one column for each node of the other side.",
        )
    entries.sum_duplicates()
    entries.eliminate_zeros()
    if not np.isfinite(entries.data).all() or (entries.data < 0).any():
        raise InputError("the matrix has weights that are negative or not finite")
    return NewNodes(
        Vocabulary.numbered(entries.shape[0]),
        entries.indptr.astype(np.int64),
        entries.indices,
        entries.data.astype(np.float32),
        {},
    )


def _compressed(
    ids: Vocabulary,
    owners: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float32],
    named: Any,
    n_far: int,
) -> NewNodes:
    """Compress edges by owner, without those to unknown nodes, which are reported."""
    unknown: dict[Id, list[Id]] = {}
    for at in np.flatnonzero(found < 0):
        unknown.setdefault(ids[int(owners[at])], []).append(named(int(at)))
    kept = found >= 0
    entries = sparse.coo_array(
        (weights[kept], (owners[kept], found[kept])), shape=(len(ids), n_far)
    ).tocsr()
    entries.sum_duplicates()
    return NewNodes(ids, entries.indptr.astype(np.int64), entries.indices, entries.data, unknown)
