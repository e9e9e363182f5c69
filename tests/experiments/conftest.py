"""Small experiments that run in moments."""

import pytest

from bivec.datasets import viewer_movies
from bivec.experiments import CellStore, Source, check_experiment

SMALL = {
    "fobe": {"dim": 8, "epochs": 3, "n_samples": 6},
    "hobe": {"dim": 8, "epochs": 3, "n_samples": 6, "trials": 2, "sweeps": 3},
}


def experiment(kind="link-prediction", name="tiny", **values):
    given = {"kind": kind, "datasets": ["southern-women"], "parameters": SMALL, **values}
    methods = given.get("methods", ["fobe", "hobe"])
    given["parameters"] = {m: v for m, v in given["parameters"].items() if m in methods}
    return check_experiment(name, given)


@pytest.fixture
def store(tmp_path):
    return CellStore(tmp_path / "cells")


@pytest.fixture(scope="session")
def movies():
    return Source("movies", viewer_movies(60, 40, 3, views=10).graph)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("BIVEC_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def no_drawing(monkeypatch):
    """Spare the time of figures where they are not what is looked at."""
    for name in ("accuracy_curves", "accuracy_points", "rate_curves", "ranking_points"):
        monkeypatch.setattr(f"bivec.experiments.report.{name}", lambda *_: "<svg></svg>")
