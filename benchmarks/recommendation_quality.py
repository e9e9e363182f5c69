"""The default ranking against tuned references: the tables of ``docs/recommendation-quality.md``.

    python benchmarks/recommendation_quality.py [GRAPH ...] [--seeds 3] [--cache DIR]

References are tuned for each graph and protocol, on a quarter of every user's training edges that
is held out for it, for a thousand users; ours has one setting for all. Then all are measured on
the test pairs. Finished cells are kept in the cache, so that a run that was cut short goes on and
the graphs may be run one by one; the tables between the marks of the page have those graphs that
are named, or all.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import itertools
import json
import os
import pickle
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import bivec
from bivec.evaluation import EmbeddingRanker, make_ranker
from bivec.evaluation.metrics import measure_ranking, ranking_task
from bivec.evaluation.rating_splits import given_split, per_user_split
from bivec.experiments import default_directory
from bivec.experiments.code import code_fingerprint
from bivec.experiments.sources import load_source
from bivec.queries import Blend

GRAPHS = {
    "bine-dblp": "DBLP-BiNE",
    "lastfm-hetrec2011": "LastFM",
    "movielens-100k": "MovieLens-100K (split of BiGI)",
    "bine-wiki": "Wikipedia-BiNE",
}
MEASURES = {
    "masked": "masked",
    "removed": "BiNE's ground truth, training items removed",
    "bine": "BiNE's protocol",
}
METRICS = ("ndcg", "mrr")
PLACES, TEST_SHARE, VALIDATION_SHARE, VALIDATION_USERS = 10, 0.4, 0.25, 1000
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
PAGE = Path(__file__).parent.parent / "docs" / "recommendation-quality.md"


def product(name, **choices):
    """Return every combination of the choices."""
    return [
        (name, dict(zip(choices, c, strict=True))) for c in itertools.product(*choices.values())
    ]


TRIED = [
    *product("popularity"),
    *product("item-knn", n_neighbors=(20, 100, None), weighted=(False, True)),
    *product("pure-svd", n_factors=(8, 16, 32, 64), weighted=(False, True)),
    *product("als", n_factors=(16, 32, 64), regularization=(10.0, 100.0), alpha=(1.0, 10.0, 30.0)),
    *product("rp3beta", alpha=(0.4, 0.6, 0.8, 1.0), beta=(0.0, 0.2, 0.4, 0.6)),
    *product("ease", regularization=(100, 200, 500, 1000, 2000, 5000), weighted=(False,)),
    *product("ease", regularization=(500, 2000, 5000, 10000), weighted=(True,)),
]
"""Settings of the references among which the held-out edges decide."""

BESIDE = {
    "movielens-100k": {
        "ease, weighted, lambda 10,000": ("ease", {"regularization": 10_000, "weighted": True})
    }
}
"""Settings that are not chosen but known to be good, in the measures without training items."""

PARTS = {
    "no coordinates": {"n_inputs": 0},
    "no codes": {"n_codes": 0},
    "no vectors": {"vectors": "none"},
    "random vectors instead": {"vectors": "random"},
    "without the user's term": {"balance": 1e12},
    "without peers": {"peers": 0},
    "beta = 0": {"discount": 0},
    "weights ignored": {"weighted": False},
}


COMPARED = ("popularity", "rp3beta", "ease", "FOBE, blend", "HOBE, blend")
"""Rows of the tables by the number of items that a user has."""
ITEMS = ((1, 2), (2, 5), (5, 10), (10, 20), (20, np.inf))


@functools.cache
def split_of(graph, seed, folder):
    """Return the split of a graph: its own, or one that the seed draws."""
    if graph == "movielens-100k":
        place = Path(folder or os.environ.get("BIVEC_DATA", ".")) / graph
        files = [place / f"bigi_{part}.tsv" for part in ("train", "test")]
        return given_split(*map(read, files)).verify()
    return load_source(graph, folder).rating_split(TEST_SHARE, seed)


def read(path):
    """Return the columns of a file of edges."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    left, right, weights = zip(*rows, strict=True)
    return left, right, np.array(weights, float)


def tasks_of(split):
    """Return what is measured; where training items are removed, the truth is BiNE's."""
    bine = ranking_task(split, "bine", PLACES)
    return {
        "masked": ranking_task(split, "masked", PLACES),
        "removed": replace(bine, protocol="masked"),
        "bine": bine,
    }


def measured(scores, tasks, n_jobs):
    """Return the figures of each user, by measure."""
    out = {}
    for name, task in tasks.items():
        found = measure_ranking(task, scores, n_jobs=n_jobs)
        out[name] = (task.users, np.array([found.per_user[m] for m in METRICS]))
    return out


class Cells:
    """Results by what decides them, kept in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder or default_directory()) / "recommendation-quality"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.code = {
            kind: code_fingerprint(modules)
            for kind, modules in {
                "reference": ["bivec.evaluation.references", "bivec.evaluation.metrics"],
                "ours": ["bivec.models", "bivec.queries.blend", "bivec.evaluation.metrics"],
            }.items()
        }

    def get(self, kind, spec, compute):
        """Return a result, computed where it is not there yet."""
        text = json.dumps([kind, spec, self.code[kind]], sort_keys=True)
        path = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.pickle"
        if not path.exists():
            start = time.process_time()
            result = compute()
            name = " ".join(map(str, spec[:3] if len(spec) > 3 else spec))[:60]
            print(f"{name}: {time.process_time() - start:.1f} CPU s", flush=True)
            path.write_bytes(pickle.dumps(result))
        return pickle.loads(path.read_bytes())


def tune(graph, options):
    """Return the best setting of each reference, by protocol, on edges held out of training."""
    split = per_user_split(split_of(graph, 0, options.data_dir).train, VALIDATION_SHARE,
                           random_state=100)  # fmt: skip
    draw = np.random.default_rng(0)
    tasks = {p: fewer(ranking_task(split, p, PLACES), draw) for p in ("masked", "bine")}
    best = {}
    for name, setting in TRIED:
        if setting.get("weighted") and not split.train.weighted:
            continue
        ranker = make_ranker(name, **setting).fit(split.train)
        for protocol, (_, values) in measured(ranker.scores, tasks, options.jobs).items():
            value = float(values[0].mean())
            if value > best.get((name, protocol), (-1, None))[0]:
                best[name, protocol] = (value, setting)
    return best


def fewer(task, draw):
    """Return the task for some of its users."""
    at = np.sort(draw.permutation(len(task.users))[:VALIDATION_USERS])
    sizes = np.diff(task.indptr)[at]
    truth = [task.truth[task.indptr[m] : task.indptr[m + 1]] for m in at]
    return replace(
        task, users=task.users[at], indptr=np.concatenate([[0], np.cumsum(sizes)]),
        truth=np.concatenate(truth),
    )  # fmt: skip


def reference(graph, seed, name, chosen, options):
    """Return the figures of a reference, each protocol with the setting chosen for it."""
    split, out, start = split_of(graph, seed, options.data_dir), {}, time.process_time()
    fit = None
    for protocol, which in (("masked", ("masked", "removed")), ("bine", ("bine",))):
        setting = dict(chosen[name, protocol][1])
        if name == "als":
            setting["random_state"] = seed
        start = time.process_time()
        ranker = make_ranker(name, **setting).fit(split.train)
        fit = fit or time.process_time() - start
        tasks = tasks_of(split)
        out |= measured(ranker.scores, {k: tasks[k] for k in which}, options.jobs)
    return {"figures": out, "seconds": fit}


def ours(graph, seed, method, options):
    """Return the figures of a method's vectors, ranked by the default and by the paper's scorer."""
    split = split_of(graph, seed, options.data_dir)
    model = {"FOBE": bivec.FOBE, "HOBE": bivec.HOBE}[method](random_state=seed, n_jobs=options.jobs)
    start = time.process_time()
    model.fit(split.train)
    train = time.process_time() - start
    tables = model.left_embedding_, model.right_embedding_
    tasks = tasks_of(split)
    start = time.process_time()
    blend = Blend().fit(*tables, split.train)
    fit = time.process_time() - start
    centroid = EmbeddingRanker(model.embedding_, split.train, scorer="centroid")
    out = {
        "blend": {"figures": measured(blend.scores, tasks, options.jobs), "seconds": fit,
                  "train": train, "beta": blend.discount_},
        "centroid": {"figures": measured(centroid.scores, tasks, options.jobs)},
    }  # fmt: skip
    if method == "FOBE":  # known pairs last is the same as known pairs removed
        figures = out["blend"]["figures"]
        out["known pairs last"] = {"figures": {**figures, "bine": figures["removed"]}}
    draw = np.random.default_rng(seed)
    for name, setting in PARTS.items() if method == "FOBE" else ():
        given = dict(setting)
        kind = given.pop("vectors", "all")
        used = {
            "all": tables,
            "none": tuple(table[:, :0] for table in tables),
            "random": tuple(draw.standard_normal(table.shape) for table in tables),
        }[kind]
        scorer = Blend(**given).fit(*used, split.train)
        out[name] = {"figures": measured(scorer.scores, {"masked": tasks["masked"]}, options.jobs)}
    return out


def run(graph, options, cells):
    """Return the rows of a graph: label, then for each seed the figures."""
    chosen = cells.get("reference", [graph, "tuned", TRIED], lambda: tune(graph, options))
    seeds, rows = range(options.seeds), {}
    drawn = graph != "movielens-100k" and load_source(graph, options.data_dir).given is None
    for name in dict.fromkeys(name for name, _ in TRIED):
        for seed in seeds if drawn or name == "als" else (0,):
            spec = [graph, seed, name, [chosen[name, p][1] for p in ("masked", "bine")]]
            found = cells.get(
                "reference", spec,
                lambda s=seed, n=name: reference(graph, s, n, chosen, options),
            )  # fmt: skip
            rows.setdefault(name, []).append(found)
    for label, (name, setting) in BESIDE.get(graph, {}).items():
        both_ways = {(name, protocol): (0, setting) for protocol in ("masked", "bine")}
        found = cells.get(
            "reference", [graph, 0, label, setting],
            lambda n=name, c=both_ways: reference(graph, 0, n, c, options),
        )  # fmt: skip
        rows[label] = [found]
    for method in ("FOBE", "HOBE"):
        for seed in seeds:
            found = cells.get(
                "ours", [graph, seed, method, PARTS if method == "FOBE" else {}],
                lambda s=seed, m=method: ours(graph, s, m, options),
            )  # fmt: skip
            for scorer, result in found.items():
                rows.setdefault(f"{method}, {scorer}", []).append(result)
    return rows, chosen


def by_user(results, measure):
    """Return the mean over seeds of each user's figures."""
    total = {}
    for result in results:
        users, values = result["figures"][measure]
        for user, value in zip(users.tolist(), values.T, strict=True):
            total.setdefault(user, []).append(value)
    return {user: np.mean(values, axis=0) for user, values in total.items()}


def difference(first, second, measure):
    """Return the mean difference over users and its standard error."""
    a, b = by_user(first, measure), by_user(second, measure)
    gaps = np.array([a[user] - b[user] for user in a if user in b])
    return gaps.mean(axis=0), gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))


def short(value, sign=False):
    """Return a figure with four digits and no leading zero."""
    text = f"{abs(value):.4f}".replace("0.", ".", 1)
    return ("+" if value >= 0 else "-") + text if sign else text


def both(values, sign=False):
    """Return NDCG and MRR of a cell."""
    return " / ".join(short(value, sign) for value in values)


def gap(first, second, measure):
    """Return a difference with its error, as a cell."""
    means, errors = difference(first, second, measure)
    return " / ".join(f"{short(m, True)} ± {short(e)}" for m, e in zip(means, errors, strict=True))


def table(rows):
    """Return the lines of a graph's table."""
    head = " | ".join(f"{title} | difference" for title in MEASURES.values())
    lines = [f"| method | {head} |", "|---|" + "---:|---:|" * len(MEASURES)]
    ahead = rows["FOBE, blend"]
    for label, results in rows.items():
        if label.partition(", ")[2] in PARTS:
            continue
        cells = []
        for measure in MEASURES:
            means = np.array([r["figures"][measure][1].mean(axis=1) for r in results])
            text = both(means.mean(axis=0))
            if len(means) > 1:
                text += f" (± {both(means.std(axis=0, ddof=1))})"
            cells += [text, "" if results is ahead else gap(ahead, results, measure)]
        name = f"**{label}**" if label.endswith("blend") else label
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def settings_line(chosen, rows):
    """Return what was chosen for a graph, and what it took."""
    parts = []
    for (name, protocol), (_, setting) in chosen.items():
        if setting:
            told = ", ".join(f"{k} {v}" for k, v in setting.items())
            parts.append(f"{name} ({protocol}): {told}")
    took = [
        f"{label} {np.mean([r['seconds'] for r in results]):.2f}"
        for label, results in rows.items()
        if "seconds" in results[0]
    ]
    betas = ", ".join(str(r["beta"]) for r in rows["FOBE, blend"])
    return [
        f"Chosen on held-out training edges: {'; '.join(parts)}. Beta of the blend on FOBE's "
        f"vectors, by seed: {betas}.",
        "",
        f"CPU seconds of a fit, without that of the vectors: {', '.join(took)}. Training the "
        "vectors: " + ", ".join(
            f"{m} {np.mean([r['train'] for r in rows[f'{m}, blend']]):.1f}"
            for m in ("FOBE", "HOBE")
        ) + ".",
    ]  # fmt: skip


def parts_table(found):
    """Return the lines of the table of parts."""
    lines = ["| | " + " | ".join(GRAPHS[g] for g in found) + " |", "|---|" + "---:|" * len(found)]
    whole = [
        both(np.mean([r["figures"]["masked"][1].mean(axis=1) for r in rows["FOBE, blend"]], axis=0))
        for rows, _ in found.values()
    ]
    lines.append("| the default | " + " | ".join(whole) + " |")
    for part in PARTS:
        cells = [
            gap(rows[f"FOBE, {part}"], rows["FOBE, blend"], "masked") for rows, _ in found.values()
        ]
        lines.append(f"| {part} | " + " | ".join(cells) + " |")
    cells = [gap(rows["HOBE, blend"], rows["FOBE, blend"], "masked") for rows, _ in found.values()]
    lines.append("| HOBE vectors | " + " | ".join(cells) + " |")
    return lines


def degrees_table(graph, rows, options):
    """Return the lines of a table by the number of items that a user has in training."""
    degrees = split_of(graph, 0, options.data_dir).train.left.degrees
    shown = [label for label in COMPARED if label in rows]
    figures = {label: by_user(rows[label], "masked") for label in shown}
    lines = ["| items in training | users | " + " | ".join(shown) + " |"]
    lines.append("|---|---:|" + "---:|" * len(shown))
    for low, high in ITEMS:
        users = [user for user in figures[shown[0]] if low <= degrees[user] < high]
        if not users:
            continue
        name = f"{low} or more" if high == np.inf else str(low)
        name = name if high in (low + 1, np.inf) else f"{low} to {high - 1}"
        cells = [both(np.mean([figures[label][u] for u in users], axis=0)) for label in shown]
        lines.append(f"| {name} | {len(users):,} | " + " | ".join(cells) + " |")
    return lines


def main():
    """Run, and write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help=f"of {', '.join(GRAPHS)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data-dir")
    parser.add_argument("--cache", help="where finished cells are kept")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    if unknown := set(options.graphs) - set(GRAPHS):
        parser.error(f"no such graph: {', '.join(unknown)}")
    cells, found = Cells(options.cache), {}
    with threadpool_limits(1):
        for graph in options.graphs or GRAPHS:
            found[graph] = run(graph, options, cells)
    lines = [""]
    for graph, (rows, chosen) in found.items():
        lines += [f"### {GRAPHS[graph]}", "", *table(rows), "", *settings_line(chosen, rows), ""]
        lines += ["Masked, by the number of items that a user has in training:", ""]
        lines += [*degrees_table(graph, rows, options), ""]
    lines += ["### What each part gives", "", "FOBE, masked; difference to the default, paired by "
              "user.", "", *parts_table(found), ""]  # fmt: skip
    page = options.output.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{options.output} has no lines {BEGIN} and {END}")
    options.output.write_text(f"{before}{BEGIN}\n{chr(10).join(lines)}{END}{after}", "utf-8")
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
