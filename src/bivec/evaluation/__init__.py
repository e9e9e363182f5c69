"""How good vectors are: splits that do not leak, tasks, measures, and rankers to compare with."""

from bivec.evaluation.compare import LinkRun, LinkSummary, evaluate_links, summarize_links
from bivec.evaluation.embedding_ranker import EmbeddingRanker
from bivec.evaluation.implicit_rankers import ALS, BPR
from bivec.evaluation.link_prediction import link_prediction
from bivec.evaluation.metrics import Measures, RankingTask, measure_ranking, ranking_task
from bivec.evaluation.rankers import EASE, ItemKNN, Popularity, PureSVD, Ranker, RP3Beta
from bivec.evaluation.rating_splits import given_split, per_user_split, temporal_split
from bivec.evaluation.recommendation import (
    RANKERS,
    RecommendationRow,
    RecommendationTable,
    available_rankers,
    evaluate_recommendation,
    make_ranker,
)
from bivec.evaluation.references import reference_scores
from bivec.evaluation.scores import LinkScores
from bivec.evaluation.sensitivity import SensitivityRow, sensitivity
from bivec.evaluation.splits import Split, hold_out

__all__ = [
    "ALS",
    "BPR",
    "EASE",
    "RANKERS",
    "EmbeddingRanker",
    "ItemKNN",
    "LinkRun",
    "LinkScores",
    "LinkSummary",
    "Measures",
    "Popularity",
    "PureSVD",
    "RP3Beta",
    "Ranker",
    "RankingTask",
    "RecommendationRow",
    "RecommendationTable",
    "SensitivityRow",
    "Split",
    "available_rankers",
    "evaluate_links",
    "evaluate_recommendation",
    "given_split",
    "hold_out",
    "link_prediction",
    "make_ranker",
    "measure_ranking",
    "per_user_split",
    "ranking_task",
    "reference_scores",
    "sensitivity",
    "summarize_links",
    "temporal_split",
]
