"""A graph cut into what a method may see and what it is asked for, with a proof that it is so.

Every split has a ``train`` graph with the rows of the whole graph, so vectors learned on it fit the
held-out pairs as they are. :meth:`Split.verify` proves what the split claims.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bivec.checks import check_number, seed_of
from bivec.errors import InputError
from bivec.graph import BipartiteGraph

Rows = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]


def _no_rows() -> Rows:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Split:
    """A graph, the part of it to train on, and the pairs to test on.

    Attributes
    ----------
    graph : BipartiteGraph
        The full graph.
    train : BipartiteGraph
        The same nodes in the same rows, fewer edges. A node may be without one.
    test_left, test_right : array of int64
        The rows of the held-out pairs. Where their order comes from a file, it is kept.
    test_weight : array of float32
        Their weights in the full graph, 1 where it has none.
    negative_left, negative_right : array of int64
        Pairs that are absent from the full graph; none in splits of ratings.
    name : str
        How it was made.
    parameters : dict
        With which parameters, as JSON can hold them.
    """

    graph: BipartiteGraph
    train: BipartiteGraph
    test_left: Rows
    test_right: Rows
    test_weight: Weights
    negative_left: Rows = field(default_factory=_no_rows)
    negative_right: Rows = field(default_factory=_no_rows)
    name: str = "given"
    parameters: dict[str, Any] = field(default_factory=dict)

    def verify(self) -> Split:
        """Prove that the split holds what it says and leaks nothing; return it.

        Both graphs have the same ids in the same rows; no test pair is a training edge or stands
        twice; training edges and test pairs together are the edges of the graph, weights included;
        negatives are distinct and absent from the graph. A hold-out has as many negatives as test
        pairs and leaves every node that has an edge with one, and a connected one has the graph's
        components.

        Raises
        ------
        InputError
            If any of that is false.
        """
        graph, train = self.graph, self.train
        _claim(
            graph.left.ids == train.left.ids and graph.right.ids == train.right.ids,
            "the training graph has other nodes than the graph, or other rows for them",
        )
        _claim(
            len(self.test_left) == len(self.test_right) == len(self.test_weight),
            "the ends and weights of the test pairs are not equally many",
        )
        test = pair_codes(graph, self.test_left, self.test_right)
        _claim(len(np.unique(test)) == len(test), "a test pair stands twice")
        leaked = np.isin(test, edge_codes(train)).sum()
        _claim(not leaked, f"{leaked:,} test pairs are edges of the training graph")
        whole = np.concatenate([edge_codes(train), test])
        order = np.argsort(whole, kind="stable")
        _claim(
            np.array_equal(whole[order], edge_codes(graph)),
            "training edges and test pairs together are not the edges of the graph",
        )
        _claim(
            np.array_equal(
                np.concatenate([train.left.weights, self.test_weight])[order], graph.left.weights
            ),
            "a training edge or test pair has another weight than in the graph",
        )
        self._verify_negatives()
        if self.name == "hold-out":
            self._verify_hold_out()
        return self

    def _verify_negatives(self) -> None:
        _claim(
            len(self.negative_left) == len(self.negative_right),
            "the ends of the negatives are not equally many",
        )
        negatives = pair_codes(self.graph, self.negative_left, self.negative_right)
        _claim(len(np.unique(negatives)) == len(negatives), "a negative stands twice")
        _claim(
            not np.isin(negatives, edge_codes(self.graph)).any(),
            "a negative is an edge of the graph",
        )

    def _verify_hold_out(self) -> None:
        graph, train = self.graph, self.train
        _claim(
            len(self.negative_left) == len(self.test_left),
            "there are not as many negatives as test pairs",
        )
        for side, whole, kept in (
            ("left", graph.left, train.left),
            ("right", graph.right, train.right),
        ):
            alone = ((whole.degrees > 0) & (kept.degrees == 0)).sum()
            _claim(not alone, f"{alone:,} {side} nodes lost all their edges")
        if self.parameters.get("connected"):
            _claim(
                graph.components()[0] == train.components()[0],
                "the training graph falls into more components than the graph",
            )

    def __repr__(self) -> str:
        negatives = f", {len(self.negative_left):,} negatives" if len(self.negative_left) else ""
        return (
            f"Split({self.name}, {self.train.n_edges:,} training edges, "
            f"{len(self.test_left):,} test pairs{negatives})"
        )


def hold_out(
    graph: BipartiteGraph,
    train_share: float = 0.5,
    *,
    random_state: Any = 0,
    connected: bool = False,
) -> Split:
    """Hold edges out for link prediction as the paper does, never isolating a node.

    Edges are visited in random order, and each is removed with probability ``1 - train_share``
    unless it is the last remaining edge of either end. As many negatives are drawn uniformly,
    without repetition, from the pairs that are absent from the full graph. So more than
    ``train_share`` of the edges may stay: of a star, all of them must.

    Parameters
    ----------
    graph : BipartiteGraph
        The full graph. A node without edges keeps its row and is in no pair.
    train_share : float
        Between 0 and 1.
    random_state : int, numpy generator or None
        The seed; the split is a function of it and the graph.
    connected : bool
        Whether the components of the graph stay whole: the edges of a random spanning forest are
        not removed.

    Returns
    -------
    Split
        Its test pairs are in the order of the graph's edges, the negatives in random order.

    Raises
    ------
    InputError
        If no edge could be held out, or the graph is so dense that it lacks fewer pairs than
        were held out.

    Examples
    --------
    >>> from bivec.datasets import southern_women
    >>> split = hold_out(southern_women(), 0.5, random_state=1).verify()
    >>> split.train.left.degrees.min() >= 1
    np.True_
    >>> len(split.test_left) == len(split.negative_left)
    True
    """
    from bivec.kernels.holdout import remove_edges, spanning_forest

    share = check_number("train_share", train_share, above=0, below=1)
    seed = seed_of(random_state)
    draw = np.random.default_rng(seed)
    left, right = graph.left_rows(), graph.left.indices

    # Remove
    wanted = draw.random(graph.n_edges) >= share
    order = draw.permutation(graph.n_edges)
    if connected:
        forest = np.empty(graph.n_edges, dtype=bool)
        parent = np.empty(graph.n_left + graph.n_right, np.int64)
        spanning_forest(left, right, draw.permutation(graph.n_edges), parent, graph.n_left, forest)
        wanted &= ~forest
    removed = np.empty(graph.n_edges, dtype=bool)
    remove_edges(left, right, order, wanted, graph.left.degrees, graph.right.degrees, removed)
    n_removed = int(removed.sum())
    if n_removed == 0:
        raise InputError(
            f"none of the {graph.n_edges:,} edges could be held out at train_share={share:g}"
            + (" with connected=True" if connected else ""),
            "Every edge drawn was the last of a node or needed: lower train_share, or take a graph "
            "with more edges.",
        )

    # Draw what is absent
    negative_left, negative_right = _absent_pairs(graph, n_removed, draw)
    return cut(
        graph,
        removed,
        negatives=(negative_left, negative_right),
        name="hold-out",
        parameters={"train_share": share, "random_state": seed, "connected": bool(connected)},
    )


def _absent_pairs(graph: BipartiteGraph, n: int, draw: np.random.Generator) -> tuple[Rows, Rows]:
    """Draw distinct pairs of nodes that have edges, but not with each other.

    Pairs are numbered row by row. The number of absent pairs before edge e, the k-th, is e - k; so
    the r-th absent pair is r plus the number of edges with e - k <= r, whatever the density.
    """
    lefts, rights = np.flatnonzero(graph.left.degrees), np.flatnonzero(graph.right.degrees)
    n_absent = len(lefts) * len(rights) - graph.n_edges
    if n_absent < n:
        raise InputError(
            f"{n:,} edges were held out, but only {n_absent:,} pairs are absent from the graph",
            "The graph is too dense for as many negatives: raise train_share.",
        )
    rank = draw.choice(n_absent, size=n, replace=False)
    left = np.searchsorted(lefts, graph.left_rows())
    codes = left * len(rights) + np.searchsorted(rights, graph.left.indices)
    pair = rank + np.searchsorted(codes - np.arange(len(codes)), rank, side="right")
    return lefts[pair // len(rights)], rights[pair % len(rights)]


def cut(
    graph: BipartiteGraph,
    held: npt.NDArray[np.bool_],
    *,
    name: str,
    parameters: dict[str, Any],
    negatives: tuple[Rows, Rows] | None = None,
) -> Split:
    """Return the split that holds the marked edges out."""
    left, right, weights = graph.left_rows(), graph.left.indices, graph.left.weights
    train = BipartiteGraph(
        left[~held],
        right[~held],
        weights[~held],
        left_ids=graph.left.ids,
        right_ids=graph.right.ids,
    )
    none = _no_rows()
    return Split(
        graph,
        train,
        left[held].astype(np.int64),
        right[held].astype(np.int64),
        weights[held],
        *(negatives or (none, none)),
        name=name,
        parameters=parameters,
    )


def pair_codes(graph: BipartiteGraph, left: Any, right: Any) -> Rows:
    """Return the numbers of pairs, counted row by row; a pair outside of the graph is refused."""
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    for rows, n in ((left, graph.n_left), (right, graph.n_right)):
        _claim(not len(rows) or (rows.min() >= 0 and rows.max() < n), "a pair names no node")
    codes: Rows = left * graph.n_right + right
    return codes


def edge_codes(graph: BipartiteGraph) -> Rows:
    """Return the numbers of the graph's edges, ascending."""
    return pair_codes(graph, graph.left_rows(), graph.left.indices)


def _claim(true: Any, otherwise: str) -> None:
    if not true:
        raise InputError(
            f"the split is not sound: {otherwise}",
            "Make it with one of the functions of bivec.evaluation.",
        )
