"""The main job on data that comes with bivec: two graphs, summed up and drawn.

Run it with ``make demo``; the picture goes to ``demo-output/graphs.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

import bivec
from bivec.cli.show import print_summary
from bivec.datasets import PlantedGraph, southern_women, viewer_movies
from bivec.datasets.southern_women import ATTENDED

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]  # colour-blind safe


def main(folder: Path) -> None:
    """Sum up and draw both graphs."""
    folder.mkdir(parents=True, exist_ok=True)
    women, planted = southern_women(), viewer_movies()
    print_summary(women.summary(), "southern women: who attended which event (Davis, 1941)")
    print()
    print_summary(planted.graph.summary(), "viewers and movies, six planted tastes, seed 0")
    bivec.write_graph(planted.graph, folder / "viewer-movies.csv")
    picture = folder / "graphs.png"
    draw(women, planted, picture)
    print(f"\nThe picture: {picture}")
    print(f"Go on with:  .venv/bin/bivec info {folder / 'viewer-movies.csv'}")


def draw(women: bivec.BipartiteGraph, planted: PlantedGraph, path: Path) -> None:
    """Draw both graphs as matrices: a mark where an edge is."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 5), width_ratios=[1, 1.5], layout="constrained"
    )
    draw_women(left, women)
    draw_movies(right, planted)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_women(axes: Axes, women: bivec.BipartiteGraph) -> None:
    """Draw women against events in the order of the book, where two circles show."""
    names, events = list(ATTENDED), [f"E{i}" for i in range(1, 15)]
    cells = women.to_scipy().toarray()[women.left.ids.rows(names)]
    cells = cells[:, women.right.ids.rows(events)]
    axes.imshow(cells, cmap=ListedColormap(["#f2f2f2", PALETTE[0]]), aspect="auto")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xticks(range(len(events)), events, fontsize=8)
    axes.set_title("18 women, 14 events", fontsize=11)
    for border in np.arange(0.5, 18):
        axes.axhline(border, color="white", linewidth=1)
        axes.axvline(border, color="white", linewidth=1)
    axes.set_xlim(-0.5, 13.5)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def draw_movies(axes: Axes, planted: PlantedGraph) -> None:
    """Draw viewers, sorted by taste, against movies, whose names are in order of taste."""
    graph = planted.graph
    place = np.empty(graph.n_left, dtype=np.int64)
    place[np.argsort(planted.left_labels, kind="stable")] = np.arange(graph.n_left)
    viewers, movies = graph.left_rows(), graph.left.indices
    colors = np.array(PALETTE)[planted.right_labels[movies]]
    axes.scatter(movies, place[viewers], s=1.2, c=colors, linewidths=0)
    for label, name in enumerate(planted.names):
        middle = np.flatnonzero(planted.right_labels == label).mean()
        axes.text(middle, -12, name, color=PALETTE[label], ha="center", va="bottom", fontsize=9)
    axes.set_xlim(0, graph.n_right)
    axes.set_ylim(graph.n_left, 0)
    axes.set_xlabel("240 movies by genre")
    axes.set_ylabel("600 viewers by taste")
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
