r"""Why a left and a right node may go together, by the paper's second-order relation.

A bridge is a path :math:`a_i - b - a - b_j` over three edges: another left node a has the right
node in question and shares b with the left node in question. The paper observes the pair as its
strongest bridge,

.. math:: S'_V(a_i, b_j) = \max_{b, a} \min(s(a, b), \max(s(a_i, b), s(a, b_j)))

with s the algebraic similarity of an edge (the two maxima of the text run over the same paths), and
estimates it from the vectors as a mean over the neighbours,

.. math:: \tilde S_V(a_i, b_j) = \frac{1}{|\Gamma(a_i)| |\Gamma(b_j)|}
    \sum_{a \in \Gamma(b_j)} \sum_{b \in \Gamma(a_i)} \tilde S_A(a_i, a) \tilde S_B(b_j, b)

so each bridge has a strength of its own and a term of the estimate. Where the pair is an edge, the
paths over that edge are no bridges: they would explain it by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_integer
from bivec.graph import BipartiteGraph
from bivec.ids import Id
from bivec.queries.coordinates import coordinates_of
from bivec.queries.parts import Vectors, fitted
from bivec.queries.results import Bridge, Explanation
from bivec.queries.scorers import Scorer, Table, needs_a_graph, unit
from bivec.similarity import AlgebraicCoordinates

Values = npt.NDArray[np.float64]


def explain(
    vectors: Vectors, left: Id, right: Id, n: int = 5, *, scorer: str | Scorer | None = None
) -> Explanation:
    """Find the strongest bridges of a pair; see :meth:`bivec.Embedding.explain`."""
    from bivec.kernels.bridges import find_bridges

    n = check_integer("n", n, low=0)
    graph = vectors.graph
    if graph is None:
        raise needs_a_graph("explaining")
    i = int(graph.left.ids.rows([left], "left")[0])
    j = int(graph.right.ids.rows([right], "right")[0])
    shared = graph.left.indices[graph.left.indptr[i] : graph.left.indptr[i + 1]]
    others = graph.right.indices[graph.right.indptr[j] : graph.right.indptr[j + 1]]

    # Estimates of the vectors: left with each other, right with each shared
    p = _estimates(vectors.method, vectors.left.vectors, i, others)
    q = _estimates(vectors.method, vectors.right.vectors, j, shared)
    whole = float(p.sum() * q.sum())

    # Bridges
    coordinates = coordinates_of(vectors, graph)
    room = min(n, len(shared) * len(others))
    strengths, keys = np.zeros(max(1, room), np.float32), np.zeros(max(1, room), np.int64)
    terms = np.zeros(max(1, room))
    count, total = find_bridges(
        graph.left.indptr, graph.left.indices, graph.right.indptr, graph.right.indices,
        coordinates.left, coordinates.right, i, j, p, q, strengths, terms, keys,
    )  # fmt: skip
    chosen = fitted(vectors, scorer, "left")
    parts, far_parts = chosen.parts(i, j), chosen.far_parts(i, j)
    bridges = []
    for k in range(min(room, count)):
        b, a = int(shared[keys[k] // len(others)]), int(others[keys[k] % len(others)])
        steps = (_similarity(coordinates, i, b), _similarity(coordinates, a, b))
        bridges.append(
            Bridge(
                graph.right.ids[b],
                graph.left.ids[a],
                *steps,
                _similarity(coordinates, a, j),
                float(strengths[k]),
                float(terms[k]),
                float(terms[k] / total) if total > 0 else 0.0,
                _contribution(graph, (i, j), (parts, far_parts), (q, p), keys[k]),
            )
        )
    return Explanation(
        left=graph.left.ids[i],
        right=graph.right.ids[j],
        known=bool(np.isin(j, shared)),
        score=float(chosen.pairs(np.array([i]), np.array([j]))[0]),
        scorer=chosen.name,
        observation=float(strengths[0]) if count else 0.0,
        estimate=whole / (len(shared) * len(others)) if whole else 0.0,
        bridged=float(total / whole) if whole > 0 else 0.0,
        n_bridges=int(count),
        bridges=tuple(bridges),
    )


def _contribution(
    graph: BipartiteGraph,
    pair: tuple[int, int],
    parts: tuple[Values | None, Values | None],
    similar: tuple[Values, Values],
    key: int,
) -> float | None:
    """Return what the two inner nodes of a bridge add to the score, as far as it goes this way.

    What the shared node adds is divided among the bridges over it, what the other one adds among
    the bridges over that.
    """
    (i, j), (of_shared, of_other), (q, p) = pair, parts, similar
    if of_shared is None and of_other is None:
        return None
    left, right = graph.left, graph.right
    shared = left.indices[left.indptr[i] : left.indptr[i + 1]]
    others = right.indices[right.indptr[j] : right.indptr[j + 1]]
    b, a = divmod(int(key), len(others))
    total = 0.0
    if of_shared is not None:
        members = right.indices[right.indptr[shared[b]] : right.indptr[shared[b] + 1]]
        total += of_shared[b] * _part(p, np.isin(others, members) & (others != i), a)
    if of_other is not None:
        members = left.indices[left.indptr[others[a]] : left.indptr[others[a] + 1]]
        total += of_other[a] * _part(q, np.isin(shared, members) & (shared != j), b)
    return float(total)


def _part(similar: Values, ways: npt.NDArray[np.bool_], chosen: int) -> float:
    """Return the share of one way of several, by how similar its node is."""
    total = similar[ways].sum()
    return float(similar[chosen] / total if total > 0 else 1 / ways.sum())


def _estimates(
    method: str, table: Table, row: int, others: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Return the estimate of a node with others of its side, as the method has it.

    A method without an estimate of its own gets the cosine, cut at 0.
    """
    if method not in ("fobe", "hobe"):
        table, row, others = unit(table[np.append(others, row)]), -1, np.arange(len(others))
    dots = table[others].astype(np.float64) @ table[row].astype(np.float64)
    estimates: npt.NDArray[np.float64] = (
        1 / (1 + np.exp(-dots)) if method == "fobe" else np.maximum(dots, 0)
    )
    return estimates


def _similarity(coordinates: AlgebraicCoordinates, left: int, right: int) -> float:
    gap = coordinates.left[left].astype(np.float64) - coordinates.right[right]
    return float(np.float32(1 - np.sqrt((gap * gap).mean())))
