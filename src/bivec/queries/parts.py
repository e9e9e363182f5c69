"""What the verbs share: from ids to rows and back, and scorers that are fitted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bivec.errors import InputError
from bivec.graph import BipartiteGraph, Side
from bivec.ids import Id, Vocabulary
from bivec.lengths import Length
from bivec.queries.choose import default_scorer, make_scorer
from bivec.queries.scorers import Rows, Scorer, Table

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


def side_of(vectors: Vectors, side: Side) -> Any:
    """Return one side by its name."""
    if side not in OTHER:
        raise InputError(f"{side!r} is no side", "A side is 'left' or 'right'.")
    return vectors.left if side == "left" else vectors.right


def facing(graph: BipartiteGraph | None, side: Side) -> BipartiteGraph | None:
    """Return the graph with this side on its left."""
    return graph if graph is None or side == "left" else graph.flipped()


def length_of(vectors: Vectors, side: Side) -> Length:
    """Return how long vectors of a side are by degree (smoothing does it)."""
    powers, hubs = (vectors.params.get(name, (0, 0)) for name in ("shortening", "hubs"))
    return Length(float(powers[side == "right"]), int(hubs[side == "right"]))


def is_placed(vectors: Vectors, side: Side) -> bool:
    """Whether the vectors of a side were brought to places (:mod:`bivec.places`)."""
    return bool(vectors.params.get("places", (0, 0))[side == "right"])


def levelled(vectors: Vectors, side: Side) -> Table:
    """Return the vectors of a side with popular nodes as long as others.

    They are shorter for machines that measure distances; products would put them last.
    """
    table: Table = side_of(vectors, side).vectors
    length = length_of(vectors, side)
    if length.plain or vectors.graph is None:
        return table
    out: Table = table / length.of(vectors.graph.side(side).degrees)[:, None]
    return out


def without_edges(vectors: Vectors, side: Side) -> npt.NDArray[np.bool_] | None:
    """Return a mask of a side's nodes that have no edges; None where there is no such node."""
    if vectors.graph is None:
        return None
    key = ("without edges", side)
    if key not in vectors.cache:
        mask = vectors.graph.side(side).degrees == 0
        vectors.cache[key] = mask if mask.any() else None
    found: npt.NDArray[np.bool_] | None = vectors.cache[key]
    return found


def fitted(vectors: Vectors, scorer: str | Scorer | None, side: Side) -> Scorer:
    """Return a scorer fitted for queries from this side; one that is named is kept."""
    name = default_scorer(vectors.graph) if scorer is None else scorer
    if isinstance(name, str) and ("scorer", name, side) in vectors.cache:
        kept: Scorer = vectors.cache["scorer", name, side]
        return kept
    own, far = levelled(vectors, side), levelled(vectors, OTHER[side])
    chosen = make_scorer(name).fit(own, far, facing(vectors.graph, side))
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
