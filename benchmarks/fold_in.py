"""How near folding in and updating come to training: the tables of ``docs/use.md``.

    python benchmarks/fold_in.py

On the viewers and movies of the demo. *Folded in*: a copy of every third viewer, compared with its
original. *Twin*: a viewer with the same edges that was trained along from the start. *Update*: a
tenth of the edges and every edge of twenty viewers come late; the area under the curve of those
late edges against as many random absent pairs, by the centroid, after an update and after training
on everything.
"""

from __future__ import annotations

import numpy as np

import bivec
from bivec.graph import BipartiteGraph

MODELS = {"FOBE": bivec.FOBE, "HOBE": bivec.HOBE}
DIM, EVERY, NEW = 64, 3, 20


def nearness(copies, home, rows):
    """Return the mean cosine to the originals, and how often they are among the 10 and the 1."""
    unit = [t / np.linalg.norm(t, axis=1, keepdims=True) for t in (copies, home)]
    cosine = unit[0] @ unit[1].T
    own = cosine[np.arange(len(rows)), rows]
    place = (cosine > own[:, None]).sum(axis=1)
    return own.mean(), (place < 10).mean(), (place < 1).mean()


def fold(name, graph):
    """Print a row for copies that are folded in, and one for twins."""
    rows = np.arange(0, graph.n_left, EVERY)
    names = graph.left.ids[::EVERY]
    twins = [(f"copy of {a}", b) for a in names for b in graph.neighbors(a, "left")]
    edges = [(a, b) for a in graph.left.ids for b in graph.neighbors(a, "left")]
    emb = MODELS[name](dim=DIM).fit(graph).embedding_
    folded = emb.fold_in(twins)
    copies = np.stack([folded[f"copy of {a}"] for a in names])
    both = MODELS[name](dim=DIM).fit(bivec.as_graph(edges + twins)).embedding_.left
    home = np.stack([both[a] for a in graph.left.ids])
    trained = np.stack([both[f"copy of {a}"] for a in names])
    for what, figures in (
        ("folded in", nearness(copies, emb.left.vectors, rows)),
        ("a trained twin", nearness(trained, home, rows)),
    ):
        print(f"| {name}, {what} | {figures[0]:.3f} | {figures[1]:.0%} | {figures[2]:.0%} |")


def update(name, graph, seed=0):
    """Print the area under the curve of late edges, after an update and after all of training."""
    rng = np.random.default_rng(seed)
    left, right = graph.left_rows(), graph.left.indices
    late = (rng.random(graph.n_edges) < 0.1) | (left >= graph.n_left - NEW)
    names = [np.array(list(side.ids), dtype=object) for side in (graph.left, graph.right)]
    pairs = list(zip(names[0][left], names[1][right], strict=True))
    early = bivec.as_graph([pair for pair, is_late in zip(pairs, late, strict=True) if not is_late])
    new = [pair for pair, is_late in zip(pairs, late, strict=True) if is_late]
    absent = absent_pairs(graph, len(new), rng)
    updated = MODELS[name](dim=DIM).fit(early).update(new).embedding_
    whole = MODELS[name](dim=DIM).fit(bivec.as_graph(pairs)).embedding_
    figures = []
    for emb in (updated, whole):
        yes, no = emb.score(new), emb.score([(names[0][i], names[1][j]) for i, j in absent])
        figures.append((yes[:, None] > no[None]).mean())
    print(f"| {name} | {figures[0]:.3f} | {figures[1]:.3f} |")


def absent_pairs(graph: BipartiteGraph, n, rng):
    """Return n random pairs without an edge."""
    there = set(zip(graph.left_rows().tolist(), graph.left.indices.tolist(), strict=True))
    found = []
    while len(found) < n:
        pair = (int(rng.integers(graph.n_left)), int(rng.integers(graph.n_right)))
        if pair not in there:
            found.append(pair)
    return found


def main():
    """Print both tables."""
    graph = bivec.datasets.viewer_movies().graph
    print("| | mean cosine to the original | among the 10 nearest of 600 | the very nearest |")
    print("|---|---|---|---|")
    for name in MODELS:
        fold(name, graph)
    print("\n| | after an update | after training on everything |\n|---|---|---|")
    for name in MODELS:
        update(name, graph)


if __name__ == "__main__":
    main()
