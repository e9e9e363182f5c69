"""Take the picture of the explorer that the documentation shows.

The graph of ``make demo`` is embedded, served and opened in headless Chromium at the explanation of
a recommendation. Needs Playwright and chromium, which ``make test-browser`` installs; the font is
Inter where the machine has it (Debian: fonts-inter).

    python examples/explorer_picture.py docs/images/explorer.png
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

import bivec
from bivec.datasets import viewer_movies
from bivec.serve.app import create_app
from bivec.serve.explorer import Explorer
from bivec.serve.run import take_port


def prepare(folder: Path) -> Explorer:
    """Embed viewers and movies; their planted tastes are the labels."""
    planted = viewer_movies()
    embedding = bivec.FOBE(dim=64).fit(planted.graph).embedding_
    with (folder / "tastes.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "taste"])
        for side, labels in (("left", planted.left_labels), ("right", planted.right_labels)):
            for key, label in zip(embedding.side(side).ids, labels, strict=True):
                table.writerow([key, planted.names[label]])
    return Explorer.prepare(
        embedding,
        folder=folder,
        labels=folder / "tastes.csv",
        title="viewer-movies",
        names={"left": "viewers", "right": "movies"},
    )


def main(target: Path) -> None:
    """Serve, open, choose a viewer, ask why, take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        explorer = prepare(Path(folder))
    with take_port("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(create_app(explorer), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        port = listening.getsockname()[1]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
            )
            page = browser.new_page(
                viewport={"width": 1280, "height": 760}, reduced_motion="reduce"
            )
            page.goto(f"http://127.0.0.1:{port}/#/left/viewer%20001?map=right&colour=taste")
            page.wait_for_selector("#recommended .why")
            page.locator("#recommended .why").first.click()
            page.wait_for_selector(".because ol")
            page.mouse.move(5, 400)
            page.wait_for_timeout(800)
            page.screenshot(path=target)
            browser.close()
        server.should_exit = True
        thread.join()
    print(f"wrote {target} ({target.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "explorer.png"))
