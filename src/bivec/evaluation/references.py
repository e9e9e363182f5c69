"""Link prediction without vectors: what popularity and co-occurrence alone can tell.

* ``popularity``: the product of the degrees of both ends;
* ``item-knn``: the cosine of the right end with each right node that the left end has, summed: a
  weighted count of the paths of three edges.

All in the training graph. A pair is called a link above the threshold that is best on training
data: edges of which neither end depends on it, each scored as if it were absent, against as many
pairs without an edge. Test pairs lack their edge in the training graph in the same way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import seed_of
from bivec.evaluation.scores import LinkScores, labelled_pairs, measure
from bivec.evaluation.splits import Split
from bivec.evaluation.unified import AbsentPairs
from bivec.graph import BipartiteGraph
from bivec.parallel import Workers

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Scorer = Callable[[BipartiteGraph, Rows, Rows, "int | None"], Scores]

_STREAM = 303
_MOST_EDGES = 20_000
_CHUNK = 1024


def popularity(
    graph: BipartiteGraph, lefts: Rows, rights: Rows, n_jobs: int | None = None
) -> Scores:
    """Return the product of the degrees of each pair's ends, its own edge not counted."""
    own = _is_edge(graph, lefts, rights)
    left, right = graph.left.degrees.astype(np.float64), graph.right.degrees.astype(np.float64)
    product: Scores = (left[lefts] - own) * (right[rights] - own)
    return product


def item_knn(graph: BipartiteGraph, lefts: Rows, rights: Rows, n_jobs: int | None = None) -> Scores:
    """Return the summed cosines of each pair, its own edge not counted."""
    from bivec.kernels.paths import knn_scores

    forward, backward = graph.left.indices.astype(np.int64), graph.right.indices.astype(np.int64)
    out = np.empty(len(lefts))
    local = threading.local()

    def run(start: int, stop: int) -> None:
        if not hasattr(local, "marks"):
            local.marks = np.full(graph.n_right, -1, np.int64)
        knn_scores(
            graph.left.indptr, forward, graph.right.indptr, backward, lefts, rights, local.marks,
            start, stop, out,
        )  # fmt: skip

    with Workers(n_jobs) as workers:
        workers.run(run, len(lefts), _CHUNK)
    return out


REFERENCES: dict[str, Scorer] = {"popularity": popularity, "item-knn": item_knn}
"""Every predictor that needs no vectors."""


def reference_scores(
    split: Split, *, random_state: Any = 0, n_jobs: int | None = None
) -> dict[str, LinkScores]:
    """Measure the predictors that need no vectors on the pairs of a split.

    Parameters
    ----------
    split : Split
        With negatives.
    random_state : int, numpy generator or None
        Seed of the training pairs that the threshold is chosen on.
    n_jobs : int, optional
        Threads; every core where not given.

    Returns
    -------
    dict
        Scores by name. They decide on pairs as the unified task does.

    Examples
    --------
    >>> from bivec.datasets import southern_women
    >>> from bivec.evaluation import hold_out
    >>> sorted(reference_scores(hold_out(southern_women(), random_state=0)))
    ['item-knn', 'popularity']
    """
    draw = np.random.default_rng([seed_of(random_state), _STREAM])
    lefts, rights, is_link = labelled_pairs(split)
    known_lefts, known_rights, known = _calibration(split.train, draw)
    results = {}
    for name, scorer in REFERENCES.items():
        wall, cpu = time.perf_counter(), time.process_time()
        threshold = best_threshold(scorer(split.train, known_lefts, known_rights, n_jobs), known)
        values = scorer(split.train, lefts, rights, n_jobs)
        results[name] = measure(values, is_link, threshold=threshold, started=(wall, cpu))
    return results


def best_threshold(scores: Scores, is_link: npt.NDArray[np.bool_]) -> float:
    """Return the threshold above which calling a link is right most often.

    It lies half-way between two scores, and is the lowest of equally good ones; infinite, of
    either sign, where it is best to call everything or nothing a link.

    >>> best_threshold(np.array([0.0, 1, 3, 4]), np.array([False, False, True, True]))
    2.0
    """
    values, place = np.unique(scores, return_inverse=True)
    links = np.bincount(place, weights=is_link, minlength=len(values))
    others = np.bincount(place, weights=~is_link, minlength=len(values))
    # right[k]: everything from the k-th value on is called a link
    right = np.append(np.cumsum(links[::-1])[::-1], 0) + np.append(0, np.cumsum(others))
    k = int(np.argmax(right))
    if k == 0 or k == len(values):
        return -np.inf if k == 0 else np.inf
    return float(values[k - 1] + values[k]) / 2


def _calibration(
    train: BipartiteGraph, draw: np.random.Generator
) -> tuple[Rows, Rows, npt.NDArray[np.bool_]]:
    """Return training edges that a hold-out might have removed, and as many absent pairs."""
    lefts, rights = train.left_rows().astype(np.int64), train.left.indices.astype(np.int64)
    spare = (train.left.degrees[lefts] > 1) & (train.right.degrees[rights] > 1)
    edges = np.flatnonzero(spare) if spare.any() else np.arange(train.n_edges)
    if len(edges) > _MOST_EDGES:
        edges = draw.choice(edges, _MOST_EDGES, replace=False)
    absent = AbsentPairs(train).draw(len(edges), draw)
    return (
        np.concatenate([lefts[edges], absent[0]]),
        np.concatenate([rights[edges], absent[1]]),
        np.arange(2 * len(edges)) < len(edges),
    )


def _is_edge(graph: BipartiteGraph, lefts: Rows, rights: Rows) -> npt.NDArray[np.bool_]:
    """Return which pairs are edges."""
    codes = graph.left_rows().astype(np.int64) * graph.n_right + graph.left.indices
    return np.isin(lefts * graph.n_right + rights, codes)
