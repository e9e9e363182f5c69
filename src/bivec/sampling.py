"""Procedure 1: pairs of nodes, their sampled neighbourhoods, and what the graph says about them.

For every node and each of its two relations, ``n_samples`` pairs are drawn:

- *left-left* and *right-right*: another node that shares a neighbour with it;
- *direct* (FOBE): a neighbour; *second-order* (HOBE): a node at the end of a path of three edges.

A cross pair carries ``n_neighbors`` sampled neighbours of both ends. Training draws the very same
pairs from the same random numbers; nothing here is stored for it.

References
----------
Sybrandt, Safro, "First- and high-order bipartite embeddings", arXiv:1905.10953, Procedure 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bivec.checks import check_choice, check_integer, seed_of
from bivec.errors import InputError
from bivec.graph import BipartiteGraph, GraphSide
from bivec.parallel import Workers
from bivec.similarity import EdgeSimilarity, edge_similarities

if TYPE_CHECKING:
    from bivec.kernels.view import Graph, Plan

METHODS = ("fobe", "hobe")
DRAWS = ("walk", "set")
EXACT_UP_TO = 128
"""Neighbours of a node that an observation looks at: exact where no node has more."""

_CHUNK = 256


@dataclass(frozen=True, eq=False, slots=True)
class Observations:
    """Samples as parallel arrays, one entry a pair.

    Attributes
    ----------
    relation : array of int8
        Position in ``relations``.
    relations : tuple of str
        ``("left-left", "right-right", "direct")``, or ``"second-order"`` for HOBE.
    owner_side : array of int8
        0 where the owner is a left node, 1 where it is a right one.
    owner, other : array of int64
        Rows of the pair. The owner is the node the sample was drawn for.
    left_neighbors, right_neighbors : array of int64, shape (pairs, n_neighbors)
        Sampled neighbours of the right end, which are left nodes, and of the left end; -1 in
        same-type pairs, which have none.
    observation : array of float32
        What the graph says about the pair: 0 for negatives.
    negative : array of bool
        Whether the pair was drawn as a negative.
    graph : BipartiteGraph
        The graph the rows belong to.
    """

    relation: npt.NDArray[np.int8]
    relations: tuple[str, str, str]
    owner_side: npt.NDArray[np.int8]
    owner: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    left_neighbors: npt.NDArray[np.int64]
    right_neighbors: npt.NDArray[np.int64]
    observation: npt.NDArray[np.float32]
    negative: npt.NDArray[np.bool_]
    graph: BipartiteGraph

    def __len__(self) -> int:
        return len(self.owner)

    def to_arrow(self) -> pa.Table:
        """Return a table with ids for rows; ids are text, as the two sides may differ in kind."""
        names = [
            side.ids.to_arrow().cast(pa.string()) for side in (self.graph.left, self.graph.right)
        ]
        own = self.owner_side == 0
        far = np.where(self.relation == 2, ~own, own)
        return pa.table(
            {
                "relation": pa.DictionaryArray.from_arrays(
                    pa.array(self.relation), pa.array(self.relations)
                ),
                "owner": _pick(names, self.owner, own),
                "other": _pick(names, self.other, far),
                "left_neighbors": _lists(names[0], self.left_neighbors),
                "right_neighbors": _lists(names[1], self.right_neighbors),
                "observation": pa.array(self.observation),
                "negative": pa.array(self.negative),
            }
        )


def sample_observations(
    graph: BipartiteGraph,
    method: Literal["fobe", "hobe"] = "fobe",
    n_samples: int = 200,
    n_neighbors: int = 5,
    n_negatives: int = 0,
    draw: Literal["walk", "set"] = "walk",
    similarity: EdgeSimilarity | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Observations:
    """Draw the samples of every node, as the paper's Procedure 1 does.

    Parameters
    ----------
    graph : BipartiteGraph
        A node without edges has no samples. Weights do not matter.
    method : {"fobe", "hobe"}
        Whose relations and observations.
    n_samples : int
        Pairs for each node and relation, with replacement.
    n_neighbors : int
        Sampled neighbours of each end of a cross pair. The other end is left out unless it is the
        only neighbour.
    n_negatives : int
        Unobserved pairs for each pair: same-type nodes without a common neighbour, or nodes of the
        other side without an edge. Fewer where the graph has none to find.
    draw : {"walk", "set"}
        A walk takes a uniform neighbour at each step, and so reaches a node the more often the more
        bridges lead there. The set gives each node that can be reached the same chance: paths are
        drawn uniformly and kept with probability one over the number of paths to the same end, or
        after 32 in vain. The two differ for pairs at two and three steps.
    similarity : EdgeSimilarity, optional
        For HOBE; computed with the defaults of :func:`bivec.algebraic_coordinates` where not given.
    random_state : int, None, or numpy generator
        The seed. Training with the same seed draws the same samples.
    n_jobs : int, optional
        Threads; every core where not given. The samples do not depend on it.

    Notes
    -----
    An observation beyond direct edges looks at up to 128 neighbours of each node on the way,
    evenly spaced where there are more: exact up to there, at least the strength of the sampled path
    beyond.

    Examples
    --------
    >>> graph = BipartiteGraph([0, 0, 1], [0, 1, 1], left_ids=["ann", "bob"],
    ...                        right_ids=["Alien", "Brazil"])
    >>> samples = sample_observations(graph, n_samples=1, n_neighbors=1)
    >>> samples.to_arrow().select(["relation", "owner", "other", "observation"]).to_pylist()[0]
    {'relation': 'left-left', 'owner': 'ann', 'other': 'bob', 'observation': 1.0}
    """
    seed = seed_of(random_state)
    if method == "hobe" and similarity is None:
        similarity = edge_similarities(graph, random_state=seed, n_jobs=n_jobs)
    views = graph_views(graph, method, draw, similarity)
    parts = []
    for side, view in enumerate(views):
        plan = make_plan(
            side=side, method=method, draw=draw, n_samples=n_samples, n_neighbors=n_neighbors,
            n_negatives=n_negatives, seed=seed,
        )  # fmt: skip
        n = len(view.indptr) - 1
        shape = (n, plan.n_samples, 1 + plan.n_negatives)
        wide = (*shape, plan.n_neighbors)
        same, cross = np.empty(shape, np.int64), np.empty(shape, np.int64)
        observed, cross_observed = np.empty(shape, np.float32), np.empty(shape, np.float32)
        own_neighbors, far_neighbors = np.empty(wide, np.int64), np.empty(wide, np.int64)
        arrays = (same, observed, cross, cross_observed, own_neighbors, far_neighbors)
        flat: list[Any] = [array.ravel() for array in arrays]
        with Workers(n_jobs) as workers:
            workers.run(partial(_draw_rows, view, plan, flat), n, _CHUNK)
        parts.append(_part(side, side, same, observed, None, plan.n_neighbors))
        neighbors = (own_neighbors, far_neighbors)
        parts.append(_part(side, 2, cross, cross_observed, neighbors, plan.n_neighbors))
    third = "direct" if method == "fobe" else "second-order"
    order = [parts[0], parts[2], parts[1], parts[3]]
    columns = {key: np.concatenate([part[key] for part in order]) for key in order[0]}
    return Observations(relations=("left-left", "right-right", third), graph=graph, **columns)


def _draw_rows(view: Graph, plan: Plan, arrays: list[Any], start: int, stop: int) -> None:
    """Fill the samples of rows [start, stop)."""
    from bivec.kernels.sample import pool_arrays, sample_rows

    draw: Any = sample_rows
    draw(view, plan, pool_arrays(plan, plan.n_samples), *arrays, start, stop)


def make_plan(
    *,
    side: int,
    method: str,
    draw: str,
    n_samples: int,
    n_neighbors: int,
    n_negatives: int,
    seed: int,
    ahead: int = 0,
) -> Plan:
    """Check what to draw and return it as the kernels take it."""
    from bivec.kernels.view import Plan

    n_negatives = check_integer("n_negatives", n_negatives, low=0, high=1000)
    return Plan(
        seed=seed,
        side=side,
        method=METHODS.index(check_choice("method", method, METHODS)),
        draw=DRAWS.index(check_choice("draw", draw, DRAWS)),
        n_samples=check_integer("n_samples", n_samples, low=1),
        n_neighbors=check_integer("n_neighbors", n_neighbors, low=1, high=1000),
        n_negatives=n_negatives,
        cap=EXACT_UP_TO,
        ahead=ahead,
    )


def graph_views(
    graph: BipartiteGraph, method: str, draw: str, similarity: EdgeSimilarity | None
) -> tuple[Graph, Graph]:
    """Return the graph as the kernels see it from the left and from the right."""
    from bivec.kernels.view import Graph, mark_neighbors, read_only

    check_choice("method", method, METHODS)
    check_choice("draw", draw, DRAWS)
    sides = (graph.left, graph.right)
    empty = read_only(np.empty(0, np.float32))
    strengths, most = [empty, empty], [empty, empty]
    if method == "hobe":
        if similarity is None:
            raise InputError("HOBE needs the similarity of the edges", "Give similarity=.")
        strengths = [read_only(similarity.left), read_only(similarity.right)]
        if any(len(s) != graph.n_edges for s in strengths):
            raise InputError(
                f"the similarity is for {len(similarity.left):,} edges, "
                f"the graph has {graph.n_edges:,}",
                "Give the similarity of this graph's edges.",
            )
        most = [read_only(_most(sides[s], strengths[s])) for s in (0, 1)]
    paths = reach = [read_only(np.empty(0, np.int64))] * 2
    if draw == "set":
        paths = [read_only(_running(sides[1 - s].degrees[sides[s].indices] - 1)) for s in (0, 1)]
        if method == "hobe":
            reach = [read_only(_reach(sides[s], sides[1 - s], paths[1 - s])) for s in (0, 1)]
    marks = []
    for side in sides:
        word = np.empty(len(side), np.uint64)
        mark_neighbors(side.indptr, side.indices, word)
        marks.append(read_only(word))
    left, right = (
        Graph(
            own.indptr, own.indices, strengths[s], paths[s], reach[s],
            far.indptr, far.indices, strengths[1 - s], paths[1 - s],
            marks[s], marks[1 - s], most[s], most[1 - s],
        )
        for s, (own, far) in enumerate((sides, sides[::-1]))
    )  # fmt: skip
    return left, right


def _most(side: GraphSide, similarity: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the largest similarity of each node's edges, 0 where it has none."""
    most, some = np.zeros(len(side), np.float32), side.degrees > 0
    if some.any():
        most[some] = np.maximum.reduceat(similarity, side.indptr[:-1][some])
    return most


def _running(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the running total, starting from 0."""
    total = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=total[1:])
    return total


def _reach(
    own: GraphSide, far: GraphSide, far_paths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the running number of three-step paths behind each edge of the own side."""
    each = far_paths[far.indptr[1:]] - far_paths[far.indptr[:-1]] + far.degrees
    return _running(each[own.indices])


def _part(
    side: int,
    relation: int,
    others: npt.NDArray[np.int64],
    observed: npt.NDArray[np.float32],
    neighbors: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None,
    size: int,
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of one relation of one side, without the pairs that could not be drawn."""
    kept = observed >= 0
    owner, _, position = np.nonzero(kept)
    n = len(owner)
    if neighbors is None:
        own_side = far_side = np.full((n, size), -1, np.int64)
    else:
        own_side, far_side = neighbors[0][kept], neighbors[1][kept]
    left, right = (own_side, far_side) if side == 0 else (far_side, own_side)
    return {
        "relation": np.full(n, relation, np.int8),
        "owner_side": np.full(n, side, np.int8),
        "owner": owner.astype(np.int64),
        "other": others[kept],
        "left_neighbors": left,
        "right_neighbors": right,
        "observation": observed[kept],
        "negative": position > 0,
    }


def _pick(
    names: list[pa.Array], rows: npt.NDArray[np.int64], left: npt.NDArray[np.bool_]
) -> pa.Array:
    """Return the ids of rows, each of the left or the right side."""
    both = pa.concat_arrays(names)
    return both.take(pa.array(np.where(left, rows, rows + len(names[0]))))


def _lists(names: pa.Array, rows: npt.NDArray[np.int64]) -> pa.Array:
    """Return one list of ids for each row; an empty one where the rows are -1."""
    sizes = (rows >= 0).sum(axis=1)
    flat = rows[rows >= 0]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(flat)))
