"""Compute one cell: a method on a data set, at a share and a seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from bivec.errors import InputError
from bivec.evaluation.compare import evaluate_links
from bivec.evaluation.embedding_ranker import EmbeddingRanker
from bivec.evaluation.link_prediction import check_vectors
from bivec.evaluation.recommendation import (
    RANKERS,
    RecommendationRow,
    evaluate_recommendation,
    make_ranker,
)
from bivec.evaluation.splits import Split
from bivec.experiments.cells import Cell, without_nan
from bivec.experiments.methods import make_method
from bivec.experiments.sources import Source

Progress = Callable[[float, str], object]


def measure(
    cell: Cell, source: Source, *, n_jobs: int | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Return the figures of a cell, as JSON can hold them.

    What an :class:`~bivec.errors.InputError` says, such as that vectors are not finite or that a
    graph has too few edges to hold some out, is the cell's result: it would say so every time.
    Other errors, such as a lack of memory, are raised.
    """
    compute = {"links": _links, "references": _references, "ranking": _ranking}[cell.kind]
    try:
        return dict(without_nan(compute(cell, source, n_jobs, progress)))
    except InputError as error:
        return {"error": str(error)}


def _links(
    cell: Cell, source: Source, n_jobs: int | None, progress: Progress | None
) -> dict[str, Any]:
    estimator = make_method(cell.method, **cell.spec["parameters"])
    if "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=n_jobs)
    (run,) = evaluate_links(
        source.graph, {cell.method: estimator}, cell.spec["share"], [cell.seed],
        cell.spec["tasks"], references=(), n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    return asdict(run)


def _references(
    cell: Cell, source: Source, n_jobs: int | None, progress: Progress | None
) -> dict[str, Any]:
    runs = evaluate_links(
        source.graph, {}, cell.spec["share"], [cell.seed], ["unified"], n_jobs=n_jobs
    )
    return {"runs": [asdict(run) for run in runs]}


def _ranking(
    cell: Cell, source: Source, n_jobs: int | None, progress: Progress | None
) -> dict[str, Any]:
    split = source.rating_split(cell.spec["test_share"], cell.seed)
    k, protocols = cell.spec["k"], cell.spec["protocols"]
    if progress is not None:
        progress(0.0, "fit")
    if cell.method in RANKERS:
        seeded = hasattr(RANKERS[cell.method], "random_state")
        ranker = make_ranker(cell.method, **({"random_state": cell.seed} if seeded else {}))
        table = evaluate_recommendation(split, {cell.method: ranker}, k, protocols, n_jobs)
        return {"rows": [_row(row) for row in table]}

    estimator = make_method(cell.method, **cell.spec["parameters"])
    known = estimator.get_params()
    given = {"random_state": cell.seed, "n_jobs": n_jobs}
    estimator.set_params(**{name: value for name, value in given.items() if name in known})
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.fit(split.train)
    fitted = {"fit_wall": time.perf_counter() - wall, "fit_cpu": time.process_time() - cpu}
    if getattr(estimator, "interrupted_", False):  # half-trained vectors are not measured
        raise KeyboardInterrupt
    if progress is not None:
        progress(0.8, "rank")
    rankers = _by_scorer(cell, estimator, split)
    table = evaluate_recommendation(split, rankers, k, protocols, n_jobs)
    return {"rows": [{**_row(row), **fitted} for row in table]}


def _by_scorer(cell: Cell, estimator: Any, split: Split) -> dict[str, EmbeddingRanker]:
    """Return a ranker for each way to rank by these vectors; the paper's has the method's name."""
    check_vectors(estimator.left_embedding_, split.train, "left")
    check_vectors(estimator.right_embedding_, split.train, "right")
    vectors = estimator.embedding_  # which knows the lengths that products must not see
    return {
        cell.method if scorer == "centroid" else f"{cell.method} ({scorer})": EmbeddingRanker(
            vectors, split.train, scorer=scorer
        )
        for scorer in cell.spec["scorers"]
    }


def _row(row: RecommendationRow) -> dict[str, Any]:
    return {key: value for key, value in asdict(row).items() if key not in ("params", "k")}
