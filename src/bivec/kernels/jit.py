"""How kernels are compiled: cached on disk, free of the interpreter lock, no hidden parallelism.

Threads are started outside (:mod:`bivec.parallel`) and each calls a kernel on rows of its own. That
keeps compilation short, works inside other people's thread pools and after a fork, and runs the
same machine code for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy.typing as npt

Array = npt.NDArray[Any]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

REASSOCIATE = {"reassoc", "contract", "nsz"}
"""Lets LLVM sum in several lanes, in an order fixed at compile time: same binary, same bytes."""


def kernel(function: Kernel) -> Kernel:
    """Compile a function that Python calls; division follows IEEE rules instead of raising."""
    options: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
    return numba.njit(**options)(function)  # type: ignore[no-any-return]


def inner(function: Kernel) -> Kernel:
    """Compile a function that only kernels call; with no way in from Python it compiles faster."""
    options: Any = {"error_model": "numpy", **_BARE}
    return numba.njit(**options)(function)  # type: ignore[no-any-return]


def vector_inner(function: Kernel) -> Kernel:
    """Compile an inner function whose sums may be evaluated in lanes."""
    options: Any = {"error_model": "numpy", "fastmath": REASSOCIATE, **_BARE}
    return numba.njit(**options)(function)  # type: ignore[no-any-return]


_BARE = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
