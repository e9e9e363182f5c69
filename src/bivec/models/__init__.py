"""The methods of the paper as estimators: fit a graph, read vectors for both of its sides."""

from bivec.models.base import BipartiteEstimator
from bivec.models.fobe import FOBE
from bivec.models.hobe import HOBE

__all__ = ["FOBE", "HOBE", "BipartiteEstimator"]
