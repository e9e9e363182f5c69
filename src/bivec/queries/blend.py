r"""The default ranking: what a node's neighbours say in both spaces.

.. math::

    s_{uj} = \Bigl( 1 + \frac{d_j}{10} \Bigr)^{-\beta} \Bigl( w_j^T z_u
        + \frac{2 d_u}{d_u + \kappa} \, w_u^T z_j \Bigr) + \gamma p_{uj}

The first term predicts item j from the other items of user u, each item described by its vector
and by its surroundings (:mod:`bivec.queries.codes`); the second predicts user u from the other
users of item j, each user described in the same way. Both are ridge regressions on the training
graph alone, see :mod:`bivec.queries.ridge`. The second has only the :math:`d_u` items of the user
to learn from, so it counts the more of them there are. The third is the item's share in what users
with about as many items have (:mod:`bivec.queries.peers`): it decides where both have little to
say. How strong the penalty of the regressions is, and how much popularity is held against an item,
is decided on the training graph, too: see :mod:`bivec.queries.tuning`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bivec.checks import check_choice, check_integer, check_number
from bivec.errors import InputError, NotFittedError
from bivec.graph import BipartiteGraph
from bivec.parallel import one_blas_thread
from bivec.queries.codes import described
from bivec.queries.peers import CLASSES, Peers
from bivec.queries.ridge import Ridge
from bivec.queries.scorers import Columns, FactorScorer, Rows, Table, needs_a_graph
from bivec.queries.tuning import PENALTIES, POWERS, factors, left_out, tuned

_MOST_COEFFICIENTS = 1 << 25
"""Of inputs beside vectors in one table: 128 MB. Larger graphs have fewer such inputs."""


class Blend(FactorScorer):
    r"""Rank by two ridge regressions on the vectors, one in each space.

    The same input gives the same coefficients, byte for byte. A score is a product of two vectors,
    a query and a target, but for known pairs, which have scores of their own.

    A far node without edges scores minus infinity. For an asking node without edges, far nodes are
    scored by their share of all edges.

    Parameters
    ----------
    regularization : float, optional
        The :math:`\lambda` of both regressions; where not given, 500 or 20, chosen on edges held
        out of the graph.
    n_inputs : int
        Nodes with most edges, on each side, that are inputs of their own beside their vector; fewer
        on graphs where their coefficients would not fit into 128 MB.
    n_codes : int
        Entries of a node's code beside its vector; no more than the smaller side has nodes, and
        fewer on large graphs, too. 0 and no such inputs leave the vectors alone.
    damping : float
        A node weighs ``degree ** -damping`` as an example.
    balance : float
        The :math:`\kappa`: the degree of the asking node at which both terms count the same.
    peers : float
        The :math:`\gamma`.
    discount : float, optional
        The :math:`\beta`; where not given, one of 0, 0.2, -0.2 and 0.4, chosen with it.
    weighted : bool
        Whether an edge counts the more the heavier it is: as an input the square root of the share
        of the asking node's edges that are not heavier, at a mean square of 1, and as what is
        predicted that share itself. Only the order of a node's weights matters, so counts with a
        long tail and ratings are treated alike, and so are users who rate high or low, or listen
        much or little. Where not, every edge counts 1.
    known : {"absent", "last"}
        A known pair is scored as if its edge were absent, so that it compares with other pairs: it
        is left out of the regressions, and what vectors and codes remember of it is taken off in
        the mean, as edges held out tell; or it scores minus infinity.

    Attributes
    ----------
    regularization_, discount_ : float
        What was given or chosen.
    echo_ : float
        What predictions of known pairs are multiplied by.

    Examples
    --------
    >>> import bivec
    >>> from bivec.datasets import southern_women
    >>> graph = southern_women()
    >>> model = bivec.FOBE(dim=8, epochs=5, n_samples=10).fit(graph)
    >>> scorer = Blend().fit(model.left_embedding_, model.right_embedding_, graph)
    >>> scorer.scores([0, 5]).shape
    (2, 14)
    """

    name: ClassVar[str] = "blend"
    needs_graph: ClassVar[bool] = True

    def __init__(
        self,
        regularization: float | None = None,
        n_inputs: int = 1024,
        n_codes: int = 256,
        damping: float = 0.5,
        balance: float = 20.0,
        peers: float = 0.1,
        discount: float | None = None,
        weighted: bool = True,
        known: str = "absent",
    ) -> None:
        self.regularization = (
            None
            if regularization is None
            else check_number("regularization", regularization, above=0)
        )
        self.n_inputs = check_integer("n_inputs", n_inputs, low=0)
        self.n_codes = check_integer("n_codes", n_codes, low=0)
        self.damping = check_number("damping", damping, low=0)
        self.balance = check_number("balance", balance, low=0)
        self.peers = check_number("peers", peers, low=0)
        self.discount = None if discount is None else check_number("discount", discount, above=-1)
        self.weighted = weighted
        self.known = check_choice("known", known, ("absent", "last"))

    @property
    def params(self) -> dict[str, Any]:
        """The parameters by name."""
        names = (
            "regularization", "n_inputs", "n_codes", "damping", "balance", "peers", "discount",
            "weighted", "known",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def fit(self, own: npt.ArrayLike, far: npt.ArrayLike, graph: BipartiteGraph | None) -> Self:
        """Fit both regressions.

        Parameters
        ----------
        own, far : array
            Vectors of the left and of the right rows of the graph.
        graph : BipartiteGraph
            The asking side is on its left.
        """
        if graph is None:
            raise needs_a_graph(f"the scorer {self.name!r}")
        forward = _matrix(graph, self.weighted)
        backward = forward.T.tocsr()
        room = _MOST_COEFFICIENTS // max(1, graph.n_left + graph.n_right)
        n_codes = min(self.n_codes, room // 2, graph.n_left, graph.n_right)
        most = min(self.n_inputs, room - n_codes)
        vectors = _checked(own, far, graph)
        degrees = graph.left.degrees
        self._trust = (2 * degrees / np.maximum(degrees + self.balance, 1)).astype(np.float32)
        with one_blas_thread():
            self.regularization_, self.discount_, self.echo_ = tuned(
                forward, self._trust, most // 2, self.damping,
                (vectors[0].shape[1], vectors[1].shape[1]), n_codes,
                PENALTIES if self.regularization is None else (self.regularization,),
                POWERS if self.discount is None else (self.discount,),
            )  # fmt: skip
        left, right = described(vectors, forward, n_codes)
        settings = (self.regularization_, most, self.damping)
        by_far, by_own = Ridge(*settings).fit(forward, right), Ridge(*settings).fit(backward, left)
        factor = factors(graph.right.degrees, self.discount_)
        self._graph, self._forward, self._backward = graph, forward, backward
        self._by_far, self._by_own = by_far, by_own
        self._peers = Peers(forward)
        self.targets = np.hstack(
            [by_far.coefficients, by_own.features(backward), self._peers.table.T]
        )
        self.targets[:, : -len(self._peers.table)] *= factor[:, None]
        self._factor = factor

        # Known pairs, each as if it were absent
        values = self.echo_ * left_out(by_far, by_own, forward, backward, self._trust)
        values = values * factor[forward.indices] + self.peers * self._peers.left_out(forward)
        if self.known == "last":
            values = np.full(graph.n_edges, -np.inf)
        self._known = sparse.csr_array(
            (values.astype(np.float32), forward.indices, forward.indptr), shape=forward.shape
        )
        by_far.forget("coefficients", "left_out")  # both are in tables of this scorer now
        by_own.forget("left_out")
        return self

    def queries(self, rows: npt.ArrayLike) -> Table:
        """Return a vector for each asking row, whose product with the targets is the score."""
        if not hasattr(self, "targets"):
            raise NotFittedError("This Blend knows no graph yet. Call fit first.")
        chosen = np.asarray(rows, np.int64)
        there = self._by_own.coefficients[chosen] * self._trust[chosen, None]
        here = self._by_far.features(self._forward[chosen])
        kind = self._peers.classes[chosen]
        like = np.zeros((len(chosen), CLASSES + 1), np.float32)
        like[np.arange(len(chosen)), kind] = np.where(kind < 0, 1, self.peers)
        return np.hstack([here, there, like])

    def scores(self, rows: npt.ArrayLike, columns: Columns = slice(None)) -> Table:
        """Return a row of scores for each asking row, known pairs included."""
        queries, chosen = self.queries(rows), np.arange(self._graph.n_right)[columns]
        scores = self.block(queries, columns)
        place = np.full(self._graph.n_right, -1)
        place[chosen] = np.arange(len(chosen))

        known = self._known[np.asarray(rows, np.int64)]
        at = place[known.indices]
        inside = at >= 0
        asking = np.repeat(np.arange(len(queries)), np.diff(known.indptr))
        scores[asking[inside], at[inside]] = known.data[inside]
        scores[:, self._graph.right.degrees[chosen] == 0] = -np.inf
        return scores

    def pairs(self, rows: Rows, columns: Rows) -> Table:
        """Return the score of each pair, summed in double precision and rounded once."""
        out = super().pairs(rows, columns)
        for m, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            items, values = self.known_scores(row)
            at = int(np.searchsorted(items, column))
            if at < len(items) and items[at] == column:
                out[m] = values[at]
        out[self._graph.right.degrees[columns] == 0] = -np.inf
        return out

    def known_scores(self, row: int) -> tuple[Rows, Table]:
        """Return the far rows that an own row has an edge with, ascending, and their scores."""
        span = slice(self._known.indptr[row], self._known.indptr[row + 1])
        return self._known.indices[span], self._known.data[span]

    def parts(self, row: int, column: int) -> npt.NDArray[np.float64]:
        """Return the terms of the first regression: what each item of the user adds."""
        here = self.targets[column, : self._by_far.width]
        return self._by_far.terms(self._forward, row, here, column)

    def far_parts(self, row: int, column: int) -> npt.NDArray[np.float64]:
        """Return what each user of the item adds, to the second regression and as a peer."""
        there = self._by_own.coefficients[row]
        weight = float(self._factor[column]) * float(self._trust[row])
        span = slice(self._backward.indptr[column], self._backward.indptr[column + 1])
        like = self.peers * self._peers.terms(row, self._backward.indices[span])
        return weight * self._by_own.terms(self._backward, column, there, row) + like


class BlendNew(Blend):
    """The same with known pairs last, whatever the vectors say."""

    name: ClassVar[str] = "blend-new"

    def __init__(self) -> None:
        super().__init__(known="last")


def _matrix(graph: BipartiteGraph, weighted: bool) -> sparse.csr_array:
    """Return what each edge counts."""
    side, values = graph.left, np.ones(graph.n_edges, np.float32)
    if weighted and graph.weighted:
        share = _share_not_heavier(graph.left_rows(), side.weights)
        values = np.sqrt(share / share.mean()).astype(np.float32)
    return sparse.csr_array(
        (values, side.indices, side.indptr), shape=(graph.n_left, graph.n_right)
    )


def _share_not_heavier(
    rows: npt.NDArray[Any], weights: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """Return, for each edge, the share of its node's edges that are not heavier.

    >>> _share_not_heavier(np.array([0, 0, 0, 0, 1]), np.float32([3, 1, 5, 3, 2]))
    array([0.75, 0.25, 1.  , 0.75, 1.  ])
    """
    order = np.lexsort((weights, rows))
    rows, weights = rows[order], weights[order]
    last = np.append((rows[1:] != rows[:-1]) | (weights[1:] != weights[:-1]), True)
    ends = np.flatnonzero(last)  # of runs of one weight
    rank = ends[np.searchsorted(ends, np.arange(len(rows)))] + 1
    first = np.searchsorted(rows, rows)
    share = np.empty(len(rows))
    share[order] = (rank - first) / (np.searchsorted(rows, rows, side="right") - first)
    return share


def _checked(own: Any, far: Any, graph: BipartiteGraph) -> tuple[Table, Table]:
    tables = np.asarray(own, np.float32), np.asarray(far, np.float32)
    for table, side, name in zip(tables, (graph.left, graph.right), ("left", "right"), strict=True):
        if table.ndim != 2 or len(table) != len(side) or not np.isfinite(table).all():
            raise InputError(
                f"the {name} vectors have shape {table.shape}, or hold numbers that are not "
                f"finite; the graph has {len(side):,} {name} nodes",
                "Give one vector for each row of the graph that they were trained on.",
            )
    return tables
