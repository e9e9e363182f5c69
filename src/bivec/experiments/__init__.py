"""Experiments as files: run them cell by cell, keep what was computed, report beside the paper."""

from bivec.experiments.cells import Cell, CellResult, CellStore, default_directory
from bivec.experiments.experiment import Experiment, check_experiment, find, names, read_experiment
from bivec.experiments.methods import make_method, registry
from bivec.experiments.published import Published, bound_on_f1
from bivec.experiments.report import write_report
from bivec.experiments.run import Outcome, Step, run_experiment
from bivec.experiments.sources import Source, load_source

__all__ = [
    "Cell",
    "CellResult",
    "CellStore",
    "Experiment",
    "Outcome",
    "Published",
    "Source",
    "Step",
    "bound_on_f1",
    "check_experiment",
    "default_directory",
    "find",
    "load_source",
    "make_method",
    "names",
    "read_experiment",
    "registry",
    "run_experiment",
    "write_report",
]
