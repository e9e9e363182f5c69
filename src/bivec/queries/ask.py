"""The verbs: recommend, similar, score, predict links; ids in, rankings out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bivec.checks import check_integer
from bivec.errors import InputError
from bivec.graph import Side
from bivec.ids import Id
from bivec.queries.index import best_proposed, index_for, served
from bivec.queries.parts import (
    OTHER,
    Vectors,
    candidates,
    facing,
    fitted,
    listed,
    names,
    side_of,
    wanted,
    without_edges,
)
from bivec.queries.ranking import Among, Known, best_columns, best_pairs, frozen
from bivec.queries.results import Links, Ranking
from bivec.queries.scorers import Cosine, Popularity, Rows, Scorer, Table, needs_a_graph


def recommend(
    vectors: Vectors,
    ids: Id | Iterable[Id],
    n: int = 10,
    *,
    side: Side = "left",
    exclude_known: bool = True,
    allow: Iterable[Id] | None = None,
    deny: Iterable[Id] | None = None,
    scorer: str | Scorer | None = None,
    approximate: bool = False,
    n_jobs: int | None = None,
) -> Ranking | list[Ranking]:
    """Rank the nodes of the other side; see :meth:`bivec.Embedding.recommend`."""
    n = check_integer("n", n, low=0)
    own, far_side = side_of(vectors, side), OTHER[side]
    far = side_of(vectors, far_side)
    keys, rows, single = wanted(ids, own.ids, side)
    graph = facing(vectors.graph, side)
    columns, barred = candidates(far.ids, far_side, allow, deny)
    last = without_edges(vectors, far_side)

    # A node without edges has a vector that nothing has moved.
    cold = np.zeros(len(rows), np.bool_)
    if scorer is None and graph is not None:
        cold = graph.left.indptr[rows] == graph.left.indptr[rows + 1]
    if scorer is None and approximate:
        scorer = served(vectors.graph)
    rankings: dict[int, Ranking] = {}
    for name, members in ((scorer, ~cold), (Popularity.name, cold)):
        at = np.flatnonzero(members)
        if not len(at):
            continue
        chosen = fitted(vectors, name, side)
        apart = chosen.known_scores(int(rows[at[0]])) is not None
        known = None
        if graph is not None and (exclude_known or apart):
            known = Known(rows[at], graph.left.indptr, graph.left.indices)
        among = Among(len(far.ids), known, columns, barred, last)
        found = best(vectors, chosen, rows[at], n, among, far_side, approximate, n_jobs)
        if apart and not exclude_known:
            found = with_known(chosen, rows[at], among, found)
        for m, (near, scores) in zip(at.tolist(), listed(*found, far.ids), strict=True):
            rankings[m] = Ranking(keys[m], side, far_side, near, scores, chosen.name)
    ordered = [rankings[m] for m in range(len(rows))]
    return ordered[0] if single else ordered


def similar(
    vectors: Vectors,
    ids: Id | Iterable[Id],
    side: Side = "left",
    n: int = 10,
    *,
    approximate: bool = False,
    n_jobs: int | None = None,
) -> Ranking | list[Ranking]:
    """Rank the nodes of the same side by cosine; see :meth:`bivec.Embedding.similar`."""
    n = check_integer("n", n, low=0)
    own = side_of(vectors, side)
    keys, rows, single = wanted(ids, own.ids, side)
    key = ("similar", side)
    if key not in vectors.cache:
        vectors.cache[key] = Cosine().fit(own.vectors, own.vectors, None)
    each = np.arange(len(rows) + 1)
    itself = Known(each[:-1], frozen(each), frozen(rows.astype(np.int32)))
    last = without_edges(vectors, side)
    among = Among(len(own.ids), itself, last=last)
    found = best(vectors, vectors.cache[key], rows, n, among, side, approximate, n_jobs)
    rankings = [
        Ranking(name, side, side, near, scores, Cosine.name)
        for name, (near, scores) in zip(keys, listed(*found, own.ids), strict=True)
    ]
    return rankings[0] if single else rankings


def score(
    vectors: Vectors, pairs: Iterable[tuple[Id, Id]], scorer: str | Scorer | None = None
) -> Table:
    """Score pairs of a left and a right id; see :meth:`bivec.Embedding.score`."""
    given: list[Any] = list(pairs)
    if any(isinstance(p, (str, bytes)) or len(p) != 2 for p in given):
        raise InputError(
            "score takes pairs of a left and a right id", "Pass a list such as [('ann', 'Alien')]."
        )
    rows = vectors.left.ids.rows([a for a, _ in given], "left")
    columns = vectors.right.ids.rows([b for _, b in given], "right")
    return fitted(vectors, scorer, "left").pairs(rows, columns)


def predict_links(
    vectors: Vectors,
    n: int = 100,
    *,
    scorer: str | Scorer | None = None,
) -> Links:
    """Find the best absent pairs; see :meth:`bivec.Embedding.predict_links`."""
    n = check_integer("n", n, low=0)
    graph = vectors.graph
    if graph is None:
        raise needs_a_graph("predicting links")
    chosen = fitted(vectors, scorer, "left")
    left, right, scores = best_pairs(chosen, n, graph)
    return Links(names(graph.left.ids, left), names(graph.right.ids, right), scores, chosen.name)


def with_known(
    scorer: Scorer, rows: Rows, among: Among, found: tuple[Rows, Table, Rows]
) -> tuple[Rows, Table, Rows]:
    """Return lists in which known far rows compete, too, at the scores of their own."""
    items, scores, counts = found
    for m, row in enumerate(rows.tolist()):
        near, values = scorer.known_scores(row) or (items[m, :0], scores[m, :0])
        kept = np.ones(len(near), np.bool_)
        if among.columns is not None:
            kept &= np.isin(near, among.columns)
        if among.barred is not None:
            kept &= ~among.barred[near]
        both = np.concatenate([items[m, : counts[m]], near[kept]])
        worth = np.concatenate([scores[m, : counts[m]], values[kept]])
        order = np.lexsort((both, -worth))[: items.shape[1]]
        counts[m] = len(order)
        items[m, : len(order)], scores[m, : len(order)] = both[order], worth[order]
    return items, scores, counts


def best(
    vectors: Vectors,
    scorer: Scorer,
    rows: Rows,
    n: int,
    among: Among,
    side: Side,
    approximate: bool,
    n_jobs: int | None,
) -> tuple[Rows, Table, Rows]:
    """Rank nodes of a side, exactly or by its index.

    Where the index does not give enough, as with many known or denied nodes, the list is exact; so
    are lists from an allow list, which are no large matter.
    """
    if not approximate or among.columns is not None or isinstance(scorer, Popularity):
        return best_columns(scorer, rows, n, among, n_jobs)
    index, factors = index_for(vectors, side, scorer)
    items, scores, counts = best_proposed(index, factors, rows, n, among)
    short = np.flatnonzero(counts < items.shape[1])
    if len(short):
        known = among.known
        if known is not None:
            known = known._replace(at=known.at[short])
        exact = best_columns(scorer, rows[short], n, among._replace(known=known), n_jobs)
        items[short], scores[short], counts[short] = exact
    return items, scores, counts
