"""The methods that the paper compares with, as estimators like its own; each in a file of its name.

``METHODS`` has the baselines, ``ALL_METHODS`` the paper's own methods before them.
"""

from bivec.baselines.bine import BiNE
from bivec.baselines.deepwalk import DeepWalk
from bivec.baselines.line import LINE
from bivec.baselines.metapath2vec import Metapath2Vec
from bivec.baselines.node2vec import Node2Vec
from bivec.baselines.svd import GSVD, SVD
from bivec.baselines.verse import VERSE
from bivec.models import METHODS as _PAPER
from bivec.models.base import BipartiteEstimator

METHODS: dict[str, type[BipartiteEstimator]] = {
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
    "metapath2vec": Metapath2Vec,
    "line": LINE,
    "verse": VERSE,
    "bine": BiNE,
    "svd": SVD,
    "gsvd": GSVD,
}
"""Every baseline by its name on the command line."""

ALL_METHODS: dict[str, type[BipartiteEstimator]] = {**_PAPER, **METHODS}
"""Every method by its name on the command line."""

__all__ = [
    "ALL_METHODS",
    "GSVD",
    "LINE",
    "METHODS",
    "SVD",
    "VERSE",
    "BiNE",
    "DeepWalk",
    "Metapath2Vec",
    "Node2Vec",
]
