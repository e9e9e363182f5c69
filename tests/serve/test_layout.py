"""Layouts: where points go, and that they are computed once."""

import sys
import types

import numpy as np
import pytest

import bivec
from bivec.errors import InputError, MissingExtraError
from bivec.serve import layout as module
from bivec.serve.layout import choose, layout, pca_places


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)


def test_pca_is_the_singular_vectors(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    unit -= unit.mean(axis=0)
    u, s, _ = np.linalg.svd(unit, full_matrices=False)
    expected = u[:, :2] * s[:2]
    places = pca_places(vectors)
    for axis in (0, 1):
        sign = np.sign(places[:, axis] @ expected[:, axis])
        np.testing.assert_allclose(places[:, axis], sign * expected[:, axis], atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_few_points_and_dimensions(n, dim, tmp_path):
    made = layout(np.ones((n, dim), np.float32), "left", tmp_path, "umap")
    assert made.places.shape == (n, 2)
    assert np.isfinite(made.places).all()


def test_places_fill_the_square(vectors, tmp_path):
    places = layout(vectors, "left", tmp_path, "pca").places
    assert np.abs(places).max() == pytest.approx(1)


def test_a_layout_is_computed_once_and_again_for_other_vectors(vectors, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(module, "pca_places", lambda v: calls.append(1) or pca_places(v))
    first = layout(vectors, "left", tmp_path, "pca")
    again = layout(vectors, "left", tmp_path, "pca")
    assert np.array_equal(first.places, again.places)
    assert len(calls) == 1
    layout(vectors + 1, "left", tmp_path, "pca")
    assert len(calls) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["layout.left.parquet"]


def test_a_damaged_file_is_made_again(vectors, tmp_path):
    first = layout(vectors, "left", tmp_path, "pca")
    file = tmp_path / "layout.left.parquet"
    file.write_bytes(file.read_bytes()[:-30])
    assert np.array_equal(layout(vectors, "left", tmp_path, "pca").places, first.places)


def test_a_directory_that_cannot_be_written_sends_it_to_the_cache(vectors, tmp_path, monkeypatch):
    monkeypatch.setenv("BIVEC_CACHE", str(tmp_path / "cache"))
    gone = tmp_path / "gone.bivec"
    made = layout(vectors, "left", gone, "pca")
    assert len(list((tmp_path / "cache" / "layouts").iterdir())) == 1
    assert np.array_equal(layout(vectors, "left", gone, "pca").places, made.places)
    assert not gone.exists()


def test_a_layout_that_cannot_be_kept_anywhere_is_said(vectors, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BIVEC_CACHE", str(tmp_path / "file"))
    said = []
    made = layout(vectors, "left", None, "pca", said.append)
    assert len(made.places) == 60
    assert "BIVEC_CACHE" in said[0]


def test_saving_and_loading_an_embedding_does_not_mind_the_layout(embedding, tmp_path, monkeypatch):
    monkeypatch.setenv("BIVEC_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "films.bivec"
    embedding.save(path)
    layout(embedding.left.vectors, "left", path, "pca")
    assert (path / "layout.left.parquet").is_file()
    assert bivec.load(path) == embedding
    embedding.save(path)
    assert not (path / "layout.left.parquet").exists()


def test_the_choice_of_a_method(monkeypatch):
    assert choose("pca", 1000) == ("pca", "")
    assert choose("umap", 1000) == ("umap", "")
    assert choose("auto", 5) == ("pca", "")
    method, note = choose("auto", 10**6)
    assert method == "pca"
    assert "200,000" in note
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    method, note = choose("auto", 1000)
    assert method == "pca"
    assert "bivec[serve]" in note
    with pytest.raises(InputError, match="'tsne' is no layout"):
        choose("tsne", 10)


def test_umap_is_asked_for_the_same_map_each_time(vectors, monkeypatch):
    """The real one, which compiles for a quarter of a minute, is in tests/browser."""
    asked = {}

    class UMAP:
        def __init__(self, **settings):
            asked.update(settings)

        def fit_transform(self, given):
            np.testing.assert_allclose(np.linalg.norm(given, axis=1), 1, rtol=1e-5)
            return given[:, :2]

    monkeypatch.setitem(sys.modules, "umap", types.SimpleNamespace(UMAP=UMAP))
    made = layout(vectors, "left", None, "umap")
    assert made.method == "umap"
    assert (asked["random_state"], asked["n_jobs"], asked["n_neighbors"]) == (0, 1, 15)


def test_umap_by_name_but_not_installed(vectors, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingExtraError, match=r"bivec\[serve\]"):
        layout(vectors + 2, "left", None, "umap")
