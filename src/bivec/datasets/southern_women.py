"""Who met whom where in a southern town of the 1930s: 18 women, 14 social events.

The most studied two-mode network there is; two overlapping circles of friends are usually seen in
it, the first nine women with events 1 to 8 and the others with events 7 to 14.

A. Davis, B. B. Gardner, M. R. Gardner, *Deep South*, University of Chicago Press, 1941.
"""

from __future__ import annotations

from bivec.graph import BipartiteGraph
from bivec.io import as_graph

ATTENDED = {
    "Evelyn Jefferson": (1, 2, 3, 4, 5, 6, 8, 9),
    "Laura Mandeville": (1, 2, 3, 5, 6, 7, 8),
    "Theresa Anderson": (2, 3, 4, 5, 6, 7, 8, 9),
    "Brenda Rogers": (1, 3, 4, 5, 6, 7, 8),
    "Charlotte McDowd": (3, 4, 5, 7),
    "Frances Anderson": (3, 5, 6, 8),
    "Eleanor Nye": (5, 6, 7, 8),
    "Pearl Oglethorpe": (6, 8, 9),
    "Ruth DeSand": (5, 7, 8, 9),
    "Verne Sanderson": (7, 8, 9, 12),
    "Myra Liddel": (8, 9, 10, 12),
    "Katherina Rogers": (8, 9, 10, 12, 13, 14),
    "Sylvia Avondale": (7, 8, 9, 10, 12, 13, 14),
    "Nora Fayette": (6, 7, 9, 10, 11, 12, 13, 14),
    "Helen Lloyd": (7, 8, 10, 11, 12),
    "Dorothy Murchison": (8, 9),
    "Olivia Carleton": (9, 11),
    "Flora Price": (9, 11),
}
"""The events that each woman attended, in the order of the book's table."""


def southern_women() -> BipartiteGraph:
    """Return the women (left) and the events ``E1`` to ``E14`` (right) they attended.

    >>> southern_women()
    BipartiteGraph(18 left, 14 right, 89 edges)
    """
    return as_graph([(who, f"E{event}") for who, events in ATTENDED.items() for event in events])
