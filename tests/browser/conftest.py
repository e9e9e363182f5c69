"""The explorer in headless Chromium, as a person would use it.

Needs Playwright and a Chromium of the system (``make test-browser`` installs both); without them
these tests are skipped.
"""

import os
import shutil
import threading
import time

import numpy as np
import pytest

import bivec
from bivec.datasets import viewer_movies

SCRIPT = "<script>window.harmed = 1</script>"
IMAGE = '<img src=x onerror="window.harmed = 1">/../?a=b#c&d%20'


@pytest.fixture(scope="session")
def chromium():
    """Return the path of Chromium, or skip."""
    pytest.importorskip("playwright", reason="Playwright is not installed: make test-browser")
    pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("there is no chromium on this machine: make test-browser installs it")
    return found


@pytest.fixture(scope="session")
def browser(chromium):
    from playwright.sync_api import sync_playwright

    # Root has no sandbox to give; a machine without a graphics card computes WebGL.
    args = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        args.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=args)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve(chromium, tmp_path_factory):
    """Return a function that serves an embedding and returns its address."""
    import uvicorn

    from bivec.serve.app import create_app
    from bivec.serve.explorer import Explorer
    from bivec.serve.run import take_port

    running = []

    def start(embedding, **settings):
        explorer = Explorer.prepare(embedding, layout_method="pca", **settings)
        listening = take_port("127.0.0.1", 0)
        config = uvicorn.Config(create_app(explorer), log_level="warning", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        running.append((server, thread, listening))
        while not server.started:
            time.sleep(0.01)
        return f"http://127.0.0.1:{listening.getsockname()[1]}/"

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIVEC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield start
    for server, thread, listening in running:
        server.should_exit = True
        thread.join(timeout=10)
        listening.close()


def vectors_for(labels, random):
    """Return vectors near one centre a label."""
    return np.eye(8)[labels] + 0.15 * random.normal(size=(len(labels), 8))


@pytest.fixture(scope="session")
def films(serve, tmp_path_factory):
    """Viewers and movies with tastes as labels."""
    planted = viewer_movies(n_viewers=200, n_movies=80, n_tastes=4)
    random = np.random.default_rng(0)
    embedding = bivec.Embedding(
        bivec.EmbeddingSide(planted.graph.left.ids, vectors_for(planted.left_labels, random)),
        bivec.EmbeddingSide(planted.graph.right.ids, vectors_for(planted.right_labels, random)),
        graph=planted.graph,
        method="planted",
    )
    labels = tmp_path_factory.mktemp("labels") / "tastes.csv"
    lines = [
        f"{key},{planted.names[label]}"
        for side, found in (("left", planted.left_labels), ("right", planted.right_labels))
        for key, label in zip(embedding.side(side).ids, found, strict=True)
    ]
    labels.write_text("id,taste\n" + "\n".join(lines))
    return serve(
        embedding, title="films", labels=labels, names={"left": "viewers", "right": "movies"}
    )


@pytest.fixture(scope="session")
def hostile(serve):
    """Ids that are markup, addresses and scripts."""
    left = [SCRIPT, "ann", "bob", "a/b?c#d"]
    right = [IMAGE, "Zoë 日本", "..", "x"]
    pairs = [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 3), (1, 1)]
    graph = bivec.BipartiteGraph(*zip(*pairs, strict=True), left_ids=left, right_ids=right)
    random = np.random.default_rng(0)
    return serve(
        bivec.Embedding(
            bivec.EmbeddingSide(left, random.normal(size=(4, 4))),
            bivec.EmbeddingSide(right, random.normal(size=(4, 4))),
            graph=graph,
        ),
        title=SCRIPT,
        names={"left": "<b>left</b>", "right": IMAGE},
    )


@pytest.fixture(scope="session")
def named(serve, tmp_path_factory):
    """Integer ids on the right, with names in a table."""
    table = tmp_path_factory.mktemp("names") / "names.csv"
    table.write_text("id,side,name\n" + "\n".join(f"{i},right,Film <{i}>" for i in range(6)))
    left = [f"user {i}" for i in range(6)]
    ends = [(i, (i + j) % 6) for i in range(6) for j in range(3)]
    graph = bivec.BipartiteGraph(*zip(*ends, strict=True), left_ids=left, right_ids=range(6))
    random = np.random.default_rng(0)
    sides = [
        bivec.EmbeddingSide(ids, random.normal(size=(6, 4)))
        for ids in (graph.left.ids, graph.right.ids)
    ]
    return serve(bivec.Embedding(*sides, graph=graph), title="named", labels=table)


@pytest.fixture(scope="session")
def empty(serve):
    """An embedding of nothing."""
    return serve(
        bivec.Embedding(
            bivec.EmbeddingSide([], np.zeros((0, 4))),
            bivec.EmbeddingSide([], np.zeros((0, 4))),
            graph=bivec.BipartiteGraph([], [], left_ids=[], right_ids=[]),
        ),
        title="nothing",
    )


@pytest.fixture
def visit(browser):
    """Return a function that opens a page; anything on the console fails the test."""
    contexts, said = [], []

    def go(address, **settings):
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, reduced_motion="reduce", **settings
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda m: said.append(m.text) if m.type in ("error", "warning") else 0)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        return page

    go.said = said
    yield go
    for context in contexts:
        context.close()
    # SwiftShader's own remarks on speed are not ours
    assert [text for text in said if "GL Driver Message" not in text] == []
