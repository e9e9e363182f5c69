"""Embeddings: what they accept, their home on disk, and what becomes of it when things go wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bivec
from bivec import Embedding, EmbeddingSide, FormatError, InputError, SaveError
from bivec.datasets import southern_women

IDS = st.one_of(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True),
)


def random_embedding(graph=None, left=None, right=None, dim=5, seed=0):
    random = np.random.default_rng(seed)
    left = graph.left.ids if left is None else left
    right = graph.right.ids if right is None else right
    return Embedding(
        EmbeddingSide(left, random.normal(size=(len(left), dim))),
        EmbeddingSide(right, random.normal(size=(len(right), dim))),
        graph=graph,
        method="random",
        params={"dim": dim, "seed": seed},
        history=[{"epoch": 1, "loss": 0.5}],
    )


@pytest.fixture
def emb():
    return random_embedding(southern_women())


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@given(left=IDS, right=IDS, dim=st.integers(1, 4))
def test_survives_saving(tmp_path_factory, left, right, dim):
    emb = random_embedding(left=left, right=right, dim=dim)
    path = tmp_path_factory.mktemp("save") / "x.bivec"
    emb.save(path)
    assert bivec.load(path) == emb


def test_graph_goes_along_unless_told_not_to(emb, tmp_path):
    emb.save(tmp_path / "with.bivec")
    emb.save(tmp_path / "without.bivec", graph=False)
    assert bivec.load(tmp_path / "with.bivec").graph == emb.graph
    assert bivec.load(tmp_path / "without.bivec").graph is None
    assert not (tmp_path / "without.bivec" / "graph.parquet").exists()


def test_weights_isolated_nodes_and_row_order_survive(tmp_path):
    graph = bivec.BipartiteGraph(
        [0, 2], [1, 0], [0.5, 3e38], left_ids=["z", "a", "m"], right_ids=[7, -1, 3]
    )
    emb = random_embedding(graph)
    emb.save(tmp_path / "x.bivec")
    again = bivec.load(tmp_path / "x.bivec").graph
    assert list(again.left.ids) == ["z", "a", "m"]
    assert list(again.right.ids) == [7, -1, 3]
    np.testing.assert_array_equal(again.to_scipy().toarray(), graph.to_scipy().toarray())


def test_equal_embeddings_are_equal_bytes(emb, tmp_path):
    emb.save(tmp_path / "a.bivec")
    bivec.load(tmp_path / "a.bivec").save(tmp_path / "b.bivec")
    assert files(tmp_path / "a.bivec") == files(tmp_path / "b.bivec")


def test_tables_open_elsewhere(emb, tmp_path):
    import pandas as pd

    emb.save(tmp_path / "x.bivec")
    table = pd.read_parquet(tmp_path / "x.bivec" / "left.parquet")
    assert table["id"].tolist() == list(emb.left.ids)
    np.testing.assert_array_equal(np.stack(table["vector"]), emb.left.vectors)
    edges = pd.read_parquet(tmp_path / "x.bivec" / "graph.parquet")
    assert list(edges.columns) == ["left_row", "right_row", "weight"]
    assert len(edges) == 89


def test_saving_again_replaces_only_embeddings(emb, tmp_path):
    path = tmp_path / "x.bivec"
    emb.save(path)
    other = random_embedding(southern_women(), seed=1)
    other.save(path)
    assert bivec.load(path) == other
    assert [p.name for p in tmp_path.iterdir()] == ["x.bivec"]
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    for taken in (precious, precious / "thesis.txt"):
        with pytest.raises(SaveError, match="something else of that name is there"):
            emb.save(taken)
    assert (precious / "thesis.txt").read_text() == "years of work"


def test_nothing_foreign_is_lost_with_an_embedding(emb, tmp_path):
    path = tmp_path / "x.bivec"
    emb.save(path)
    (path / "notes.txt").write_text("which run this was")
    with pytest.raises(SaveError, match=r"it holds notes\.txt, which would be lost"):
        emb.save(path)
    app = tmp_path / "app"
    app.mkdir()
    (app / "manifest.json").write_text('{"name": "a web app"}')
    with pytest.raises(FormatError, match="is not the manifest of a bivec embedding"):
        emb.save(app)
    (path / "notes.txt").unlink()
    (path / "manifest.json").write_text("cut short")  # damaged, but ours
    emb.save(path)
    assert bivec.load(path) == emb


def test_a_link_stays_a_link(emb, tmp_path):
    emb.save(tmp_path / "x.bivec")
    link = tmp_path / "newest.bivec"
    link.symlink_to("x.bivec")
    other = random_embedding(southern_women(), seed=1)
    other.save(link)
    assert link.is_symlink()
    assert bivec.load(tmp_path / "x.bivec") == other
    assert sorted(p.name for p in tmp_path.iterdir()) == ["newest.bivec", "x.bivec"]


def test_no_directory_to_save_into(emb, tmp_path):
    with pytest.raises(SaveError, match=r"does not exist\. Create it first"):
        emb.save(tmp_path / "nowhere" / "x.bivec")


def test_a_failed_save_changes_nothing(emb, tmp_path, monkeypatch):
    path = tmp_path / "x.bivec"
    emb.save(path)
    before = files(path)

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bivec.embedding.store._write_graph", full)
    with pytest.raises(SaveError, match=r"the disk is full.*nothing was changed"):
        random_embedding(southern_women(), seed=1).save(path)
    assert files(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.bivec"]


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_trouble_between_the_two_renames_brings_the_old_one_back(emb, tmp_path, monkeypatch, error):
    path = tmp_path / "x.bivec"
    emb.save(path)
    rename = Path.rename

    def failing(self, target):
        if Path(target) == path and ".new-" in self.name:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises((SaveError, KeyboardInterrupt)):
        random_embedding(southern_women(), seed=1).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["x.bivec"]
    assert bivec.load(path) == emb


def test_an_incomplete_save_is_not_offered(emb, tmp_path):
    emb.save(tmp_path / ".x.bivec.new-abc")
    (tmp_path / ".x.bivec.new-def").mkdir()
    with pytest.raises(FormatError, match=r"complete beside it is \S+new-abc: rename it"):
        bivec.load(tmp_path / "x.bivec")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_really_full(tmp_path, monkeypatch):
    from bivec.io import atomic

    (tmp_path / "full").symlink_to("/dev/full")
    monkeypatch.setattr(
        atomic.tempfile, "mkstemp", lambda **_: (os.open("/dev/null", os.O_RDONLY), "/dev/full")
    )
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: None)
    with pytest.raises(SaveError, match="disk is full"):
        bivec.write_graph(southern_women(), tmp_path / "edges.csv")


def test_killed_while_saving_leaves_the_old_one_whole(tmp_path):
    path = tmp_path / "x.bivec"
    code = (
        "import numpy as np; from bivec import Embedding, EmbeddingSide\n"
        "ids = np.arange(20_000)\n"
        "for value in range(1000):\n"
        "    side = EmbeddingSide(ids, np.full((len(ids), 32), value))\n"
        f"    Embedding(side, side, params={{'value': value}}).save({str(path)!r})\n"
        "    print(value, flush=True)\n"
    )
    for attempt in range(4):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline().strip() == "0"
        time.sleep(0.05 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if not path.exists():  # killed in the moment between two renames: nothing is lost
            with pytest.raises(FormatError, match="A save was interrupted; complete beside it is"):
                bivec.load(path)
            kept = next(tmp_path.glob(".x.bivec.old-*"))
        else:
            kept = path
        emb = bivec.load(kept)
        assert (emb.left.vectors == emb.params["value"]).all()
        for leftover in tmp_path.iterdir():
            shutil.rmtree(leftover)


def change_manifest(**changes):
    def apply(folder):
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest.update(changes)
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return apply


def truncate(name, keep=0.5):
    def apply(folder):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * keep)])

    return apply


def flip_byte(name):
    def apply(folder):
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 3] ^= 0xFF
        (folder / name).write_bytes(bytes(content))

    return apply


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda f: shutil.rmtree(f), "there is no .*x.bivec. Check the path"),
        (
            lambda f: (f / "manifest.json").unlink(),
            "is no saved embedding: it has no manifest.json",
        ),
        (lambda f: (f / "manifest.json").write_text("{"), "manifest.json cannot be read"),
        (lambda f: (f / "manifest.json").write_text("[]"), "not the manifest of a bivec"),
        (change_manifest(format="other"), "not the manifest of a bivec"),
        (
            change_manifest(format_version=99, bivec_version="9.0"),
            "version 99, written by bivec 9.0",
        ),
        (change_manifest(format_version="1"), "version '1'"),
        (change_manifest(left=17), "18 vectors of dimension 5 where the manifest says 17 of 5"),
        (change_manifest(dim=10**12), "where the manifest says 18 of 1000000000000"),
        (change_manifest(dim=-1), "where the manifest says 18 of -1"),
        (change_manifest(edges=5), "89 edges where the manifest says 5"),
        (change_manifest(dim="x"), "where the manifest says 18 of x"),
        (lambda f: (f / "right.parquet").unlink(), "damaged or incomplete"),
        (lambda f: (f / "graph.parquet").unlink(), "damaged or incomplete"),
        (truncate("left.parquet"), "damaged or incomplete"),
        (truncate("graph.parquet", 0.99), "damaged or incomplete"),
        (truncate("right.parquet", 0), "damaged or incomplete"),
        (flip_byte("left.parquet"), "damaged or incomplete"),
    ],
)
def test_damage_is_told(emb, tmp_path, damage, message):
    path = tmp_path / "x.bivec"
    emb.save(path)
    damage(path)
    with pytest.raises(FormatError, match=message):
        bivec.load(path)


@pytest.mark.parametrize(
    "left, right, more, message",
    [
        (["a"], [["x"]], {}, "no table of numbers"),
        (["a"], [[1, 2], [3, 4]], {}, r"vectors of shape \(2, 2\) for 1 ids"),
        (["a"], [1, 2], {}, r"vectors of shape \(2,\)"),
        (["a"], [[]], {}, r"vectors of shape \(1, 0\) for 1 ids"),
        (["a", "b"], [[1], [np.nan]], {}, "1 of 2 vectors are not finite, the first that of 'b'"),
        (["a", "a"], [[1], [2]], {}, "ids are not distinct: 'a'"),
        (["a"], [[1, 2]], {}, "left vectors have 2 entries, right vectors 1"),
        (["a"], [[1]], {"params": {"x": object()}}, "params cannot be written as JSON"),
        (["a"], [[1]], {"history": [np.nan]}, "history cannot be written as JSON"),
        (["a"], [[1]], {"graph": southern_women()}, "the graph has other ids than the vectors"),
    ],
)
def test_bad_embeddings(left, right, more, message):
    with pytest.raises(InputError, match=message):
        Embedding(EmbeddingSide(left, right), EmbeddingSide(["r"], [[1]]), **more)


def test_looking_at_it(emb):
    assert repr(emb) == "Embedding(random, 18 left, 14 right, dim 5, with graph)"
    np.testing.assert_array_equal(
        emb.left["Flora Price"], emb.left.vectors[emb.left.ids.row("Flora Price")]
    )
    assert emb.side("right") is emb.right
    with pytest.raises(InputError, match="'up' is no side"):
        emb.side("up")
    with pytest.raises(bivec.UnknownIdError, match="did you mean 'Flora Price'"):
        emb.left["flora price"]
    assert emb != random_embedding(southern_women(), seed=1)
    assert emb != "something else"
