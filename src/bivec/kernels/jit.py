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
    """Compile a function; division follows IEEE rules instead of raising."""
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled  # type: ignore[no-any-return]


def vector_kernel(function: Kernel) -> Kernel:
    """Compile a function whose sums may be evaluated in lanes."""
    options: Any = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": REASSOCIATE}
    compiled: Any = numba.njit(**options)(function)
    return compiled  # type: ignore[no-any-return]
