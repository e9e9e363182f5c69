"""Who may ask, how much, and what a browser may do with the answer."""

import re
from pathlib import Path

import pytest

import bivec.serve
from bivec.serve.guard import MOST_BODY

STATIC = Path(bivec.serve.__file__).parent / "static"


@pytest.mark.parametrize(
    "host, allowed",
    [
        ("127.0.0.1", True), ("127.0.0.1:8642", True), ("localhost:1", True), ("LOCALHOST", True),
        ("[::1]:8642", True), ("127.8.9.1", True), ("evil.example", False), ("", False),
        ("localhost.evil.example", False), ("127.0.0.1.evil.example:80", False),
        ("evil.example:8642", False), ("10.0.0.1", False), ("0.0.0.0", False), ("[::]", False),
    ],
)  # fmt: skip
def test_the_host_header_must_name_the_loopback(client, host, allowed):
    for path in ("/healthz", "/", "/api/summary"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == (200 if allowed else 403)
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_any_host_where_told_so(embedding, serve):
    from fastapi.testclient import TestClient

    from bivec.serve.app import create_app
    from bivec.serve.explorer import Explorer

    app = create_app(Explorer.prepare(embedding, layout_method="pca"), loopback_only=False)
    assert TestClient(app, base_url="http://box.example").get("/healthz").status_code == 200


def test_every_answer_carries_the_policy(client):
    for path in ("/", "/docs", "/static/main.js", "/healthz", "/nothing", "/openapi.json"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "unsafe" not in policy


def test_large_requests_are_refused(client):
    headers = {"content-type": "application/json"}
    large = b'{"ids": ["' + b"a" * MOST_BODY + b'"]}'
    answer = client.post("/recommend", content=large, headers=headers)
    assert answer.status_code == 413
    assert "bytes" in answer.json()["detail"]

    def pieces():
        for _ in range(20):
            yield b" " * (MOST_BODY // 10)

    assert client.post("/recommend", content=pieces(), headers=headers).status_code == 413


def test_a_path_never_reaches_the_disk(client):
    for name in ("..%2fapp.py", "%2e%2e/app.py", "../app.py", "main.js/", "nothing.js"):
        assert client.get(f"/static/{name}").status_code == 404


def test_the_page_loads_nothing_from_elsewhere_and_makes_no_markup_of_text():
    files = {file.name: file.read_text(encoding="utf-8") for file in STATIC.iterdir()}
    assert {"index.html", "docs.html", "main.js", "app.css"} <= set(files)
    for name, text in files.items():
        found = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+", text))
        assert found <= {"http://www.w3.org"}, name
        if name.endswith(".js"):
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text
            )
        if name.endswith(".html"):
            assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", text)


def test_the_docs_are_the_own_page(client):
    assert "cdn" not in client.get("/docs").text
    spec = client.get("/openapi.json").json()
    assert {"/recommend", "/similar", "/explain", "/healthz"} <= set(spec["paths"])
    assert spec["openapi"].startswith("3.1")
