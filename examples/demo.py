"""The main job on data that comes with bivec: embed, look, recommend.

A graph of viewers and movies with planted tastes is embedded with FOBE. The map shows both sides,
coloured by the tastes, which the method has not seen. Run it with ``make demo``; everything it
makes goes to ``demo-output``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from rich.console import Console
from rich.table import Table
from sklearn.manifold import TSNE

import bivec
from bivec.cli.show import print_summary
from bivec.datasets import PlantedGraph, southern_women, viewer_movies
from bivec.datasets.southern_women import ATTENDED

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]  # colour-blind safe
VIEWER = "viewer 001"


def main(folder: Path) -> None:
    """Embed viewers and movies, save, draw and recommend."""
    folder.mkdir(parents=True, exist_ok=True)
    planted = viewer_movies()
    bivec.write_graph(planted.graph, folder / "viewer-movies.csv")
    print_summary(planted.graph.summary(), "viewers and movies, six planted tastes, seed 0")

    start = time.perf_counter()
    emb = bivec.FOBE(dim=64).fit(planted.graph).embedding_
    print(f"\nFOBE: vectors for both sides in {time.perf_counter() - start:.1f} s")
    for side, labels in (("left", planted.left_labels), ("right", planted.right_labels)):
        share = same_taste(emb.side(side).vectors, labels)
        print(f"  {side}: the nearest node has the same taste in {share:.1%} of cases")
    emb.save(folder / "viewer-movies.bivec")

    recommend(emb, planted)
    draw_graphs(southern_women(), planted, folder / "graphs.png")
    draw_maps(emb, planted, folder / "map.png")
    print(f"\nPictures:   {folder / 'map.png'} and {folder / 'graphs.png'}")
    print(f"Explore:    .venv/bin/bivec explore {folder / 'viewer-movies.bivec'}")


def unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scale rows to length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def same_taste(vectors: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]) -> float:
    """Return how often a node's nearest neighbour by cosine has its own label."""
    cosine = unit(vectors) @ unit(vectors).T
    np.fill_diagonal(cosine, -1)
    return float((labels[cosine.argmax(axis=1)] == labels).mean())


def recommend(emb: bivec.Embedding, planted: PlantedGraph, n: int = 5) -> None:
    """Rank unseen movies, and say why the first of them."""
    graph, row = planted.graph, planted.graph.left.ids.row(VIEWER)
    own = slice(graph.left.indptr[row], graph.left.indptr[row + 1])
    seen, stars = graph.left.indices[own], graph.left.weights[own]
    ranking = emb.recommend(VIEWER, n=n)
    table = Table("movie", "score", title=f"For {VIEWER}", title_justify="left", box=None)
    for movie, score in ranking:
        table.add_row(str(movie), f"{score:.3f}")
    taste = planted.names[planted.left_labels[row]]
    best = ", ".join(str(graph.right.ids[int(i)]) for i in seen[np.argsort(-stars)][:5])
    print()
    Console(highlight=False).print(table)
    print(f"(planted taste: {taste}; rated highest: {best})")
    print(f"\nWhy {ranking.ids[0]}? {emb.explain(VIEWER, ranking.ids[0], n=2)}")


def draw_maps(emb: bivec.Embedding, planted: PlantedGraph, path: Path) -> None:
    """Draw both sides in the plane, coloured by the planted tastes."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    for axes, side, labels, title in (
        (panels[0], emb.left, planted.left_labels, "viewers"),
        (panels[1], emb.right, planted.right_labels, "movies"),
    ):
        place = TSNE(init="pca", metric="cosine", random_state=0).fit_transform(side.vectors)
        for label, name in enumerate(planted.names):
            points = place[labels == label]
            axes.scatter(*points.T, s=16, color=PALETTE[label], alpha=0.8, linewidths=0, label=name)
        axes.set_title(f"{len(side)} {title}", fontsize=11)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_color("#cccccc")
    panels[1].legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_graphs(women: bivec.BipartiteGraph, planted: PlantedGraph, path: Path) -> None:
    """Draw two graphs as matrices: a mark where an edge is."""
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
