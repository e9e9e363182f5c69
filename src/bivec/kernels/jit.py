"""How kernels are compiled: cached on disk, free of the interpreter lock, no hidden parallelism.

Threads are started outside (:mod:`bivec.parallel`) and each calls a kernel on rows of its own. That
keeps compilation short, works inside other people's thread pools and after a fork, and runs the
same machine code for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy.typing as npt
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

Array = npt.NDArray[Any]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

REASSOCIATE = {"reassoc", "contract", "nsz"}
"""Lets LLVM sum in several lanes, in an order fixed at compile time: same binary, same bytes."""


def _sources() -> tuple[Any, ...]:
    """Return when and how long the files of all kernels are."""
    found = sorted(Path(__file__).parent.glob("*.py"))
    return tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in found)


SOURCES = _sources()


def kernel(function: Kernel) -> Kernel:
    """Compile a function that Python calls; division follows IEEE rules instead of raising.

    Numba asks only whether the file of the function itself is the one that was compiled. Inner
    functions and constants come from other files, and machine code with an old one of them may
    write beyond its arrays: here a change of any kernel file makes what is cached stale.
    """
    options: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
    compiled: Any = numba.njit(**options)(function)
    cached: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cached, "_source_stamp"):
        cached._source_stamp = SOURCES
    return compiled  # type: ignore[no-any-return]


class _NoAddress:
    """Takes the environment of a function without machine code; a cached kernel has none either."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class _Part(JITCodeLibrary):
    """The code of an inner function: to be linked into a kernel's, never to be run by itself.

    Numba optimizes it, and writes machine code for it, for each function with all that it calls,
    so that what lies deep in a kernel passes through many times. Here it passes once, as a part of
    the kernel. Compilation of the training kernel takes 9 s instead of 15, and the kernel computes
    the same bytes at the same speed.
    """

    codegen = _NoAddress()

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, which stands for no machine code."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0


class _InnerCompiler(Compiler):
    """Numba's own steps, into a library of ours."""

    def define_pipelines(self) -> list[Any]:
        """Set the library before the steps are set up."""
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = _Part(codegen, name)  # type: ignore[no-untyped-call]
        return super().define_pipelines()  # type: ignore[no-any-return, no-untyped-call]


def inner(function: Kernel) -> Kernel:
    """Compile a function that only kernels call; with no way in from Python it compiles faster."""
    options: Any = {"error_model": "numpy", **_BARE}
    return numba.njit(**options)(function)  # type: ignore[no-any-return]


def vector_inner(function: Kernel) -> Kernel:
    """Compile an inner function whose sums may be evaluated in lanes."""
    options: Any = {"error_model": "numpy", "fastmath": REASSOCIATE, **_BARE}
    return numba.njit(**options)(function)  # type: ignore[no-any-return]


_BARE = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _InnerCompiler,
}
