"""A graph in a few numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bivec.graph.bipartite import BipartiteGraph
    from bivec.graph.side import GraphSide

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Which quantiles of the degrees a summary reports."""


@dataclass(frozen=True, slots=True)
class SideSummary:
    """One side: how many nodes, how many without an edge, and how degrees are spread."""

    nodes: int
    isolated: int
    mean_degree: float
    degree_quantiles: dict[str, float]


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """What :meth:`bivec.BipartiteGraph.summary` returns."""

    left: SideSummary
    right: SideSummary
    edges: int
    density: float
    weighted: bool
    weight_min: float
    weight_max: float
    weight_sum: float
    components: int
    largest_component_nodes: int
    largest_component_share: float
    rows_read: int
    rows_merged: int
    rows_zero_weight: int
    memory_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain numbers, ready for JSON."""
        return asdict(self)


def summarize(graph: BipartiteGraph) -> GraphSummary:
    """Sum a graph up; every figure is defined for an empty graph too."""
    nodes = graph.n_left + graph.n_right
    cells = graph.n_left * graph.n_right
    components, left, right = graph.components()
    largest = int((left == 0).sum() + (right == 0).sum())
    weights = graph.left.weights
    return GraphSummary(
        left=_summarize_side(graph.left),
        right=_summarize_side(graph.right),
        edges=graph.n_edges,
        density=graph.n_edges / cells if cells else 0.0,
        weighted=graph.weighted,
        weight_min=float(weights.min()) if weights.size else 0.0,
        weight_max=float(weights.max()) if weights.size else 0.0,
        weight_sum=float(weights.sum(dtype=np.float64)),
        components=components,
        largest_component_nodes=largest,
        largest_component_share=largest / nodes if nodes else 0.0,
        rows_read=graph.report.rows,
        rows_merged=graph.report.merged,
        rows_zero_weight=graph.report.zero_weight,
        memory_bytes=graph.nbytes,
    )


def _summarize_side(side: GraphSide) -> SideSummary:
    degrees = side.degrees
    values = np.quantile(degrees, QUANTILES) if degrees.size else np.zeros(len(QUANTILES))
    return SideSummary(
        nodes=len(side),
        isolated=int((degrees == 0).sum()),
        mean_degree=float(degrees.mean()) if degrees.size else 0.0,
        degree_quantiles={f"{q:g}": float(v) for q, v in zip(QUANTILES, values, strict=True)},
    )
