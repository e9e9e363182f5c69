"""The bipartite graph: two compressed views of one set of edges, ids on both sides."""

from bivec.graph.assemble import DUPLICATES, BuildReport
from bivec.graph.bipartite import BipartiteGraph
from bivec.graph.side import GraphSide, Side
from bivec.graph.summary import GraphSummary, SideSummary

__all__ = [
    "DUPLICATES",
    "BipartiteGraph",
    "BuildReport",
    "GraphSide",
    "GraphSummary",
    "Side",
    "SideSummary",
]
