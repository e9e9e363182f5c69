"""Rankers side by side on a split: the table of a recommendation experiment."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bivec.errors import InputError
from bivec.evaluation.embedding_ranker import EmbeddingRanker
from bivec.evaluation.implicit_rankers import ALS, BPR
from bivec.evaluation.metrics import METRICS, PROTOCOLS, measure_ranking, ranking_task
from bivec.evaluation.rankers import EASE, ItemKNN, Popularity, PureSVD, Ranker, RP3Beta
from bivec.evaluation.splits import Split

RANKERS: dict[str, type[Ranker]] = {
    ranker.name: ranker for ranker in (Popularity, ItemKNN, EASE, PureSVD, RP3Beta, ALS, BPR)
}
"""The reference rankers by name."""


def available_rankers() -> list[str]:
    """Return the names of the reference rankers that can run here: two need the package implicit.

    >>> available_rankers()[:4]
    ['popularity', 'item-knn', 'ease', 'pure-svd']
    """
    with_implicit = importlib.util.find_spec("implicit") is not None
    return [name for name in RANKERS if with_implicit or name not in (ALS.name, BPR.name)]


Progress = Callable[[int, int, str], object]
"""Called with the rankers done, their number, and what is under way."""


@dataclass(frozen=True)
class RecommendationRow:
    """One method under one protocol.

    Attributes
    ----------
    method, protocol, k
        What was measured, how, and the length of the lists.
    mean, standard_error : dict
        For each of precision, recall, f1, ndcg, map and mrr: over users.
    users : int
        How many were measured.
    skipped : dict
        How many were not, by reason.
    notes : tuple of str
        What is odd about the input and what was made of it.
    params : dict
        The parameters of the method.
    fit_wall, fit_cpu : float
        Seconds to train; CPU seconds of all threads. 0 where the ranker came trained.
    score_wall, score_cpu : float
        Seconds to score, rank and measure all users.
    """

    method: str
    protocol: str
    k: int
    mean: dict[str, float]
    standard_error: dict[str, float]
    users: int
    skipped: dict[str, int]
    notes: tuple[str, ...]
    params: dict[str, Any]
    fit_wall: float
    fit_cpu: float
    score_wall: float
    score_cpu: float


@dataclass(frozen=True)
class RecommendationTable:
    """The rows of an experiment; iterate over it, or print it."""

    rows: tuple[RecommendationRow, ...]

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, method: str, protocol: str) -> RecommendationRow:
        """Return the row of a method under a protocol."""
        for row in self.rows:
            if (row.method, row.protocol) == (method, protocol):
                return row
        known = ", ".join(f"{row.method}/{row.protocol}" for row in self.rows)
        raise InputError(f"there is no row {method}/{protocol}", f"There are {known}.")

    def __str__(self) -> str:
        """Lay the means out in columns."""
        width = max([6, *(len(row.method) for row in self.rows)])
        lines = [f"{'method':<{width}}  protocol  " + "  ".join(f"{m:>9}" for m in METRICS)]
        lines += [
            f"{row.method:<{width}}  {row.protocol:<8}  "
            + "  ".join(f"{row.mean[m]:>9.4f}" for m in METRICS)
            for row in self.rows
        ]
        return "\n".join(lines)


def make_ranker(name: str, **params: Any) -> Ranker:
    """Return a reference ranker by name.

    >>> make_ranker("ease", regularization=50)
    EASE(regularization=50, weighted=False)
    """
    if name not in RANKERS:
        raise InputError(f"{name!r} is no ranker", f"Choose one of {', '.join(RANKERS)}.")
    try:
        return RANKERS[name](**params)
    except TypeError as error:
        raise InputError(f"the ranker {name!r} cannot be made: {error}") from None


def evaluate_recommendation(
    split: Split,
    rankers: Iterable[Any] | Mapping[str, Any] | None = None,
    k: int = 10,
    protocols: Iterable[str] = PROTOCOLS,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RecommendationTable:
    """Train each ranker on the training graph, rank all items for all users, and measure.

    Parameters
    ----------
    split : Split
        Users left, items right; see :func:`bivec.evaluation.given_split` and its neighbours.
    rankers : iterable or mapping, optional
        Names of reference rankers; rankers; or estimators such as :class:`bivec.FOBE`, which rank
        by the paper's centroid. A mapping names them for the table. Each is trained once for all
        protocols. None takes every reference ranker that can run here.
    k : int
        Length of the lists.
    protocols : iterable of {"bine", "masked"}
        See :func:`bivec.evaluation.ranking_task`.
    n_jobs : int, optional
        Threads that score and rank; every core where not given. They do not change the figures.
    progress : callable, optional
        Called with the rankers done, their number, and what is under way.

    Examples
    --------
    >>> from bivec.datasets import southern_women
    >>> from bivec.evaluation import per_user_split
    >>> table = evaluate_recommendation(per_user_split(southern_women()), ["popularity"], k=3)
    >>> table.row("popularity", "masked").users
    18
    """
    chosen = _named(available_rankers() if rankers is None else rankers)
    tasks = [ranking_task(split, protocol, k) for protocol in protocols]
    rows = []
    for done, (name, ranker) in enumerate(chosen.items()):
        if progress is not None:
            progress(done, len(chosen), name)
        wall, cpu = time.perf_counter(), time.process_time()
        if getattr(ranker, "train_", None) is not split.train:
            ranker.fit(split.train)
        fitted = time.perf_counter() - wall, time.process_time() - cpu
        for task in tasks:
            wall, cpu = time.perf_counter(), time.process_time()
            measures = measure_ranking(task, ranker.scores, name=name, n_jobs=n_jobs)
            rows.append(
                RecommendationRow(
                    method=name,
                    protocol=task.protocol,
                    k=task.k,
                    mean=measures.mean,
                    standard_error=measures.standard_error,
                    users=len(task.users),
                    skipped=task.skipped,
                    notes=tuple(task.notes),
                    params=ranker.params,
                    fit_wall=fitted[0],
                    fit_cpu=fitted[1],
                    score_wall=time.perf_counter() - wall,
                    score_cpu=time.process_time() - cpu,
                )
            )
    if progress is not None:
        progress(len(chosen), len(chosen), "done")
    return RecommendationTable(tuple(rows))


def _named(rankers: Iterable[Any] | Mapping[str, Any]) -> dict[str, Ranker]:
    """Return rankers by the names that tables call them."""
    pairs = list(rankers.items()) if isinstance(rankers, Mapping) else [(None, r) for r in rankers]
    chosen: dict[str, Ranker] = {}
    for label, given in pairs:
        ranker = make_ranker(given) if isinstance(given, str) else given
        if not hasattr(ranker, "scores"):
            ranker = EmbeddingRanker(ranker)
        name = label or ranker.name
        if name in chosen:
            raise InputError(
                f"two rankers are called {name!r}", "Pass a mapping of names to rankers."
            )
        chosen[name] = ranker
    return chosen
