r"""An approximate index for millions of rows, by the package usearch (a graph of neighbours, HNSW).

The index proposes, the vectors decide: candidates come from the index, their scores are computed as
ever, so a list may miss a node but never has a wrong score or order. Nodes without edges are not
indexed.

Products are searched as cosines: with M the longest target, the target
:math:`(t, \sqrt{M^2 - |t|^2})` has the same length for all, and its product with :math:`(q, 0)` is
that of t with q.

References
----------
Malkov, Yashunin, "Efficient and robust approximate nearest neighbor search using hierarchical
navigable small world graphs", arXiv:1603.09320.
Bachrach et al., "Speeding up the Xbox recommender system using a Euclidean transformation for
inner-product spaces", RecSys 2014, doi:10.1145/2645710.2645741.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bivec.checks import check_integer
from bivec.errors import FormatError, InputError, require
from bivec.graph import BipartiteGraph, Side
from bivec.parallel import resolve_jobs
from bivec.queries.parts import OTHER, Vectors, fitted, levelled, side_of, without_edges
from bivec.queries.ranking import Among, Known, best_columns
from bivec.queries.scorers import Centroid, Cosine, Dot, FactorScorer, Rows, Scorer, Table, unit

KINDS = {"centroid": "product", "dot": "product", "centroid-cosine": "cosine", "cosine": "cosine"}
"""Which index serves which scorer."""
_SAMPLE, _PLACES = 500, 10
"""Lists that recall is measured on, and their length."""
_MANIFEST = "index.json"


@dataclass(frozen=True)
class IndexReport:
    """What one index holds, and how well it finds.

    Attributes
    ----------
    side : {"left", "right"}
        Whose vectors it holds.
    kind : {"product", "cosine"}
        ``product`` serves :meth:`bivec.Embedding.recommend`, ``cosine`` serves
        :meth:`bivec.Embedding.similar`.
    vectors : int
        How many.
    recall : float
        Share of the exact ten best that the index found, over ``sample`` lists.
    sample : int
        See there.
    expansion : int
        Nodes that a search looks at.
    """

    side: Side
    kind: str
    vectors: int
    recall: float
    sample: int
    expansion: int


@dataclass(frozen=True)
class Index:
    """An index of usearch and its report."""

    found: Any
    report: IndexReport

    def propose(self, queries: Table, count: int) -> tuple[npt.NDArray[np.uint64], Rows]:
        """Return a row of candidates for each query, and how many each has."""
        if self.report.kind == "product":
            queries = np.hstack([queries, np.zeros((len(queries), 1), np.float32)])
        matches = self.found.search(np.ascontiguousarray(queries), count)
        keys = np.atleast_2d(np.asarray(matches.keys, np.uint64))
        counts = getattr(matches, "counts", None)
        if counts is None:  # one query, one list
            counts = [keys.shape[1]]
        return keys, np.asarray(counts, np.int64)


Indexes = dict[tuple[Side, str], Index]


def build(
    vectors: Vectors, n_jobs: int | None = None, connectivity: int = 16, expansion: int = 128
) -> Indexes:
    """Build the indexes of both sides and measure them; see :meth:`bivec.Embedding.build_index`."""
    usearch = require("usearch.index", "index", "an approximate index")
    check_integer("connectivity", connectivity, low=2, high=1024)
    check_integer("expansion", expansion, low=1, high=1 << 20)
    options = {
        "metric": "cos", "dtype": "f16", "connectivity": connectivity,
        "expansion_add": expansion, "expansion_search": expansion,
    }  # fmt: skip

    def built(which: tuple[Side, str]) -> Index:
        side, kind = which
        table = levelled(vectors, side)
        rows = np.arange(len(table))
        if vectors.graph is not None:
            rows = np.flatnonzero(vectors.graph.side(side).degrees)
        targets = _augmented(table[rows]) if kind == "product" else unit(table[rows])
        found = usearch.Index(ndim=targets.shape[1], **options)
        if len(rows):
            found.add(rows.astype(np.uint64), targets, threads=1)
        return Index(found, IndexReport(side, kind, len(rows), 1.0, 0, expansion))

    # Threads inside an index race for its links: two builds differ, and a small one may fall apart.
    # So each index is one thread's, side by side with the others.
    wanted = [(side, kind) for side in OTHER for kind in ("product", "cosine")]
    with ThreadPoolExecutor(resolve_jobs(n_jobs)) as pool:
        indexes = list(pool.map(built, wanted))
    return {which: _measured(vectors, index) for which, index in zip(wanted, indexes, strict=True)}


def _augmented(table: Table) -> Table:
    """Return vectors of one length whose cosines are the products, up to the query's length."""
    squares = np.einsum("ij,ij->i", table, table, dtype=np.float64)
    rest = np.sqrt(np.maximum(squares.max(initial=0.0) - squares, 0))
    return np.hstack([table, rest[:, None]]).astype(np.float32)


def _measured(vectors: Vectors, index: Index) -> Index:
    """Return the index with its recall, on lists asked by evenly spaced nodes."""
    side, kind = index.report.side, index.report.kind
    if kind == "product":
        scorer = cast("FactorScorer", fitted(vectors, served(vectors.graph), OTHER[side]))
        asking = len(side_of(vectors, OTHER[side]).vectors)
    else:
        table = levelled(vectors, side)
        scorer, asking = Cosine().fit(table, table, None), len(table)
    rows = np.unique(np.linspace(0, asking - 1, min(asking, _SAMPLE)).astype(np.int64))
    n = min(_PLACES, index.report.vectors)
    if not len(rows) or not n:
        return index
    last = without_edges(vectors, side)
    among = Among(len(side_of(vectors, side).vectors), last=last)
    exact = best_columns(scorer, rows, n, among)[0]
    near, _, counts = best_proposed(index, scorer, rows, n, among)
    hits = [
        len(np.intersect1d(a, b[:count]))
        for a, b, count in zip(exact, near, counts.tolist(), strict=True)
    ]
    report = replace(index.report, recall=float(np.mean(hits) / n), sample=len(rows))
    return Index(index.found, report)


def best_proposed(
    index: Index, scorer: FactorScorer, rows: Rows, n: int, among: Among
) -> tuple[Rows, Table, Rows]:
    """Return the n best far rows of each asking row among what the index proposes.

    As :func:`bivec.queries.ranking.best_columns`, but a list may be short although there are more
    candidates; the caller must see to that.
    """
    from bivec.kernels.topk import settle, take_listed

    room = min(n, among.n_columns)
    items = np.full((len(rows), room), -1, np.int64)
    scores = np.full((len(rows), room), -np.inf, np.float32)
    counts = np.zeros(len(rows), np.int64)
    if not room or not index.report.vectors:
        return items, scores, counts
    at, indptr, indices = Known.none(len(rows)) if among.known is None else among.known
    bars = np.zeros(0, np.bool_) if among.barred is None else among.barred
    targets = np.ascontiguousarray(scorer.targets)
    # As many proposals as may be left out, and some more: a power of two, so that few sizes occur.
    wanted = 1 << np.ceil(np.log2(room + indptr[at + 1] - indptr[at])).astype(np.int64)
    for count in np.unique(wanted):
        part = np.flatnonzero(wanted == count)
        queries = np.ascontiguousarray(scorer.queries(rows[part]))
        listed, lengths = index.propose(queries, min(int(count), index.report.vectors))
        near, best, found = items[part], scores[part], counts[part]
        take_listed(
            listed, lengths, queries, targets, at[part], indptr, indices, bars, best, near, found,
            0, len(part),
        )  # fmt: skip
        items[part], scores[part], counts[part] = near, best, found
    settle(scores, items, counts)
    return items, scores, counts


def served(graph: BipartiteGraph | None) -> str:
    """Return the scorer of approximate recommendations where none is named."""
    return Dot.name if graph is None else Centroid.name


def index_for(vectors: Vectors, side: Side, scorer: Scorer) -> tuple[Index, FactorScorer]:
    """Return the index that proposes nodes of a side by this scorer."""
    indexes = indexes_of(vectors)
    if indexes is None:
        raise InputError(
            "this embedding has no index",
            "Build one with 'bivec index', or embedding.build_index(), or leave approximate out.",
        )
    if scorer.name not in KINDS or not isinstance(scorer, FactorScorer):
        raise InputError(
            f"no index serves the scorer {scorer.name!r}", f"Those served are {', '.join(KINDS)}."
        )
    return indexes[side, KINDS[scorer.name]], scorer


# On disk


def indexes_of(vectors: Vectors) -> Indexes | None:
    """Return the indexes of an embedding, built or saved with it, if there are any."""
    if "indexes" not in vectors.cache and "index folder" in vectors.cache:
        vectors.cache["indexes"] = load(vectors.cache["index folder"])
    found: Indexes | None = vectors.cache.get("indexes")
    return found


def save(indexes: Indexes, folder: Path) -> None:
    """Write the indexes and their reports into a new folder."""
    folder.mkdir()
    for (side, kind), index in indexes.items():
        index.found.save(str(folder / f"{side}.{kind}.usearch"))
    reports = [asdict(index.report) for index in indexes.values()]
    (folder / _MANIFEST).write_text(json.dumps(reports, indent=2) + "\n", encoding="utf-8")


def load(folder: Path) -> Indexes:
    """Read what :func:`save` wrote."""
    usearch = require("usearch.index", "index", "the index of this embedding")
    try:
        reports = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        indexes: Indexes = {}
        for entry in reports:
            report = IndexReport(**entry)
            path = folder / f"{report.side}.{report.kind}.usearch"
            found = usearch.Index.restore(str(path))
            if found is None or len(found) != report.vectors:
                raise ValueError(f"{path.name} does not hold {report.vectors} vectors")
            found.expansion_search = report.expansion  # which the file does not hold
            indexes[report.side, report.kind] = Index(found, report)
    except (OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise FormatError(
            f"the index in {folder} is damaged ({error}). Build it again with: bivec index"
        ) from error
    return indexes


def reports(folder: Path) -> list[dict[str, Any]]:
    """Return the reports of saved indexes, without loading them."""
    file = folder / _MANIFEST
    if not file.is_file():
        return []
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return found
