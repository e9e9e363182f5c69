"""Communities of both sides, so that a map has colours without any metadata.

Each side is cut by k-means on the directions of its own vectors (spherical k-means). The numbers
of the two sides are then matched so that as many edges as possible run between the same numbers
(an assignment problem), and of all k the one is taken whose communities have the highest bipartite
modularity (Barber 2007, doi:10.1103/PhysRevE.76.066102)::

    Q = sum over communities c of  e(c, c) / m  -  l(c) r(c) / m^2

where of m edges e(c, c) run within c, and l(c) and r(c) end on its left and right nodes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from bivec.embedding import Embedding
from bivec.graph import BipartiteGraph
from bivec.serve.layout import directions

Labels = npt.NDArray[np.int64]

MOST = 10
"""As many as a reader tells apart by colour."""
_WITHOUT_GRAPH = 8
_SAMPLE = 8_000
_ROUNDS = 20
_STARTS = 4


def communities(embedding: Embedding) -> tuple[Labels, Labels, str]:
    """Return the community of each left and each right row, and how they were found."""
    left, right = directions(embedding.left.vectors), directions(embedding.right.vectors)
    graph = embedding.graph
    if graph is None or graph.n_edges == 0:
        how = "k-means on the vectors of each side; without a graph the two sides are not matched"
        return k_means(left, _WITHOUT_GRAPH), k_means(right, _WITHOUT_GRAPH), how
    best = None
    for k in range(2, min(MOST, len(left), len(right)) + 1):
        pair = k_means(left, k), k_means(right, k)
        matched, quality = match(graph, *pair)
        if best is None or quality > best[0] + 1e-9:
            best = quality, pair[0], matched, k
    if best is None:
        return np.zeros(len(left), np.int64), np.zeros(len(right), np.int64), "a single one"
    quality, own, other, k = best
    how = (
        f"k-means on the vectors of each side, k = {k} and matched across the sides by edges "
        f"(bipartite modularity {quality:.2f})"
    )
    return (*_largest_first(own, other, k), how)


def match(graph: BipartiteGraph, left: Labels, right: Labels) -> tuple[Labels, float]:
    """Renumber the right communities so that most edges stay within one; return the modularity."""
    k = int(max(left.max(), right.max())) + 1
    ends = left[graph.left_rows()] * k + right[graph.left.indices]
    edges = np.bincount(ends, minlength=k * k).reshape(k, k) / graph.n_edges
    gain = edges - np.outer(edges.sum(axis=1), edges.sum(axis=0))
    rows, columns = linear_sum_assignment(gain, maximize=True)
    renumber = np.empty(k, dtype=np.int64)
    renumber[columns] = rows
    return renumber[right], float(gain[rows, columns].sum())


def k_means(unit: npt.NDArray[np.float32], k: int, seed: int = 0) -> Labels:
    """Cut unit vectors into at most k groups by Lloyd's rounds, on a sample where there are many.

    >>> k_means(np.float32([[1, 0], [1, 0], [0, 1]]), 2).tolist()
    [0, 0, 1]
    """
    n = len(unit)
    if n == 0 or k < 2:
        return np.zeros(n, dtype=np.int64)
    random = np.random.default_rng(seed)
    sample = unit if n <= _SAMPLE else unit[np.sort(random.choice(n, _SAMPLE, replace=False))]
    tries = [_lloyd(sample, _spread(sample, k, random)) for _ in range(_STARTS)]
    centres = max(tries, key=lambda found: found[1])[0]
    _, label = np.unique((unit @ centres.T).argmax(axis=1), return_inverse=True)
    return _by_first_row(label.reshape(-1).astype(np.int64))


def _lloyd(
    sample: npt.NDArray[np.float32], centres: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], float]:
    """Move centres to the middle of their points until they rest; return them and the fit."""
    for _ in range(_ROUNDS):
        label = (sample @ centres.T).argmax(axis=1)
        member = sparse.csr_array(
            (np.ones(len(label), np.float32), (label, np.arange(len(label)))),
            shape=(len(centres), len(label)),
        )
        # A centre that lost all its points stays where it is.
        moved = np.where(np.bincount(label, minlength=len(centres))[:, None] > 0,
                         member @ sample, centres)  # fmt: skip
        moved = directions(moved)
        if np.allclose(moved, centres, atol=1e-6):
            break
        centres = moved
    return centres, float((sample @ centres.T).max(axis=1).sum())


def _spread(
    sample: npt.NDArray[np.float32], k: int, random: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Choose first centres far from each other (k-means++, on 1 - cosine)."""
    chosen = [int(random.integers(len(sample)))]
    far = np.full(len(sample), np.inf)
    while len(chosen) < k:
        gap = 1.0 - (sample @ sample[chosen[-1]]).astype(np.float64)
        far = np.minimum(far, np.maximum(gap, 0.0))
        if far.sum() <= 1e-9:
            break
        chosen.append(int(random.choice(len(sample), p=far / far.sum())))
    return sample[chosen].copy()


def _by_first_row(label: Labels) -> Labels:
    """Give groups numbers in the order in which they first occur."""
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _largest_first(left: Labels, right: Labels, k: int) -> tuple[Labels, Labels]:
    sizes = np.bincount(left, minlength=k) + np.bincount(right, minlength=k)
    rank = np.empty(k, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(k)
    return rank[left], rank[right]
