"""How good vectors are: splits that do not leak, tasks, measures, and rankers to compare with."""

from bivec.evaluation.embedding_ranker import EmbeddingRanker
from bivec.evaluation.implicit_rankers import ALS, BPR
from bivec.evaluation.metrics import Measures, RankingTask, measure_ranking, ranking_task
from bivec.evaluation.rankers import EASE, ItemKNN, Popularity, PureSVD, Ranker
from bivec.evaluation.rating_splits import given_split, per_user_split, temporal_split
from bivec.evaluation.recommendation import (
    RANKERS,
    RecommendationRow,
    RecommendationTable,
    available_rankers,
    evaluate_recommendation,
    make_ranker,
)
from bivec.evaluation.splits import Split, hold_out

__all__ = [
    "ALS",
    "BPR",
    "EASE",
    "RANKERS",
    "EmbeddingRanker",
    "ItemKNN",
    "Measures",
    "Popularity",
    "PureSVD",
    "Ranker",
    "RankingTask",
    "RecommendationRow",
    "RecommendationTable",
    "Split",
    "available_rankers",
    "evaluate_recommendation",
    "given_split",
    "hold_out",
    "make_ranker",
    "measure_ranking",
    "per_user_split",
    "ranking_task",
    "temporal_split",
]
