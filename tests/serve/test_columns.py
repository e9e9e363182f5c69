"""What the map is coloured by: communities and tables of labels."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bivec.datasets import viewer_movies
from bivec.embedding import Embedding, EmbeddingSide
from bivec.errors import InputError
from bivec.ids import Vocabulary
from bivec.serve.columns import read_labels
from bivec.serve.communities import communities, k_means, match
from bivec.serve.explorer import with_graph

LEFT, RIGHT = Vocabulary(["ann", "bob", "007"]), Vocabulary(["Alien", "ann"])


def test_communities_find_planted_tastes_on_both_sides():
    planted = viewer_movies(n_viewers=120, n_movies=60, n_tastes=3, loyalty=0.95)
    random = np.random.default_rng(0)
    centre = np.eye(3, 12)
    sides = [
        EmbeddingSide(side.ids, centre[labels] + 0.2 * random.normal(size=(len(labels), 12)))
        for side, labels in (
            (planted.graph.left, planted.left_labels),
            (planted.graph.right, planted.right_labels),
        )
    ]
    left, right, how = communities(Embedding(*sides, graph=planted.graph))
    assert "k = 3" in how
    for found, labels in ((left, planted.left_labels), (right, planted.right_labels)):
        assert len(set(zip(found.tolist(), labels.tolist(), strict=True))) == 3
    # the same number is the same taste on both sides
    tastes = dict(zip(left.tolist(), planted.left_labels.tolist(), strict=True))
    assert all(tastes[c] == t for c, t in zip(right, planted.right_labels, strict=True))


def test_modularity_against_the_plain_sum():
    graph = viewer_movies(n_viewers=30, n_movies=20, n_tastes=2).graph
    random = np.random.default_rng(1)
    left, right = random.integers(3, size=30), random.integers(3, size=20)
    matched, quality = match(graph, left, right)
    dense = graph.to_scipy().toarray() > 0
    m = dense.sum()
    total = 0.0
    for i in range(30):
        for j in range(20):
            if left[i] == matched[j]:
                total += dense[i, j] / m - dense[i].sum() * dense[:, j].sum() / m**2
    assert quality == pytest.approx(total)
    assert quality >= match(graph, left, right)[1] - 1e-12


def test_k_means_takes_what_it_gets():
    assert k_means(np.zeros((0, 3), np.float32), 4).tolist() == []
    assert k_means(np.ones((5, 3), np.float32), 4).tolist() == [0] * 5
    assert k_means(np.zeros((5, 3), np.float32), 4).max() <= 3


def test_labels_of_both_sides(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text(
        "id,side,year,kind\nann,left,1990,person\nAlien,right,1979,film\nann,right,,film\n"
        "007,,2,agent\nzed,left,5,person\n"
    )
    said = []
    found = read_labels(file, LEFT, RIGHT, said.append)
    year, kind = found["left"]
    np.testing.assert_array_equal(year.values, [1990, np.nan, 2])
    assert [kind.show(row) for row in range(3)] == ["person", "", "agent"]
    assert [column.show(0) for column in found["right"]] == ["1,979", "film"]
    assert kind.describe()["missing"] == 1
    assert "1 of 5 ids are not in the embedding" in said[0]


def test_labels_by_tab_and_parquet_and_first_column(tmp_path):
    (tmp_path / "a.tsv").write_text("name\tkind\nann\tx\n007\ty\n")
    found = read_labels(tmp_path / "a.tsv", LEFT, RIGHT)
    assert [found["left"][0].show(row) for row in range(3)] == ["x", "", "y"]
    assert found["right"][0].show(1) == "x"
    pq.write_table(pa.table({"id": ["bob"], "flag": [True]}), tmp_path / "a.parquet")
    found = read_labels(tmp_path / "a.parquet", LEFT, RIGHT)
    assert found["left"][0].show(1) == "True"
    assert found["right"] == []


def test_many_categories_end_in_others(tmp_path):
    ids = Vocabulary([f"n{i}" for i in range(40)])
    lines = [f"n{i},{'big' if i < 20 else f'small {i}'}" for i in range(40)]
    (tmp_path / "a.csv").write_text("id,kind\n" + "\n".join(lines))
    column = read_labels(tmp_path / "a.csv", ids, RIGHT)["left"][0]
    assert column.categories[0] == "big"
    assert len(column.categories) == 10
    assert column.counts == (20, *[1] * 9, 11)
    assert column.show(39) == "small 39"
    assert column.values[39] == 10  # of the others


@pytest.mark.parametrize(
    "text, words",
    [
        ("id\nann\n", "nothing to colour by"),
        ("id,a,a\nann,1,2\n", "same name"),
        ("id,a\nzed,1\n", "none of its 1 ids"),
        ("id,side,a\nann,middle,1\n", "'middle' in the column 'side'"),
        ("id,a\nann,1,2\n", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_bad_labels_are_said(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_labels(tmp_path / "a.csv", LEFT, RIGHT)


def test_no_labels(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_labels(tmp_path / "a.csv", LEFT, RIGHT)


def test_another_graph_is_put_on_the_rows_of_the_embedding(embedding, make):
    other = make(["zoe", "bob", "ann"], ["film 03", "new"], [
        ("bob", "film 03", 2.0), ("zoe", "film 03", 1.0), ("ann", "new", 1.0),
    ]).graph  # fmt: skip
    said = []
    joined = with_graph(embedding, other, said.append)
    assert joined.graph.n_edges == 1
    assert joined.graph.neighbors("bob", "left") == ["film 03"]
    assert joined.graph.left.ids == embedding.left.ids
    assert said == [
        "1 left nodes of the graph have no vector and are left out",
        "1 right nodes of the graph have no vector and are left out",
    ]
