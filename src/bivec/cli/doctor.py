"""The verb ``doctor``: what bivec finds on this machine."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from typing import Annotated, Any

import typer

import bivec
from bivec.cli.options import Json, example, messages
from bivec.cli.show import print_facts, print_json
from bivec.memory import available_memory, format_bytes, total_memory
from bivec.parallel import available_cores


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog=example("bivec doctor", "bivec doctor --warmup", "bivec doctor --json"))(
        doctor
    )


def doctor(
    json: Json = False,
    warmup: Annotated[
        bool, typer.Option("--warmup", help="Compile the kernels now, so that no later run has to.")
    ] = False,
) -> None:
    """Check the installation: versions, extras, threads, numba's cache, memory."""
    from bivec import kernels

    report: dict[str, Any] = {
        "bivec": bivec.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": available_cores(),
        "memory": {"total": total_memory(), "available": available_memory()},
        "packages": packages(),
    }
    if warmup:
        messages().print("compiling kernels ...")
        report["warmup_seconds"] = {k: round(v, 3) for k, v in kernels.warmup().items()}
    report["numba"] = kernels.runtime()
    if json:
        print_json(report)
    else:
        print_facts(_facts(report))


def _facts(report: dict[str, Any]) -> list[tuple[str, str]]:
    numba, ram = report["numba"], report["memory"]
    rows = [(key, str(report[key])) for key in ("bivec", "python", "platform")]
    rows.append(("threads", f"{report['processors']}, one a processor"))
    amounts = [format_bytes(n) if n is not None else "unknown" for n in ram.values()]
    rows.append(("memory", f"{amounts[1]} free of {amounts[0]}"))
    writable = "" if numba["cache_writable"] else " - NOT WRITABLE: set NUMBA_CACHE_DIR"
    rows.append(
        ("numba cache", f"{numba['cached_files']} kernels in {numba['cache_dir']}{writable}")
    )
    for kernel, seconds in report.get("warmup_seconds", {}).items():
        rows.append((f"compiled {kernel}", f"{seconds:.2f} s"))
    for extra, found in report["packages"].items():
        name = "core" if extra == "core" else f"extra {extra}"
        missing = [package for package, version in found.items() if version is None]
        have = [f"{package} {version}" for package, version in found.items() if version]
        hint = f"missing {', '.join(missing)}: pip install 'bivec\\[{extra}]'".replace("\\", "")
        rows.append((name, ", ".join(have + ([hint] if missing else []))))
    return rows


def packages() -> dict[str, dict[str, str | None]]:
    """Return the version of each package that bivec can use, by extra; None where missing."""
    found: dict[str, dict[str, str | None]] = {"core": {}}
    for requirement in importlib.metadata.requires("bivec") or []:
        name = re.split(r"[^\w.-]", requirement)[0]
        extra = re.search(r"extra\s*==\s*['\"](\w+)", requirement)
        group = extra[1] if extra else "core"
        if name == "bivec" or group in ("dev", "all"):
            continue
        try:
            version: str | None = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = None
        found.setdefault(group, {})[name] = version
    return found
