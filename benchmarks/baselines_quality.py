"""Whether the baselines predict links as well as other people's implementations of them.

    python benchmarks/baselines_quality.py [--data-dir DIR] [--cache DIR] [--seeds N] [--json FILE]

DeepWalk against gensim's Word2Vec on walks that NumPy makes, Node2Vec against PecanPy, all at the
defaults of bivec: walks, length, window, 5 negatives, dimension 128, each walk used once. For each
seed the graph is split anew (half of the edges held out), both sides learn on the same training
graph, and one network (the unified task) tells held-out edges from other pairs. Bar: the mean
accuracy is at most two standard deviations (of the peer's, over the seeds) below the peer's. The
network has a spread of its own, so that of the peer may be small by chance: the difference is also
told in standard deviations of both (their root mean square).

Vectors of the peers are kept in the cache directory; they take most of the time.
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
from bivec.evaluation import hold_out, link_prediction
from peers import gensim_deepwalk, pecanpy_node2vec

GRAPHS = ("bine-dblp", "movielens-100k")
METHODS = {"deepwalk": (DeepWalk, "gensim"), "node2vec": (Node2Vec, "pecanpy")}


def peer_vectors(peer, name, train, seed, cache):
    """Return the peer's left and right vectors, from the cache where they are there."""
    file = cache / f"{peer}-{name}-{seed}.npz"
    if not file.exists():
        if peer == "gensim":
            left, right, *_ = gensim_deepwalk(train, seed)
        else:
            left, right, *_ = pecanpy_node2vec(train, cache, seed)
        np.savez(file, left=left, right=right)
    found = np.load(file)
    return found["left"], found["right"]


def scores(split, left, right):
    """Return accuracy and AUC of the unified task."""
    score = link_prediction(split, left, right, tasks=("unified",))["unified"]
    return score.accuracy, score.auc


def compare(method, name, seeds, cache, data_dir):
    """Return mean and standard deviation of accuracy and AUC of both sides."""
    kind, peer = METHODS[method]
    graph = datasets.load(name, data_dir=data_dir).graph
    ours, theirs = [], []
    for seed in range(seeds):
        split = hold_out(graph, 0.5, random_state=seed)
        model = kind(random_state=seed).fit(split.train)
        ours.append(scores(split, model.left_embedding_, model.right_embedding_))
        theirs.append(scores(split, *peer_vectors(peer, name, split.train, seed, cache)))
    figures = {}
    for side, values in (("bivec", ours), (peer, theirs)):
        mean, spread = np.mean(values, axis=0), np.std(values, axis=0, ddof=1)
        figures[side] = {
            "accuracy": [float(mean[0]), float(spread[0])],
            "auc": [float(mean[1]), float(spread[1])],
        }
    mine, other = figures["bivec"]["accuracy"], figures[peer]["accuracy"]
    figures["deviations"] = (mine[0] - other[0]) / other[1]
    figures["deviations_of_both"] = (mine[0] - other[0]) / np.hypot(mine[1], other[1]) * 2**0.5
    figures["passed"] = figures["deviations"] >= -2
    return figures


def main():
    """Compare, print one line for each method and graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", default=os.environ.get("BIVEC_DATA"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "bivec" / "peers")
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    results = {}
    for method in options.methods:
        for name in options.graphs:
            start = time.perf_counter()
            found = compare(method, name, options.seeds, options.cache, options.data_dir)
            results[f"{method} {name}"] = found
            text = "   ".join(
                f"{side} accuracy {found[side]['accuracy'][0]:.4f} ± "
                f"{found[side]['accuracy'][1]:.4f}, AUC {found[side]['auc'][0]:.4f} ± "
                f"{found[side]['auc'][1]:.4f}"
                for side in ("bivec", METHODS[method][1])
            )
            verdict = "passed" if found["passed"] else "MISSED"
            spent = time.perf_counter() - start
            apart = f"{found['deviations']:+.1f} deviations of the peer's"
            apart += f", {found['deviations_of_both']:+.1f} of both"
            print(
                f"{method:9s} {name:15s} {text}   {apart}, {verdict} ({spent:.0f} s)",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
