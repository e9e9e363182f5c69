"""How good vectors are: splits that do not leak, tasks, measures, and rankers to compare with."""

from bivec.evaluation.rating_splits import given_split, per_user_split, temporal_split
from bivec.evaluation.splits import Split, hold_out

__all__ = ["Split", "given_split", "hold_out", "per_user_split", "temporal_split"]
