"""Progress of experiments: a bar on a terminal, a line for each cell in a log."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bivec.cli.options import messages

if TYPE_CHECKING:
    from bivec.experiments import Step


@contextmanager
def experiment_progress() -> Iterator[Callable[[Step], None]]:
    """Show how far an experiment has come, on standard error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="training was interrupted")  # the run is, too
        with _bar() if sys.stderr.isatty() else nullcontext(_line) as tell:
            yield tell


@contextmanager
def _bar() -> Iterator[Callable[[Step], None]]:
    columns = (
        TextColumn("{task.fields[cells]}"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=messages(), transient=True) as bar:
        task = bar.add_task("loading", total=1.0, cells="")

        def tell(step: Step) -> None:
            cells = f"{step.done}/{step.cells} cells"
            bar.update(task, completed=step.share, description=step.label, cells=cells)

        yield tell


def _line(step: Step) -> None:
    if step.finished is None or step.finished.cached:
        return
    failed = " FAILED" if step.finished.error else ""
    sys.stderr.write(f"{step.done}/{step.cells} {step.label}: {step.seconds:.1f} s{failed}\n")
    sys.stderr.flush()
