"""Splits of ratings: a share of every user's, given files, or what came later.

They have no negatives, as rankings are measured over all items. An item or user that stands in the
test part only keeps its row, without a training edge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bivec.arrow import from_numpy, to_numpy
from bivec.checks import check_integer, check_number, seed_of
from bivec.errors import InputError, shown
from bivec.evaluation.splits import Rows, Split, cut, edge_codes, pair_codes
from bivec.graph import BipartiteGraph
from bivec.graph.checks import check_weights
from bivec.ids import Vocabulary, to_id_array


class _Columns(NamedTuple):
    """Pairs in the order of their file, and all ids of both sides, also of nodes without a pair."""

    left: pa.Array
    right: pa.Array
    weights: npt.NDArray[np.floating[Any]]
    ids: tuple[pa.Array, pa.Array]


Edges = Any
"""A graph; or columns, in the order of a file: left ids, right ids and, if any, weights."""


def per_user_split(
    graph: BipartiteGraph, test_share: float = 0.4, *, min_train: int = 1, random_state: Any = 0
) -> Split:
    """Hold out the same share of every left node's edges, drawn at random.

    Of d edges, ``test_share * d`` rounded half up are held out, but at least ``min_train`` stay: a
    user with ``min_train`` ratings or fewer has no test pair. An item may lose all its edges.

    Parameters
    ----------
    graph : BipartiteGraph
        Users left, items right, ratings as weights.
    test_share : float
        Between 0 and 1.
    min_train : int
        The least number of edges that a user keeps, if it has as many.
    random_state : int, numpy generator or None
        The seed; the split is a function of it and the graph.

    Examples
    --------
    >>> from bivec.datasets import southern_women
    >>> per_user_split(southern_women(), 0.4).verify()
    Split(per-user, 51 training edges, 38 test pairs)
    """
    share = check_number("test_share", test_share, above=0, below=1)
    least = check_integer("min_train", min_train, low=0)
    seed = seed_of(random_state)
    users, degrees = graph.left_rows(), graph.left.degrees
    n_test = np.floor(share * degrees + 0.5).astype(np.int64)
    n_test = np.clip(n_test, 0, np.maximum(degrees - least, 0))
    # In the order of (user, random key), the place of an edge among its user's is random.
    order = np.lexsort((np.random.default_rng(seed).random(graph.n_edges), users))
    held = np.empty(graph.n_edges, dtype=bool)
    held[order] = np.arange(graph.n_edges) - graph.left.indptr[users] < n_test[users]
    parameters = {"test_share": share, "min_train": least, "random_state": seed}
    return _some(cut(graph, held, name="per-user", parameters=parameters))


def given_split(train: Edges, test: Edges, *, duplicates: str = "sum") -> Split:
    """Take a split as others made it.

    Parameters
    ----------
    train, test : columns or BipartiteGraph
        Columns are left ids, right ids and, if any, weights, in the order of the file: as a
        sequence of arrays or an Arrow table. The order of the test pairs is kept. A pair of weight
        0 is no edge.
    duplicates : {"sum", "max", "last", "error"}
        What becomes of a pair that is given more than once within a part; it stands where it first
        stood. A pair that is in both parts is an error, as it would leak.

    Returns
    -------
    Split
        Its graph is the union of both parts, ids sorted. A node that only the test part knows has
        a row in ``train``, without edges: no method can know it, but its pairs count.

    Examples
    --------
    >>> split = given_split((["ann", "bob"], ["Alien", "Alien"], [5, 4]),
    ...                     (["bob", "ann"], ["Brazil", "Clue"], [3, 2])).verify()
    >>> split.train.right.degrees, split.test_right, split.test_weight
    (array([2, 0, 0]), array([1, 2]), array([3., 2.], dtype=float32))
    """
    return _some(_joined(_columns(train, "train"), _columns(test, "test"), "given", {}, duplicates))


def temporal_split(
    edges: Edges,
    times: npt.ArrayLike,
    *,
    test_share: float | None = None,
    cut_time: float | None = None,
    duplicates: str = "sum",
) -> Split:
    """Train on what came before a moment and test on what came from then on.

    Parameters
    ----------
    edges : columns or BipartiteGraph
        As in :func:`given_split`.
    times : array
        One finite number for each row of the columns, or for each edge of the graph in the order of
        ``graph.to_arrow()``.
    test_share : float, optional
        Test on this share of the rows, the latest; rows of one moment stay together in the test.
    cut_time : float, optional
        Test on rows from this moment on. Give this or ``test_share``.
    duplicates : {"sum", "max", "last", "error"}
        What becomes of a pair that is given more than once within a part. A pair of the training
        part that comes again later is no new link: its later rows are left out and counted in
        ``parameters["repeated"]``.

    Examples
    --------
    >>> split = temporal_split((["ann", "ann", "bob"], ["Alien", "Brazil", "Alien"]), [3, 9, 4],
    ...                        test_share=0.3).verify()
    >>> split.graph.left.ids[int(split.test_left[0])], split.parameters["cut_time"]
    ('ann', 9.0)
    """
    columns = _columns(edges, "edges")
    moments = np.asarray(times)
    n = len(columns.left)
    if moments.dtype.kind == "M":
        moments = moments.astype("datetime64[ns]").astype(np.int64)
    if moments.shape != (n,) or moments.dtype.kind not in "iuf" or not np.isfinite(moments).all():
        raise InputError(
            f"the times are not one finite number for each of {n:,} edges",
            "Give an array of numbers or datetime64 in the order of the edges.",
        )
    if (test_share is None) == (cut_time is None):
        raise InputError(
            "a temporal split needs a moment", "Give test_share or cut_time, not both."
        )
    if test_share is not None:
        share = check_number("test_share", test_share, above=0, below=1)
        n_test = int(np.floor(share * n + 0.5))
        at = np.sort(moments)[min(n - n_test, n - 1)] if n else 0
    else:
        at = check_number("cut_time", cut_time)
    held = moments >= at
    parameters = {"cut_time": float(at)}
    if isinstance(edges, BipartiteGraph):
        return _some(cut(edges, held, name="temporal", parameters={**parameters, "repeated": 0}))
    before, after = (
        _Columns(
            columns.left.filter(pa.array(part)),
            columns.right.filter(pa.array(part)),
            columns.weights[part],
            columns.ids,
        )
        for part in (~held, held)
    )
    return _some(_joined(before, after, "temporal", parameters, duplicates, drop_known=True))


def _joined(
    train: _Columns,
    test: _Columns,
    name: str,
    parameters: dict[str, Any],
    duplicates: str,
    drop_known: bool = False,
) -> Split:
    """Give the ids of both parts their rows and build the graphs."""
    left, left_ids = _numbered(train.left, test.left, (train.ids[0], test.ids[0]), "left")
    right, right_ids = _numbered(train.right, test.right, (train.ids[1], test.ids[1]), "right")
    n = len(train.left)

    def graph(rows: slice, weights: Any) -> BipartiteGraph:
        return BipartiteGraph(
            left[rows], right[rows], weights,
            left_ids=left_ids, right_ids=right_ids, duplicates=duplicates,
        )  # fmt: skip

    seen = graph(slice(0, n), train.weights)
    asked = graph(slice(n, None), test.weights)
    known = edge_codes(seen)
    both = np.isin(edge_codes(asked), known)
    if both.any() and not drop_known:
        pair = int(both.argmax())
        ends = (
            asked.left.ids[int(asked.left_rows()[pair])],
            right_ids[int(asked.left.indices[pair])],
        )
        raise InputError(
            f"{int(both.sum()):,} pairs are in the training and in the test part, "
            f"such as {shown(ends[0])} - {shown(ends[1])}",
            "Remove them from one part: a test pair that was trained on measures nothing.",
        )

    # The test pairs in the order in which they first came, with their merged weights
    codes = pair_codes(seen, left[n:], right[n:])
    firsts = np.sort(np.unique(codes, return_index=True)[1])
    edges = edge_codes(asked)
    ordered = codes[firsts]
    ordered = ordered[np.isin(ordered, edges) & ~np.isin(ordered, known)]
    test_weight = asked.left.weights[np.searchsorted(edges, ordered)]
    test_left, test_right = ordered // max(seen.n_right, 1), ordered % max(seen.n_right, 1)
    whole = BipartiteGraph(
        np.concatenate([seen.left_rows(), test_left]),
        np.concatenate([seen.left.indices, test_right]),
        np.concatenate([seen.left.weights, test_weight]),
        left_ids=left_ids,
        right_ids=right_ids,
    )
    if drop_known:
        parameters = {**parameters, "repeated": int(both.sum())}
    return Split(whole, seen, test_left, test_right, test_weight, name=name, parameters=parameters)


def _columns(edges: Edges, what: str) -> _Columns:
    """Return ids of both ends and weights as they came."""
    if isinstance(edges, BipartiteGraph):
        left, right = (edges.left.ids.to_arrow(), edges.right.ids.to_arrow())
        rows = (edges.left_rows(), edges.left.indices)
        ends = (left.take(from_numpy(rows[0])), right.take(from_numpy(rows[1])))
        return _Columns(*ends, edges.left.weights, (left, right))
    columns = edges.columns if isinstance(edges, pa.Table) else list(edges)
    if len(columns) not in (2, 3):
        raise InputError(
            f"{what} has {len(columns)} columns",
            "Give left ids, right ids and, if there are any, weights: three arrays, not triples.",
        )
    if len({len(column) for column in columns}) > 1:
        raise InputError(
            f"the columns of {what} are of lengths {', '.join(f'{len(c):,}' for c in columns)}",
            "Give one left id, one right id and one weight for each pair.",
        )
    left, right = to_id_array(columns[0], "left"), to_id_array(columns[1], "right")
    weights = check_weights(np.asarray(columns[2]) if len(columns) == 3 else None, len(left))
    values = np.ones(len(left), np.float32) if weights is None else weights
    return _Columns(left, right, values, (left, right))


def _numbered(
    train: pa.Array, test: pa.Array, known: tuple[pa.Array, pa.Array], side: str
) -> tuple[Rows, Vocabulary]:
    """Return the rows of all ends, training first, and the sorted ids."""
    first, second = known
    if first.type != second.type and len(first) and len(second):
        raise InputError(
            f"the {side} ids are {first.type} in one part and {second.type} in the other",
            "Convert them to one kind.",
            side=side,
        )
    kind = first.type if len(first) else second.type
    ids = pa.concat_arrays([first.cast(kind), second.cast(kind)]).unique()
    ids = ids.take(pc.sort_indices(ids))
    ends = pa.concat_arrays([train.cast(kind), test.cast(kind)])
    rows: Rows = to_numpy(pc.index_in(ends, value_set=ids)).astype(np.int64)
    return rows, Vocabulary(ids, side)


def _some(split: Split) -> Split:
    """Refuse a split one part of which is empty."""
    if split.train.n_edges == 0 or len(split.test_left) == 0:
        raise InputError(
            f"a {split.name} split of {split.graph.n_edges:,} edges leaves "
            f"{split.train.n_edges:,} for training and {len(split.test_left):,} for the test",
            "Both need at least one: change the share, or take a graph with more edges.",
        )
    return split
