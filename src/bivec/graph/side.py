"""One side of a graph, as the other rooms see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bivec.ids import Vocabulary

Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False, slots=True)
class GraphSide:
    """One side of a graph: its ids, and for each row the neighbours on the other side.

    The neighbours of row ``i`` are ``indices[indptr[i]:indptr[i + 1]]``, ascending, with their
    ``weights`` in the same order. The arrays are read-only.
    """

    ids: Vocabulary
    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.integer[Any]]
    weights: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """Number of neighbours of each row."""
        return np.diff(self.indptr)

    @property
    def nbytes(self) -> int:
        """Memory of ids, pointers, neighbours and weights."""
        arrays = (self.ids, self.indptr, self.indices, self.weights)
        return sum(array.nbytes for array in arrays)
