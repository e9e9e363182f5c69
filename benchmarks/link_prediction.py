"""Personalized machines: bivec's kernel against scikit-learn's SVC on the same points.

Runs on com-Amazon where ``BIVEC_DATA`` has it, else on a generated graph. A sample of the nodes
goes through SVC, one fit and one call of ``decision_function`` each; all nodes through bivec.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from bivec import FOBE, read_edges
from bivec.datasets import viewer_movies
from bivec.evaluation import hold_out, link_prediction
from bivec.evaluation.personalized import decide, machine_rows
from bivec.kernels import personal
from bivec.parallel import available_cores

SAMPLE = 1000


def graph_at_hand():
    """Return the name of a graph and the graph."""
    path = Path(os.environ.get("BIVEC_DATA", "")) / "snap-com-amazon/com-amazon.top5000.cmty.txt"
    if path.exists():
        return "com-Amazon", read_edges(path)
    return "generated", viewer_movies(n_viewers=5000, n_movies=1500).graph


def main() -> None:
    """Measure and print."""
    name, graph = graph_at_hand()
    split = hold_out(graph, 0.5, random_state=0)
    model = FOBE(norm=5).fit(split.train)
    left, right = model.left_embedding_, model.right_embedding_
    personal.warmup()
    print(f"{name}, {split}, dim {left.shape[1]}, {available_cores()} cores")

    lefts = np.append(split.test_left, split.negative_left)
    rights = np.append(split.test_right, split.negative_right)
    cases = (
        ("left", split.train.left, right, lefts, rights),
        ("right", split.train.right, left, rights, lefts),
    )
    for side, (task, train, table, owners, others) in enumerate(cases):
        nodes = np.random.default_rng(0).permutation(np.unique(owners))[:SAMPLE]
        chosen = np.isin(owners, nodes)
        start = time.perf_counter()
        ours, n = decide(train, table, owners[chosen], others[chosen], side=side, seed=0, n_jobs=1)
        ours_seconds = time.perf_counter() - start
        theirs, seconds = np.empty(len(owners)), 0.0
        for node in nodes:
            rows = machine_rows(train, len(table), node, side=side, seed=0)
            labels = np.where(np.arange(len(rows)) < train.degrees[node], 1, -1)
            mine = owners == node
            start = time.perf_counter()
            machine = SVC(C=1.0, gamma=0.1).fit(table[rows], labels)
            theirs[mine] = machine.decision_function(table[others[mine]])
            seconds += time.perf_counter() - start
        gap = np.abs(ours - theirs[chosen]).max()
        agree = np.mean((ours > 0) == (theirs[chosen] > 0))
        print(
            f"{task:6} {n:,} machines, one thread: bivec {ours_seconds:.3f} s, SVC {seconds:.3f} s "
            f"({seconds / ours_seconds:.0f} times), largest gap {gap:.4f}, "
            f"same decision {agree:.5f}"
        )

    for task, score in link_prediction(split, left, right).items():
        print(
            f"{task:8} {score.n_models:,} models, {score.n_pairs:,} pairs: "
            f"{score.wall_seconds:.2f} s wall, {score.cpu_seconds:.2f} s CPU, "
            f"accuracy {score.accuracy:.4f}, AUC {score.auc:.4f}, AP {score.average_precision:.4f}"
        )


if __name__ == "__main__":
    main()
