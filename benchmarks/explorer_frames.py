"""How smoothly the explorer's map moves with many points, in headless Chromium.

A side of N points is served and opened; the map is then panned and zoomed by the wheel, a step at
each animation frame. Reported are the milliseconds between frames (16.7 is a screen's 60 a second)
and the time that drawing itself takes on the page's thread, with WebGL and with plain pixels;
beside them the pace of the same page when only a line of text changes, and what drawing every point
takes, the best of 30 being the least disturbed by other work. A machine without a graphics
card computes WebGL on its processor (SwiftShader), which the page avoids by itself.

    python benchmarks/explorer_frames.py [--points 100000]
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time

import numpy as np
import uvicorn
from playwright.sync_api import sync_playwright

import bivec
from bivec.serve.app import create_app
from bivec.serve.explorer import Explorer
from bivec.serve.run import take_port

IDLE = """async (steps) => {
  const between = [];
  let last = 0;
  for (let i = 0; i < steps; i++) {
    const now = await new Promise(requestAnimationFrame);
    if (last) between.push(now - last);
    last = now;
    document.getElementById("note").textContent = String(i);
  }
  return between;
}"""
WHOLE = """(times) => {
  const map = window.bivecMap, spent = [];
  for (let i = 0; i < times; i++) {
    const t = performance.now();
    map.draw();
    // WebGL draws later, unless a pixel is asked for
    if (map.drawer.gl) map.drawer.gl.readPixels(0, 0, 1, 1, 6408, 5121, new Uint8Array(4));
    spent.push(performance.now() - t);
  }
  return spent;
}"""
MOVE = """async (steps) => {
  const map = window.bivecMap;
  const between = [], drawing = [];
  const draw = map.draw.bind(map);
  const points = [];
  map.draw = (most) => {
    const t = performance.now();
    draw(most);
    drawing.push(performance.now() - t);
    points.push(Math.min(most, map.n));
  };
  let last = 0;
  for (let i = 0; i < steps; i++) {
    const now = await new Promise(requestAnimationFrame);
    if (last) between.push(now - last);
    last = now;
    if (i % 60 < 30) map.pan(6 * Math.sin(i / 10), 4, false);
    else map.zoom(i % 60 < 45 ? 1.04 : 1 / 1.04, 500, 400, false);
  }
  map.draw = draw;
  return [between, drawing, points];
}"""


def main():
    """Serve planted groups, move the map, print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=180)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    groups = random.normal(size=(30, 16))
    vectors = groups[random.integers(30, size=options.points)]
    vectors = vectors + 0.3 * random.normal(size=vectors.shape)
    graph = bivec.BipartiteGraph(
        np.arange(options.points), random.integers(50, size=options.points)
    )
    embedding = bivec.Embedding(
        bivec.EmbeddingSide(graph.left.ids, vectors),
        bivec.EmbeddingSide(graph.right.ids, random.normal(size=(graph.n_right, 16))),
        graph=graph,
        method="planted groups",
    )
    begin = time.perf_counter()
    explorer = Explorer.prepare(embedding, layout_method="pca", title="frames")
    print(
        f"{options.points:,} points; prepared in {time.perf_counter() - begin:.1f} s (PCA layout)"
    )
    listening = take_port("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(explorer), log_level="warning"))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    port = listening.getsockname()[1]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        for plain in ("?webgl", "?pixels"):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            begin = time.perf_counter()
            page.goto(f"http://127.0.0.1:{port}/{plain}")
            page.wait_for_selector("body[data-ready]")
            opened = time.perf_counter() - begin
            idle = np.median(page.evaluate(IDLE, 60))
            whole = page.evaluate(WHOLE, 30)
            between, drawing, points = page.evaluate(MOVE, options.steps)
            kind = page.evaluate("bivecMap.drawer.kind")
            b, d = np.array(between), np.array(drawing)
            print(
                f"{kind:7} open {opened:.1f} s; between frames: text alone {idle:.1f} ms, "
                f"the map median {np.median(b):.1f} ms, "
                f"95% {np.quantile(b, 0.95):.1f} ms, {1000 / b.mean():.0f} frames a second; "
                f"drawing: median {np.median(d):.1f} ms, 95% {np.quantile(d, 0.95):.1f} ms; "
                f"points drawn while moving: median {np.median(points):,.0f}; "
                f"all points: median {np.median(whole):.1f} ms, best {min(whole):.1f} ms"
            )
            page.close()
        browser.close()
    server.should_exit = True


if __name__ == "__main__":
    main()
