"""Combinations against their inputs: CPU seconds, and accuracy on held-out links.

``speed`` measures both kinds on DBLP-BiNE with two inputs of 128 dimensions. ``quality GRAPH ...``
holds half of the edges of each graph out, fits FOBE and HOBE on the rest, combines them, and
measures all four in the unified task, for as many seeds as ``--seeds`` says. ``held`` does the same
on edges held out of the training half: what defaults were chosen by. Needs ``BIVEC_DATA``.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from bivec import FOBE, HOBE, Combination, datasets
from bivec.combine import KINDS
from bivec.evaluation import hold_out, link_prediction
from bivec.experiments.methods import NORM

GRAPHS = (
    "bine-dblp",
    "snap-com-amazon",
    "snap-com-youtube",
    "madgrades",
    "konect-opsahl-collaboration",
)


def fitted(model, graph):
    """Return a fitted model and the CPU seconds it took."""
    start = time.process_time()
    model.fit(graph)
    return model, time.process_time() - start


def warm_up():
    """Compile kernels and let torch load what it loads late."""
    graph = datasets.southern_women()
    for kind in KINDS:
        Combination(kind, dim=2, epochs=1).fit(graph)


def speed(seeds):
    """CPU seconds on the whole of DBLP-BiNE, and on its given training ratings."""
    data = datasets.load("bine-dblp")
    for name, graph in (("whole", data.graph), ("train", hold_out(data.graph, 0.6).train)):
        inputs = [model(random_state=0).fit(graph).embedding_ for model in (FOBE, HOBE)]
        for kind in KINDS:
            seconds, epochs = [], []
            for seed in range(seeds):
                model, cpu = fitted(Combination(kind, embeddings=inputs, random_state=seed), graph)
                seconds.append(cpu)
                epochs.append(model.n_iter_)
            print(
                f"DBLP-BiNE {name}, {graph.n_edges:,} edges, {kind}: {min(seconds):.1f} to "
                f"{max(seconds):.1f} CPU seconds, epochs {epochs}",
                flush=True,
            )


def quality(name, seeds, held):
    """Accuracy of inputs and combinations in the unified task."""
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(seeds):
        graph = datasets.load(name).graph
        split = hold_out(graph, 0.5, random_state=seed)
        if held:
            split = hold_out(split.train, 0.7, random_state=seed)
        models = {}
        for model in (FOBE, HOBE):
            models[model.method] = fitted(model(norm=NORM, random_state=seed), split.train)
        inputs = [model.embedding_ for model, _ in models.values()]
        for kind in KINDS:
            joint = Combination(kind, embeddings=inputs, norm=NORM, random_state=seed)
            models[kind] = fitted(joint, split.train)
        for method, (model, cpu) in models.items():
            vectors = model.left_embedding_, model.right_embedding_
            scores = link_prediction(split, *vectors, ["unified"], random_state=seed)["unified"]
            rows.setdefault(method, []).append((scores.accuracy, scores.auc, cpu))
            print(f"  {name} {seed} {method} {rows[method][-1]}", flush=True)
    for method, figures in rows.items():
        accuracy, auc, cpu = np.array(figures).T
        spread = accuracy.std(ddof=1) if seeds > 1 else float("nan")
        print(
            f"| {name} | {method} | {accuracy.mean():.4f} ± {spread:.4f} | {auc.mean():.4f} | "
            f"{cpu.mean():.1f} |",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "quality", "held"])
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warm_up()
    if arguments.what == "speed":
        speed(arguments.seeds)
        return
    for name in arguments.graphs:
        quality(name, arguments.seeds, arguments.what == "held")


if __name__ == "__main__":
    main()
