"""What each lever gains and costs in link prediction: the table of ``docs/what-makes-it-work.md``.

    python benchmarks/ablation.py [GRAPH ...] [--seeds N] [--data-dir DIR] [--write]

Half of the edges are held out (seeds 0, 1, ...); each row is FOBE with one lever changed from the
default, measured by the accuracy of the left, right and unified task, and the CPU seconds of the
fit. ``--write`` puts the table between the marks of the page. All rows see the same splits.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from bivec import FOBE, HOBE, choosing, datasets, evening, lengths, rehearsal, sharpening, smoothing
from bivec.evaluation import hold_out
from bivec.evaluation.link_prediction import link_prediction
from bivec.models import PRESETS

GRAPHS = (
    "snap-com-amazon",
    "snap-com-dblp",
    "snap-com-friendster",
    "madgrades",
    "snap-com-youtube",
)
TASKS = ("left", "right", "unified")
BEGIN, END = "<!-- ablation: begin -->", "<!-- ablation: end -->"
PAGE = Path(__file__).parent.parent / "docs" / "what-makes-it-work.md"


def fit(model, graph):
    """Return the vectors of both sides and the CPU seconds of the fit."""
    start = time.process_time()
    model.fit(graph)
    return model.left_embedding_, model.right_embedding_, time.process_time() - start


def changed(module, **constants):
    """Return a maker of FOBE under other constants of a module."""

    def make(graph, seed):
        before = {name: getattr(module, name) for name in constants}
        vars(module).update(constants)
        try:
            return fit(FOBE(dim=100, random_state=seed), graph)
        finally:
            vars(module).update(before)

    return make


def made(kind, **parameters):
    """Return a maker of an estimator at other parameters."""
    return lambda graph, seed: fit(kind(dim=100, random_state=seed, **parameters), graph)


ROWS = {
    "FOBE, default": made(FOBE),
    "HOBE, default": made(HOBE),
    "no smoothing, norm 3": made(FOBE, smoothing=0, norm=3.0),
    "no smoothing, norm 5": made(FOBE, smoothing=0),
    "8 steps of smoothing": made(FOBE, smoothing=8),
    "32 steps": made(FOBE, smoothing=32),
    "128 steps": made(FOBE, smoothing=128),
    "norm 3": made(FOBE, norm=3.0),
    "norm 8": made(FOBE, norm=8.0),
    "no degree": changed(lengths, DEGREE=0.0),
    "one length for all": changed(choosing, LENGTHS=((0.0, 5.0, False),)),
    "no place for hubs": changed(choosing, LENGTHS=choosing.LENGTHS[:-1]),
    "no voices: bridges by 1/d": changed(smoothing, WALK=smoothing.Walk(ends=0, bridges=1)),
    "no evening": changed(evening, EVENNESS=0.0),
    "no sharpening": changed(sharpening, OWN=1e9),
    "no places": changed(rehearsal, CLEAR=2.0),
    "neither one space, evening nor sharpening": changed(rehearsal, MANY_STEPS=10**9),
    "a quarter of the samples": made(FOBE, n_samples=50, epochs=25),
    "no training: random vectors, smoothed": made(FOBE, epochs=1, n_samples=1, learning_rate=1e-9),
    "64 dimensions": lambda graph, seed: fit(FOBE(dim=64, random_state=seed), graph),
    "256 dimensions": lambda graph, seed: fit(FOBE(dim=256, random_state=seed), graph),
    "FOBE as in the paper, norm 3": made(PRESETS["fobe-paper"], norm=3.0),
    "HOBE as in the paper, norm 3": made(PRESETS["hobe-paper"], norm=3.0),
}


def measure(name, rows, seeds, data_dir):
    """Yield ``row, accuracies and seconds``, each a list over seeds."""
    graph = datasets.load(name, data_dir=data_dir).graph
    splits = [hold_out(graph, 0.5, random_state=seed) for seed in range(seeds)]
    for row in rows:
        figures = []
        for seed, split in enumerate(splits):
            left, right, seconds = ROWS[row](split.train, seed)
            found = link_prediction(split, left, right, tasks=TASKS, random_state=seed)
            figures.append([*(found[task].accuracy for task in TASKS), seconds])
        yield row, np.array(figures)


def cell(figures):
    """Return the accuracies of the tasks and the seconds as text."""
    mean = figures.mean(axis=0)
    text = " / ".join(f"{value:.3f}".removeprefix("0") for value in mean[:3])
    return f"{text} ({mean[3]:.1f} s)"


def main():
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--data-dir")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    table = {}
    for name in options.graphs:
        for row, figures in measure(name, options.rows, options.seeds, options.data_dir):
            table[row, name] = figures
            spread = figures.std(axis=0, ddof=1)[:3].max() if options.seeds > 1 else float("nan")
            print(f"{name:22} {row:40} {cell(figures)}  spread {spread:.4f}", flush=True)
    lines = [f"left / right / unified (CPU seconds of the fit); {options.seeds} seed(s).", ""]
    lines += ["| | " + " | ".join(options.graphs) + " |", "|---|" + "---|" * len(options.graphs)]
    for row in options.rows:
        lines.append(f"| {row} | " + " | ".join(cell(table[row, g]) for g in options.graphs) + " |")
    print("\n".join(lines))
    if options.write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), "utf-8")


if __name__ == "__main__":
    main()
