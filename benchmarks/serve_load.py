"""The explorer's HTTP interface under load: many connections at once, on this machine only.

Every connection asks one question after the other for as long as the test lasts: recommend,
similar, explain, search, a node, health. The client is plain asyncio in a process of its own, so
it takes cores from the server as a real program on the same machine would.

    python benchmarks/serve_load.py [--connections 200] [--seconds 20] [--viewers 20000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote

import numpy as np

import bivec
from bivec.datasets import viewer_movies


def main():
    """Save, serve, load, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--viewers", type=int, default=20_000)
    parser.add_argument("--movies", type=int, default=4_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, questions = make(Path(folder), options)
        server, port = start(model)
        try:
            seconds, failures = asyncio.run(load(port, questions, options))
        finally:
            cpu = cpu_seconds(server.pid)
            server.terminate()
            server.wait(timeout=20)
    report(seconds, failures, cpu, options)
    sys.exit(1 if failures else 0)


def make(folder, options):
    """Save an embedding of vectors that are only noise (speed does not see it), ask about it."""
    planted = viewer_movies(options.viewers, options.movies, n_tastes=12)
    random = np.random.default_rng(0)
    left, right = planted.graph.left, planted.graph.right
    embedding = bivec.Embedding(
        bivec.EmbeddingSide(left.ids, random.normal(size=(len(left), 64))),
        bivec.EmbeddingSide(right.ids, random.normal(size=(len(right), 64))),
        graph=planted.graph,
        method="noise",
    )
    embedding.save(folder / "load.bivec")
    viewers = [quote(str(left.ids[int(i)])) for i in random.integers(len(left), size=500)]
    movies = [quote(str(right.ids[int(i)])) for i in random.integers(len(right), size=500)]
    questions = []
    for viewer, movie in zip(viewers, movies, strict=True):
        questions += [
            ("recommend", f"/recommend?id={viewer}&n=10"),
            ("similar", f"/similar?id={movie}&side=right&n=10"),
            ("explain", f"/explain?left={viewer}&right={movie}&n=5"),
            ("search", f"/api/search?q={viewer[-4:]}"),
            ("node", f"/api/node?id={viewer}&side=left"),
            ("healthz", "/healthz"),
        ]
    return folder / "load.bivec", questions


def start(model):
    """Start the server on a free port."""
    words = ["explore", str(model), "--no-browser", "--port", "0", "--layout", "pca"]
    server = subprocess.Popen(
        [sys.executable, "-m", "bivec", *words], stderr=subprocess.PIPE, text=True
    )
    for line in server.stderr:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
            return server, int(found[1])
    raise SystemExit("the server did not start")


async def load(port, questions, options):
    """Ask on all connections until the time is over; return the seconds taken and what failed."""
    seconds, failures = defaultdict(list), []
    end = time.perf_counter() + options.seconds

    async def connection(number):
        at = number * 7
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError as error:
            failures.append(f"connect: {error}")
            return
        while time.perf_counter() < end:
            kind, path = questions[at % len(questions)]
            at += 1
            begin = time.perf_counter()
            try:
                async with asyncio.timeout(30):
                    status, body = await ask(reader, writer, path)
            except (OSError, EOFError, TimeoutError, ValueError) as error:
                failures.append(f"{kind}: {type(error).__name__} {error}")
                return
            seconds[kind].append(time.perf_counter() - begin)
            if status != 200:
                failures.append(f"{kind}: {status} {body[:200]!r}")
            else:
                json.loads(body)
        writer.close()

    await asyncio.gather(*(connection(i) for i in range(options.connections)))
    return seconds, failures


async def ask(reader, writer, path):
    """Ask one question on an open connection."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


def cpu_seconds(pid):
    """Return the processor time of a process, where the system tells it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(seconds, failures, cpu, options):
    """Print the table."""
    total = sum(map(len, seconds.values()))
    print(
        f"{options.viewers:,} viewers, {options.movies:,} movies, dim 64; "
        f"{options.connections} connections for {options.seconds:g} s: {total:,} answers, "
        f"{total / options.seconds:,.0f} a second, {len(failures)} errors; "
        f"server {cpu:.0f} CPU seconds in all"
    )
    print(f"{'':12}{'answers':>9}{'median ms':>11}{'95% ms':>9}{'99% ms':>9}{'worst ms':>10}")
    rows = {kind: np.array(values) * 1000 for kind, values in sorted(seconds.items())}
    for kind, values in rows.items():
        shown = [np.quantile(values, q) for q in (0.5, 0.95, 0.99, 1)]
        print(f"{kind:12}{len(values):>9,}" + "".join(
            f"{value:>{width}.0f}" for value, width in zip(shown, (11, 9, 9, 10), strict=True)
        ))  # fmt: skip
    for line in failures[:10]:
        print(line)
    if options.json:
        content = {kind: np.quantile(v, [0.5, 0.95, 0.99, 1]).tolist() for kind, v in rows.items()}
        options.json.write_text(json.dumps({"answers": total, "errors": len(failures), **content}))


if __name__ == "__main__":
    main()
