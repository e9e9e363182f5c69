"""How methods look in every figure: colour, mark and line, so that print in grey works, too.

Colours are those of Okabe and Ito, told apart also by the colour-blind (https://jfly.uni-koeln.de/
color). A method has one colour and mark everywhere; ours are thick with filled marks, published
ones thin with open marks, prior work dashed as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from bivec.errors import require

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#C9B800", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#7f7f7f"
# Okabe and Ito's yellow is #F0E442, too light for a line on white: the same hue, darker.


class Look(NamedTuple):
    """Colour, mark and dashes of a method."""

    colour: str
    mark: str
    dashes: Any


_LOOKS = {
    "fobe": Look(BLUE, "o", "-"),
    "hobe": Look(VERMILLION, "s", "-"),
    "direct": Look(GREEN, "^", "-"),
    "autoreg": Look(PURPLE, "D", "-"),
    "deepwalk": Look(ORANGE, "v", (0, (5, 2))),
    "line": Look(YELLOW, "<", (0, (2, 1.2))),
    "node2vec": Look(GREY, ">", (0, (6, 2, 1, 2))),
    "metapath2vec": Look(SKY, "p", (0, (4, 1.5))),
    "bine": Look(BLACK, "h", (0, (1, 1.6))),
    "popularity": Look(GREY, "x", (0, (1, 1))),
    "item-knn": Look(BLACK, "+", (0, (1, 1))),
}
_LOOKS["combination-direct"] = _LOOKS["direct"]
_LOOKS["combination-auto-regularized"] = _LOOKS["autoreg"]
_REST = ("X", "P", "*", "d", "8")


def look(method: str) -> Look:
    """Return how a method is drawn; one that is not known gets a look by its name."""
    if method in _LOOKS:
        return _LOOKS[method]
    number = sum(method.encode())
    colours = (GREEN, PURPLE, ORANGE, SKY, YELLOW)
    return Look(colours[number % len(colours)], _REST[number % len(_REST)], "-")


@contextmanager
def canvas(salt: str) -> Iterator[Any]:
    """Yield matplotlib, set up so that equal figures are equal bytes; no window is opened."""
    matplotlib = require("matplotlib", extra="evaluate", purpose="Drawing figures")
    require("matplotlib.figure", extra="evaluate", purpose="Drawing figures")
    settings = {
        "svg.fonttype": "path",
        "svg.hashsalt": salt,
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#555555",
        "axes.linewidth": 0.8,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "xtick.color": "#333333",
        "ytick.color": "#333333",
        "legend.frameon": False,
        "lines.solid_capstyle": "round",
    }
    with matplotlib.rc_context(settings):
        yield matplotlib


def to_svg(figure: Any, alternative: str) -> str:
    """Return a figure as an SVG element to stand in a page: no prologue, no date, no addresses."""
    import html
    import io
    import re

    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.05,
                   metadata={"Date": None, "Creator": None})  # fmt: skip
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    label = html.escape(" ".join(alternative.split()), quote=True)
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).strip()
