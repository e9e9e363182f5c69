"""Every test, doctests of the Markdown pages included, runs in a directory of its own."""

import importlib.util
from pathlib import Path

import pytest

# Without torch there are no combinations; a test in test_align.py is skipped then, and says so.
collect_ignore = (
    []
    if importlib.util.find_spec("torch")
    else [
        "docs/combination.md",
        *(f"src/bivec/combine/{name}.py" for name in ("combination", "network", "training")),
        *(f"tests/combine/test_{name}.py" for name in ("cli_combine", "combination", "network")),
    ]
)


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
