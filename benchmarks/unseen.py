"""Graphs that nothing in bivec was chosen on, from what package managers know.

    python benchmarks/unseen.py [--output DIR] [tags] [depends] [emoji]

writes files of edges, to be measured by the commands that everyone has:

    bivec evaluate link-prediction deb-tags.tsv --methods all --seeds 3
    bivec evaluate recommendation deb-tags.tsv --methods fobe,hobe --protocol masked --scorer blend

``tags``: Debian's packages and the tags that people have given them. ``depends``: packages and what
they depend on, the first of alternatives, whatever the version. Both are read from the package
index of the machine (``apt-cache``, on Debian and its heirs), so they differ with the release.
``emoji``: emoji and their keywords, from the package emojilib (by ``npm pack``).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path


def packages():
    """Return the fields of every package of the index, by name."""
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout
    for record in text.decode("utf-8", "replace").split("\n\n"):
        unfolded = re.sub(r"\n\s+", " ", record)
        yield dict(line.split(": ", 1) for line in unfolded.splitlines() if ": " in line)


def tags():
    """Return packages and their tags."""
    return {
        (fields["Package"], tag.strip())
        for fields in packages()
        for tag in fields.get("Tag", "").split(",")
        if tag.strip()
    }


def depends():
    """Return packages and those that they depend on."""
    return {
        (fields["Package"], name)
        for fields in packages()
        for each in fields.get("Depends", "").split(",")
        if (name := re.split(r"[\s(|:]", each.strip())[0])
    }


def emoji():
    """Return emoji and their keywords."""
    with tempfile.TemporaryDirectory() as place:
        order = ["npm", "pack", "--silent", "emojilib"]
        done = subprocess.run(order, cwd=place, capture_output=True, text=True, check=True)
        with tarfile.open(Path(place) / done.stdout.split()[-1]) as archive:
            words = json.load(archive.extractfile("package/dist/emoji-en-US.json"))
    return {(one, word) for one, keywords in words.items() for word in keywords}


GRAPHS = {
    "tags": ("deb-tags", tags),
    "depends": ("deb-depends", depends),
    "emoji": ("emoji", emoji),
}


def main():
    """Write the graphs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "graphs", nargs="*", help=f"of {', '.join(GRAPHS)}; all where none is given"
    )
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    if unknown := set(options.graphs) - set(GRAPHS):
        parser.error(f"no such graph: {', '.join(unknown)}")
    for graph in options.graphs or GRAPHS:
        name, edges = GRAPHS[graph]
        found = sorted(edges())
        path = options.output / f"{name}.tsv"
        path.write_text("".join(f"{left}\t{right}\n" for left, right in found), "utf-8")
        sides = [len(set(ends)) for ends in zip(*found, strict=True)]
        print(f"{path}: {sides[0]:,} + {sides[1]:,} nodes, {len(found):,} edges")


if __name__ == "__main__":
    main()
