"""What queries answer with: small objects to iterate, index, print, and turn into JSON or a frame.

Every ``to_dict`` holds only what JSON can: a score that is not finite becomes None.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from bivec.errors import require
from bivec.graph import Side
from bivec.ids import Id

Scores = npt.NDArray[np.float32]
_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Sequence[tuple[Id, float]]):
    """Nodes, best first, for one node.

    Iterating and indexing give pairs of id and score.

    Attributes
    ----------
    of : str or int
        The node that was asked about.
    of_side, side : {"left", "right"}
        Its side, and that of the nodes in the list.
    ids : list of str or int
        At most as many as were asked for; fewer only where there are no more.
    scores : array of float32
        Descending. A node without an edge was never trained: it comes last, at minus infinity.
    scorer : str
        How the scores were made. ``"popularity"`` (the number of neighbours) where the node has
        no edges and no scorer was named.
    """

    of: Id
    of_side: Side
    side: Side
    ids: list[Id]
    scores: Scores
    scorer: str

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> tuple[Id, float]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Id, float]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Return a pair of id and score, or a list of them."""
        if isinstance(index, slice):
            return list(zip(self.ids[index], self.scores[index].tolist(), strict=True))
        return self.ids[index], float(self.scores[index])

    def __iter__(self) -> Iterator[tuple[Id, float]]:
        return zip(self.ids, self.scores.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranking):
            return NotImplemented
        return self._names() == other._names() and np.array_equal(self.scores, other.scores)

    __hash__ = None  # type: ignore[assignment]

    def _names(self) -> tuple[Any, ...]:
        return self.of, self.of_side, self.side, self.ids, self.scorer

    def to_dict(self) -> dict[str, Any]:
        """Return the list as JSON can hold it."""
        return {
            "id": self.of,
            "side": self.of_side,
            "scorer": self.scorer,
            "results": [{"id": key, "score": number(score)} for key, score in self],
        }

    def to_pandas(self) -> Any:
        """Return a data frame with columns ``id`` and ``score``."""
        return _frame({"id": self.ids, "score": self.scores})

    def __repr__(self) -> str:
        title = f"{printable(self.of)}: {len(self)} {self.side} nodes by {self.scorer}"
        rows = [(printable(key), f"{score:.4f}") for key, score in self[:_SHOWN]]
        return _table(title, rows, len(self))


@dataclass(frozen=True, eq=False, repr=False)
class Links(Sequence[tuple[Id, Id, float]]):
    """Pairs without an edge, best first; iterating gives triples of left id, right id and score."""

    left: list[Id]
    right: list[Id]
    scores: Scores
    scorer: str

    def __len__(self) -> int:
        return len(self.left)

    @overload
    def __getitem__(self, index: int) -> tuple[Id, Id, float]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Id, Id, float]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Return a triple of left id, right id and score, or a list of them."""
        if isinstance(index, slice):
            return list(
                zip(self.left[index], self.right[index], self.scores[index].tolist(), strict=True)
            )
        return self.left[index], self.right[index], float(self.scores[index])

    def __iter__(self) -> Iterator[tuple[Id, Id, float]]:
        return zip(self.left, self.right, self.scores.tolist(), strict=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs as JSON can hold them."""
        return {
            "scorer": self.scorer,
            "results": [{"left": a, "right": b, "score": number(score)} for a, b, score in self],
        }

    def to_pandas(self) -> Any:
        """Return a data frame with columns ``left``, ``right`` and ``score``."""
        return _frame({"left": self.left, "right": self.right, "score": self.scores})

    def __repr__(self) -> str:
        rows = [(printable(a), printable(b), f"{score:.4f}") for a, b, score in self[:_SHOWN]]
        return _table(f"{len(self)} pairs by {self.scorer}", rows, len(self))


@dataclass(frozen=True)
class Bridge:
    """A path left - shared - other - right over three edges, and what it is worth.

    Attributes
    ----------
    shared : str or int
        The right node that ``left`` and ``other`` have in common.
    other : str or int
        The left node that has both ``shared`` and ``right``.
    left_shared, other_shared, other_right : float
        The algebraic similarities of the three edges, in [0, 1].
    strength : float
        ``min(other_shared, max(left_shared, other_right))``: the path's term of the paper's
        second-order observation, which is the strongest of all.
    estimate : float
        The path's term of the paper's estimate: how similar the vectors of ``left`` and ``other``
        are, times the same for ``shared`` and ``right``.
    share : float
        This estimate over the sum of those of all bridges.
    contribution : float, optional
        The bridge's part of the pair's score: what ``shared`` adds to it, divided among the
        bridges over ``shared`` by how similar the vectors of their ``other`` and ``left`` are, and
        what ``other`` adds, divided likewise. With what neighbours on no bridge add, the
        contributions of all bridges sum up to the score, but for an edge that ``"blend"`` scores as
        if it were absent. None where the score is no sum over neighbours.
    """

    shared: Id
    other: Id
    left_shared: float
    other_shared: float
    other_right: float
    strength: float
    estimate: float
    share: float
    contribution: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the bridge as JSON can hold it."""
        return {name: number(v) if isinstance(v, float) else v for name, v in self.__dict__.items()}


@dataclass(frozen=True, repr=False)
class Explanation(Sequence[Bridge]):
    """Why a left and a right node may go together: the strongest bridges between them.

    Iterating and indexing give :class:`Bridge` objects; ``str()`` says the same in words.

    Attributes
    ----------
    left, right : str or int
        The pair.
    known : bool
        Whether it is an edge of the graph. The edge itself is on no bridge.
    score : float
        The pair's score by ``scorer``.
    scorer : str
        How the score was made.
    observation : float
        The strongest bridge of all; 0 where there is none.
    estimate : float
        The paper's estimate: the mean of the terms of all pairs of a left neighbour of ``right``
        and a right neighbour of ``left``, whether a bridge leads over them or not.
    bridged : float
        The share of that mean's terms that bridges carry.
    n_bridges : int
        How many bridges there are.
    bridges : tuple of Bridge
        The strongest, of equal ones those with the larger share.
    """

    left: Id
    right: Id
    known: bool
    score: float
    scorer: str
    observation: float
    estimate: float
    bridged: float
    n_bridges: int
    bridges: tuple[Bridge, ...]

    def __len__(self) -> int:
        return len(self.bridges)

    @overload
    def __getitem__(self, index: int) -> Bridge: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Bridge, ...]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Return a bridge, or a tuple of them."""
        return self.bridges[index]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON can hold it, with its words."""
        own = {k: number(v) if isinstance(v, float) else v for k, v in self.__dict__.items()}
        return {
            **own,
            "bridges": [bridge.to_dict() for bridge in self.bridges],
            "text": str(self),
        }

    def to_pandas(self) -> Any:
        """Return a data frame with a row a bridge."""
        names = list(Bridge.__dataclass_fields__)
        return _frame({name: [getattr(bridge, name) for bridge in self] for name in names})

    def __str__(self) -> str:
        """Say it in words."""
        left, right = printable(self.left), printable(self.right)
        linked = "is linked to" if self.known else "is not linked to"
        head = f"{left} {linked} {right}; score {self.score:.4f} by {self.scorer}."
        if not self.n_bridges:
            return (
                f"{head}\nNo bridge: no neighbour of {left} is shared with a neighbour of {right}."
            )
        lines = [head, f"{self._counted()} between them{self._most()}:"]
        for bridge in self:
            shared, other = printable(bridge.shared), printable(bridge.other)
            lines.append(
                f"- {left} and {other} share {shared}, and {other} is linked to {right}: "
                f"strength {bridge.strength:.3f}, {_worth(bridge)}."
            )
        return "\n".join(lines)

    def _counted(self) -> str:
        return "One bridge" if self.n_bridges == 1 else f"{self.n_bridges:,} bridges"

    def _most(self) -> str:
        if len(self) == self.n_bridges:
            return ""
        return ", the strongest" if len(self) == 1 else f", the {len(self)} strongest"

    __repr__ = __str__


def _worth(bridge: Bridge) -> str:
    share = f"{bridge.share:.1%} of all bridges"
    if bridge.contribution is None:
        return share
    return f"{bridge.contribution:+.4f} of the score, {share}"


def number(value: float) -> float | None:
    """Return a number as JSON can hold it.

    >>> number(0.5), number(float("-inf"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def printable(key: Id) -> str:
    r"""Return an id for a line of text: characters that would break or hide it are escaped.

    >>> printable("Blade Runner"), printable("two\nlines"), printable(7)
    ('Blade Runner', 'two\\nlines', '7')
    """
    return "".join(
        c
        if c == " " or unicodedata.category(c)[0] not in "CZ"
        else c.encode("unicode_escape").decode()
        for c in str(key)
    )


def _table(title: str, rows: Sequence[tuple[str, ...]], total: int) -> str:
    """Lay rows out below a title: the last column to the right, the others to the left."""
    lines = [title]
    if rows:
        widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
        for row in rows:
            cells = [cell.ljust(w) for cell, w in zip(row[:-1], widths[:-1], strict=True)]
            lines.append("  " + "  ".join([*cells, row[-1].rjust(widths[-1])]))
    if total > len(rows):
        lines.append(f"  and {total - len(rows):,} more")
    return "\n".join(lines)


def _frame(columns: dict[str, Any]) -> Any:
    return require("pandas", "dev", "to_pandas").DataFrame(columns)
