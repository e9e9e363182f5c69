"""Exact batch recommendation against implicit's ``recommend``, and what else queries cost.

Both rank all items for all users by the product of the same random vectors, known items left out,
ten places a list, in one thread each (BLAS included), in turns; CPU seconds, the best round.
Then, without a peer: one list at a time, links over all pairs, an explanation, folding in, the
approximate index with its recall, and what the default ranking takes to fit and to ask.

    python benchmarks/queries.py [--part implicit|single|index|default] [--rounds 3]
                                 [--index-rows 200000]
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import bivec
from bivec.embedding import Embedding, EmbeddingSide
from bivec.graph import BipartiteGraph

SHAPES = ((5_000, 20_000, 64), (5_000, 20_000, 128), (3_000, 100_000, 128), (20_000, 3_000, 64))
"""Users, items, dimension."""
PARTS = ("implicit", "single", "index", "default")
KNOWN = 20
PLACES = 10


def world(users: int, items: int, dim: int) -> Embedding:
    """Return random vectors and a random graph in which every item has an edge."""
    rng = np.random.default_rng(0)
    left = np.concatenate([np.repeat(np.arange(users), KNOWN), rng.integers(0, users, items)])
    right = np.concatenate([rng.integers(0, items, users * KNOWN), np.arange(items)])
    graph = BipartiteGraph(
        left, right, duplicates="max", left_ids=range(users), right_ids=range(items)
    )
    tables = [rng.normal(size=(n, dim)) for n in (users, items)]
    return Embedding(
        EmbeddingSide(graph.left.ids, tables[0]),
        EmbeddingSide(graph.right.ids, tables[1]),
        graph=graph,
    )


def peer(emb: Embedding):
    """Return implicit's recommender with the same vectors and edges."""
    from implicit.cpu.als import AlternatingLeastSquares

    matrix = emb.graph.to_scipy()
    known = sparse.csr_matrix(
        (matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape
    )
    model = AlternatingLeastSquares(factors=emb.dim, num_threads=1)
    model.user_factors, model.item_factors = emb.left.vectors, emb.right.vectors
    users = np.arange(len(emb.left))
    return lambda: model.recommend(users, known, N=PLACES, filter_already_liked_items=True)[0]


def cpu(work) -> tuple[float, object]:
    """Return the CPU seconds of a piece of work, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def against_implicit(rounds: int) -> None:
    """Print a line a shape."""
    print(
        f"{'users':>7} {'items':>8} {'dim':>4} {'bivec s':>8} {'implicit s':>10} {'ratio':>6}  same"
    )
    for users, items, dim in SHAPES:
        emb = world(users, items, dim)
        rows = np.arange(users)
        works = {
            "bivec": lambda e=emb, r=rows: e.recommend(r, PLACES, scorer="dot", n_jobs=1),
            "implicit": peer(emb),
        }
        best: dict[str, float] = {}
        lists = {}
        for _ in range(rounds):
            for key, work in works.items():
                seconds, lists[key] = cpu(work)
                best[key] = min(seconds, best.get(key, np.inf))
        pairs = zip(lists["bivec"], lists["implicit"], strict=True)
        same = np.mean([a.ids == b.tolist() for a, b in pairs])
        ratio = best["implicit"] / best["bivec"]
        print(
            f"{users:>7,} {items:>8,} {dim:>4} {best['bivec']:>8.2f} {best['implicit']:>10.2f} "
            f"{ratio:>6.2f}  {same:.3f}"
        )


def alone() -> None:
    """Print what single questions cost."""
    emb = world(5_000, 20_000, 128)
    emb.recommend(0, scorer="centroid")
    seconds, _ = cpu(lambda: [emb.recommend(k, scorer="centroid") for k in range(100)])
    print(f"one list at a time, 20,000 items, dim 128: {seconds * 10:.2f} ms")
    seconds, _ = cpu(lambda: emb.predict_links(1000, scorer="centroid"))
    print(f"1,000 links over 5,000 x 20,000 pairs: {seconds:.2f} s")
    planted = bivec.datasets.viewer_movies(20_000, 5_000, 12).graph
    for kind in (bivec.FOBE, bivec.HOBE):
        model = kind(dim=128, epochs=10, n_samples=20, n_jobs=1).fit(planted)
        found = model.embedding_
        link = found.predict_links(1)[0]
        first, _ = cpu(lambda e=found, p=link: e.explain(p[0], p[1]))
        again, _ = cpu(lambda e=found, p=link: [e.explain(p[0], p[1]) for _ in range(100)])
        print(
            f"{kind.__name__}: an explanation in a graph of {planted.n_edges:,} edges, the first "
            f"{first * 1e3:.0f} ms, then {again * 10:.2f} ms"
        )
        model.set_params(epochs=50, n_samples=200)
        found = Embedding(
            found.left, found.right, graph=planted, method=found.method,
            params=model.embedding_.params,
        )  # fmt: skip
        rows = {f"new {k}": planted.neighbors(planted.left.ids[k], "left") for k in range(100)}
        found.fold_in({"x": rows["new 0"]}, n_jobs=1)
        seconds, _ = cpu(lambda e=found, r=rows: e.fold_in(r, n_jobs=1))
        print(f"{kind.__name__}: folding in, default parameters: {seconds * 10:.2f} ms a node")


def with_index(rows: int) -> None:
    """Print what an index costs and finds, on vectors with groups as real ones have."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(200, 64))
    tables = [
        centers[rng.integers(0, 200, n)] + 0.5 * rng.normal(size=(n, 64)) for n in (2_000, rows)
    ]
    emb = Embedding(EmbeddingSide(range(2_000), tables[0]), EmbeddingSide(range(rows), tables[1]))
    seconds, reports = cpu(lambda: emb.build_index(n_jobs=1))
    print(f"index of {rows:,} and 2,000 vectors, dim 64: {seconds:.0f} s to build and measure")
    for report in reports:
        print(f"  {report.side:<5} {report.kind:<7} recall at 10: {report.recall:.4f}")
    users = range(1000)
    exact, _ = cpu(lambda: emb.recommend(users, n_jobs=1))
    near, _ = cpu(lambda: emb.recommend(users, approximate=True, n_jobs=1))
    print(f"  a list: exact {exact:.2f} ms, by the index {near:.2f} ms")


def by_default() -> None:
    """Print what the default ranking costs, on graphs that grow; each in a process of its own."""
    print(
        f"{'users':>9} {'items':>8} {'edges':>10} {'fit s':>6} {'peak MB':>8} {'one list ms':>11} "
        f"{'in a thousand ms':>16} {'centroid ms':>11}"
    )
    for users, items in ((5_000, 20_000), (50_000, 20_000), (200_000, 200_000)):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            print(pool.submit(_default_line, users, items).result(), flush=True)


def _default_line(users: int, items: int) -> str:
    import resource

    with threadpool_limits(1):
        emb = world(users, items, 128)
        emb.recommend(range(2), scorer="centroid")
        seconds, _ = cpu(lambda: emb.recommend([0], n_jobs=1))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        alone, _ = cpu(lambda: [emb.recommend(k, n_jobs=1) for k in range(20)])
        many, _ = cpu(lambda: emb.recommend(range(1000), n_jobs=1))
        paper, _ = cpu(lambda: emb.recommend(range(1000), scorer="centroid", n_jobs=1))
    return (
        f"{users:>9,} {items:>8,} {emb.graph.n_edges:>10,} {seconds:>6.1f} {peak:>8,.0f} "
        f"{alone * 50:>11.1f} {many:>16.2f} {paper:>11.2f}"
    )


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="Only this one.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--index-rows", type=int, default=200_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if options.part in (None, "implicit"):
            against_implicit(options.rounds)
        if options.part in (None, "single"):
            alone()
        if options.part in (None, "index"):
            with_index(options.index_rows)
        if options.part in (None, "default"):
            by_default()


if __name__ == "__main__":
    main()
