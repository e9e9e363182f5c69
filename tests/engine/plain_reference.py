"""The paper's formulas in plain Python, slow and literal."""

from __future__ import annotations

import math


def neighbors(side, row):
    return [int(k) for k in side.indices[side.indptr[row] : side.indptr[row + 1]]]


class Reference:
    """Observations of one graph. ``s(a, b)`` is the similarity of left row a and right row b."""

    def __init__(self, graph, similarity=None):
        self.graph = graph
        self.left = [set(neighbors(graph.left, i)) for i in range(graph.n_left)]
        self.right = [set(neighbors(graph.right, j)) for j in range(graph.n_right)]
        self.s = {}
        if similarity is not None:
            for i in range(graph.n_left):
                start = graph.left.indptr[i]
                for k, j in enumerate(neighbors(graph.left, i)):
                    self.s[i, j] = float(similarity[start + k])

    def first_order_left(self, i, j):
        """S_A."""
        return int(bool(self.left[i] & self.left[j]))

    def first_order_right(self, i, j):
        """S_B."""
        return int(bool(self.right[i] & self.right[j]))

    def direct(self, i, j):
        """S_V."""
        return int(j in self.left[i])

    def strong_left(self, i, j):
        """S'_A: the strongest shared bridge."""
        return max(
            (min(self.s[i, k], self.s[j, k]) for k in self.left[i] & self.left[j]), default=0
        )

    def strong_right(self, i, j):
        """S'_B."""
        return max(
            (min(self.s[k, i], self.s[k, j]) for k in self.right[i] & self.right[j]), default=0
        )

    def second_order(self, i, j):
        """S'_V: both maxima of the paper, as printed."""
        return max(
            max((self.strong_left(i, k) for k in self.right[j]), default=0),
            max((self.strong_right(j, k) for k in self.left[i]), default=0),
        )

    def two_hop(self, side, i):
        """Nodes of the same side, other than i, that share a neighbour with i."""
        near, far = (self.left, self.right) if side == 0 else (self.right, self.left)
        return set().union(*(far[k] for k in near[i])) - {i} if near[i] else set()

    def three_hop(self, side, i):
        """Nodes of the other side at the end of a path of three edges."""
        near, far = (self.left, self.right) if side == 0 else (self.right, self.left)
        return set().union(*(near[a] for k in near[i] for a in far[k])) if near[i] else set()


def relax(graph, coordinates, sweeps, damping):
    """Jacobi over-relaxation of one trial, as printed; a node without neighbours stays."""
    left, right = [list(map(float, side)) for side in coordinates]
    reference = Reference(graph)
    for _ in range(sweeps):
        new_left, new_right = list(left), list(right)
        for near, far, own, other, new in (
            (reference.left, reference.right, left, right, new_left),
            (reference.right, reference.left, right, left, new_right),
        ):
            for v, around in enumerate(near):
                if around:
                    pull = sum(1 / len(far[u]) for u in around)
                    mean = sum(other[u] / len(far[u]) for u in around) / pull
                    new[v] = damping * own[v] + (1 - damping) * mean
        left, right = new_left, new_right
    return left, right


def sigmoid(x):
    return 1 / (1 + math.exp(-x))
