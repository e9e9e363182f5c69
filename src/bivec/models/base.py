"""What all estimators share: scikit-learn's contract, without importing scikit-learn.

``__init__`` stores parameters and nothing else, ``fit`` checks them, learns attributes that end in
an underscore and returns the estimator. ``sklearn.base.clone``, pipelines and searches work on it.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.checks import check_number, seed_of
from bivec.embedding import Embedding, EmbeddingSide
from bivec.errors import InputError, NotFittedError
from bivec.graph import BipartiteGraph
from bivec.settings import Progress, Record

if TYPE_CHECKING:
    pass

Table = npt.NDArray[np.float32]
ProgressCallback = Callable[[Progress], object]


class MatrixTypeError(InputError, TypeError):
    """A matrix of objects that are no numbers."""


class Learned(NamedTuple):
    """What a method leaves behind: a table for each side, and how it went."""

    left: Table
    right: Table
    history: Sequence[Record] = ()
    n_iter: int = 1
    interrupted: bool = False


class BipartiteEstimator(ABC):
    """An estimator of vectors for both sides of a bipartite graph.

    A subclass names its ``method``, stores its parameters in ``__init__``, checks them in
    :meth:`_settings` and learns in :meth:`_learn`.
    """

    method: ClassVar[str]

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Self:  # noqa: N803
        """Learn vectors for both sides.

        Parameters
        ----------
        X : BipartiteGraph, or anything that :func:`bivec.as_graph` takes
            A matrix is the biadjacency matrix, rows left, columns right; an entry of 0 is no edge.
        y : ignored
            Present by convention.
        init : Embedding, optional
            Vectors to go on from, by id; nodes that it does not know start afresh.

        Returns
        -------
        self
        """
        return self._fit(X, init)

    def _fit(self, data: Any, init: Any, **how: Any) -> Self:
        """Learn from any data; ``how`` is for :meth:`_learn`."""
        # Check
        seed = seed_of(getattr(self, "random_state", None))
        settings = self._settings(seed)
        self._norms()

        # Read
        graph = to_graph(data)

        # Learn
        learned = self._learn(graph, settings, init, **how)

        # Keep
        self.seed_ = seed
        self.graph_ = graph
        left, right = self._norms()
        self.scales_ = _scale(learned.left, left), _scale(learned.right, right)
        self.left_embedding_ = learned.left
        self.right_embedding_ = learned.right
        self.history_ = list(learned.history)
        self.n_iter_ = learned.n_iter
        self.interrupted_ = learned.interrupted
        self.n_features_in_ = graph.n_right
        return self

    @abstractmethod
    def _settings(self, seed: int) -> Any:
        """Check the parameters and return what :meth:`_learn` is to be told."""

    @abstractmethod
    def _learn(self, graph: BipartiteGraph, settings: Any, init: Any) -> Learned:
        """Learn the vectors."""

    def _norms(self) -> tuple[float | None, float | None]:
        """Check ``norm`` and return it for both sides."""
        norm = getattr(self, "norm", None)
        if norm is not None:
            check_number("norm", norm, above=0)
        return norm, norm

    @property
    def embedding_(self) -> Embedding:
        """The vectors of both sides with their ids, to save, search and recommend with."""
        if not hasattr(self, "left_embedding_"):
            raise NotFittedError(f"This {type(self).__name__} has no vectors yet. Call fit first.")
        return Embedding(
            EmbeddingSide(self.graph_.left.ids, self.left_embedding_),
            EmbeddingSide(self.graph_.right.ids, self.right_embedding_),
            graph=self.graph_,
            method=self.method,
            params=self._provenance(),
            history=[_without_time(record) for record in self.history_],
        )

    def _provenance(self) -> dict[str, Any]:
        """Return what decides the vectors: every parameter but threads and progress, and the seed.

        What may differ between two runs to the same bytes is left out, so that the saved bytes are
        the same, too.
        """
        params = self.get_params()
        for name in ("n_jobs", "progress"):
            params.pop(name, None)
        found: dict[str, Any] = {}
        if params.get("norm") is not None:
            found["scales"] = list(self.scales_)
        for name in ("smoothing_steps", "shortening", "hubs", "places"):
            if hasattr(self, f"{name}_"):
                found[name] = list(getattr(self, f"{name}_"))
        return {**params, "random_state": self.seed_, **found}

    # scikit-learn's contract

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep`` is there by convention."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return the estimator."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"{name!r} is no parameter of {type(self).__name__}",
                    f"Its parameters are {', '.join(known)}.",
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """Name the parameters that are not at their default."""
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether ``fit`` has run."""
        return hasattr(self, "left_embedding_")

    def __sklearn_tags__(self) -> Any:
        """Describe the input to scikit-learn, which alone calls this."""
        import sklearn.utils as utils  # type: ignore[import-untyped, unused-ignore]

        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            input_tags=utils.InputTags(sparse=True, positive_only=True),
        )


def to_graph(data: Any) -> BipartiteGraph:
    """Return any data as a graph; matrices are checked here, the rest by :func:`bivec.as_graph`."""
    if isinstance(data, BipartiteGraph):
        return data
    from bivec.io import as_graph

    if sparse.issparse(data) or isinstance(data, np.ndarray):
        data = _checked_matrix(data)
    graph: BipartiteGraph = as_graph(data)
    return graph


def _checked_matrix(matrix: Any) -> Any:
    """Return a matrix of finite numbers that are not negative, with rows and columns."""
    if matrix.dtype.kind == "c":
        raise InputError("Complex data not supported", "Give weights that are real numbers.")
    if matrix.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {matrix.ndim}D array instead",
            "Reshape your data: rows are left nodes, columns right nodes.",
        )
    if 0 in matrix.shape:
        what = "sample" if matrix.shape[0] == 0 else "feature"
        raise InputError(
            f"Found array with 0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required"
        )
    if matrix.dtype.kind not in "fiub":
        try:
            matrix = matrix.astype(np.float64)
        except ValueError as error:
            raise InputError(f"the matrix does not hold numbers: {error}") from error
        except TypeError as error:
            raise MatrixTypeError(f"the matrix does not hold numbers: {error}") from error
    if sparse.issparse(matrix):
        matrix = matrix.tocsr()
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("Input contains NaN or infinity", "Leave unknown edges out, as 0.")
    if values.size and values.min() < 0:
        raise InputError(
            "Negative values in data passed to fit", "Weights of edges are not negative."
        )
    return matrix


def _scale(table: Table, norm: float | None) -> float:
    """Bring the table's rows to the root mean square norm ``norm``; return the factor."""
    if norm is None or not len(table):
        return 1.0
    now = np.sqrt(np.einsum("ij,ij->", table, table, dtype=np.float64) / len(table))
    factor = np.float32(norm / now) if now > 0 else np.float32(1)
    table *= factor
    return float(factor)


def _without_time(record: Record) -> dict[str, Any]:
    kept = {**asdict(record), "loss": record.loss}  # type: ignore[call-overload]
    del kept["seconds"]
    return kept
