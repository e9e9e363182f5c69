"""The counts of public data sets, where a directory with them is at hand.

Set ``BIVEC_DATA`` to a directory with one folder a data set; the figures are those of its notes.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from bivec.io import read_edges

DATA = Path(os.environ.get("BIVEC_DATA", ""))
if not os.environ.get("BIVEC_DATA") or not DATA.is_dir():
    pytest.skip("BIVEC_DATA names no directory with data sets", allow_module_level=True)

# file: (left, right, edges, more figures)
COUNTS = {
    "bine-dblp/rating_train.dat": (6001, 1177, 17699, {}),
    "bine-dblp/rating_test.dat": (2996, None, 11557, {}),
    "bine-wiki/ratings.dat": (
        15000, 3214, 64095, {"rows": 172426, "components": 133, "largest": 17927}),
    "bine-wiki/rating_train.dat": (15000, 2529, 36283, {}),
    "bine-wiki/rating_test.dat": (None, None, 27812, {}),
    "bine-wiki/case_train.dat": (None, None, 36283, {"rows": 76174, "zero_weight": 39891}),
    "bine-wiki/case_test.dat": (None, None, 27812, {"rows": 52016, "zero_weight": 24204}),
    "disgenet-hypernetx/disGene.txt.gz": (12368, 2261, 113581, {"components": 1}),
    "konect-moreno-crime/out.moreno_crime_crime": (829, 551, 1476, {"components": 20}),
    "konect-opsahl-collaboration/out.opsahl-collaboration": (
        16726, 22015, 58595, {"components": 1188, "largest": 33327}),
    "lastfm-hetrec2011/user_artists.dat": (
        1892, 17632, 92834, {"rows": 92834, "components": 8, "largest": 19507, "left_max": 50,
                             "weighted": True}),
    "madgrades/edges.tsv.gz": (18894, 9706, 71774, {"weighted": True}),
    "madgrades/edges_2core.tsv.gz": (
        11794, 6520, 61543, {"left_median": 4, "left_max": 40, "right_median": 4, "right_max": 383,
                             "share": 99.46}),
    "movielens-100k/ml-100k.inter": (943, 1682, 100000, {"rows": 100000, "components": 1}),
    "snap-com-amazon/com-amazon.top5000.cmty.txt": (
        16716, 5000, 67462, {"left_median": 3, "left_max": 49, "right_median": 8, "right_max": 328,
                             "share": 1.69, "components": 1135}),
    "snap-com-dblp/com-dblp.top5000.cmty.txt": (
        93432, 5000, 112228, {"left_median": 1, "left_max": 12, "right_median": 8,
                              "right_max": 7556, "share": 81.74}),
    "snap-com-dblp/com-dblp.all.cmty.txt.gz": (260998, 13477, 719820, {}),
    "snap-com-friendster/com-friendster.top5000.cmty.txt.gz": (
        220015, 5000, 234032, {"left_median": 1, "left_max": 26, "right_median": 33,
                               "right_max": 1612, "share": 58.37}),
    "snap-com-livejournal-PARTIAL/lj-1.90.cmty.txt": (11826, 1000, 12997, {"components": 901}),
    "snap-com-youtube/com-youtube.top5000.cmty.txt": (
        39841, 5000, 72959, {"left_median": 1, "left_max": 54, "right_median": 4,
                             "right_max": 2217, "share": 80.68}),
    "snap-com-youtube/com-youtube.all.cmty.txt": (52675, 16386, 129202, {}),
    "southern-women/edges.tsv": (18, 14, 89, {"components": 1, "weighted": False}),
}  # fmt: skip


def read(name, **options):
    if not (DATA / name).exists():
        pytest.skip(f"there is no {name}")
    return read_edges(DATA / name, **options)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    left, right, edges, more = COUNTS[name]
    graph = read(name)
    assert graph.n_left == left or left is None
    assert graph.n_right == right or right is None
    assert graph.n_edges == edges
    summary = graph.summary()
    share = 100 * summary.largest_component_share
    figures = {
        "rows": graph.report.rows,
        "zero_weight": graph.report.zero_weight,
        "components": summary.components,
        "largest": summary.largest_component_nodes,
        "share": pytest.approx(share, abs=0.005),
        "weighted": graph.weighted,
    }
    for side, degrees in (("left", graph.left.degrees), ("right", graph.right.degrees)):
        figures |= {f"{side}_median": np.median(degrees), f"{side}_max": degrees.max()}
    assert {key: figures[key] for key in more} == more


def pairs(graph):
    """Return the edges by name, without weights."""
    return {(row["left"], row["right"]) for row in graph.to_arrow().to_pylist()}


@pytest.mark.parametrize(
    "folder, nodes, edges",
    [("bine-dblp", (6001, 1308), 29256), ("bine-wiki", (15000, 3214), 64095)],
)
def test_train_and_test_are_disjoint(folder, nodes, edges):
    train = pairs(read(f"{folder}/rating_train.dat"))
    test = pairs(read(f"{folder}/rating_test.dat"))
    assert not train & test
    assert len(train | test) == edges
    assert tuple(len({pair[i] for pair in train | test}) for i in (0, 1)) == nodes


def test_ratings_are_train_and_test():
    train, test = (pairs(read(f"bine-wiki/rating_{part}.dat")) for part in ("train", "test"))
    assert pairs(read("bine-wiki/ratings.dat")) == train | test


@pytest.mark.parametrize("part", ["train", "test"])
def test_positive_cases_are_the_ratings(part):
    assert pairs(read(f"bine-wiki/case_{part}.dat")) == pairs(read(f"bine-wiki/rating_{part}.dat"))


def test_pruning_is_the_papers_cleaning():
    pruned = read("madgrades/edges.tsv.gz").prune()
    assert pruned == read("madgrades/edges_2core.tsv.gz")


def test_terms_add_up_to_the_graph():
    options = {"left": "instructor", "right": "course", "weight": "sections"}
    graph = read("madgrades/term_edges.tsv.gz", **options)
    assert graph.report.rows == 233901
    assert pairs(graph) == pairs(read("madgrades/edges.tsv.gz"))


def test_movielens_split():
    train, test = (read(f"movielens-100k/bigi_{part}.tsv") for part in ("train", "test"))
    for graph in (train, test):
        assert graph.report.merged == 0
        assert sorted(set(graph.left.weights)) == [1, 2, 3, 4, 5]
    assert not pairs(train) & pairs(test)
