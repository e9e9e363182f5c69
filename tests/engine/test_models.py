"""The estimators: scikit-learn's contract, parameters, what fit leaves behind."""

from __future__ import annotations

import subprocess
import sys
import types
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from bivec.errors import InputError, NotFittedError
from bivec.graph import BipartiteGraph
from bivec.models import FOBE, HOBE
from bivec.models.base import to_graph

QUICK = {"dim": 8, "n_samples": 4, "epochs": 4, "n_jobs": 1}


@pytest.fixture(autouse=True)
def reading(monkeypatch):
    """Where the reading half of the library is absent, matrices are all that can be read."""
    try:
        import bivec.io  # noqa: F401
    except ImportError:
        stand_in = types.ModuleType("bivec.io")
        stand_in.as_graph = matrix_graph
        monkeypatch.setitem(sys.modules, "bivec.io", stand_in)


def matrix_graph(matrix):
    matrix = sparse.coo_array(matrix)
    return BipartiteGraph(
        *matrix.coords,
        matrix.data,
        left_ids=range(matrix.shape[0]),
        right_ids=range(matrix.shape[1]),
    )


with warnings.catch_warnings():  # that the estimators do without BaseEstimator is on purpose
    warnings.filterwarnings("ignore", message=".*does not inherit from")
    contract = parametrize_with_checks([FOBE(**QUICK), HOBE(**QUICK)])


@contract
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [FOBE, HOBE])
def test_fit_leaves_vectors_history_and_graph(planted, kind):
    model = kind(**QUICK)
    assert model.fit(planted) is model
    assert model.left_embedding_.shape == (planted.n_left, 8)
    assert model.right_embedding_.shape == (planted.n_right, 8)
    assert model.left_embedding_.dtype == np.float32
    assert model.graph_ is planted
    assert [record.epoch for record in model.history_] == [1, 2, 3, 4]
    assert model.n_iter_ == 4
    again = clone(model).fit(planted)
    assert again.left_embedding_.tobytes() == model.left_embedding_.tobytes()


@pytest.mark.parametrize("kind", [FOBE, HOBE])
def test_matrix_and_graph_give_the_same_vectors(planted, kind):
    by_graph = kind(**QUICK).fit(planted)
    for matrix in (
        planted.to_scipy(),
        sparse.csc_matrix(planted.to_scipy()),
        planted.to_scipy().toarray(),
    ):
        by_matrix = kind(**QUICK).fit(matrix)
        assert by_matrix.right_embedding_.tobytes() == by_graph.right_embedding_.tobytes()


def test_fit_goes_on_from_an_embedding(planted):
    first = FOBE(**QUICK).fit(planted)
    second = FOBE(**QUICK).fit(planted, init=first.embedding_)
    assert second.history_[0].loss < first.history_[0].loss


def test_fit_goes_on_from_two_tables(planted):
    first = FOBE(**QUICK, smoothing=0, norm=None).fit(planted)
    init = SimpleNamespace(
        left=SimpleNamespace(ids=planted.left.ids, vectors=first.left_embedding_),
        right=SimpleNamespace(ids=planted.right.ids, vectors=first.right_embedding_),
    )
    second = FOBE(**QUICK).fit(planted, init=init)
    assert second.history_[0].loss < first.history_[0].loss


def test_norm_scales_each_side(planted):
    model = HOBE(**QUICK, norm=3).fit(planted)
    for table in (model.left_embedding_, model.right_embedding_):
        assert np.sqrt((table**2).sum(axis=1).mean()) == pytest.approx(3, rel=1e-5)


@pytest.mark.parametrize("kind", [FOBE, HOBE])
@pytest.mark.parametrize(
    "parameters",
    [
        {"dim": 0}, {"dim": "8"}, {"n_samples": 0}, {"n_neighbors": 0}, {"n_negatives": -1},
        {"epochs": 0}, {"learning_rate": -1}, {"draw": "lot"}, {"tol": -0.1}, {"patience": 0},
        {"norm": 0}, {"random_state": "seed"}, {"n_jobs": 0},
    ],
)  # fmt: skip
def test_bad_parameters_are_named_by_fit(planted, kind, parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        kind(**{**QUICK, **parameters}).fit(planted)


@pytest.mark.parametrize(
    "parameters", [{"trials": 0}, {"damping": 1}, {"order": "lot"}, {"sweeps": -1}]
)
def test_bad_parameters_of_the_similarity(planted, parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        HOBE(**QUICK, **parameters).fit(planted)


def test_names_and_representation():
    assert repr(FOBE()) == "FOBE()"
    assert repr(HOBE(dim=32, draw="set")) == "HOBE(dim=32, draw='set')"
    assert FOBE().set_params(dim=4).dim == 4
    with pytest.raises(InputError, match="'depth' is no parameter of FOBE"):
        FOBE().set_params(depth=3)
    with pytest.raises(NotFittedError, match="Call fit first"):
        FOBE().embedding_  # noqa: B018


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[1, np.nan]]), "NaN"),
        (np.array([[1, -1]]), "Negative"),
        (np.array([[1j]]), "Complex"),
        (np.ones(3), "2D"),
        (np.ones((0, 3)), "0 sample"),
        (np.array([["a"]]), "numbers"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(InputError, match=message):
        to_graph(matrix)


def test_models_do_not_import_scikit_learn():
    code = "import bivec.models, sys; sys.exit('sklearn' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
