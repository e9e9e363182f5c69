"""The paper's methods as its text has them, to be measured beside the defaults.

What the text leaves open is as in the defaults: learning rate, start, number of negatives. Their
vectors have no length of their own; where they are measured they get one, as those of every method
do (:data:`bivec.experiments.methods.NORM`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bivec.models.fobe import FOBE
from bivec.models.hobe import HOBE

_TEXT: dict[str, Any] = {"smoothing": 0, "norm": None, "draw": "set"}


def fobe_paper(**parameters: Any) -> FOBE:
    """Return FOBE with samples from the set of pairs, the plain divergence, no smoothing.

    >>> fobe_paper(dim=16)
    FOBE(dim=16, draw='set', negative_weight=1.0, norm=None, smoothing=0)
    """
    return FOBE(**{**_TEXT, "negative_weight": 1.0, **parameters})


def hobe_paper(**parameters: Any) -> HOBE:
    """Return HOBE with samples from the set of pairs and no smoothing.

    >>> hobe_paper(dim=16)
    HOBE(dim=16, draw='set', norm=None, smoothing=0)
    """
    return HOBE(**{**_TEXT, **parameters})


PRESETS: dict[str, Callable[..., FOBE | HOBE]] = {
    "fobe-paper": fobe_paper,
    "hobe-paper": hobe_paper,
}
"""Every preset by its name on the command line."""
