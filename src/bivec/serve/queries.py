"""The queries of an embedding as answers of the HTTP interface."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bivec.embedding import Embedding
from bivec.errors import BivecError
from bivec.graph import Side
from bivec.ids import Id
from bivec.serve import answers

if TYPE_CHECKING:
    from bivec.queries import Ranking


class NoGraphError(BivecError):
    """A query that needs the graph, asked of an embedding without one."""


class Queries:
    """Queries by id, one or many, as the answers have them."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding

    def warm_up(self) -> None:
        """Answer one question of each kind, so that what they share is there for the others."""
        emb = self.embedding
        for side in ("left", "right"):
            if len(emb.side(side)):
                key = emb.side(side).ids[0]
                emb.similar(key, side=side, n=1, n_jobs=1)
                emb.recommend(key, 1, side=side, n_jobs=1)
        if emb.graph is not None and emb.graph.n_edges:
            row = int(emb.graph.left.indices[0])
            emb.explain(emb.left.ids[int(emb.graph.left_rows()[0])], emb.right.ids[row], n=1)

    def recommend(self, id: str, side: Side, n: int, exclude_known: bool) -> answers.Ranking:
        """Recommend for one node; an unknown id is an error."""
        return _ranking(
            self.embedding.recommend(id, n, side=side, exclude_known=exclude_known, n_jobs=1)
        )

    def recommend_many(
        self,
        ids: list[Id],
        side: Side,
        n: int,
        exclude_known: bool,
        allow: list[Id] | None,
        deny: list[Id] | None,
    ) -> answers.Rankings:
        """Recommend for many nodes; unknown ones are reported, also those to allow."""
        known, unknown = self._known(side, ids)
        if allow is not None:
            allow, absent = self._known("right" if side == "left" else "left", allow)
            unknown += absent
        if not known:
            return answers.Rankings(results=[], unknown=unknown)
        found = self.embedding.recommend(
            known, n, side=side, exclude_known=exclude_known, allow=allow, deny=deny
        )
        return answers.Rankings(results=[_ranking(one) for one in found], unknown=unknown)

    def similar(self, id: str, side: Side, n: int) -> answers.Ranking:
        """Find similar nodes for one node; an unknown id is an error."""
        return _ranking(self.embedding.similar(id, side=side, n=n, n_jobs=1))

    def similar_many(self, ids: list[Id], side: Side, n: int) -> answers.Rankings:
        """Find similar nodes for many nodes; unknown ones are reported."""
        known, unknown = self._known(side, ids)
        found = self.embedding.similar(known, side=side, n=n) if known else []
        return answers.Rankings(results=[_ranking(one) for one in found], unknown=unknown)

    def explain(self, left: Id, right: Id, n: int) -> answers.Explanation:
        """Explain one pair; an unknown id is an error."""
        self._need_graph()
        return _explanation(self.embedding.explain(left, right, n=n).to_dict())

    def explain_many(self, pairs: list[tuple[Id, Id]], n: int) -> answers.Explanations:
        """Explain many pairs; those with an unknown node are left out and reported."""
        self._need_graph()
        emb = self.embedding
        left = emb.left.ids.find([pair[0] for pair in pairs])
        right = emb.right.ids.find([pair[1] for pair in pairs])
        unknown = [str(pair[0]) for pair, row in zip(pairs, left, strict=True) if row < 0]
        unknown += [str(pair[1]) for pair, row in zip(pairs, right, strict=True) if row < 0]
        whole = (left >= 0) & (right >= 0)
        results = [self.explain(*pair, n) for pair, w in zip(pairs, whole, strict=True) if w]
        return answers.Explanations(results=results, unknown=unknown)

    def _need_graph(self) -> None:
        if self.embedding.graph is None:
            raise NoGraphError(
                "this embedding was saved without its graph. "
                "Start the server with --graph and the file of the edges."
            )

    def _known(self, side: Side, ids: Sequence[Id]) -> tuple[list[Id], list[str]]:
        pairs = list(zip(ids, self.embedding.side(side).ids.find(ids), strict=True))
        known = [key for key, row in pairs if row >= 0]
        return known, [str(key) for key, row in pairs if row < 0]


def _ranking(found: Ranking) -> answers.Ranking:
    return answers.Ranking(
        id=str(found.of),
        side=found.of_side,
        found_on=found.side,
        scorer=found.scorer,
        items=[
            answers.Hit(id=str(key), score=score if math.isfinite(score) else None)
            for key, score in found
        ],
    )


def _explanation(found: dict[str, Any]) -> answers.Explanation:
    """Turn ids into text: the interface has no other."""
    bridges = [
        {**bridge, "shared": str(bridge["shared"]), "other": str(bridge["other"])}
        for bridge in found["bridges"]
    ]
    pair = {"left": str(found["left"]), "right": str(found["right"])}
    return answers.Explanation.model_validate({**found, **pair, "bridges": bridges})
