"""How good vectors are: splits that do not leak, tasks, measures, and rankers to compare with."""

from bivec.evaluation.splits import Split, hold_out

__all__ = ["Split", "hold_out"]
