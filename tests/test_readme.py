"""The README, run as printed: its Python as doctests, its console lines here."""

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
    bivec.Embedding(
        bivec.EmbeddingSide(graph.left.ids, [[1, 0], [0, 1]]),
        bivec.EmbeddingSide(graph.right.ids, [[1, 1], [0, 2]]),
    ).save(folder / "ratings.bivec")
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
        env={"COLUMNS": "300", "PATH": ""},
    )
    assert [line.split() for line in (done.stdout + done.stderr).splitlines()] == [
        line.split() for line in printed.splitlines()
    ]


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (README.parent / link).exists(), link
