"""How fast walks and skip-gram are, as ratios against gensim and PecanPy in the same run.

    python benchmarks/baselines_speed.py [--data-dir DIR] [--cache DIR] [--only NAME ...]

Both sides make the same number of walks of the same length, with the same window, 5 negatives and
dimension 128, and use each walk once. Times are CPU seconds of one thread, best of a few, compiled
beforehand. bivec's are the whole of ``fit``: walks and training. Its sweeps share negatives (see
``docs/baselines.md``), so this compares the time to the same result, not the number of additions;
``benchmarks/baselines_quality.py`` shows that the result is the same.

``training`` takes gensim's walks as given, ``with_walks`` counts the making of them by NumPy, which
takes all steps together. Naming nodes by strings, as gensim needs them, is never counted. PecanPy's
times are those of the faster of its modes, without compiling.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

from bivec import datasets
from bivec.baselines import DeepWalk, Node2Vec
from bivec.datasets import southern_women
from bivec.graph import BipartiteGraph
from peers import gensim_deepwalk, pecanpy_node2vec

BAR = 3.0


def random_graph(nodes, degree=5, seed=0):
    """Return a graph of this many nodes, half on each side, with uniform random edges."""
    rng = np.random.default_rng(seed)
    side = nodes // 2
    left, right = rng.integers(side, size=(2, side * degree))
    return BipartiteGraph(
        left, right, left_ids=range(side), right_ids=range(side), duplicates="max"
    )


def seconds_of_fit(model, graph, rounds):
    """Return the CPU seconds of the fastest of some fits, after one that compiles."""
    model.fit(southern_women())
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        model.fit(graph)
        best = min(best, time.process_time() - start)
    return best


def deepwalk(graph, n_walks=100, rounds=3):
    """Bar: 3 times gensim, walks of both sides included."""
    epochs = max(1, n_walks // 2)  # two walks of a node in each, as by default
    ours = seconds_of_fit(DeepWalk(n_walks=n_walks, epochs=epochs, n_jobs=1), graph, rounds)
    _, _, walked, trained = gensim_deepwalk(graph, n_walks=n_walks)
    return {
        "nodes": graph.n_left + graph.n_right, "edges": graph.n_edges, "walks": n_walks,
        "bivec_seconds": ours, "gensim_seconds": trained, "numpy_walk_seconds": walked,
        "training": trained / ours, "with_walks": (walked + trained) / ours, "bar": BAR,
    }  # fmt: skip


def node2vec(graph, cache, p=1.0, q=1.0, rounds=3):
    """Bar: 3 times PecanPy in its faster mode."""
    ours = seconds_of_fit(Node2Vec(p=p, q=q, n_jobs=1), graph, rounds)
    modes = ("SparseOTF", "PreCompFirstOrder" if p == q == 1 else "PreComp")
    theirs, compiling = {}, {}
    for mode in modes:
        _, _, theirs[mode], compiling[mode] = pecanpy_node2vec(graph, cache, mode=mode, p=p, q=q)
    fastest = min(theirs, key=theirs.get)
    return {
        "nodes": graph.n_left + graph.n_right, "edges": graph.n_edges, "p": p, "q": q,
        "bivec_seconds": ours, "pecanpy_seconds": theirs[fastest], "mode": fastest,
        "pecanpy_compiling": compiling[fastest], "ratio": theirs[fastest] / ours, "bar": BAR,
    }  # fmt: skip


def main():
    """Run the chosen measurements and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", default=os.environ.get("BIVEC_DATA"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "bivec" / "peers")
    parser.add_argument("--only", nargs="*", help="names of measurements")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    measurements = {
        "deepwalk-100k": lambda: deepwalk(random_graph(100_000), n_walks=10, rounds=2),
        "node2vec-100k": lambda: node2vec(random_graph(100_000), options.cache, rounds=2),
    }
    if options.data_dir:
        dblp = datasets.load("bine-dblp", data_dir=options.data_dir).graph
        measurements |= {
            "deepwalk-dblp": lambda: deepwalk(dblp),
            "deepwalk-dblp-short": lambda: deepwalk(dblp, n_walks=10),
            "node2vec-dblp": lambda: node2vec(dblp, options.cache),
            "node2vec-dblp-pq": lambda: node2vec(dblp, options.cache, p=0.5, q=2.0),
        }
    results = {}
    for name, measure in measurements.items():
        if options.only and name not in options.only:
            continue
        results[name] = measure()
        figures = {k: round(v, 2) if isinstance(v, float) else v for k, v in results[name].items()}
        print(f"{name:16s} {figures}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
