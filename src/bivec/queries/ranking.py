"""Exact ranking in bounded memory: blocks of scores go by, only the best are kept."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bivec.graph import BipartiteGraph
from bivec.parallel import Workers
from bivec.queries.scorers import FactorScorer, Rows, Scorer, Table, lengths

_ROWS, _COLUMNS = 256, 4096
"""Shape of a block: 4 MB of scores, which BLAS fills at full speed and the caches can hold."""
_CHUNK = 16

Mask = npt.NDArray[np.bool_]


class Known(NamedTuple):
    """Far rows to leave out, ascending: of asker m, those of row ``at[m]`` in compressed rows."""

    at: Rows
    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[Any]

    @classmethod
    def none(cls, n: int) -> Known:
        """Return what stands for n askers who know nothing."""
        pointers = frozen(np.zeros(2, np.int64))
        return cls(np.zeros(n, np.int64), pointers, frozen(np.zeros(0, np.int32)))


class Among(NamedTuple):
    """Who may be ranked.

    Attributes
    ----------
    n_columns : int
        Far rows in all.
    known : Known, optional
        Far rows that are left out for single askers.
    columns : array of int, optional
        Only these far rows, ascending.
    barred : array of bool, optional
        Far rows that are left out for all.
    last : array of bool, optional
        Far rows that come after all others.
    """

    n_columns: int
    known: Known | None = None
    columns: Rows | None = None
    barred: Mask | None = None
    last: Mask | None = None


def best_columns(
    scorer: Scorer, rows: Rows, n: int, among: Among, n_jobs: int | None = None
) -> tuple[Rows, Table, Rows]:
    """Return the n best far rows of each asking row: rows, scores, and how many there are.

    Parameters
    ----------
    scorer : Scorer
        Fitted.
    rows : array of int
        Who asks.
    n : int
        Places of a list.
    among : Among
        Who may be ranked.
    n_jobs : int, optional
        Threads that select; the result does not depend on it. BLAS has threads of its own.
    """
    known, last, barred = among.known, among.last, among.barred
    candidates = np.arange(among.n_columns) if among.columns is None else among.columns
    bars = np.zeros(0, np.bool_) if barred is None else barred
    live, late = candidates, candidates[:0]
    if last is not None and (waiting := last[candidates]).any():
        live, late = candidates[~waiting], candidates[waiting]
    if barred is not None:
        late = late[~barred[late]]
    room = max(1, min(n, len(candidates)))
    items = np.full((len(rows), room), -1, np.int64)
    top = np.full((len(rows), room), -np.inf, np.float32)
    counts = np.zeros(len(rows), np.int64)
    if len(candidates) == 0 or n == 0:
        return items[:, :0], top[:, :0], counts
    from bivec.kernels.topk import settle, take_block

    at, indptr, indices = Known.none(len(rows)) if known is None else known
    targets, norms = _targets(scorer)
    consecutive = len(live) == among.n_columns
    with Workers(n_jobs) as workers:
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            queries, vectors, reach = _queries(scorer, rows[part])
            for first in range(0, len(live), _COLUMNS):
                inside = live[first : first + _COLUMNS]
                block = _block(scorer, queries, inside, consecutive)
                select = partial(
                    take_block, block, inside, vectors, targets, norms, reach, at[part],
                    indptr, indices, known is not None, bars, top[part], items[part], counts[part],
                )  # fmt: skip
                workers.run(select, len(block), _CHUNK)
    settle(top, items, counts)
    for row in np.flatnonzero(counts < room) if len(late) else ():
        more = late[: room - counts[row]]
        if known is not None:
            more = late[~np.isin(late, indices[indptr[at[row]] : indptr[at[row] + 1]])]
            more = more[: room - counts[row]]
        items[row, counts[row] : counts[row] + len(more)] = more
        counts[row] += len(more)
    return items, top, counts


def best_pairs(scorer: Scorer, n: int, graph: BipartiteGraph) -> tuple[Rows, Rows, Table]:
    """Return the n best pairs of the whole graph that are no edges: left rows, right rows, scores.

    Pairs of a node without edges come after all others.
    """
    from bivec.kernels.topk import settle, take_pairs

    n_right = graph.n_right
    room = max(0, min(n, graph.n_left * n_right - graph.n_edges))
    top, keys, count = np.full(room, -np.inf, np.float32), np.empty(room, np.int64), 0
    if room == 0:
        return keys, keys, top
    left, right = (np.flatnonzero(side.degrees) for side in (graph.left, graph.right))
    targets, norms = _targets(scorer)
    for start in range(0, len(left), _ROWS):
        part = left[start : start + _ROWS]
        queries, vectors, reach = _queries(scorer, part)
        for first in range(0, len(right), _COLUMNS):
            inside = right[first : first + _COLUMNS]
            block = _block(scorer, queries, inside, len(right) == n_right)
            count = take_pairs(
                block, inside, vectors, targets, norms, reach, part,
                graph.left.indptr, graph.left.indices, top, keys, count, n_right,
            )  # fmt: skip
    settle(top[None], keys[None], np.array([count]))
    late = np.flatnonzero(graph.right.degrees == 0)
    row = 0
    while count < room:
        columns = (
            np.arange(n_right) if graph.left.indptr[row] == graph.left.indptr[row + 1] else late
        )
        more = row * n_right + columns[: room - count]
        keys[count : count + len(more)] = more
        count += len(more)
        row += 1
    return keys // n_right, keys % n_right, top


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be written, the one kind of array that graphs and kernels share."""
    view = array.view()
    view.flags.writeable = False
    return view


def _targets(scorer: Scorer) -> tuple[Table, Table]:
    """Return the table that decides between near scores, and the lengths of its rows."""
    if not isinstance(scorer, FactorScorer):
        return np.empty((0, 0), np.float32), np.empty(0, np.float32)
    return np.ascontiguousarray(scorer.targets), scorer.lengths


def _queries(scorer: Scorer, rows: Rows) -> tuple[Any, Table, Table]:
    """Return the scorer's queries, and again as vectors with their lengths where they are some."""
    queries = scorer.queries(rows)
    if not isinstance(scorer, FactorScorer):
        return queries, np.empty((len(rows), 0), np.float32), np.empty(len(rows), np.float32)
    vectors = np.ascontiguousarray(queries)
    return vectors, vectors, lengths(vectors)


def _block(scorer: Scorer, queries: Any, inside: Rows, consecutive: bool) -> Table:
    columns = slice(int(inside[0]), int(inside[-1]) + 1) if consecutive else inside
    return np.ascontiguousarray(scorer.block(queries, columns), np.float32)
