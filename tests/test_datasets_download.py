"""Downloads against a server on this machine: progress, resuming, checks, trouble of all kinds."""

import gzip
import hashlib
import io
import json
import random
import socket
import tarfile
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bivec import datasets
from bivec.cli import main
from bivec.datasets import Counts, Download, Entry, File
from bivec.datasets.catalogue import ENTRIES
from bivec.datasets.download import download
from bivec.errors import DownloadError, InputError, MissingDataError, SaveError

BODY = bytes(range(256)) * 2000
EDGES = b"1 1\n1 2\n2 1\n3 2\n"


def digest(content):
    return hashlib.sha256(content).hexdigest()


class Server(ThreadingHTTPServer):
    """Gives ``pages``; the switches make it worse."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages, self.asked = {}, []
        self.ranges, self.tag, self.cut, self.length = True, '"one"', None, True
        self.silent = None

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, name = self.server, self.path[1:]
        wanted, condition = self.headers.get("Range"), self.headers.get("If-Range")
        server.asked.append(wanted)
        if name not in server.pages:
            self.send_error(404)
            return
        body, begin = server.pages[name], 0
        if wanted and server.ranges and condition in (None, server.tag):
            begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if begin >= len(body):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(body)}")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        if server.length:
            self.send_header("Content-Length", str(len(body) - begin))
        if server.tag:
            self.send_header("ETag", server.tag)
        self.end_headers()
        self.wfile.write(body[begin:] if server.cut is None else body[begin : server.cut])
        if server.silent is not None:
            server.silent.wait(10)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def page(server):
    server.pages["big.bin"] = BODY
    return server.url("big.bin")


def parts(folder):
    return sorted(path.name for path in folder.iterdir())


# One address


def test_whole_file_with_progress(page, tmp_path):
    steps = []
    target = tmp_path / "new" / "big.bin"
    download(page, target, sha256=digest(BODY), progress=lambda *step: steps.append(step))
    assert target.read_bytes() == BODY
    assert parts(target.parent) == ["big.bin"]
    done = [step[1] for step in steps]
    assert done == sorted(done)
    assert len(done) > 3
    assert steps[-1] == ("big.bin", len(BODY), len(BODY))


def test_a_broken_connection_leaves_a_part_to_go_on_from(server, page, tmp_path):
    target = tmp_path / "big.bin"
    server.cut = 200_000
    with pytest.raises(DownloadError, match=r"ended after 200,000 of 512,000 bytes.*run the comm"):
        download(page, target)
    assert not target.exists()
    assert (tmp_path / "big.bin.part").read_bytes() == BODY[:200_000]
    server.cut = None
    steps = []
    download(page, target, sha256=digest(BODY), progress=lambda *step: steps.append(step))
    assert server.asked == [None, "bytes=200000-"]
    assert steps[0][1] > 200_000
    assert target.read_bytes() == BODY
    assert parts(tmp_path) == ["big.bin"]


def test_ctrl_c_leaves_a_part_to_go_on_from(server, page, tmp_path):
    def interrupt(name, done, total):
        if done > 100_000:
            raise KeyboardInterrupt

    target = tmp_path / "big.bin"
    with pytest.raises(KeyboardInterrupt):
        download(page, target, progress=interrupt)
    have = (tmp_path / "big.bin.part").stat().st_size
    assert 100_000 < have < len(BODY)
    download(page, target, sha256=digest(BODY))
    assert server.asked[-1] == f"bytes={have}-"
    assert target.read_bytes() == BODY


def test_a_server_without_ranges_starts_again(server, page, tmp_path):
    server.ranges = False
    (tmp_path / "big.bin.part").write_bytes(BODY[:1000])
    download(page, tmp_path / "big.bin", sha256=digest(BODY))
    assert server.asked == ["bytes=1000-"]


@pytest.mark.parametrize("tag", ['"one"', None])
def test_another_version_is_not_joined_to_the_part(server, page, tmp_path, tag):
    server.cut, server.tag = 1000, tag
    with pytest.raises(DownloadError):
        download(page, tmp_path / "big.bin")
    server.cut, server.tag = None, tag and '"two"'
    server.pages["big.bin"] = new = BODY[::-1]
    if tag:
        download(page, tmp_path / "big.bin")
        assert (tmp_path / "big.bin").read_bytes() == new
    else:  # the server tells no versions: the checksum does
        with pytest.raises(DownloadError, match="gave other bytes than expected"):
            download(page, tmp_path / "big.bin", sha256=digest(new))
        assert parts(tmp_path) == []


def test_a_part_that_is_too_long_is_fetched_again(server, page, tmp_path):
    (tmp_path / "big.bin.part").write_bytes(BODY + b"more")
    download(page, tmp_path / "big.bin", sha256=digest(BODY))
    assert server.asked == [f"bytes={len(BODY) + 4}-", None]


def test_a_wrong_checksum_keeps_nothing(page, tmp_path):
    with pytest.raises(DownloadError, match=r"not 0000.*they were not kept"):
        download(page, tmp_path / "big.bin", sha256="0" * 64)
    assert parts(tmp_path) == []


def test_without_a_length_the_end_is_the_end(server, page, tmp_path):
    server.length = False
    steps = []
    download(page, tmp_path / "big.bin", progress=lambda *step: steps.append(step))
    assert steps[-1] == ("big.bin", len(BODY), None)


def test_what_is_not_there(server, tmp_path):
    with pytest.raises(
        DownloadError, match=r"answered 404 \(Not Found\) for http.*try again later"
    ):
        download(server.url("nothing"), tmp_path / "nothing")
    assert parts(tmp_path) == []


def test_nobody_answers(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(DownloadError, match=r"cannot reach http.*Check the connection"):
        download(f"http://127.0.0.1:{port}/big.bin", tmp_path / "big.bin")


def test_a_server_that_falls_silent(server, page, tmp_path):
    server.cut, server.silent = 100_000, threading.Event()
    try:
        with pytest.raises(DownloadError, match=r"broke \(timed out\); 100,000 bytes are kept"):
            download(page, tmp_path / "big.bin", timeout=0.2)
    finally:
        server.silent.set()
    server.cut = None
    download(page, tmp_path / "big.bin", sha256=digest(BODY))
    assert server.asked == [None, "bytes=100000-"]


def test_a_full_disk(page, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "big.bin.part").symlink_to("/dev/full")
    with pytest.raises(SaveError, match=r"the disk is full. Make room, or set BIVEC_CACHE"):
        download(page, tmp_path / "big.bin")
    assert not (tmp_path / "big.bin").exists()


def test_a_place_that_cannot_be_written(page, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(SaveError, match="set BIVEC_CACHE to another"):
        download(page, tmp_path / "file" / "big.bin")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(SaveError, match=r"Permission denied. Check the directory's permissions"):
        download(page, tmp_path / "big.bin")


# A data set


def zipped(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny-1.0/README", "hello")
        archive.writestr("tiny-1.0/edges.txt", content)
    return out.getvalue()


def taped(content):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:bz2") as archive:
        info = tarfile.TarInfo("tiny/edges.txt")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


PACKED = {
    "edges.txt": bytes,
    "edges.txt.gz": gzip.compress,
    "tiny.zip": zipped,
    "tiny.tar.bz2": taped,
}


@pytest.fixture
def tiny(server, monkeypatch, tmp_path):
    """Put a small data set into the registry; call it with what its source gives."""
    monkeypatch.setenv("BIVEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BIVEC_DATA", raising=False)

    def publish(kind="edges.txt", content=EDGES, origin="original", pack=True, sha256=None):
        server.pages[kind] = PACKED[kind](content) if pack else content
        entry = Entry(
            name="tiny", title="t", left="l", right="r", source="s", licence="", citation="",
            reader="pairs", counts=Counts(3, 2, 4),
            layouts=((File("edges.txt", digest(EDGES), len(EDGES), origin),),),
            downloads=(Download(server.url(kind), ("edges.txt",), sha256),),
        )  # fmt: skip
        monkeypatch.setitem(ENTRIES, "tiny", entry)
        return tmp_path / "cache" / "datasets" / "tiny"

    return publish


@pytest.mark.parametrize("kind", PACKED)
def test_fetch_unpacks_and_load_finds_it(server, tiny, kind):
    folder = tiny(kind)
    assert not datasets.available("tiny")
    assert datasets.fetch("tiny") == folder == datasets.path("tiny")
    assert parts(folder) == ["edges.txt"]
    assert (folder / "edges.txt").read_bytes() == EDGES
    assert datasets.load("tiny", verify=True).graph.n_edges == 4
    datasets.fetch("tiny")
    assert len(server.asked) == 1  # it is here
    datasets.fetch("tiny", force=True)
    assert len(server.asked) == 2


@pytest.mark.parametrize("kind", list(PACKED)[1:])
def test_a_damaged_archive_is_told(tiny, kind):
    folder = tiny(kind, b"<html>please log in</html>", pack=False)
    with pytest.raises(DownloadError, match="is damaged or no archive"):
        datasets.fetch("tiny")
    assert parts(folder) == []


@pytest.mark.parametrize("kind", list(PACKED)[1:])
def test_an_archive_that_is_cut_is_told(tiny, kind):
    whole = PACKED[kind](random.Random(0).randbytes(2_000_000))
    folder = tiny(kind, whole[: len(whole) // 2], pack=False)
    with pytest.raises(DownloadError, match="is damaged or no archive"):
        datasets.fetch("tiny")
    assert parts(folder) == []


def test_an_archive_without_the_file_is_told(tiny):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("other.txt", "x")
    tiny("tiny.zip", out.getvalue(), pack=False)
    with pytest.raises(DownloadError, match=r"has 0 files edges.txt"):
        datasets.fetch("tiny")


@pytest.mark.parametrize("kind", PACKED)
def test_other_content_than_the_original_is_refused(tiny, kind):
    folder = tiny(kind, EDGES + b"9 9\n")
    with pytest.raises(DownloadError, match=r"not the file that bivec knows.*it was not kept"):
        datasets.fetch("tiny")
    assert parts(folder) == []
    assert not datasets.available("tiny")


def test_other_content_than_a_copy_is_told_and_counted(tiny):
    folder = tiny("edges.txt", EDGES.replace(b"\n", b"\r\n"), origin="copy")
    with pytest.warns(UserWarning, match="which is a copy. It was kept; loading checks"):
        datasets.fetch("tiny")
    assert datasets.load("tiny").graph.n_edges == 4
    assert not datasets.verify("tiny")[0].ok
    with pytest.raises(InputError, match="the checksum is"):
        datasets.load("tiny", verify=True)
    (folder / "edges.txt").write_bytes(EDGES + b"4 2\n")
    with pytest.raises(InputError, match="should have 3 left, 2 right, 4 edges, but has 4 left"):
        datasets.load("tiny")


def test_the_archives_own_checksum(tiny):
    folder = tiny("tiny.zip", sha256="f" * 64)
    with pytest.raises(DownloadError, match="not ffff"):
        datasets.fetch("tiny")
    assert parts(folder) == []


def test_a_damaged_file_is_not_called_good(tiny):
    folder = tiny()
    datasets.fetch("tiny")
    (folder / "edges.txt").write_bytes(EDGES[:-4])
    with pytest.raises(InputError, match=r"Remove it and run the command again"):
        datasets.fetch("tiny")
    with pytest.raises(InputError, match="but has 2 left"):
        datasets.load("tiny")


def test_fetch_into_a_directory_of_ones_own(tiny, tmp_path):
    tiny()
    own = tmp_path / "data"
    (own / "tiny").mkdir(parents=True)
    (own / "tiny" / "notes.txt").write_text("mine")
    assert datasets.fetch("tiny", own) == own / "tiny"
    assert parts(own / "tiny") == ["edges.txt", "notes.txt"]
    assert datasets.available("tiny", own)
    assert not datasets.available("tiny")


def test_several_downloads_go_on_after_the_one_that_failed(server, tiny, monkeypatch):
    folder = tiny()
    entry = ENTRIES["tiny"]
    more = File("more.txt", digest(b"x"), 1)
    changed = {
        "layouts": ((*entry.layouts[0], more),),
        "downloads": (*entry.downloads, Download(server.url("more.txt"), ("more.txt",))),
    }
    monkeypatch.setitem(ENTRIES, "tiny", replace(entry, **changed))
    with pytest.raises(DownloadError, match="404"):
        datasets.fetch("tiny")
    with pytest.raises(MissingDataError, match=r"is there, but lacks more.txt"):
        datasets.load("tiny")
    server.pages["more.txt"] = b"x"
    datasets.fetch("tiny")
    assert parts(folder) == ["edges.txt", "more.txt"]
    assert len(server.asked) == 3


# The command line


def run(capsys, *words):
    code = main(["datasets", *map(str, words)])
    return code, *capsys.readouterr()


def test_get_path_and_verify(capsys, tiny):
    folder = tiny("edges.txt.gz")
    code, out, err = run(capsys, "path", "tiny")
    assert (code, out) == (2, "")
    assert "Get it with: bivec datasets get tiny" in err
    assert run(capsys, "get", "tiny", "--json")[:2] == (
        0,
        json.dumps({"tiny": str(folder)}, indent=2) + "\n",
    )
    assert run(capsys, "path", "tiny") == (0, f"{folder}\n", "")
    code, out, _ = run(capsys, "show", "tiny", "--verify", "--json")
    assert code == 0
    assert json.loads(out)["verified"]["edges.txt"]["ok"] is True
    (folder / "edges.txt").write_bytes(b"1 1\n")
    code, out, _ = run(capsys, "show", "tiny", "--verify")
    assert code == 1
    assert "DIFFERS" in out


def test_get_tells_trouble_in_one_line(capsys, tiny):
    tiny("edges.txt", EDGES + b"9 9\n")
    code, out, err = run(capsys, "get", "tiny")
    assert (code, out) == (2, "")
    assert err.startswith("bivec: edges.txt from http://127.0.0.1")
    assert err.count("\n") == 1


def test_get_notes_a_difference_from_a_copy(capsys, tiny):
    tiny("edges.txt", EDGES.replace(b"\n", b"\r\n"), origin="copy")
    code, _, err = run(capsys, "get", "tiny")
    assert code == 0
    assert "note: edges.txt from" in err
