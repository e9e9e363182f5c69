"""The verbs: recommend, similar, score, predict links; ids in, rankings out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bivec.checks import check_integer
from bivec.errors import InputError
from bivec.graph import BipartiteGraph, Side
from bivec.ids import Id, Vocabulary
from bivec.queries.ranking import Known, best_columns, best_pairs, frozen
from bivec.queries.results import Links, Ranking
from bivec.queries.scorers import (
    Cosine,
    Popularity,
    Rows,
    Scorer,
    Table,
    default_scorer,
    make_scorer,
    needs_a_graph,
)

OTHER: dict[Side, Side] = {"left": "right", "right": "left"}


class Vectors(Protocol):
    """What queries need to know of an embedding.

    The sides have ``ids`` and ``vectors``; ``cache`` keeps what is derived from the rest.
    """

    left: Any
    right: Any
    graph: BipartiteGraph | None
    method: str
    params: Any
    cache: dict[Any, Any]


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
    n_jobs: int | None = None,
) -> Ranking | list[Ranking]:
    """Rank the nodes of the other side; see :meth:`bivec.Embedding.recommend`."""
    n = check_integer("n", n, low=0)
    own, far_side = side_of(vectors, side), OTHER[side]
    far = side_of(vectors, far_side)
    keys, rows, single = wanted(ids, own.ids, side)
    graph = facing(vectors.graph, side)
    columns, barred = candidates(far.ids, far_side, allow, deny)
    last = None if graph is None else graph.right.degrees == 0

    # A node without edges has a vector that nothing has moved.
    cold = np.zeros(len(rows), np.bool_)
    if scorer is None and graph is not None:
        cold = graph.left.degrees[rows] == 0
    rankings: dict[int, Ranking] = {}
    for name, members in ((scorer, ~cold), (Popularity.name, cold)):
        at = np.flatnonzero(members)
        if not len(at):
            continue
        chosen = fitted(vectors, name, side)
        known = None
        if exclude_known and graph is not None:
            known = Known(rows[at], graph.left.indptr, graph.left.indices)
        found = best_columns(
            chosen, rows[at], n, len(far.ids), known=known, columns=columns, barred=barred,
            last=last, n_jobs=n_jobs,
        )  # fmt: skip
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
    found = best_columns(
        vectors.cache[key],
        rows,
        n,
        len(own.ids),
        known=Known(each[:-1], frozen(each), frozen(rows.astype(np.int32))),
        last=None if vectors.graph is None else vectors.graph.side(side).degrees == 0,
        n_jobs=n_jobs,
    )
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
    n_jobs: int | None = None,
) -> Links:
    """Find the best absent pairs; see :meth:`bivec.Embedding.predict_links`."""
    n = check_integer("n", n, low=0)
    graph = vectors.graph
    if graph is None:
        raise needs_a_graph("predicting links")
    chosen = fitted(vectors, scorer, "left")
    left, right, scores = best_pairs(chosen, n, graph, graph.right.degrees == 0)
    return Links(names(graph.left.ids, left), names(graph.right.ids, right), scores, chosen.name)


# Parts


def side_of(vectors: Vectors, side: Side) -> Any:
    """Return one side by its name."""
    if side not in OTHER:
        raise InputError(f"{side!r} is no side", "A side is 'left' or 'right'.")
    return vectors.left if side == "left" else vectors.right


def facing(graph: BipartiteGraph | None, side: Side) -> BipartiteGraph | None:
    """Return the graph with this side on its left."""
    return graph if graph is None or side == "left" else graph.flipped()


def fitted(vectors: Vectors, scorer: str | Scorer | None, side: Side) -> Scorer:
    """Return a scorer fitted for queries from this side; one that is named is kept."""
    name = default_scorer(vectors.graph) if scorer is None else scorer
    if isinstance(name, str) and ("scorer", name, side) in vectors.cache:
        kept: Scorer = vectors.cache["scorer", name, side]
        return kept
    own, far = side_of(vectors, side), side_of(vectors, OTHER[side])
    chosen = make_scorer(name).fit(own.vectors, far.vectors, facing(vectors.graph, side))
    if isinstance(name, str):
        vectors.cache["scorer", name, side] = chosen
    return chosen


def wanted(ids: Id | Iterable[Id], known: Vocabulary, side: Side) -> tuple[list[Id], Rows, bool]:
    """Return the ids in their own kind, their rows, and whether one id alone was given."""
    single = isinstance(ids, (str, int, np.integer))
    asked = [ids] if single else listing(ids, "ids")
    rows = known.rows(asked, side)  # type: ignore[arg-type]
    return names(known, rows), rows, single


def candidates(
    ids: Vocabulary, side: Side, allow: Iterable[Id] | None, deny: Iterable[Id] | None
) -> tuple[Rows | None, npt.NDArray[np.bool_] | None]:
    """Return the rows that may be ranked (None: all) and a mask of those that may not."""
    columns, barred = None, None
    if allow is not None:
        columns = np.unique(ids.rows(listing(allow, "allow"), side))
    if deny is not None:
        barred = np.zeros(len(ids), np.bool_)
        found = ids.find(listing(deny, "deny"))  # an id that is not there cannot come up
        barred[found[found >= 0]] = True
    return columns, barred


def listing(ids: Any, name: str) -> list[Id]:
    """Return ids as a list, refusing one string that would fall apart into letters."""
    if isinstance(ids, (str, bytes, int)) or not isinstance(ids, Iterable):
        raise InputError(f"{name}={ids!r} is no list of ids", "Pass a list.")
    return list(ids)


def names(ids: Vocabulary, rows: Rows) -> list[Id]:
    """Return the ids of rows, which may repeat."""
    found: list[Id] = ids.to_arrow().take(rows).to_pylist()
    return found


def listed(
    items: Rows, scores: Table, counts: Rows, ids: Vocabulary
) -> Iterator[tuple[list[Id], Table]]:
    """Yield ids and scores of each list, at its length."""
    kept = np.arange(items.shape[1]) < counts[:, None]
    flat = names(ids, items[kept])
    start = 0
    for row, count in zip(scores, counts.tolist(), strict=True):
        yield flat[start : start + count], row[:count]
        start += count
