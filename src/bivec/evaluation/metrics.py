r"""How good a ranking of items is: precision, recall, F1, NDCG, MAP and MRR at k.

For a user with ground truth T and a list of k items, with :math:`h_p = 1` where the item at place p
is in T and :math:`H = \sum_p h_p`:

.. math::

    P = \frac{H}{k}, \quad R = \frac{H}{|T|}, \quad
    AP = \frac{1}{|T|} \sum_p h_p \frac{h_1 + \dots + h_p}{p}, \quad
    NDCG = \frac{\sum_p h_p / \log_2(p + 1)}{\sum_{p \le \min(k, |T|)} 1 / \log_2(p + 1)}, \quad
    RR = \frac{1}{\min \{p : h_p = 1\}}

(0 without a hit). All are averaged over users; :math:`F_1 = 2 P R / (P + R)` of the averages. What
the ground truth is, and among which items is ranked, is the protocol's: see :func:`ranking_task`.

References
----------
Gao, Chen, He, Zhou, "BiNE: Bipartite Network Embedding", SIGIR 2018,
https://doi.org/10.1145/3209978.3209987
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_choice, check_integer
from bivec.errors import InputError, shown
from bivec.evaluation.splits import Rows, Split
from bivec.graph import BipartiteGraph
from bivec.parallel import Workers

PROTOCOLS = ("bine", "masked")
"""BiNE's, and the one that leaves out what the user is known to have."""

METRICS = ("precision", "recall", "f1", "ndcg", "map", "mrr")

_PER_USER = ("precision", "recall", "ndcg", "map", "mrr")
_SCORES_AT_ONCE = 1 << 21

Scores = Callable[[Rows], npt.NDArray[np.float32]]
"""Returns a row of scores, one for each right node, for each of these left rows."""


@dataclass(frozen=True, eq=False)
class RankingTask:
    """What is ranked for whom, and what is right.

    Attributes
    ----------
    protocol : str
        One of :data:`PROTOCOLS`.
    k : int
        Length of a list.
    train : BipartiteGraph
        What is known.
    users : array of int64
        The left rows that are measured, ascending.
    indptr, truth : array of int64
        The right items of user i are ``truth[indptr[i]:indptr[i + 1]]``.
    candidates : array of int64
        The right rows that are ranked, ascending.
    skipped : dict
        How many left rows are not measured, by reason.
    notes : list of str
        What is odd about the input and what was made of it.
    """

    protocol: str
    k: int
    train: BipartiteGraph
    users: Rows
    indptr: Rows
    truth: Rows
    candidates: Rows
    skipped: dict[str, int]
    notes: list[str]


@dataclass(frozen=True, eq=False)
class Measures:
    """How good a method is at a task.

    Attributes
    ----------
    task : RankingTask
        The task.
    mean : dict
        Each of :data:`METRICS` over the users; F1 is that of mean precision and recall.
    standard_error : dict
        Of each mean, over users: standard deviation by the square root of their number. That of F1
        is to first order in those of precision and recall. NaN if there is one user only.
    per_user : dict
        The values of each user, all but F1.
    """

    task: RankingTask
    mean: dict[str, float]
    standard_error: dict[str, float]
    per_user: dict[str, npt.NDArray[np.float64]]


def ranking_task(split: Split, protocol: str = "bine", k: int = 10) -> RankingTask:
    """Return what a protocol asks of a split.

    ``"bine"``
        The candidates are the items of the test set, the user's training items among them. The
        ground truth is the k best test items of the user by rating; equal ratings keep the order
        of the test pairs.
    ``"masked"``
        All items are candidates but those the user has in training. The ground truth is all test
        items of the user.

    Left nodes without test items are not measured. Nodes without a training edge are: a user of the
    test set is owed a list, and an item of it can be missed.

    Parameters
    ----------
    split : Split
        Users left, items right.
    protocol : {"bine", "masked"}
        See above.
    k : int
        Length of a list. Where fewer candidates remain the list is shorter, and precision is still
        divided by k.
    """
    check_choice("protocol", protocol, PROTOCOLS)
    check_integer("k", k, low=1)
    if len(split.test_left) == 0:
        raise InputError("the split has no test pairs", "Hold out a larger share.")
    train = split.train

    # Ground truth
    order = np.lexsort((-split.test_weight.astype(np.float64), split.test_left))  # stable
    users, start, counts = np.unique(split.test_left[order], return_index=True, return_counts=True)
    if protocol == "bine":
        place = np.arange(len(order)) - np.repeat(start, counts)
        order, counts = order[place < k], np.minimum(counts, k)
    indptr = np.zeros(len(users) + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])

    # Candidates
    candidates = np.unique(split.test_right) if protocol == "bine" else np.arange(train.n_right)

    # Oddities
    skipped = {"no test items": train.n_left - len(users)}
    notes = []
    if k > len(candidates):
        notes.append(
            f"k={k} is more than the {len(candidates):,} candidates: lists are shorter, "
            "precision is still divided by k"
        )
    if cold := int((train.left.degrees[users] == 0).sum()):
        notes.append(f"{cold:,} of {len(users):,} users have no training edge; they are measured")
    return RankingTask(
        protocol=protocol,
        k=k,
        train=train,
        users=users.astype(np.int64),
        indptr=indptr,
        truth=split.test_right[order],
        candidates=candidates.astype(np.int64),
        skipped={reason: n for reason, n in skipped.items() if n},
        notes=notes,
    )


def measure_ranking(
    task: RankingTask, scores: Scores, *, name: str = "the method", n_jobs: int | None = None
) -> Measures:
    """Rank all candidates for all users by these scores, and measure the lists.

    Of equal scores the item of the lower row is first. Rows are in the order of ids, so this knows
    nothing of what is relevant; a method with few distinct scores is measured by one arbitrary but
    fixed order. Blocks of users run in parallel, with the same result for any number of threads.

    Parameters
    ----------
    task : RankingTask
        From :func:`ranking_task`.
    scores : callable
        Takes an array of left rows and returns one row of scores for each, over all right rows. It
        is called from several threads. Infinite scores are in order, NaN is an error.
    name : str
        The method, for messages.
    n_jobs : int, optional
        Threads; every core where not given.
    """
    lists = np.empty((len(task.users), task.k), np.int64)
    values = np.empty((len(task.users), len(_PER_USER)))

    def block(start: int, stop: int) -> None:
        from bivec.kernels.rank import best, measure

        users = task.users[start:stop]
        table = _checked(scores(users), len(users), task, name)
        known = task.train.left
        bad = best(
            table, task.candidates, known.indptr, known.indices, users,
            task.protocol == "masked", lists[start:stop],
        )  # fmt: skip
        if bad >= 0:
            user, item = users[bad // table.shape[1]], bad % table.shape[1]
            raise InputError(
                f"{name} gave NaN as the score of {shown(task.train.left.ids[int(user)])} and "
                f"{shown(task.train.right.ids[int(item)])}",
                "A ranking needs numbers: train again with a lower learning rate, or leave the "
                "method out.",
            )
        measure(
            lists[start:stop], start, task.indptr, task.truth, table.shape[1], values[start:stop]
        )

    # The size of a block does not depend on the threads, nor does then the rounding of a product.
    size = max(1, min(256, _SCORES_AT_ONCE // max(1, task.train.n_right)))
    with Workers(n_jobs) as workers:
        workers.run(block, len(task.users), size)
    return _summed_up(task, values)


def _checked(table: Any, n: int, task: RankingTask, name: str) -> npt.NDArray[np.float32]:
    array = np.ascontiguousarray(table, dtype=np.float32)
    if array.shape != (n, task.train.n_right):
        raise InputError(
            f"{name} gave scores of shape {array.shape} for {n:,} users and "
            f"{task.train.n_right:,} items",
            "Return a row for each user with a score for each right node.",
        )
    return array


def _summed_up(task: RankingTask, values: npt.NDArray[np.float64]) -> Measures:
    """Average over users."""
    per_user = {name: values[:, i] for i, name in enumerate(_PER_USER)}
    mean = {name: float(column.mean()) for name, column in per_user.items()}
    p, r = mean["precision"], mean["recall"]
    mean["f1"] = 2 * p * r / (p + r) if p + r > 0 else 0.0
    # d F1 = 2 (r^2 dp + p^2 dr) / (p + r)^2
    slopes = (2 * r**2 / (p + r) ** 2, 2 * p**2 / (p + r) ** 2) if p + r > 0 else (0.0, 0.0)
    spread = {**per_user, "f1": slopes[0] * values[:, 0] + slopes[1] * values[:, 1]}
    n = len(values)
    error = {
        name: float(spread[name].std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        for name in METRICS
    }
    return Measures(task, {name: mean[name] for name in METRICS}, error, per_user)
