r"""Lengths: what the degree of a node does to the length of its vector, after smoothing.

Communities know nothing of how many edges a node has. So the last entry of a vector, at length 1 of
the rest, gives way to :math:`\delta \log_2(1 + d_i)`, and where popularity says much about an edge,
vectors have the length :math:`d_i^{-p}`: popular nodes are close to each other and to all. Or hubs,
the nodes of t edges and more, are next to nothing long, at one place all of them. With x the share
of a side that are hubs (of the nodes that have edges), and e the share of edges that end at them, t
is where

.. math::

    e^2 \, (1 - x)^5

is largest: of links, that share has a hub for an example and asks about a hub, and a machine of
personalized link prediction, with one example and five strangers, accepts all hubs if the example
is one and no stranger is. Hubs have 2.5 times their share of the edges at least, or there are none.
Directions stay as they are, and so do cosines. Which it is to be, :mod:`bivec.rehearsal` tries out
on the graph.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.float32]
Degrees = npt.NDArray[np.int64]

DEGREE = 0.06
"""Of the logarithm of the degree, to base 2, in the last entry of a vector of length 1."""
HUB = 1 / 64
"""Length of hubs, where others have 1."""
_NOTHING = 1e-20
_STRANGERS, _APART = 5, 2.5
"""In the formula above; as many times their share of the edges hubs must have at least."""


class Length(NamedTuple):
    """How long vectors are by degree.

    They are divided by this power of it; from ``hubs`` edges on, if that is not 0, they have the
    length of hubs.
    """

    power: float = 0.0
    hubs: int = 0

    def of(self, degrees: Degrees) -> Table:
        """Return the lengths of nodes of these degrees.

        >>> Length(hubs=3).of(np.array([0, 2, 3, 99]))
        array([1.      , 1.      , 0.015625, 0.015625], dtype=float32)
        """
        lengths: Table = (np.maximum(degrees, 1) ** -self.power).astype(np.float32)
        if self.hubs:
            lengths[degrees >= self.hubs] = HUB
        return lengths

    @property
    def plain(self) -> bool:
        """Whether all have one length."""
        return not (self.power or self.hubs)


PLAIN = Length()


def hub_degree(degrees: npt.NDArray[Any]) -> int:
    """Return from how many edges on a node is a hub; 0 where degrees are too alike for hubs.

    >>> hub_degree(np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 40, 50]))
    40
    """
    counts = np.bincount(degrees)
    least = np.flatnonzero(counts[1:]) + 1
    if not len(least):
        return 0
    nodes = np.cumsum(counts[::-1])[::-1][least] / counts[1:].sum()
    edges = np.cumsum((counts * np.arange(len(counts)))[::-1])[::-1][least] / degrees.sum()
    value = np.where(edges >= _APART * nodes, edges**2 * (1 - nodes) ** _STRANGERS, 0)
    return int(least[value.argmax()]) if value.any() else 0


def write_degrees(table: Table, degrees: Degrees, length: Length = PLAIN) -> None:
    """Write the logarithm of the degree into the last entry; the others are brought to length 1.

    Then vectors are brought to their length.
    """
    if table.shape[1] > 1:
        table[:, -1] = 0
        to_length_one(table)
        table[:, -1] = DEGREE * np.log2(1 + degrees)
    if not length.plain:
        table *= length.of(degrees)[:, None]


def to_length_one(table: Table) -> None:
    """Bring the rows of a table to length 1 in place; those of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", table, table))
    np.divide(table, np.where(lengths > 0, lengths, 1)[:, None], out=table)


def to_one(squares: Table) -> Table:
    """Return what rows of these squares must be multiplied by to have length 1; zeros stay."""
    scales: Table = np.where(squares > _NOTHING, squares, 1) ** np.float32(-0.5)
    return scales
