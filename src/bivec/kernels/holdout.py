"""The loops behind a hold-out: which edges may go, each looked at once."""

from __future__ import annotations

import numpy as np

from bivec.kernels.jit import Array, inner, kernel


@kernel
def remove_edges(
    left: Array, right: Array, order: Array, wanted: Array,
    left_degree: Array, right_degree: Array, removed: Array,
) -> None:  # pragma: no cover  # fmt: skip
    """Remove wanted edges in the given order, unless one is the last edge of either end.

    ``left_degree`` and ``right_degree`` start as the degrees and end as what is left of them;
    ``removed`` marks the edges that went.
    """
    for position in range(order.size):
        edge = order[position]
        i, j = left[edge], right[edge]
        removed[edge] = wanted[edge] and left_degree[i] > 1 and right_degree[j] > 1
        if removed[edge]:
            left_degree[i] -= 1
            right_degree[j] -= 1


@inner
def _root(parent: Array, node: int) -> int:  # pragma: no cover
    """Find the root of a node's tree and halve the path to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def spanning_forest(
    left: Array, right: Array, order: Array, parent: Array, n_left: int, chosen: Array
) -> None:  # pragma: no cover
    """Mark the edges that join two trees when the edges come in the given order.

    ``parent`` has room for every node, right rows behind the ``n_left`` left ones. The result is a
    spanning forest, so the graph of the marked edges has the components of the whole.
    """
    for node in range(parent.size):
        parent[node] = node
    for position in range(order.size):
        edge = order[position]
        a, b = _root(parent, left[edge]), _root(parent, n_left + right[edge])
        chosen[edge] = a != b
        parent[max(a, b)] = min(a, b)


def warmup() -> None:
    """Compile for both index types that a graph can have."""
    order = np.zeros(1, np.int64)
    for dtype in (np.int32, np.int64):
        rows = np.zeros(1, dtype)
        fixed = rows.copy()
        fixed.flags.writeable = False
        flag = np.zeros(1, bool)
        remove_edges(rows, fixed, order, flag, order.copy(), order.copy(), flag.copy())
        spanning_forest(rows, fixed, order, np.zeros(2, np.int64), 1, flag)
