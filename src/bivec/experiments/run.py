"""Run an experiment: cell by cell, each computed once and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bivec.errors import BivecError, MissingDataError, require
from bivec.experiments.cells import Cell, CellResult, CellStore
from bivec.experiments.environment import environment
from bivec.experiments.experiment import Experiment
from bivec.experiments.measure import measure
from bivec.experiments.plan import plan
from bivec.experiments.sources import Source, load_source


@dataclass(frozen=True)
class Step:
    """What a progress callback is told.

    ``share`` is that of all cells; ``finished`` is a cell whose result is there, computed in
    ``seconds`` or found.
    """

    share: float
    label: str
    cells: int
    done: int
    finished: CellResult | None = None
    seconds: float = 0.0


Progress = Callable[[Step], object]


@dataclass
class Outcome:
    """Everything that came out of an experiment.

    Attributes
    ----------
    experiment : Experiment
        As it was run: the small version, if that was asked for.
    quick : list of str
        What the small version changed; empty for the whole one.
    graphs : dict
        For each data set that was there: left and right nodes and edges.
    missing : dict
        For each one that was not, what was said.
    results : list of CellResult
        In the order of the experiment.
    notes : list of str
        Kept results that could not be used.
    """

    experiment: Experiment
    quick: list[str] = field(default_factory=list)
    graphs: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    results: list[CellResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run_experiment(
    experiment: Experiment,
    *,
    quick: bool = False,
    data_dir: Any = None,
    store: CellStore | None = None,
    sources: Mapping[str, Source] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    compute: bool = True,
) -> Outcome:
    """Compute every cell of an experiment that is not kept already.

    Parameters
    ----------
    experiment : Experiment
        From :func:`bivec.experiments.find` or a file.
    quick : bool
        Run the small version that the experiment describes.
    data_dir : path, optional
        See :func:`bivec.datasets.load`. A data set that is not there is left out and noted.
    store : CellStore, optional
        Where results are kept; without one, nothing is.
    sources : mapping, optional
        Graphs by name, instead of those of the registry.
    n_jobs : int, optional
        Threads; they change times, not figures.
    progress : callable, optional
        Called with a :class:`Step`.
    compute : bool
        Whether to; if not, cells that are not kept are left out and noted.

    Returns
    -------
    Outcome
        Figures, and notes on what went wrong. Ctrl-C raises KeyboardInterrupt; what was finished
        is kept.
    """
    require("sklearn.metrics", extra="evaluate", purpose="Evaluation")
    changes: list[str] = []
    if quick:
        experiment, changes = experiment.quickened()
    kept = store if store is not None else CellStore()
    outcome = Outcome(experiment, changes)

    # Load
    graphs: dict[str, Source] = {}
    for name in experiment.datasets:
        try:
            graphs[name] = (sources or {}).get(name) or load_source(name, data_dir)
        except MissingDataError as error:
            outcome.missing[name] = str(error)
            continue
        graph = graphs[name].graph
        outcome.graphs[name] = {
            "left": graph.n_left,
            "right": graph.n_right,
            "edges": graph.n_edges,
            "given_split": graphs[name].given is not None,
        }

    # Compute what is not kept
    cells = [cell for source in graphs.values() for cell in plan(experiment, source)]
    n, warm, here = len(cells), False, environment()
    for done, cell in enumerate(cells):
        result, seconds = kept.get(cell), 0.0
        if result is None and not compute:
            outcome.notes.append(f"{cell}: not measured")
            continue
        if result is None:
            if not warm:
                _warm_up()
                warm = True
            began = time.perf_counter()

            def tell(share: float, what: str, done: int = done, cell: Cell = cell) -> None:
                if progress is not None:
                    label = f"{cell}: {what.rpartition(': ')[2]}"
                    progress(Step((done + share) / n, label, n, done))

            result = _compute(cell, graphs[cell.dataset], kept, here, n_jobs, tell)
            seconds = time.perf_counter() - began
        outcome.results.append(result)
        if progress is not None:
            progress(Step((done + 1) / n, str(cell), n, done + 1, result, seconds))
    outcome.notes += kept.notes
    return outcome


def _compute(
    cell: Cell,
    source: Source,
    store: CellStore,
    here: dict[str, Any],
    n_jobs: int | None,
    tell: Callable[[float, str], None],
) -> CellResult:
    """Compute a cell and keep it."""
    tell(0.0, "fit")
    try:
        figures = measure(cell, source, n_jobs=n_jobs, progress=tell)
    except (BivecError, MemoryError) as error:
        # Of this machine, not of the input: said, not kept, tried again by the next run.
        return CellResult(cell, {"error": str(error) or "out of memory"}, here)
    result = CellResult(cell, figures, here)
    store.put(result)
    return result


def _warm_up() -> None:
    """Compile the kernels, so that no cell's time has it."""
    from bivec import kernels

    kernels.warmup()
