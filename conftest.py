"""Every test, doctests of the Markdown pages included, runs in a directory of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
