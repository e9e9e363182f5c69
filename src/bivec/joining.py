r"""Joining: in graphs of communities, the vectors of both sides begin in one space.

.. math::

    x_i \leftarrow \hat x_i + \hat y_i, \qquad y_i = \sum_{b \in \Gamma(i)} \hat x_b

The two sides are learned in spaces of their own. After many steps of smoothing little but
communities is left of them, each at a random place of either space, and which of one side goes with
which of the other would have to be learned by heart. With this they have one space in common.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bivec.graph import GraphSide
from bivec.lengths import to_length_one, to_one
from bivec.parallel import Workers

Table = npt.NDArray[np.float32]

_COLUMNS, _CHUNK = 16, 1024
"""Columns at a time, as it needs room on both sides; rows of a part."""


def join(sides: tuple[GraphSide, GraphSide], tables: tuple[Table, Table], workers: Workers) -> None:
    """Add to each vector, at length 1, that of the mean of its neighbours, in place."""
    from bivec.kernels.smooth import to_bridges

    dim = tables[0].shape[1]
    width = min(_COLUMNS, dim)
    rooms = [np.empty((len(table), width), np.float32) for table in tables]
    ones = [np.ones(len(table), np.float32) for table in tables]
    squares = [np.zeros(len(table), np.float32) for table in tables]
    for table in tables:
        to_length_one(table)

    def sum_neighbors(near: int, first: int) -> Table:
        side, far, out = sides[near], tables[1 - near], rooms[near]
        columns = min(width, dim - first)

        def add(a: int, b: int) -> None:
            total = np.empty(columns, np.float32)
            arrays = side.indptr, side.indices, far, ones[1 - near], first, ones[near], out, total
            to_bridges(*arrays, a, b)

        workers.run(add, len(side), _CHUNK)
        return out[:, :columns]

    for adding in (False, True):
        for first in range(0, dim, width):
            sums = [sum_neighbors(near, first) for near in (0, 1)]
            for table, part, square in zip(tables, sums, squares, strict=True):
                if adding:
                    part *= to_one(square)[:, None]
                    table[:, first : first + width] += part
                else:
                    square += np.einsum("ij,ij->i", part, part)
