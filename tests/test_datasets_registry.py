"""The registry of data sets: names, places, loading; the real ones where they are at hand."""

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bivec import BivecError, datasets, read_edges
from bivec.cli import main
from bivec.datasets.catalogue import ENTRIES
from bivec.datasets.readers import READERS
from bivec.errors import InputError, MissingDataError

DATA = os.environ.get("BIVEC_DATA")


def real(name):
    """Load a real data set, or skip."""
    if not DATA or not datasets.available(name, DATA):
        pytest.skip(f"BIVEC_DATA names no directory with {name}")
    return datasets.load(name, DATA)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    monkeypatch.delenv("BIVEC_DATA", raising=False)
    monkeypatch.setenv("BIVEC_CACHE", str(tmp_path / "cache"))
    return tmp_path


# What is known


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.name)
def test_entries_are_complete(entry):
    assert entry.reader in READERS
    for field in ("title", "left", "right", "source", "licence", "citation"):
        assert getattr(entry, field)
    layouts = [{file.name for file in layout} for layout in entry.layouts]
    for layout in entry.layouts:
        for file in layout:
            assert len(bytes.fromhex(file.sha256)) == 32
    got = {name for source in entry.downloads for name in source.files}
    assert not got or got in layouts  # what is downloaded is enough to load
    for source in entry.downloads:
        assert source.url.startswith(("https://", "http://konect.cc/"))
    json.dumps(entry.to_dict())


def test_names_and_aliases_are_distinct():
    words = [word for e in ENTRIES.values() for word in (e.name, *e.aliases)]
    assert len(set(words)) == len(words)
    assert all(datasets.describe(word).name in datasets.names() for word in words)


@pytest.mark.parametrize(
    "alias, name",
    [
        ("amazon", "snap-com-amazon"), ("dblp", "snap-com-dblp"), ("YouTube", "snap-com-youtube"),
        ("friendster", "snap-com-friendster"), ("livejournal", "snap-com-livejournal"),
        ("lastfm", "lastfm-hetrec2011"), ("movielens", "movielens-100k"),
        ("madgrades", "madgrades"), ("dblp_bine", "bine-dblp"),
    ],
)  # fmt: skip
def test_the_papers_names(alias, name):
    assert datasets.describe(alias).name == name


@pytest.mark.parametrize(
    "name, near",
    [("amazn", "'amazon'"), ("hetrec", "'lastfm-hetrec2011'"), ("", "bivec datasets list")],
)
def test_an_unknown_name(name, near):
    with pytest.raises(InputError, match="there is no data set") as caught:
        datasets.load(name)
    assert near in str(caught.value)


# Where it lies


def test_cache_directory(monkeypatch, tmp_path):
    for name in ("BIVEC_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert datasets.cache_dir() == tmp_path / ".cache" / "bivec"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert datasets.cache_dir() == tmp_path / ".cache" / "bivec"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert datasets.cache_dir() == tmp_path / "xdg" / "bivec"
    monkeypatch.setenv("BIVEC_CACHE", str(tmp_path / "own"))
    assert datasets.cache_dir() == tmp_path / "own"


def test_a_missing_set_says_what_to_do(nowhere):
    assert not datasets.available("youtube")
    with pytest.raises(MissingDataError) as caught:
        datasets.load("youtube")
    text = str(caught.value)
    assert "bivec datasets get snap-com-youtube" in text
    assert "put com-youtube.top5000.cmty.txt into a folder snap-com-youtube" in text
    assert f"Looked in {nowhere / 'cache' / 'datasets'}." in text
    assert isinstance(caught.value, BivecError)


def test_what_cannot_be_downloaded_says_so(nowhere):
    for function in (datasets.fetch, datasets.load):
        with pytest.raises(MissingDataError, match=r"cannot be downloaded by a program.*Put edges"):
            function("madgrades")


@pytest.mark.parametrize("function", [datasets.fetch, datasets.path, datasets.verify])
def test_what_is_included_has_no_files(function):
    with pytest.raises(InputError, match="southern-women comes with bivec"):
        function("southern-women")


def test_a_folder_of_ones_own_goes_before_the_cache(nowhere, monkeypatch):
    content = b"1\t2\n"
    name = "com-amazon.top5000.cmty.txt"
    for place in ("cache/datasets", "own", "named"):
        folder = nowhere / place / "snap-com-amazon"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(content)
    assert datasets.path("amazon").parent == nowhere / "cache" / "datasets"
    monkeypatch.setenv("BIVEC_DATA", str(nowhere / "own"))
    assert datasets.path("amazon").parent == nowhere / "own"
    assert datasets.path("amazon", nowhere / "named").parent == nowhere / "named"
    (nowhere / "own" / "snap-com-amazon" / name).unlink()
    assert datasets.path("amazon").parent == nowhere / "cache" / "datasets"


# LiveJournal: the real file is not at hand, one of its shape is


def livejournal(n_users):
    """Write communities of the right numbers: each user once, some of them again."""
    groups = [[] for _ in range(5000)]
    for user in range(n_users):
        groups[user % 5000].append(str(7 * user))
        if user % 10 == 0:
            groups[(user + 1) % 5000].append(str(7 * user))
    return "".join("\t".join(group) + "\n" for group in groups).encode()


def test_livejournal_has_a_loader(nowhere):
    folder = nowhere / "snap-com-livejournal"
    folder.mkdir()
    (folder / "com-lj.top5000.cmty.txt.gz").write_bytes(gzip.compress(livejournal(84_438), 1))
    graph = datasets.load("livejournal", nowhere).graph
    assert (graph.n_left, graph.n_right, graph.n_edges) == (84_438, 5_000, 84_438 + 8_444)
    assert not datasets.verify("livejournal", nowhere)[0].ok  # and it is no fake for the real one
    with pytest.raises(InputError, match="the checksum is"):
        datasets.load("livejournal", nowhere, verify=True)
    (folder / "com-lj.top5000.cmty.txt").write_bytes(livejournal(84_437))
    with pytest.raises(InputError, match=r"should have 84,438 left.*but has 84,437 left"):
        datasets.load("livejournal", nowhere)


def test_a_part_of_livejournal_is_not_livejournal(nowhere):
    folder = nowhere / "snap-com-livejournal-PARTIAL"
    folder.mkdir()
    (folder / "lj-1.90.cmty.txt").write_text("1 2\n")
    assert not datasets.available("livejournal", nowhere)


# Included


@pytest.mark.parametrize("name", [n for n in datasets.names() if datasets.describe(n).included])
def test_included_sets_load(nowhere, name):
    data = datasets.load(name, verify=True)
    assert data.graph.n_edges == data.entry.counts.edges
    assert data.given_split is data.times is None


def test_labels_of_the_generated_set():
    data = datasets.load("viewer-movies")
    for key, label in zip(data.graph.right.ids, data.labels, strict=True):
        assert key.startswith(label)


# Real files


@pytest.mark.parametrize("name", datasets.names())
def test_real_files_are_the_known_ones(name):
    data = real(name)
    assert data.name == name
    counts = data.graph.n_left, data.graph.n_right, data.graph.n_edges
    assert counts == (data.entry.counts.left, data.entry.counts.right, data.entry.counts.edges)
    assert data.entry.included or all(check.ok for check in datasets.verify(name, DATA))
    for check in [] if data.entry.included else datasets.verify(name, DATA):
        assert check.size == check.file.size
    assert (data.times is not None) == bool(data.entry.time)
    assert (data.labels is not None) == bool(data.entry.labels)
    assert (data.given_split is not None) == bool(data.entry.split)
    if data.labels is not None:
        assert len(data.labels) == data.graph.n_right
    if data.times is not None:
        assert data.times.shape == (data.graph.n_edges,)


def lines(name, header=False):
    text = Path(DATA, name)
    with gzip.open(text, "rt") if text.suffix == ".gz" else text.open(encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file][int(header) :]


@pytest.mark.parametrize("name", ["bine-dblp", "bine-wiki"])
def test_bines_split_is_that_of_the_files_in_their_order(name):
    data = real(name)
    seen = set()
    for part, edges in zip(("train", "test"), data.given_split, strict=True):
        rows = lines(f"{name}/rating_{part}.dat")
        assert [[left, right] for left, right, _ in rows] == [
            [left, right] for left, right in zip(edges.left, edges.right, strict=True)
        ]
        assert edges.weights.tolist() == [float(weight) for *_, weight in rows]
        pairs = set(zip(edges.left, edges.right, strict=True))
        assert not pairs & seen
        seen |= pairs
        data.graph.left.ids.rows(edges.left)  # every id is a node of the graph
        data.graph.right.ids.rows(edges.right)
    assert len(seen) == data.graph.n_edges
    unseen = set(data.given_split.test.right) - set(data.given_split.train.right)
    assert len(unseen) == {"bine-dblp": 131, "bine-wiki": 3214 - 2529}[name]


def test_movielens_split_is_bigis():
    data = real("movielens-100k")
    users, movies = {}, {}  # numbered as they come in the training edges
    train, test = data.given_split
    got = [
        [users.setdefault(u, len(users)), movies.setdefault(m, len(movies)), w]
        for u, m, w in zip(*train, strict=True)
    ]
    assert got == [[int(u), int(m), float(w)] for u, m, w in lines("movielens-100k/bigi_train.tsv")]
    got = [[users[u], movies[m], w] for u, m, w in zip(*test, strict=True)]
    assert got == [[int(u), int(m), float(w)] for u, m, w in lines("movielens-100k/bigi_test.tsv")]


def test_movielens_times_and_titles():
    data = real("movielens-100k")
    rows = lines("movielens-100k/ml-100k.inter", header=True)
    when = {(int(u), int(m)): int(t) for u, m, _, t in rows}
    left, right = data.graph.left.ids[:], data.graph.right.ids[:]
    ends = zip(data.graph.left_rows(), data.graph.left.indices, strict=True)
    assert [when[left[u], right[m]] for u, m in ends] == data.times.tolist()
    assert data.labels[data.graph.right.ids.row(1)] == "Toy Story"


def test_movielens_as_grouplens_publishes_it(tmp_path):
    data = real("movielens-100k")
    folder = tmp_path / "movielens-100k"
    folder.mkdir()
    inter = Path(DATA, "movielens-100k/ml-100k.inter").read_bytes()
    (folder / "u.data").write_bytes(inter.partition(b"\n")[2])
    rows = lines("movielens-100k/ml-100k.item", header=True)
    items = "".join(
        f"{key}|{title} ({year})|01-Jan-{year}||http://x|{'|'.join('0' * 19)}\n"
        for key, title, year, _ in rows
    )
    (folder / "u.item").write_text(items, encoding="latin1")
    again = datasets.load("movielens", tmp_path)
    assert datasets.verify("movielens", tmp_path)[0].ok  # u.data is GroupLens' byte for byte
    assert again.graph == data.graph
    assert again.labels[0] == "Toy Story (1995)"
    for mine, theirs in zip(again.given_split, data.given_split, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def test_lastfm_is_log_scaled():
    data = real("lastfm")
    raw = datasets.load("lastfm", DATA, raw=True)
    assert raw.graph.left.weights.max() == 352_698
    np.testing.assert_allclose(
        data.graph.left.weights, np.log(1 + raw.graph.left.weights), rtol=1e-6
    )
    assert data.graph.left.weights.min() == pytest.approx(np.log(2))
    assert data.labels[data.graph.right.ids.row(89)] == "Lady Gaga"


def test_madgrades_is_cleaned_and_keeps_its_terms():
    data = real("madgrades")
    assert data.graph == read_edges(Path(DATA, "madgrades/edges_2core.tsv.gz"))
    first = {}
    for term, who, course, _ in lines("madgrades/term_edges.tsv.gz", header=True):
        first[who, course] = min(int(term), first.get((who, course), 9999))
    subjects = {row[0]: row[3] for row in lines("madgrades/courses.tsv.gz", header=True)}
    for loaded in (data, datasets.load("madgrades", DATA, raw=True)):
        graph = loaded.graph
        left, right = graph.left.ids[:], graph.right.ids[:]
        ends = zip(graph.left_rows(), graph.left.indices, strict=True)
        assert [first[left[i], right[j]] for i, j in ends] == loaded.times.tolist()
        assert [subjects[course] for course in right] == loaded.labels.tolist()
    assert graph.n_edges == 71_774


def test_a_table_that_is_none(nowhere):
    folder = nowhere / "bine-dblp"
    folder.mkdir()
    for part in ("train", "test"):
        (folder / f"rating_{part}.dat").write_text("u1\ti1\tmany\n")
    with pytest.raises(InputError, match=r"rating_train.dat: this is not the table it should be"):
        datasets.load("bine-dblp", nowhere)


def test_tables_without_rows(nowhere):
    folder = nowhere / "movielens-100k"
    folder.mkdir()
    (folder / "ml-100k.inter").write_text("user\titem\trating\ttime\n")
    (folder / "ml-100k.item").write_text("item\ttitle\tyear\tclass\n")
    with pytest.raises(InputError, match=r"movielens-100k: the table has no rows"):
        datasets.load("movielens", nowhere)


# The command line


def run(capsys, *words):
    code = main(["datasets", *map(str, words)])
    return code, *capsys.readouterr()


def test_list(capsys, nowhere):
    code, out, err = run(capsys, "list")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line for line in out.splitlines()}
    assert set(rows) == {"name", *datasets.names()}
    assert rows["snap-com-livejournal"].endswith("not available here")
    assert rows["southern-women"].endswith("included")
    _, out, _ = run(capsys, "list", "--json")
    found = {row["name"]: row for row in json.loads(out)}
    assert found["snap-com-livejournal"]["available"] is False
    assert found["southern-women"]["available"] is True
    assert found["movielens-100k"]["counts"]["edges"] == 100_000


def test_show(capsys, nowhere):
    code, out, _ = run(capsys, "show", "madgrades")
    assert code == 0
    text = " ".join(out.split())
    for part in ("11,794 left", "18,894 left", "degree 1", "re-assembly", "not available here"):
        assert part in text
    code, out, _ = run(capsys, "show", "friendster", "--json")
    report = json.loads(out)
    assert report["layouts"][0][0]["origin"] == "copy"
    assert report["path"] is None
    code, _, err = run(capsys, "show", "friendster", "--verify")
    assert code == 2
    assert "is not on this machine" in err


@pytest.mark.parametrize("verb", ["list", "show", "get", "path"])
def test_help_has_examples(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0
    assert "Examples" in out
    assert out.count(f"bivec datasets {verb}") >= 3
    assert "--json" in out


def test_path_as_json(capsys, nowhere, monkeypatch):
    folder = nowhere / "bine-dblp"
    folder.mkdir()
    for file in ENTRIES["bine-dblp"].layouts[0]:
        (folder / file.name).touch()
    code, out, _ = run(capsys, "path", "dblp-bine", "--data-dir", nowhere, "--json")
    assert (code, json.loads(out)) == (0, {"name": "bine-dblp", "path": str(folder)})
    monkeypatch.setitem(ENTRIES, "bine-dblp", replace(ENTRIES["bine-dblp"], downloads=()))
    assert run(capsys, "path", "bine-dblp", "--data-dir", nowhere)[1] == f"{folder}\n"
