"""The methods of the paper as estimators: fit a graph, read vectors for both of its sides."""

from bivec.models.base import BipartiteEstimator
from bivec.models.fobe import FOBE
from bivec.models.hobe import HOBE
from bivec.models.presets import PRESETS

METHODS: dict[str, type[BipartiteEstimator]] = {"fobe": FOBE, "hobe": HOBE}
"""Every method by its name on the command line."""

__all__ = ["FOBE", "HOBE", "METHODS", "PRESETS", "BipartiteEstimator"]
