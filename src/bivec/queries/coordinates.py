"""The algebraic coordinates that go with an embedding, computed once."""

from __future__ import annotations

from bivec.graph import BipartiteGraph
from bivec.queries.parts import Vectors
from bivec.similarity import AlgebraicCoordinates, algebraic_coordinates

_PARAMETERS = ("trials", "sweeps", "damping", "order", "rescale", "random_state")


def coordinates_of(vectors: Vectors, graph: BipartiteGraph) -> AlgebraicCoordinates:
    """Return the algebraic coordinates, those of training where the method had some."""
    if "coordinates" not in vectors.cache:
        known = {k: v for k, v in vectors.params.items() if k in _PARAMETERS}
        how = known if vectors.method == "hobe" else {}
        vectors.cache["coordinates"] = algebraic_coordinates(graph, **how)
    kept: AlgebraicCoordinates = vectors.cache["coordinates"]
    return kept
