"""The paper's figures, as an experiment file holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bivec.checks import check_choice, check_number
from bivec.datasets import describe
from bivec.errors import InputError
from bivec.evaluation.link_prediction import TASKS

MEASURES = ("f1", "ndcg", "map", "mrr")
"""What the paper's tables of recommendation hold, in this order."""

LABELS = {
    "fobe": "FOBE",
    "hobe": "HOBE",
    "fobe-paper": "FOBE as in the paper",
    "hobe-paper": "HOBE as in the paper",
    "direct": "direct combination",
    "autoreg": "auto-regularized combination",
    "combination-direct": "direct combination",
    "combination-auto-regularized": "auto-regularized combination",
    "deepwalk": "DeepWalk",
    "line": "LINE",
    "node2vec": "Node2Vec",
    "metapath2vec": "Metapath2Vec++",
    "bine": "BiNE",
    "verse": "VERSE",
}
"""What methods are called in print."""


def label(method: str) -> str:
    """Return what a method is called in print."""
    return LABELS.get(method, method)


@dataclass(frozen=True)
class Published:
    """The paper's figures.

    Attributes
    ----------
    source : str
        Where they stand and how exact they are.
    train_shares : tuple of float
        The shares of the training edges to which the accuracies belong.
    accuracy : dict
        By data set, task and method: one for each share.
    measures : dict
        By data set and method: :data:`MEASURES` of recommendation.
    """

    source: str = ""
    train_shares: tuple[float, ...] = ()
    accuracy: Mapping[str, Mapping[str, Mapping[str, tuple[float, ...]]]] = field(
        default_factory=dict
    )
    measures: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    def at(self, dataset: str, task: str, share: float) -> dict[str, float]:
        """Return the accuracy of each published method at a share; empty where there is none."""
        if share not in self.train_shares:
            return {}
        place = self.train_shares.index(share)
        curves = self.accuracy.get(dataset, {}).get(task, {})
        return {method: values[place] for method, values in curves.items()}


def bound_on_f1(mean_average_precision: float, mean_reciprocal_rank: float, k: int = 10) -> float:
    """Return the least F1 that goes with these, in the measures of :mod:`bivec.evaluation.metrics`.

    F1 >= 2 / (k / MRR + 1 / MAP), since MAP is at most the recall and MRR at most k times the
    precision; the proof is in the page on recommendation.

    >>> round(bound_on_f1(0.3156, 0.6276), 4)
    0.1047
    """
    if mean_average_precision <= 0 or mean_reciprocal_rank <= 0:
        return 0.0
    return 2 / (k / mean_reciprocal_rank + 1 / mean_average_precision)


def breaks_bound(measures: tuple[float, ...], k: int = 10) -> bool:
    """Tell whether an F1 is below the bound by more than rounding to four digits explains.

    >>> breaks_bound((0.1003, 0.4054, 0.3156, 0.6276))
    True
    """
    f1, _, average, reciprocal = measures
    half = 5e-5
    return f1 + half < bound_on_f1(average - half, reciprocal - half, k)


def check_published(values: Any, kind: str) -> Published:
    """Return the published figures of a file, or say what is wrong with them."""
    if not isinstance(values, Mapping):
        raise InputError("published is no table", "Write its keys under [published].")
    allowed = {"recommendation": ("source", "measures"), "sensitivity": ("source",)}.get(
        kind, ("source", "train_shares", "accuracy")
    )
    for key in values:
        if key not in allowed:
            raise InputError(
                f"there is no key 'published.{key}'", f"There are {', '.join(allowed)}."
            )
    shares = tuple(
        check_number("published.train_shares", v, above=0, below=1)
        for v in values.get("train_shares", ())
    )
    accuracy = {
        describe(name).name: {
            check_choice(f"published.accuracy.{name}", task, TASKS): _curves(
                f"published.accuracy.{name}.{task}", curves, len(shares)
            )
            for task, curves in tasks.items()
        }
        for name, tasks in values.get("accuracy", {}).items()
    }
    measures = {
        describe(name).name: _curves(f"published.measures.{name}", rows, len(MEASURES))
        for name, rows in values.get("measures", {}).items()
    }
    return Published(str(values.get("source", "")), shares, accuracy, measures)


def _curves(key: str, rows: Any, n: int) -> dict[str, tuple[float, ...]]:
    """Check a table of lists of n numbers from 0 to 1."""
    if not isinstance(rows, Mapping):
        raise InputError(f"{key} is no table", "Write METHOD = [numbers].")
    found = {}
    for method, numbers in rows.items():
        if not isinstance(numbers, list) or len(numbers) != n:
            raise InputError(f"{key}.{method} is no list of {n} numbers", "Give one for each.")
        found[method] = tuple(
            check_number(f"{key}.{method}", v, low=0, below=1 + 1e-9) for v in numbers
        )
    return found
