"""The methods that the paper compares with, as estimators like its own; each in a file of its name.

``METHODS`` has the baselines, ``ALL_METHODS`` the paper's own methods before them.
"""

from bivec.baselines.deepwalk import DeepWalk
from bivec.baselines.metapath2vec import Metapath2Vec
from bivec.baselines.node2vec import Node2Vec
from bivec.models import METHODS as _PAPER
from bivec.models.base import BipartiteEstimator

METHODS: dict[str, type[BipartiteEstimator]] = {
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
    "metapath2vec": Metapath2Vec,
}
"""Every baseline by its name on the command line."""

ALL_METHODS: dict[str, type[BipartiteEstimator]] = {**_PAPER, **METHODS}
"""Every method by its name on the command line."""

__all__ = ["ALL_METHODS", "METHODS", "DeepWalk", "Metapath2Vec", "Node2Vec"]
