"""Where figures were computed: versions and processor, for reports."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import bivec
from bivec.parallel import available_cores

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "implicit")


def environment() -> dict[str, Any]:
    """Return versions, processor and cores.

    >>> environment()["cores"] >= 1
    True
    """
    return {
        "bivec": bivec.__version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": available_cores(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
