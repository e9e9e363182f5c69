"""The compiled inner loops: arrays and scalars in, preallocated arrays out.

This package is the only importer of numba. Nothing imports it at module level outside of itself,
so ``import bivec`` stays light; compiled code is cached on disk after the first use.
"""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path
from typing import Any

MODULES = (
    "peel", "rng", "relax", "view", "sample", "train", "holdout",
    "svm", "personal", "paths", "rank", "walk", "skipgram", "contrast", "bine",
    "topk", "bridges", "fold", "smooth", "twins", "even", "sharpen", "merge", "entry",
)  # fmt: skip
"""Each has a ``warmup()`` that compiles its kernels for the types that bivec uses."""


def warmup() -> dict[str, float]:
    """Compile every kernel (or load it from the cache) and return the seconds each took."""
    seconds = {}
    for name in MODULES:
        start = time.perf_counter()
        importlib.import_module(f"bivec.kernels.{name}").warmup()
        seconds[name] = time.perf_counter() - start
    return seconds


def runtime() -> dict[str, Any]:
    """Return what numba makes of this machine: version, threads, and where compiled code goes."""
    import numba

    cache = os.environ.get("NUMBA_CACHE_DIR") or str(Path(__file__).parent / "__pycache__")
    place = Path(cache)
    existing = next(p for p in (place, *place.parents) if p.exists())
    return {
        "version": numba.__version__,
        "cache_dir": cache,
        "cache_writable": os.access(existing, os.W_OK),
        "cached_files": len(list(place.glob("*.nbc"))) if place.is_dir() else 0,
    }
