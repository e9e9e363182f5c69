"""Questions to vectors: what goes with a node, what is like it, which links are missing, and why.

Plain functions over the vectors of two sides and their graph; :class:`bivec.Embedding` offers them
as methods.
"""

from bivec.queries.ask import predict_links, recommend, score, similar
from bivec.queries.blend import Blend
from bivec.queries.choose import SCORERS
from bivec.queries.explain import explain
from bivec.queries.fold import fold_in, new_nodes
from bivec.queries.results import Bridge, Explanation, Links, Ranking
from bivec.queries.scorers import FactorScorer, Scorer

__all__ = [
    "SCORERS",
    "Blend",
    "Bridge",
    "Explanation",
    "FactorScorer",
    "Links",
    "Ranking",
    "Scorer",
    "explain",
    "fold_in",
    "new_nodes",
    "predict_links",
    "recommend",
    "score",
    "similar",
]
