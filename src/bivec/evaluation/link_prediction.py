"""Link prediction as in the paper: left-personalized, right-personalized, unified.

Each task answers the same question for the test pairs of a split, links and as many others: edge
or not? What is trained sees the training graph and the vectors, never a test pair.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_choice, seed_of
from bivec.errors import InputError
from bivec.evaluation import personalized, unified
from bivec.evaluation.scores import LinkScores, labelled_pairs, measure
from bivec.evaluation.splits import Split
from bivec.graph import BipartiteGraph

TASKS = ("left", "right", "unified")
"""The paper's A-personalized, B-personalized and unified."""

Progress = Callable[[float, str], object]
Table = npt.NDArray[np.float32]


def link_prediction(
    split: Split,
    left_vectors: npt.ArrayLike,
    right_vectors: npt.ArrayLike,
    tasks: Sequence[str] = TASKS,
    *,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, LinkScores]:
    """Measure how well vectors predict the held-out links.

    Parameters
    ----------
    split : Split
        As :func:`bivec.evaluation.hold_out` makes it.
    left_vectors, right_vectors : array
        One row a node, learned on ``split.train``; the two may differ in length.
    tasks : sequence of {"left", "right", "unified"}
        ``left``: a support vector machine for each left node, on right vectors; ``right``: the
        other way round; ``unified``: one network on pairs of vectors.
    random_state : int, numpy generator or None
        The seed of negatives, first weights and batches. Equal seeds give equal figures, whatever
        ``n_jobs``.
    n_jobs : int, optional
        Threads; every core where not given.
    progress : callable, optional
        Called with the share of the tasks' work that is done, and the task at hand.

    Returns
    -------
    dict
        :class:`LinkScores` by task.

    Raises
    ------
    InputError
        If vectors do not fit the graph or are not finite, or the split has no negatives.

    References
    ----------
    Sybrandt, Safro, "First- and high-order bipartite embeddings", arXiv:1905.10953, section 5.

    Examples
    --------
    >>> from bivec import FOBE
    >>> from bivec.datasets import southern_women
    >>> from bivec.evaluation import hold_out
    >>> split = hold_out(southern_women(), train_share=0.6, random_state=0)
    >>> model = FOBE(dim=8, norm=3).fit(split.train)
    >>> scores = link_prediction(split, model.left_embedding_, model.right_embedding_)
    >>> [(task, scores[task].n_pairs) for task in scores]
    [('left', 78), ('right', 78), ('unified', 78)]
    """
    for task in tasks:
        check_choice("task", task, TASKS)
    lefts, rights, is_link = labelled_pairs(split)
    train = split.train
    left = check_vectors(left_vectors, train, "left")
    right = check_vectors(right_vectors, train, "right")
    seed = seed_of(random_state)

    results = {}
    for k, task in enumerate(tasks):
        tell = _part(progress, k, len(tasks), task)
        started = time.perf_counter(), time.process_time()
        if task == "unified":
            fitted = unified.fit_unified(
                train, left, right, seed=seed, n_jobs=n_jobs, progress=tell
            )
            decisions: npt.NDArray[Any]
            decisions = unified.score_unified(fitted, left, right, lefts, rights)
            n_models = 1
        else:
            side = TASKS.index(task)
            own, table, owners, others = (
                (train.left, right, lefts, rights)
                if task == "left"
                else (train.right, left, rights, lefts)
            )
            decisions, n_models = personalized.decide(
                own, table, owners, others, side=side, seed=seed, n_jobs=n_jobs, progress=tell
            )
        results[task] = measure(decisions, is_link, n_models=n_models, started=started)
        if progress is not None:
            progress((k + 1) / len(tasks), task)
    return results


def check_vectors(vectors: npt.ArrayLike, graph: BipartiteGraph, side: str) -> Table:
    """Return vectors as a contiguous table of float32, or say what is wrong with them."""
    n = graph.n_left if side == "left" else graph.n_right
    table = np.asarray(vectors)
    if table.ndim != 2 or len(table) != n or table.shape[1] == 0:
        raise InputError(
            f"{side} vectors have the shape {table.shape}, and the graph has {n:,} {side} nodes",
            "Give one row for each node, in the order of the graph's rows.",
        )
    if table.dtype.kind not in "fiu":
        raise InputError(f"{side} vectors hold {table.dtype}", "Give real numbers.")
    with np.errstate(over="ignore"):  # what does not fit float32 becomes infinite, and is refused
        table = np.ascontiguousarray(table, dtype=np.float32)
    bad = ~np.isfinite(table).all(axis=1)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"{int(bad.sum()):,} of {n:,} {side} vectors are not finite, the first in row {first}",
            "The method has diverged: lower its learning rate.",
        )
    return table


def _part(
    progress: Progress | None, k: int, n: int, label: str
) -> Callable[[float], object] | None:
    """Return progress as the k-th of n equal parts sees it."""
    if progress is None:
        return None
    return lambda share: progress((k + share) / n, label)
