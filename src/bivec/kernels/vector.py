"""Bare pointers: rows of a table against one row, and fetching rows ahead of their use.

Inner functions take pointers instead of arrays. An array is seven fields and a reference count,
which threads would have to update in turn; a pointer is one register. Compilation takes half as
long, too. The functions work on any contiguous columns, so they serve a whole table or a slice of
its columns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba.core import types
from numba.extending import intrinsic

from bivec.kernels.jit import Array, inner, vector_inner

AHEAD = 16
"""Rows between fetching and use: about the latency of main memory, or of rows that another core has
written, at the speed of the dots."""

_LINE = 64
_ZERO = np.float32(0)


def _pointer(typingctx: Any, array: Any) -> Any:  # pragma: no cover
    """Return the address of a contiguous array's first entry, to be indexed like the array."""
    kind: Any = types.CPointer
    signature = kind(array.dtype)(array)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(sig.args[0])(context, builder, args[0]).data

    return signature, codegen


pointer: Any = intrinsic(_pointer)


def _prefetch(typingctx: Any, data: Any, position: Any) -> Any:  # pragma: no cover
    """Ask for the cache line of one entry; never faults, returns nothing."""
    signature = types.void(data, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(fetch, [place, ir.Constant(i32, 0), ir.Constant(i32, 3), ir.Constant(i32, 1)])
        return context.get_dummy_value()

    return signature, codegen


prefetch: Any = intrinsic(_prefetch)


@inner
def prefetch_row(table: Any, dim: int, row: int) -> None:  # pragma: no cover
    """Ask for all cache lines of one row of float32."""
    for c in range(0, dim, _LINE // 4):
        prefetch(table, row * dim + c)


@vector_inner
def dots_between(
    own: Any, at: int, table: Any, dim: int, rows: Any, start: int, stop: int, out: Any
) -> None:  # pragma: no cover
    """Write the dots of the row that begins at ``own[at]`` with rows of a table, maybe its own.

    ``out[m]`` is that with ``table[rows[m]]``, for m in [start, stop). Four rows at a time, so that
    the own row is read once for them.
    """
    whole = stop - (stop - start) % 4
    for m in range(start, whole, 4):
        for k in range(m + AHEAD, min(m + AHEAD + 4, stop)):
            prefetch_row(table, dim, rows[k])
        r0, r1, r2, r3 = rows[m] * dim, rows[m + 1] * dim, rows[m + 2] * dim, rows[m + 3] * dim
        s0 = s1 = s2 = s3 = _ZERO
        for c in range(dim):
            x = own[at + c]
            s0 += x * table[r0 + c]
            s1 += x * table[r1 + c]
            s2 += x * table[r2 + c]
            s3 += x * table[r3 + c]
        out[m] = s0
        out[m + 1] = s1
        out[m + 2] = s2
        out[m + 3] = s3
    for m in range(whole, stop):
        r0 = rows[m] * dim
        s0 = _ZERO
        for c in range(dim):
            s0 += own[at + c] * table[r0 + c]
        out[m] = s0


@vector_inner
def dots(
    table: Any, dim: int, own: int, rows: Any, start: int, stop: int, out: Any
) -> None:  # pragma: no cover
    """Write ``out[m] = table[own] . table[rows[m]]`` for m in [start, stop).

    All at once where there are just five, the usual number of sampled neighbours.
    """
    own *= dim
    if stop - start == 5:
        m = start
        r0, r1, r2, r3 = rows[m] * dim, rows[m + 1] * dim, rows[m + 2] * dim, rows[m + 3] * dim
        r4 = rows[m + 4] * dim
        s0 = s1 = s2 = s3 = s4 = _ZERO
        for c in range(dim):
            x = table[own + c]
            s0 += x * table[r0 + c]
            s1 += x * table[r1 + c]
            s2 += x * table[r2 + c]
            s3 += x * table[r3 + c]
            s4 += x * table[r4 + c]
        out[m] = s0
        out[m + 1] = s1
        out[m + 2] = s2
        out[m + 3] = s3
        out[m + 4] = s4
        return
    dots_between(table, own, table, dim, rows, start, stop, out)


@vector_inner
def weighted_sum(
    table: Any, dim: int, rows: Any, coefficients: Any, n: int, out: Any
) -> None:  # pragma: no cover
    """Add ``sum over m of coefficients[m] * table[rows[m]]`` to ``out``; four rows at a time."""
    whole = n - n % 4
    for m in range(0, whole, 4):
        r0, r1, r2, r3 = rows[m] * dim, rows[m + 1] * dim, rows[m + 2] * dim, rows[m + 3] * dim
        a0, a1 = coefficients[m], coefficients[m + 1]
        a2, a3 = coefficients[m + 2], coefficients[m + 3]
        for c in range(dim):
            out[c] += (a0 * table[r0 + c] + a1 * table[r1 + c]) + (
                a2 * table[r2 + c] + a3 * table[r3 + c]
            )
    for m in range(whole, n):
        r0 = rows[m] * dim
        a0 = coefficients[m]
        for c in range(dim):
            out[c] += a0 * table[r0 + c]


def aligned(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Return an empty array whose first entry starts a cache line, and which shares none.

    With a dimension of 16, 32, 48, ... every row of a table starts one, and a row of 128 is 8 lines
    instead of 9: a third faster beyond the cache, measured. What two threads write to must not
    stand in one line, or each would wait for the other to give it up.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + 2 * _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    table: Array = room[start : start + size].view(dtype).reshape(shape)
    return table
