"""The README, run as printed: its Python as doctests, its console lines here."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bivec

README = Path(__file__).parents[1] / "README.md"


def console_lines() -> list[tuple[str, str]]:
    """Return each command of the README with the output printed below it."""
    blocks = re.findall(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    commands = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
    return [tuple(command.split("\n", 1)) for command in commands]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    graph = bivec.as_graph([("ann", "Alien", 5), ("bob", "Alien", 3), ("bob", "Brazil", 4)])
    bivec.write_graph(graph, folder / "ratings.csv")
    return folder


def test_there_are_commands_to_test():
    assert len(console_lines()) >= 4


@pytest.mark.parametrize("command, printed", console_lines())
def test_console_line(folder, command, printed):
    words = command.split()
    assert words[0] == "bivec"
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
    )
    got = (done.stdout + done.stderr).splitlines()
    assert len(got) == len(printed.splitlines())
    for line, expected in zip(got, printed.splitlines(), strict=True):
        beginning, dots, _ = expected.partition("...")
        shown = " ".join(line.split())
        if dots:  # what follows differs from run to run
            shown = shown[: len(" ".join(beginning.split()))]
        assert shown == " ".join(beginning.split())


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (README.parent / link).exists(), link
