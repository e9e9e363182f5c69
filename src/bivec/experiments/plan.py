"""The cells of an experiment: everything that decides a figure stands in the cell's key."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import bivec
from bivec.evaluation.recommendation import RANKERS, available_rankers
from bivec.experiments.cells import FORMAT, Cell
from bivec.experiments.code import code_fingerprint
from bivec.experiments.experiment import Experiment
from bivec.experiments.methods import make_method, parameters_of, registry
from bivec.experiments.sources import Source

REFERENCES = "references"
"""What the cell of the predictors without vectors is called."""


def plan(experiment: Experiment, source: Source) -> Iterator[Cell]:
    """Yield the cells of an experiment on one graph; those of one split follow each other."""
    common = {"format": FORMAT, "bivec": bivec.__version__, "graph": source.fingerprint}
    if experiment.kind == "recommendation":
        yield from _ranking_cells(experiment, source, common)
    else:
        yield from _link_cells(experiment, source, common)


def _link_cells(experiment: Experiment, source: Source, common: dict[str, Any]) -> Iterator[Cell]:
    study = experiment.kind == "sensitivity"
    for share in experiment.train_shares:
        for seed in experiment.seeds:
            here = {**common, "share": share, "seed": seed}
            if not study and "unified" in experiment.tasks:
                spec = {**here, "kind": "references", "code": _code(None)}
                yield Cell("references", source.name, REFERENCES, seed, spec, share)
            for method in experiment.methods:
                for rate in experiment.rates if study else (None,):
                    given = dict(experiment.parameters.get(method, {}))
                    if rate is not None:
                        given["n_samples"] = rate
                    spec = {
                        **here,
                        "kind": "links",
                        "method": method,
                        "parameters": parameters_of(make_method(method, **given)),
                        "tasks": list(experiment.tasks),
                        "code": _code(method),
                    }
                    yield Cell("links", source.name, method, seed, spec, share, rate)


def _ranking_cells(
    experiment: Experiment, source: Source, common: dict[str, Any]
) -> Iterator[Cell]:
    drawn = source.given is None
    for seed in experiment.seeds:
        for method in (*available_rankers(), *experiment.methods):
            is_ranker = method in RANKERS
            random = drawn or not is_ranker or hasattr(RANKERS[method], "random_state")
            if not random and seed != experiment.seeds[0]:
                continue  # the same split and nothing drawn: the same figures again
            spec = {
                **common,
                "kind": "ranking",
                "seed": seed,
                "method": method,
                "test_share": experiment.test_share if drawn else None,
                "k": experiment.k,
                "protocols": list(experiment.protocols),
                "code": _code(None if is_ranker else method),
            }
            if not is_ranker:
                given = experiment.parameters.get(method, {})
                spec["parameters"] = parameters_of(make_method(method, **given))
                spec["scorers"] = list(experiment.scorers)
            yield Cell("ranking", source.name, method, seed, spec)


@functools.cache
def _code(method: str | None) -> str:
    """Return the fingerprint of the code that measures, and of a method's own."""
    modules = ["bivec.experiments.measure"]
    if method is not None:
        modules.append(registry()[method].__module__)
    # Methods are looked up by name there: without this, each would depend on the code of all.
    return code_fingerprint(modules, leave_out=("bivec.experiments.methods",))
