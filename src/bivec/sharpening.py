r"""Sharpening: after smoothing, vectors of a side move towards the modes of their own density.

.. math::

    x_i \leftarrow \frac{y_i}{\|y_i\|}, \qquad
    y_i = \omega x_i + \sum_{l} e^{-\kappa (1 - \cos(x_i, x_l))} \, x_l

with landmarks l, 1,024 random nodes of the side or all of them where there are fewer. It is one
step of mean shift on the sphere. Smoothing leaves members of a community scattered around its
place, and a classifier of one example takes all but the nearest for strangers; more smoothing would
bring communities together as well. It leaves large communities that have much in common close to
each other, but not so close that a classifier of many examples could not tell them apart; it then
takes a node held out of one of them for a stranger, since it is known as a member of the other.
After the step both are one place. Nodes that are near no landmark stay where they are, by the small
:math:`\omega`. It follows smoothing where a rehearsal has found communities
(:mod:`bivec.rehearsal`).

References
----------
Comaniciu, Meer, "Mean shift: a robust approach toward feature space analysis", IEEE Transactions on
Pattern Analysis and Machine Intelligence 24(5), 2002, doi:10.1109/34.1000236.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bivec.parallel import Workers
from bivec.twins import Kinds

Table = npt.NDArray[np.float32]

LANDMARKS = 1024
SHARPNESS, OWN = 20.0, 0.01
"""Kappa and omega of the formula: a cosine of .9 counts 1/7, of .77 as much as the node itself."""
_STREAM, _CHUNK = 232, 256


def sharpen(table: Table, own: Kinds, seed: int, workers: Workers) -> None:
    """Sharpen smoothed vectors of length 1 in place, once for each kind of node.

    Linear in rows, dimension and landmarks. Nodes without edges stay where they are, and are no
    landmarks.
    """
    from bivec.kernels.sharpen import pull

    rows = own.gather(table)
    alone = np.diff(own.indptr) == 0
    chosen, weights = own.sample(LANDMARKS, seed, _STREAM)
    landmarks, every = rows[chosen], np.arange(len(chosen))

    def run(start: int, stop: int) -> None:
        pull(rows, landmarks, weights, every, SHARPNESS, OWN, alone, start, stop)

    if len(chosen):
        workers.run(run, len(rows), _CHUNK)
    own.scatter(table)
