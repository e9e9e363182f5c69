"""Our accuracies beside the paper's curves: the tables of ``docs/results.md``.

    bivec evaluate link-prediction --dataset snap-com-amazon --train-share 0.1,0.3,0.5,0.7,0.9 \
        --set dim=100 --methods fobe,hobe,combination-direct,combination-auto-regularized \
        --output amazon.json
    bivec evaluate link-prediction --dataset snap-com-amazon --train-share 0.1,0.3,0.5,0.7,0.9 \
        --set dim=100 --methods fobe-paper,hobe-paper --output amazon-paper.json
    python benchmarks/published_curves.py amazon.json [FILE ...] [--write]

Prints the tables from what ``bivec evaluate`` wrote, of any of the paper's graphs; ``--write`` puts
them between two marks of the page. Where files have the same cell, the one of more seeds counts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from bivec import experiments
from bivec.evaluation.link_prediction import TASKS

BEGIN, END = "<!-- curves: begin -->", "<!-- curves: end -->"
PAGE = Path(__file__).parent.parent / "docs" / "results.md"
GRAPHS = ("amazon", "dblp", "friendster", "madgrades", "youtube")
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
OURS = {
    "fobe": ("F", "FOBE", "fobe"),
    "hobe": ("H", "HOBE", "hobe"),
    "combination-direct": ("d", "direct", "direct"),
    "combination-auto-regularized": ("a", "auto-regularized", "autoreg"),
}
"""A letter, the name in print, and the name among the published curves."""
PAPER = {"fobe": "fobe-paper", "hobe": "hobe-paper"}
"""The methods as the paper's text has them."""


def three(x):
    """Return a number with three digits, without the zero before the point."""
    return f"{x:.3f}".removeprefix("0")


def read(files):
    """Return accuracy, its deviation and the number of seeds, by graph, task, share and method."""
    found = {}
    for file in files:
        for row in json.loads(file.read_text())["rows"]:
            key = row["dataset"], row["task"], row["train_share"], row["method"]
            ours = row["method"] in (*OURS, *PAPER.values())
            if ours and row["seeds"] > found.get(key, (0, 0, 0))[2]:
                found[key] = row["accuracy"], row["accuracy_std"], row["seeds"]
    return found


def grid(head, rows):
    """Return the lines of a Markdown table."""
    shares = [three(share).rstrip("0") for share in SHARES]
    lines = [[*head, *shares], ["---"] * (len(head) + len(SHARES)), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def against(own, published, between=None):
    """Return two figures as a cell, or three; bold where ours is above."""
    mine = f"**{three(own)}**" if round(own, 3) > published else three(own)
    return " / ".join([mine, *([between] if between else []), three(published)])


def curves(found):
    """Return the tables as lines."""
    best, own, behind = [], {"fobe, hobe": [], "combinations": []}, []
    count = {name: [0, 0] for name in ("best", *own)}
    for graph in GRAPHS:
        experiment = experiments.find(f"link-prediction-{graph}")
        (dataset,) = experiment.datasets
        for task in TASKS:
            line, lines = [], {method: [] for method in OURS}
            for share in SHARES:
                published = experiment.published.at(dataset, task, share)
                here = {m: found.get((dataset, task, share, m)) for m in OURS}
                for method, values in here.items():
                    group = "fobe, hobe" if method in ("fobe", "hobe") else "combinations"
                    theirs = published[OURS[method][2]]
                    text = found.get((dataset, task, share, PAPER.get(method)), (np.nan,))[0]
                    between = three(text).replace("nan", "-") if method in PAPER else None
                    lines[method].append(against(values[0], theirs, between) if values else "-")
                    count[group][0] += bool(values) and round(values[0], 3) > theirs
                    count[group][1] += bool(values)
                known = {m: values[0] for m, values in here.items() if values}
                top = max(published.values())
                if not known:
                    line.append("-")
                    continue
                winner = max(known, key=known.get)
                line.append(against(known[winner], top).replace(" /", f" {OURS[winner][0]} /"))
                ahead = round(known[winner], 3) > top
                count["best"][0] += ahead
                count["best"][1] += 1
                if not ahead:
                    gap = three(top - round(known[winner], 3))
                    behind.append(f"{graph} {task} at {three(share).rstrip('0')} ({gap})")
            best.append([graph, task, *line])
            for method, cells in lines.items():
                group = "fobe, hobe" if method in ("fobe", "hobe") else "combinations"
                own[group].append([graph, task, OURS[method][1], *cells])
    ahead = {name: f"{a} cells of {b}" for name, (a, b) in count.items()}
    return [
        f"**The better of ours / the best of the nine published curves**: above in "
        f"{ahead['best']}. F is FOBE, H HOBE, d the direct and a the auto-regularized combination; "
        "**bold**: above the published one.",
        "", *grid(["graph", "task"], best),
        f"Not ahead, and by how much: {', '.join(behind)}.", "",
        "**FOBE and HOBE at their defaults / as in the paper's text / their own published curves**:"
        f" the defaults above in {ahead['fobe, hobe']}.",
        "", *grid(["graph", "task", "method"], own["fobe, hobe"]),
        f"**Combinations / their own published curves**: above in {ahead['combinations']}.",
        "", *grid(["graph", "task", "kind"], own["combinations"]),
        *spreads(found),
    ]  # fmt: skip


def spreads(found):
    """Return mean and deviation of what was run with several seeds, as lines."""
    rows = []
    for dataset, _, share, method in dict.fromkeys((k[0], "", k[2], k[3]) for k in sorted(found)):
        values = [found.get((dataset, task, share, method)) for task in TASKS]
        if method in OURS and all(v and v[2] > 1 for v in values):
            cells = [f"{three(v[0])} ± {three(v[1])}" for v in values]
            short = dataset.removeprefix("snap-com-")
            rows.append(
                [short, three(share).rstrip("0"), OURS[method][1], str(values[0][2]), *cells]
            )
    head = ["graph", "share", "method", "seeds", *TASKS]
    lines = [head, ["---"] * len(head), *rows]
    table = [f"| {' | '.join(line)} |" for line in lines]
    return ["**Spread** of what was run with several seeds:", "", *table, ""] if rows else []


def main():
    """Print the tables, or write them to the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    options = parser.parse_args()
    text = "\n".join(curves(read(options.files)))
    if not options.write:
        print(text)
        return
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
