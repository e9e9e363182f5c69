"""Numbers between numpy and Arrow, sharing memory, and texts from Python.

Arrow's own ``pa.array`` and ``to_numpy`` import pandas wherever it is installed, which takes
longer than reading many a graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def from_numpy(values: npt.NDArray[np.number[Any]]) -> pa.Array:
    """Wrap an array of numbers.

    >>> from_numpy(np.array([3, 1])).to_pylist()
    [3, 1]
    """
    contiguous = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(contiguous.dtype)
    return pa.Array.from_buffers(kind, len(contiguous), [None, pa.py_buffer(contiguous)])


def from_texts(texts: list[str]) -> pa.Array:
    """Copy strings.

    >>> from_texts(["Zoë", ""]).to_pylist()
    ['Zoë', '']
    """
    encoded = [str.encode(text) for text in texts]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def to_numpy(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """View numbers without nulls; several chunks are copied into one.

    >>> to_numpy(pa.chunked_array([[3], [1, 2]]))
    array([3, 1, 2])
    """
    if isinstance(values, pa.ChunkedArray):
        if values.num_chunks != 1:
            values = pa.concat_arrays(values.chunks or [pa.array([], type=values.type)])
        else:
            values = values.chunk(0)
    return np.from_dlpack(values)
