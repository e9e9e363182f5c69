"""What the verbs that train share: progress, saving, the report."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bivec.cli.options import messages
from bivec.cli.show import print_json

if TYPE_CHECKING:
    from bivec.models import BipartiteEstimator
    from bivec.settings import Progress as EpochProgress


def train(model: BipartiteEstimator, name: str, edges: Any, **how: Any) -> float:
    """Fit with progress and return the seconds; Ctrl-C before anything was learned is an error."""
    began = time.perf_counter()
    with training_progress(name) as progress, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="training was interrupted")  # told by finish
        model.set_params(progress=progress).fit(edges, **how)
    if model.interrupted_ and model.n_iter_ == 0:
        raise KeyboardInterrupt
    return time.perf_counter() - began


def outcome(model: BipartiteEstimator, output: Path, seconds: float) -> dict[str, Any]:
    """Return what every report of training tells."""
    losses = [float(record.loss) for record in model.history_]
    return {
        "output": str(output),
        "dim": int(model.left_embedding_.shape[1]),
        "left": model.graph_.n_left,
        "right": model.graph_.n_right,
        "edges": model.graph_.n_edges,
        "epochs": model.n_iter_,
        "interrupted": model.interrupted_,
        "loss": losses[-1] if losses else None,
        "first_loss": losses[0] if losses else None,
        "pairs": sum(record.pairs for record in model.history_),
        "seconds": round(seconds, 3),
        "seed": model.seed_,
    }


def finish(report: dict[str, Any], sentence: str, json: bool) -> None:
    """Print the report; exit as programs do that were interrupted, if training was."""
    if json:
        print_json(report)
    messages().print(sentence, markup=False, soft_wrap=True)
    if report["interrupted"]:
        raise typer.Exit(130)


@contextmanager
def training_progress(method: str) -> Iterator[Callable[[EpochProgress], None] | None]:
    """Show epochs, rate, loss and time left, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn(f"{method} {{task.fields[stage]}} {{task.completed}}/{{task.total}}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  {task.fields[rate]:.1f} M pairs/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=messages(), transient=True) as bar:
        task = bar.add_task("", total=None, loss=float("nan"), rate=0.0, stage="epoch")
        yield lambda step: bar.update(
            task,
            completed=step.epoch,
            total=step.epochs,
            loss=float(step.record.loss),
            rate=step.pairs_per_second / 1e6,
            stage="epoch" if step.stage == "training" else step.stage,
        )
