"""How much memory a piece of work needs and whether the machine has it."""

from __future__ import annotations

import os
from pathlib import Path

from bivec.errors import NotEnoughMemoryError


def total_memory() -> int | None:
    """Return the bytes of memory of the machine, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def available_memory() -> int | None:
    """Return the bytes this process can still take, or None where the system does not tell.

    That is what the kernel calls available, or less where a control group sets a limit.
    """
    amounts = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                amounts.append(int(line.split()[1]) * 1024)
    except OSError:
        return None
    try:
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            amounts.append(max(0, int(limit) - int((group / "memory.current").read_text())))
    except (OSError, ValueError):
        pass
    return min(amounts) if amounts else None


def require_memory(needed: int, purpose: str, hint: str) -> None:
    """Raise :class:`NotEnoughMemoryError` if the machine cannot give this many bytes."""
    available = available_memory()
    if available is not None and needed > available:
        raise NotEnoughMemoryError(
            f"{purpose} needs {format_bytes(needed)} of memory, and {format_bytes(available)} is "
            f"available. {hint}"
        )


def format_bytes(n: float) -> str:
    """Return a size for people.

    >>> format_bytes(1536), format_bytes(20)
    ('1.5 KB', '20 bytes')
    """
    if n < 1024:
        return f"{n:.0f} bytes"
    for unit in ("KB", "MB", "GB"):
        n /= 1024
        if n < 1024:
            return f"{n:.1f} {unit}"
    return f"{n / 1024:.1f} TB"
