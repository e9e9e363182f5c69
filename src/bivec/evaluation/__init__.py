"""How good vectors are: splits that do not leak, tasks, measures, and rankers to compare with."""

from bivec.evaluation.compare import LinkRun, LinkSummary, evaluate_links, summarize_links
from bivec.evaluation.link_prediction import link_prediction
from bivec.evaluation.references import reference_scores
from bivec.evaluation.scores import LinkScores
from bivec.evaluation.sensitivity import SensitivityRow, sensitivity
from bivec.evaluation.splits import Split, hold_out

__all__ = [
    "LinkRun",
    "LinkScores",
    "LinkSummary",
    "SensitivityRow",
    "Split",
    "evaluate_links",
    "hold_out",
    "link_prediction",
    "reference_scores",
    "sensitivity",
    "summarize_links",
]
