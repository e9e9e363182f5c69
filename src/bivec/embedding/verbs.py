"""What one can ask an embedding: the methods are thin, :mod:`bivec.queries` answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from bivec.graph import BipartiteGraph, Side
from bivec.ids import Id

if TYPE_CHECKING:
    from bivec.embedding.embedding import Embedding
    from bivec.embedding.folded import FoldedSide
    from bivec.queries import Explanation, Links, Ranking, Scorer
    from bivec.queries.index import IndexReport


class Verbs:
    """The questions; :class:`bivec.Embedding` has the answers' data."""

    __slots__ = ()

    left: Any
    right: Any
    graph: BipartiteGraph | None
    method: str
    params: Any
    cache: dict[Any, Any]

    @overload
    def recommend(  # type: ignore[overload-overlap]
        self, ids: Id, n: int = ..., *, side: Side = ..., exclude_known: bool = ...,
        allow: Iterable[Id] | None = ..., deny: Iterable[Id] | None = ...,
        scorer: str | Scorer | None = ..., approximate: bool = ..., n_jobs: int | None = ...,
    ) -> Ranking: ...  # fmt: skip
    @overload
    def recommend(
        self, ids: Iterable[Id], n: int = ..., *, side: Side = ..., exclude_known: bool = ...,
        allow: Iterable[Id] | None = ..., deny: Iterable[Id] | None = ...,
        scorer: str | Scorer | None = ..., approximate: bool = ..., n_jobs: int | None = ...,
    ) -> list[Ranking]: ...  # fmt: skip
    def recommend(
        self,
        ids: Any,
        n: int = 10,
        *,
        side: Side = "left",
        exclude_known: bool = True,
        allow: Iterable[Id] | None = None,
        deny: Iterable[Id] | None = None,
        scorer: str | Scorer | None = None,
        approximate: bool = False,
        n_jobs: int | None = None,
    ) -> Ranking | list[Ranking]:
        """Suggest nodes of the other side.

        Parameters
        ----------
        ids : id, or iterable of ids
            Who asks. Many are ranked in blocks; a matrix of all scores never exists.
        n : int
            Length of a list. It is shorter only where there are no more candidates.
        side : {"left", "right"}
            The side of ``ids``. From the right side, this suggests left nodes: members for a group.
        exclude_known : bool
            Leave out neighbours in the training graph; an embedding without its graph knows none.
        allow : iterable of ids, optional
            Only these are candidates.
        deny : iterable of ids, optional
            These are not; ids that the embedding does not hold are no error here.
        scorer : str or Scorer, optional
            One of :data:`bivec.queries.SCORERS`. By default ``"blend"``, which is fitted when it
            is first asked for, or ``"dot"`` where there is no graph. For a node without edges the
            default is ``"popularity"``. The paper's is ``"centroid"``.
        approximate : bool
            Take candidates from the index that :meth:`build_index` made; their scores are exact.
            No index serves ``"blend"``: the default is then ``"centroid"``.
        n_jobs : int, optional
            Threads that select; every core where not given. The result does not depend on it.

        Returns
        -------
        Ranking, or list of Ranking
            One for each id, in their order. Of equal scores the lower row comes first.

        Examples
        --------
        >>> import bivec
        >>> emb = bivec.FOBE(dim=16).fit(bivec.datasets.southern_women()).embedding_
        >>> emb.recommend("Flora Price", n=3).ids
        ['E8', 'E12', 'E10']
        """
        from bivec.queries import recommend

        return recommend(
            self, ids, n, side=side, exclude_known=exclude_known, allow=allow, deny=deny,
            scorer=scorer, approximate=approximate, n_jobs=n_jobs,
        )  # fmt: skip

    @overload
    def similar(  # type: ignore[overload-overlap]
        self, ids: Id, side: Side = ..., n: int = ..., *, approximate: bool = ...,
        n_jobs: int | None = ...,
    ) -> Ranking: ...  # fmt: skip
    @overload
    def similar(
        self, ids: Iterable[Id], side: Side = ..., n: int = ..., *, approximate: bool = ...,
        n_jobs: int | None = ...,
    ) -> list[Ranking]: ...  # fmt: skip
    def similar(
        self,
        ids: Any,
        side: Side = "left",
        n: int = 10,
        *,
        approximate: bool = False,
        n_jobs: int | None = None,
    ) -> Ranking | list[Ranking]:
        """Find the nodes of the same side whose vectors point the same way, by cosine.

        Parameters
        ----------
        ids : id, or iterable of ids
            Of which nodes.
        side : {"left", "right"}
            Their side.
        n : int
            Length of a list; the node itself is never in it.
        approximate, n_jobs
            As for :meth:`recommend`.

        Returns
        -------
        Ranking, or list of Ranking
        """
        from bivec.queries import similar

        return similar(self, ids, side, n, approximate=approximate, n_jobs=n_jobs)

    def score(
        self, pairs: Iterable[tuple[Id, Id]], *, scorer: str | Scorer | None = None
    ) -> npt.NDArray[np.float32]:
        """Return the scores of pairs of a left and a right id, as :meth:`recommend` has them.

        Parameters
        ----------
        pairs : iterable of (left id, right id)
            Edges or not.
        scorer : str or Scorer, optional
            As for :meth:`recommend`.
        """
        from bivec.queries import score

        return score(self, pairs, scorer)

    def predict_links(self, n: int = 100, *, scorer: str | Scorer | None = None) -> Links:
        """Find the n pairs without an edge that score best, over the whole graph.

        All pairs are scored, block by block: time grows with left times right nodes, memory does
        not.

        Parameters
        ----------
        n : int
            How many; fewer come only where the graph has fewer absent pairs.
        scorer : str or Scorer, optional
            As for :meth:`recommend`.

        Returns
        -------
        Links
            Of equal scores the lower left row comes first, then the lower right row.
        """
        from bivec.queries import predict_links

        return predict_links(self, n, scorer=scorer)

    def explain(
        self, left: Id, right: Id, n: int = 5, *, scorer: str | Scorer | None = None
    ) -> Explanation:
        """Find the strongest bridges between a left and a right node.

        A bridge is a path left - shared - other - right: another left node has the right node, and
        shares a neighbour with the left one. See :mod:`bivec.queries.explain`.

        Parameters
        ----------
        left, right : id
            The pair, an edge or not.
        n : int
            How many bridges to show; the explanation says how many there are.
        scorer : str or Scorer, optional
            For the score that goes with it, as for :meth:`recommend`.

        Returns
        -------
        Explanation
            Without a bridge it has length 0, which is an answer, too.
        """
        from bivec.queries import explain

        return explain(self, left, right, n, scorer=scorer)

    def build_index(
        self, *, connectivity: int = 16, expansion: int = 128, n_jobs: int | None = None
    ) -> list[IndexReport]:
        """Build approximate indexes of both sides, for ``approximate=True``; saved with the rest.

        Needs the extra ``index`` (usearch). Exact search is fast enough for some hundred thousand
        nodes; see :mod:`bivec.queries.index`.

        Parameters
        ----------
        connectivity, expansion : int
            Links of a node, and nodes looked at: higher finds more and takes longer.
        n_jobs : int, optional
            Threads; every core where not given, of which four find work. The bytes do not depend
            on it.

        Returns
        -------
        list of IndexReport
            What each index holds, with its measured recall.
        """
        from bivec.queries.index import build

        self.cache["indexes"] = build(self, n_jobs, connectivity, expansion)
        return [index.report for index in self.cache["indexes"].values()]

    def fold_in(self, rows: Any, side: Side = "left", *, n_jobs: int | None = None) -> FoldedSide:
        """Return vectors for new nodes from their edges, without training again.

        A new row is optimised with the method's own objective while all others stay; see
        :mod:`bivec.queries.fold`. For FOBE and HOBE, with the graph at hand.

        Parameters
        ----------
        rows : mapping, sparse matrix, or edges
            ``{new id: neighbours}``, where neighbours are ids of the other side, or pairs of an id
            and a weight; a matrix with one row for each new node and one column for each node of
            the other side, in the order of their rows; or edges in any form that
            :func:`bivec.as_graph` takes, left ids first.
        side : {"left", "right"}
            The side of the new nodes.
        n_jobs : int, optional
            Threads; every core where not given. The bytes do not depend on it.

        Returns
        -------
        FoldedSide
            Ids and vectors as of a side of an embedding. Neighbours that the embedding does not
            know are listed in ``unknown``; a node without a known neighbour gets a vector of
            zeros. ``embedding.extended(folded)`` answers questions about the new nodes.

        Examples
        --------
        >>> import bivec
        >>> emb = bivec.FOBE(dim=16).fit(bivec.datasets.southern_women()).embedding_
        >>> new = emb.fold_in({"Zoe": ["E11", "E12", "E99"]})
        >>> new
        FoldedSide(1 left, dim 16, 1 unknown neighbour)
        >>> emb.extended(new).recommend("Zoe", n=2).ids
        ['E9', 'E10']
        """
        from bivec.embedding.folded import folded

        return folded(self, rows, side, n_jobs)

    def extended(self, folded: FoldedSide) -> Embedding:
        """Return the embedding with folded-in nodes behind the others, edges included.

        Nothing is trained; every vector that was there is as it was.
        """
        from bivec.embedding.folded import extended

        return extended(self, folded)
