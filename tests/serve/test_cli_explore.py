"""The verb ``explore``, as a person starts and stops it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys

import pytest

import bivec
from bivec.cli import main
from bivec.serve.run import address, take_port


@pytest.fixture
def model(embedding, tmp_path):
    path = tmp_path / "films.bivec"
    embedding.save(path)
    return path


def test_it_serves_until_interrupted(model, embedding, tmp_path):
    edges = tmp_path / "edges.csv"
    bivec.write_graph(embedding.graph, edges)
    embedding.save(model, graph=False)
    (tmp_path / "labels.csv").write_text("id,kind\nann,person\n")
    words = ["explore", model, "--no-browser", "--port", "0", "--layout", "pca"]
    words += ["--graph", edges, "--labels", tmp_path / "labels.csv", "--left-name", "people"]
    server = subprocess.Popen(
        [sys.executable, "-m", "bivec", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"BIVEC_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    try:
        line = server.stderr.readline()
        found = re.search(r"the explorer is at http://127\.0\.0\.1:(\d+)/", line)
        assert found, line + server.stderr.read()
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
        connection.request("GET", "/api/summary")
        summary = json.loads(connection.getresponse().read())
        assert summary["edges"] == 40
        assert summary["title"] == "films"
        assert summary["sides"]["left"]["name"] == "people"
        assert [c["name"] for c in summary["sides"]["left"]["columns"]] == [
            "community", "degree", "kind",
        ]  # fmt: skip
        connection.request("GET", "/healthz", headers={"host": "evil.example"})
        refused = connection.getresponse()
        assert (refused.status, json.loads(refused.read())["detail"][:11]) == (403, "this server")
        connection.close()
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=20)
    finally:
        server.kill()
    assert (server.returncode, out, err) == (0, "", "")
    assert (model / "layout.left.parquet").is_file()


def test_a_port_that_is_taken(model, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        words = ["explore", str(model), "--no-browser", "--layout", "pca", "--port", str(port)]
        assert main(words) == 2
    err = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1, port {port} (Address already in use)" in err
    assert "Choose another --port" in err


def test_without_a_port_the_next_free_one_is_taken():
    first = take_port("127.0.0.1", None)
    second = take_port("127.0.0.1", None)
    with first, second:
        assert first.getsockname()[1] != second.getsockname()[1]
        assert address(first, "127.0.0.1") == f"http://127.0.0.1:{first.getsockname()[1]}/"
        assert address(first, "::1").startswith("http://[::1]:")
        assert address(first, "0.0.0.0").startswith("http://localhost:")


@pytest.mark.parametrize(
    "words, message",
    [
        (["no.bivec"], "there is no no.bivec"),
        (["MODEL", "--labels", "no.csv"], "no such file"),
        (["MODEL", "--graph", "no.csv"], "no.csv"),
        (["MODEL", "--layout", "tsne"], "'tsne' is no layout"),
        (["MODEL", "--host", "no.such.host.invalid"], "is no address of this machine"),
        (["MODEL", "--port", "70000"], "less than or equal to 65535"),
    ],
)
def test_mistakes_are_one_line(model, capsys, words, message):
    words = [str(model) if word == "MODEL" else word for word in words]
    assert main(["explore", *words, "--no-browser"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_without_the_extra(model, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main(["explore", str(model)]) == 2
    assert "pip install 'bivec[serve]'" in capsys.readouterr().err
