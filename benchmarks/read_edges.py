"""Reading 5 million edges with string ids: bivec against pandas, in one run.

``bivec.read_edges`` reads the file, numbers and sorts the ids, merges duplicates and builds the
graph in both directions. pandas only reads the two columns and factorises them. Each runs in a
process of its own, in turn, so that peak memory is its own; the best of the rounds counts.

    python benchmarks/read_edges.py [--edges 5000000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

READERS = {
    "bivec.read_edges": "import bivec; bivec.read_edges(path)",
    "pandas": (
        "import pandas as pd; frame = pd.read_csv(path);"
        "codes = [pd.factorize(frame[column]) for column in frame]"
    ),
    "pandas, pyarrow engine": (
        "import pandas as pd; frame = pd.read_csv(path, engine='pyarrow');"
        "codes = [pd.factorize(frame[column]) for column in frame]"
    ),
}
MEASURE = """
import json, resource, sys, time
path = sys.argv[1]
wall = time.perf_counter()
{code}
wall = time.perf_counter() - wall
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""
SHAPES = {
    "many users": {"n_left": 1_000_000, "n_right": 200_000, "skew": 1.2},
    "few users": {"n_left": 20_000, "n_right": 5_000, "skew": 1.2},
}


def write_edges(path: Path, n: int, n_left: int, n_right: int, skew: float) -> None:
    """Write edges between skewed users and uniform items."""
    random = np.random.default_rng(0)
    left = random.zipf(skew, n) % n_left
    right = random.integers(0, n_right, n)
    with path.open("w") as file:
        file.write("user,item\n")
        for start in range(0, n, 1 << 20):
            block = slice(start, start + (1 << 20))
            rows = zip(left[block], right[block], strict=True)
            file.write("".join(f"user-{a:07d},item-{b}\n" for a, b in rows))


def measure(code: str, path: Path) -> list[float]:
    """Run one reader in a process of its own: wall seconds, CPU seconds, peak MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.format(code=code), str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def main() -> None:
    """Print a table for each shape of graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        for shape, sizes in SHAPES.items():
            write_edges(path, options.edges, **sizes)
            size = path.stat().st_size / 1e6
            print(f"\n{shape}: {options.edges:,} edges, {size:.0f} MB, best of {options.rounds}")
            results: dict[str, list[list[float]]] = {name: [] for name in READERS}
            for _ in range(options.rounds):
                for name, code in READERS.items():
                    results[name].append(measure(code, path))
            best = {name: np.min(rounds, axis=0) for name, rounds in results.items()}
            own = best["bivec.read_edges"]
            print(f"{'':26}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}   time and memory over bivec's")
            for name, (wall, cpu, peak) in best.items():
                ratios = (
                    f"{wall / own[0]:.2f} wall, {cpu / own[1]:.2f} CPU, {peak / own[2]:.2f} memory"
                )
                print(f"{name:26}{wall:8.2f}{cpu:8.2f}{peak:9.0f}   {ratios}")


if __name__ == "__main__":
    main()
