"""Combinations against their inputs: CPU seconds, and accuracy on held-out links.

``speed`` measures both kinds on DBLP-BiNE with two inputs of 128 dimensions, and their accuracy on
links held out beside that of the published variant. ``quality GRAPH ...`` holds half of the edges
of each graph out, fits FOBE and HOBE on the rest, combines them, and measures all four, for as many
seeds as ``--seeds`` says. ``held`` does the same on edges held out of the training half: what
defaults were chosen by. Rows are accuracies (left, right, unified), the unified task's AUC, and
CPU seconds. Needs ``BIVEC_DATA``.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import combination_published as published
from bivec import FOBE, HOBE, Combination, datasets
from bivec.combine import KINDS
from bivec.combine.training import reproducible
from bivec.evaluation import hold_out, link_prediction

GRAPHS = (
    "bine-dblp",
    "madgrades",
    "movielens-100k",
    "disgenet-hypernetx",
    "konect-opsahl-collaboration",
    "konect-moreno-crime",
)

TASKS = ("left", "right", "unified")


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


def speed(seeds, kinds):
    """CPU seconds on the whole of DBLP-BiNE; accuracy on links held out, beside the published."""
    graph = datasets.load("bine-dblp").graph
    inputs = [model(random_state=0).fit(graph).embedding_ for model in (FOBE, HOBE)]
    for kind in kinds:
        runs = [
            fitted(Combination(kind, embeddings=inputs, random_state=seed), graph)
            for seed in range(seeds)
        ]
        seconds = [cpu for _, cpu in runs]
        print(
            f"DBLP-BiNE, {graph.n_edges:,} edges, {kind}: {min(seconds):.1f} to "
            f"{max(seconds):.1f} CPU seconds, epochs {[model.n_iter_ for model, _ in runs]}",
            flush=True,
        )
    rows = {}
    for seed in range(seeds):
        split = hold_out(graph, 0.5, random_state=seed)
        inputs = [model(random_state=seed).fit(split.train).embedding_ for model in (FOBE, HOBE)]
        for kind in kinds:
            joint = Combination(kind, embeddings=inputs, random_state=seed)
            model, cpu = fitted(joint, split.train)
            vectors = model.left_embedding_, model.right_embedding_
            note(rows, f"bivec {kind}", split, vectors, cpu, model.n_iter_, seed)
            start = time.process_time()
            with reproducible("cpu"):
                vectors, epochs = published.combine(split.train, inputs, kind, 128, seed)
            cpu = time.process_time() - start
            # Sigmoids are all positive, which the task's own network can hardly be trained on: both
            # as they are, and around their mean, as ours are.
            note(rows, f"published {kind}", split, map(scaled, vectors), cpu, epochs, seed)
            around = [scaled(table - table.mean(axis=0)) for table in vectors]
            note(rows, f"published {kind}, centred", split, around, cpu, epochs, seed)
    for name, figures in rows.items():
        show("bine-dblp", name, figures)


def scaled(table):
    """Return vectors at the norm of all that are measured."""
    return table * (Combination().norm / np.sqrt((table**2).sum(axis=1).mean()))


def note(rows, name, split, vectors, cpu, epochs, seed):
    """Measure vectors in all three tasks, keep the figures and print them."""
    scores = link_prediction(split, *vectors, TASKS, random_state=seed)
    accuracies = [scores[task].accuracy for task in TASKS]
    rows.setdefault(name, []).append((*accuracies, scores["unified"].auc, cpu))
    print(
        f"  seed {seed} {name}: {' '.join(f'{x:.4f}' for x in accuracies)}, "
        f"AUC {scores['unified'].auc:.4f}, {cpu:.1f} CPU seconds, {epochs} epochs",
        flush=True,
    )


def show(graph, name, figures):
    """Print means and deviations as a row of a table."""
    *accuracies, auc, cpu = np.array(figures).T
    cells = [
        f"{x.mean():.4f} ± {x.std(ddof=1) if len(x) > 1 else float('nan'):.4f}" for x in accuracies
    ]
    print(
        f"| {graph} | {name} | {' | '.join(cells)} | {auc.mean():.4f} | {cpu.mean():.1f} |",
        flush=True,
    )


def quality(name, seeds, held):
    """Accuracy of inputs and combinations."""
    rows = {}
    graph = datasets.load(name).graph
    for seed in range(seeds):
        split = hold_out(graph, 0.5, random_state=seed)
        if held:
            split = hold_out(split.train, 0.7, random_state=seed)
        models = {
            model.method: fitted(model(random_state=seed), split.train) for model in (FOBE, HOBE)
        }
        inputs = [model.embedding_ for model, _ in models.values()]
        for kind in KINDS:
            joint = Combination(kind, embeddings=inputs, random_state=seed)
            models[kind] = fitted(joint, split.train)
        for method, (model, cpu) in models.items():
            vectors = model.left_embedding_, model.right_embedding_
            note(rows, method, split, vectors, cpu, model.n_iter_, seed)
    for method, figures in rows.items():
        show(name, method, figures)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "quality", "held"])
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    arguments = parser.parse_args()
    warm_up()
    if arguments.what == "speed":
        speed(arguments.seeds, arguments.kinds)
        return
    for name in arguments.graphs:
        quality(name, arguments.seeds, arguments.what == "held")


if __name__ == "__main__":
    main()
