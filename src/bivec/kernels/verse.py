"""Pairs by a similarity of VERSE: neighbours, ends of walks, meetings of walks.

Every draw is a function of its key, and no similarity is ever written down: a draw costs the steps
of its walk.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import inner
from bivec.kernels.rng import unit
from bivec.kernels.walk import strength, walk_step

EDGE, PAGERANK, SIMRANK = 0, 1, 2
"""How a pair is drawn."""
TRIES = 8
"""Draws before a pair that cannot be had (a walk always back to its start) is given up."""
_ZERO, _ONE = np.float32(0), np.float32(1)


@inner
def draw_pair(view: Any, plan: Any, row: int, key: Any) -> Any:  # pragma: no cover
    """Return (other row, weight of the pair); weight 0 if none was found.

    PageRank: the end of a walk that goes on with probability ``stay`` after each step, under the
    condition that it is another node. SimRank: l steps to w, then l steps to v, with l geometric;
    reversed, the second half is a walk from v to w times the ratio of their strengths, the weight.
    """
    if plan.kind == EDGE:
        return walk_step(view, row, key, 0), _ONE
    counter = 0
    for _ in range(TRIES):
        end, length = row, 0
        while length == 0 or unit(key, counter - 1) < plan.stay:
            end = walk_step(view, end, key, counter)
            counter += 2
            length += 1
        weight = _ONE
        if plan.kind == SIMRANK:
            middle = strength(view, end)
            for _ in range(length):
                end = walk_step(view, end, key, counter)
                counter += 2
            weight = np.float32(middle / strength(view, end))
        if end != row:
            return end, weight
    return row, _ZERO
