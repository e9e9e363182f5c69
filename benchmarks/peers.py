"""Other people's walks and skip-grams, for the benchmarks of the baselines.

gensim runs in this process on walks that NumPy makes. PecanPy needs NumPy before 2, so it lives in
an environment of its own, made on first use in a cache directory, and runs in a process of its own
that counts its CPU seconds itself: without imports and reading the graph. It compiles its walks
anew for every graph; what that takes is measured on a graph of three edges and taken off.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

PINNED = ("pecanpy==2.0.9", "numpy==1.26.4", "gensim==4.4.0", "setuptools<81")

_PECANPY = """
import json, sys, time
import numpy as np
from pecanpy import pecanpy
edges, out, mode, options = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
p, q, seed = options.pop("p"), options.pop("q"), options.pop("seed")
def embed(path):
    graph = getattr(pecanpy, mode)(p=p, q=q, workers=1, verbose=False, random_state=seed)
    graph.read_edg(path, weighted=True, directed=False)
    start = time.process_time()
    graph.preprocess_transition_probs()
    vectors = graph.embed(**options)
    return graph, vectors, time.process_time() - start
embed(sys.argv[5])
compiling = min(embed(sys.argv[5])[2] for _ in range(2))
graph, vectors, seconds = embed(edges)
np.savez(out, ids=np.array(graph.nodes, dtype=str), vectors=vectors)
print(json.dumps({"compiling": compiling, "seconds": seconds}))
"""


def numpy_walks(graph, n_walks, length, seed=0, weighted=True):
    """Return walks from every node with an edge: an array of joint node numbers, one walk a row.

    Right node j is ``n_left + j``. All walks take their steps together.
    """
    rng = np.random.default_rng(seed)
    n_left = graph.n_left
    indptr = np.append(graph.left.indptr, graph.left.indptr[-1] + graph.right.indptr[1:])
    indices = np.append(graph.left.indices.astype(np.int64) + n_left, graph.right.indices)
    weights = np.append(graph.left.weights, graph.right.weights).astype(np.float64)
    sums = np.append(0, np.cumsum(weights if weighted else np.ones_like(weights)))
    starts = np.flatnonzero(np.diff(indptr))
    now = np.tile(starts, n_walks)
    walks = np.empty((len(now), length), np.int64)
    for t in range(length):
        walks[:, t] = now
        low, high = sums[indptr[now]], sums[indptr[now + 1]]
        edge = np.searchsorted(sums, low + rng.random(len(now)) * (high - low), side="right") - 1
        now = indices[np.clip(edge, indptr[now], indptr[now + 1] - 1)]
    return rng.permutation(walks)


def gensim_deepwalk(graph, seed=0, dim=128, n_walks=100, length=10, window=5, weighted=True):
    """Return left and right vectors of DeepWalk by gensim, and CPU seconds of walks and training.

    Naming the nodes of the walks, which gensim wants to be strings, counts for neither.
    """
    from gensim.models import Word2Vec

    n = graph.n_left + graph.n_right
    start = time.process_time()
    walks = numpy_walks(graph, n_walks, length, seed, weighted)
    walked = time.process_time() - start
    names = np.array([str(node) for node in range(n)], dtype=object)
    text = names[walks].tolist()
    start = time.process_time()
    model = Word2Vec(
        text, vector_size=dim, window=window, min_count=0, sg=1, negative=5, workers=1,
        sample=0, seed=seed + 1, epochs=1,
    )  # fmt: skip
    trained = time.process_time() - start
    table = np.zeros((n, dim), np.float32)
    table[np.array(model.wv.index_to_key, dtype=np.int64)] = model.wv.vectors
    return table[: graph.n_left], table[graph.n_left :], walked, trained


def pecanpy_python(cache):
    """Return the interpreter of PecanPy's environment; make the environment if there is none."""
    given = os.environ.get("BIVEC_PECANPY_PYTHON")
    if given:
        return given
    place = Path(cache) / "pecanpy"
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, *PINNED], check=True)
        (place / "ready").touch()
    return str(python)


def pecanpy_node2vec(
    graph, cache, seed=0, mode="SparseOTF", dim=128, n_walks=10, length=7, window=3, p=1.0, q=1.0
):
    """Return left and right vectors of Node2Vec by PecanPy, CPU seconds, and those of compiling.

    The former are without the latter. PecanPy counts the steps of a walk, not its nodes.
    """
    cache = Path(cache)
    cache.mkdir(parents=True, exist_ok=True)
    edges, small, out = cache / "edges.edg", cache / "small.edg", cache / "vectors.npz"
    ends = graph.left_rows(), graph.left.indices, graph.left.weights
    lines = [f"{a}\t{graph.n_left + b}\t{w:g}" for a, b, w in zip(*ends, strict=True)]
    edges.write_text("\n".join(lines))
    small.write_text("0\t2\t1\n0\t3\t1\n1\t2\t2")
    options = {
        "dim": dim, "num_walks": n_walks, "walk_length": length - 1, "window_size": window,
        "epochs": 1, "p": p, "q": q, "seed": seed,
    }  # fmt: skip
    done = subprocess.run(
        [
            pecanpy_python(cache), "-W", "ignore", "-c", _PECANPY, str(edges), str(out), mode,
            json.dumps(options), str(small),
        ],
        capture_output=True, text=True, check=False, env=_environment(),
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"PecanPy failed:\n{done.stderr}")
    told = json.loads(done.stdout.splitlines()[-1])
    found = np.load(out)
    table = np.zeros((graph.n_left + graph.n_right, dim), np.float32)
    table[found["ids"].astype(np.int64)] = found["vectors"]
    seconds = told["seconds"] - told["compiling"]
    return table[: graph.n_left], table[graph.n_left :], seconds, told["compiling"]


def _environment():
    """Return the environment without the paths of this interpreter's packages."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
