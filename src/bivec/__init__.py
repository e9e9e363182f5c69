"""Vectors for both sides of a bipartite graph.

The public names below load on first use, so that ``import bivec`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bivec import datasets as datasets
    from bivec import evaluation as evaluation
    from bivec.baselines import GSVD as GSVD
    from bivec.baselines import LINE as LINE
    from bivec.baselines import SVD as SVD
    from bivec.baselines import VERSE as VERSE
    from bivec.baselines import BiNE as BiNE
    from bivec.baselines import DeepWalk as DeepWalk
    from bivec.baselines import Metapath2Vec as Metapath2Vec
    from bivec.baselines import Node2Vec as Node2Vec
    from bivec.combine import Combination as Combination
    from bivec.embedding import Embedding as Embedding
    from bivec.embedding import EmbeddingSide as EmbeddingSide
    from bivec.embedding import load as load
    from bivec.errors import BivecError as BivecError
    from bivec.errors import DownloadError as DownloadError
    from bivec.errors import FormatError as FormatError
    from bivec.errors import InputError as InputError
    from bivec.errors import MissingDataError as MissingDataError
    from bivec.errors import MissingExtraError as MissingExtraError
    from bivec.errors import NotEnoughMemoryError as NotEnoughMemoryError
    from bivec.errors import NotFittedError as NotFittedError
    from bivec.errors import SaveError as SaveError
    from bivec.errors import UnknownIdError as UnknownIdError
    from bivec.graph import BipartiteGraph as BipartiteGraph
    from bivec.graph import GraphSummary as GraphSummary
    from bivec.ids import Vocabulary as Vocabulary
    from bivec.io import as_graph as as_graph
    from bivec.io import read_edges as read_edges
    from bivec.io import write_graph as write_graph
    from bivec.models import FOBE as FOBE
    from bivec.models import HOBE as HOBE
    from bivec.sampling import sample_observations as sample_observations
    from bivec.similarity import algebraic_coordinates as algebraic_coordinates
    from bivec.similarity import algebraic_similarity as algebraic_similarity

_HOME = {
    "BiNE": "bivec.baselines",
    "BipartiteGraph": "bivec.graph",
    "BivecError": "bivec.errors",
    "Combination": "bivec.combine",
    "DeepWalk": "bivec.baselines",
    "DownloadError": "bivec.errors",
    "Embedding": "bivec.embedding",
    "EmbeddingSide": "bivec.embedding",
    "FOBE": "bivec.models",
    "FormatError": "bivec.errors",
    "GSVD": "bivec.baselines",
    "GraphSummary": "bivec.graph",
    "HOBE": "bivec.models",
    "InputError": "bivec.errors",
    "LINE": "bivec.baselines",
    "Metapath2Vec": "bivec.baselines",
    "MissingDataError": "bivec.errors",
    "MissingExtraError": "bivec.errors",
    "Node2Vec": "bivec.baselines",
    "NotEnoughMemoryError": "bivec.errors",
    "NotFittedError": "bivec.errors",
    "SVD": "bivec.baselines",
    "SaveError": "bivec.errors",
    "UnknownIdError": "bivec.errors",
    "VERSE": "bivec.baselines",
    "Vocabulary": "bivec.ids",
    "algebraic_coordinates": "bivec.similarity",
    "algebraic_similarity": "bivec.similarity",
    "as_graph": "bivec.io",
    "datasets": "bivec.datasets",
    "evaluation": "bivec.evaluation",
    "load": "bivec.embedding",
    "read_edges": "bivec.io",
    "sample_observations": "bivec.sampling",
    "write_graph": "bivec.io",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'bivec' has no attribute {name!r}")
    module = importlib.import_module(_HOME[name])
    value = module if _HOME[name] == f"bivec.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
