"""Exports, each read back by the program it is meant for."""

import json
import re
import sys
from urllib.parse import unquote

import numpy as np
import pytest

import bivec
from bivec import Embedding, EmbeddingSide, InputError, MissingExtraError, SaveError

LEFT = [
    "ann",
    "Zoë",
    "a b",
    "tab\there",
    "100%",
    'say "hi"',
    "new\nline",
    " lead",
    "naïve\u00a0nbsp",
]
RIGHT = [3, 1, -2]


@pytest.fixture
def emb():
    random = np.random.default_rng(0)
    graph = bivec.BipartiteGraph([0, 1, 1], [0, 1, 2], [1, 2, 0.5], left_ids=LEFT, right_ids=RIGHT)
    return Embedding(
        EmbeddingSide(LEFT, random.normal(size=(len(LEFT), 4))),
        EmbeddingSide(RIGHT, random.normal(size=(len(RIGHT), 4))),
        graph=graph,
        method="random",
        params={"dim": 4},
    )


def test_word2vec_is_read_by_gensim(emb, tmp_path):
    from gensim.models import KeyedVectors

    paths = emb.export(tmp_path / "x.vec")
    assert [path.name for path in paths] == ["x.left.vec", "x.right.vec"]
    for path, side in zip(paths, (emb.left, emb.right), strict=True):
        vectors = KeyedVectors.load_word2vec_format(str(path))
        assert [unquote(key) for key in vectors.index_to_key] == [str(key) for key in side.ids]
        np.testing.assert_array_equal(vectors.vectors, side.vectors)


def test_a_pair_of_files_is_written_together(emb, tmp_path, monkeypatch):
    emb.export(tmp_path / "x.vec")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    lines = bivec.embedding.export.__globals__["_word2vec_lines"]

    def full(side, *rest):
        if len(side) == len(RIGHT):
            raise OSError(28, "No space left on device")
        lines(side, *rest)

    monkeypatch.setitem(bivec.embedding.export.__globals__, "_word2vec_lines", full)
    with pytest.raises(SaveError, match="the disk is full"):
        Embedding(EmbeddingSide(LEFT, emb.left.vectors + 1), emb.right).export(tmp_path / "x.vec")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_parquet(emb, tmp_path):
    import polars as pl

    (path,) = emb.export(tmp_path / "right.parquet", side="right")
    assert path.name == "right.parquet"
    table = pl.read_parquet(path)
    assert table["id"].to_list() == RIGHT
    np.testing.assert_array_equal(
        np.array(table["vector"].to_list(), np.float32), emb.right.vectors
    )


def test_npz_needs_no_pickle(emb, tmp_path):
    emb.export(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as data:
        assert data["left_ids"].tolist() == LEFT
        assert data["right_ids"].tolist() == RIGHT
        np.testing.assert_array_equal(data["left_vectors"], emb.left.vectors)
        np.testing.assert_array_equal(data["right_vectors"], emb.right.vectors)


def test_safetensors(emb, tmp_path):
    from safetensors import safe_open

    emb.export(tmp_path / "x.safetensors")
    with safe_open(tmp_path / "x.safetensors", framework="numpy") as file:
        assert json.loads(file.metadata()["left_ids"]) == LEFT
        assert json.loads(file.metadata()["right_ids"]) == RIGHT
        np.testing.assert_array_equal(file.get_tensor("left"), emb.left.vectors)
        np.testing.assert_array_equal(file.get_tensor("right"), emb.right.vectors)


def test_projector_lines_match(emb, tmp_path):
    folder = tmp_path / "board"
    emb.export(folder, format="projector")
    vectors = np.loadtxt(folder / "left_vectors.tsv", delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(vectors, emb.left.vectors)
    header, *lines = (folder / "left_metadata.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    assert header == "id\tdegree"
    assert lines[0] == "ann\t1"
    assert len(lines) == len(LEFT)
    config = (folder / "projector_config.pbtxt").read_text()
    for name in re.findall(r'_path: "(.*)"', config):
        assert (folder / name).is_file()
    emb.export(folder, format="projector", side="right")  # replaces what it wrote before
    assert not (folder / "left_vectors.tsv").exists()


def test_projector_without_graph_has_no_header(emb, tmp_path):
    Embedding(emb.left, emb.right).export(tmp_path / "board", format="projector")
    lines = (tmp_path / "board" / "right_metadata.tsv").read_text().splitlines()
    assert lines == ["3", "1", "-2"]


def test_anndata(emb, tmp_path):
    import anndata

    emb.export(tmp_path / "x.h5ad")
    data = anndata.read_h5ad(tmp_path / "x.h5ad")
    assert data.obs_names.tolist() == LEFT
    assert data.var_names.tolist() == ["3", "1", "-2"]
    np.testing.assert_array_equal(data.obsm["bivec"], emb.left.vectors)
    np.testing.assert_array_equal(data.varm["bivec"], emb.right.vectors)
    np.testing.assert_array_equal(data.X.toarray(), emb.graph.to_scipy().toarray())


@pytest.mark.parametrize(
    "name, options, error, message",
    [
        (
            "x.xyz",
            {},
            InputError,
            "cannot tell from the suffix '.xyz' what to write. Choose a format",
        ),
        ("x", {"format": "excel"}, InputError, "cannot tell from 'excel' what to write"),
        ("x.npz", {"side": "up"}, InputError, "'up' is no side"),
        ("x.h5ad", {"side": "left"}, InputError, "AnnData holds both sides"),
        ("nowhere/x.npz", {}, SaveError, "does not exist. Create it first"),
        (".", {"format": "projector"}, SaveError, "something else of that name is there"),
    ],
)
def test_bad_exports(emb, tmp_path, name, options, error, message):
    with pytest.raises(error, match=message):
        emb.export(tmp_path / name, **options)


def test_logs_beside_a_projector_are_not_lost(emb, tmp_path):
    emb.export(tmp_path / "logs", format="projector")
    emb.export(tmp_path / "logs", format="projector")
    (tmp_path / "logs" / "train").mkdir()
    with pytest.raises(SaveError, match="it holds train, which would be lost"):
        emb.export(tmp_path / "logs", format="projector")


@pytest.mark.parametrize("name", ["x.npz", "x.h5ad"])
def test_ids_that_a_format_cannot_hold(tmp_path, name):
    side = EmbeddingSide(["nul\0"], [[1]])
    with pytest.raises(SaveError, match="NUL character"):
        Embedding(side, side).export(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name, package", [("x.safetensors", "safetensors"), ("x.h5ad", "anndata")])
def test_missing_package_names_the_extra(emb, tmp_path, monkeypatch, name, package):
    for module in [m for m in sys.modules if m.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*pip install 'bivec\[export\]'"):
        emb.export(tmp_path / name)
