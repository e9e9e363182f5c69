"""Scorers by name."""

from __future__ import annotations

from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.queries.blend import Blend, BlendNew
from bivec.queries.scorers import Centroid, CentroidCosine, Cosine, Dot, Popularity, Scorer

SCORERS: dict[str, type[Scorer]] = {
    kind.name: kind for kind in (Blend, BlendNew, Centroid, CentroidCosine, Dot, Cosine, Popularity)
}
"""Every scorer by its name."""


def default_scorer(graph: BipartiteGraph | None) -> str:
    """Return the scorer that is used where none is named."""
    return Dot.name if graph is None else Blend.name


def make_scorer(scorer: str | Scorer) -> Scorer:
    """Return a scorer, not fitted yet, by its name.

    >>> make_scorer("dot").name
    'dot'
    """
    if isinstance(scorer, Scorer):
        return scorer
    if scorer not in SCORERS:
        raise InputError(f"scorer={scorer!r} is no choice", f"Choose one of {', '.join(SCORERS)}.")
    return SCORERS[scorer]()
