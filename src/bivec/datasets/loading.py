"""Data sets as objects: the graph as the paper prepares it, with split, times and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv

from bivec.arrow import to_numpy
from bivec.datasets.places import Place, check, files
from bivec.datasets.registry import Counts, Entry, describe
from bivec.datasets.southern_women import southern_women
from bivec.datasets.viewer_movies import viewer_movies
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.io import as_graph, read_edges
from bivec.io.source import find_source

Ids = npt.NDArray[Any]
"""Ids of nodes, one an edge: integers, or objects that are strings."""


class Edges(NamedTuple):
    """Edges by the ids of their ends, in the order of the file they come from."""

    left: Ids
    right: Ids
    weights: npt.NDArray[np.float32]


class GivenSplit(NamedTuple):
    """The split that a data set was published with; no edge is in both parts.

    Nodes of the test edges may be without any training edge.
    """

    train: Edges
    test: Edges


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set, loaded.

    Attributes
    ----------
    name : str
        Its name in the registry.
    graph : BipartiteGraph
        As the paper prepares it, or as it is in the files (``raw=True``).
    given_split : GivenSplit or None
        Training and test edges as published.
    times : array of int or None
        When each edge came to be, in the order of ``graph.left.indices``.
    labels : array of str or None
        What each row of ``graph.right`` is called or belongs to.
    entry : Entry
        What the registry knows of it.
    """

    name: str
    graph: BipartiteGraph
    given_split: GivenSplit | None = None
    times: npt.NDArray[np.int64] | None = None
    labels: npt.NDArray[np.object_] | None = None
    entry: Entry | None = None


def load(
    name: str, data_dir: Place | None = None, *, raw: bool = False, verify: bool = False
) -> Dataset:
    """Load a data set that is on this machine.

    Parameters
    ----------
    name : str
        A name of :func:`bivec.datasets.names`, or an alias.
    data_dir : path, optional
        A directory with a folder of this name. Where not given, the directory that ``BIVEC_DATA``
        names and the cache are looked into.
    raw : bool
        Whether to leave out what the paper does to the graph (``entry.preparation``).
    verify : bool
        Whether to compare the checksums of the files first. Numbers of nodes and edges are always
        compared.

    Raises
    ------
    MissingDataError
        If the files are not here; the message says how to get them.
    InputError
        If there is no such data set, or the files are not what they should be.

    Examples
    --------
    >>> load("southern-women").graph
    BipartiteGraph(18 left, 14 right, 89 edges)
    """
    entry = describe(name)
    found = {} if entry.included else files(entry, data_dir)
    if verify:
        for file, place in found.items():
            if not (seen := check(file, place)).ok:
                raise InputError(
                    f"the checksum is {seen.sha256}, not {file.sha256}",
                    "Remove the file and get the data set again.",
                    path=place,
                )
    data = _READERS[entry.reader](entry, {file.name: path for file, path in found.items()})
    folder = next(iter(found.values())).parent if found else None
    _compare(entry, data.graph, entry.raw_counts or entry.counts, folder)
    if not raw:
        data = _prepared(data)
        _compare(entry, data.graph, entry.counts, folder)
    return replace(data, entry=entry)


def _compare(entry: Entry, graph: BipartiteGraph, expected: Counts, folder: Path | None) -> None:
    found = Counts(graph.n_left, graph.n_right, graph.n_edges)
    if expected.edges is None:
        expected = replace(expected, edges=found.edges)
    if found != expected:
        raise InputError(
            f"{entry.name} should have {expected}, but has {found}",
            f"The files are damaged or of another version: bivec datasets show {entry.name} "
            f"--verify compares their checksums.",
            path=folder,
        )


# One function a publication: entry and paths in, data as it is in the files out.


def _communities(entry: Entry, paths: dict[str, Path]) -> Dataset:
    (path,) = paths.values()
    return Dataset(entry.name, read_edges(path, format="communities"))


def _pairs(entry: Entry, paths: dict[str, Path]) -> Dataset:
    (path,) = paths.values()
    return Dataset(entry.name, read_edges(path, weight=None, delimiter="whitespace", header=False))


def _bine(entry: Entry, paths: dict[str, Path]) -> Dataset:
    columns = {"left": pa.large_string(), "right": pa.large_string(), "weight": pa.float32()}
    train, test = (
        _read(paths[f"rating_{part}.dat"], columns, header=False) for part in ("train", "test")
    )
    graph = as_graph(pa.concat_tables([train, test]), weight="weight", duplicates="error")
    return Dataset(entry.name, graph, GivenSplit(_edges(train), _edges(test)))


def _movielens(entry: Entry, paths: dict[str, Path]) -> Dataset:
    columns = {
        "left": pa.int64(), "right": pa.int64(), "weight": pa.float32(), "time": pa.int64()
    }  # fmt: skip
    recbole = "ml-100k.inter" in paths
    ratings = _read(paths["ml-100k.inter" if recbole else "u.data"], columns, header=recbole)
    graph = as_graph(ratings, weight="weight", duplicates="error")
    if recbole:
        named = {"id": pa.int64(), "title": pa.large_string(), "year": None, "genres": None}
        titles = _read(paths["ml-100k.item"], named)
    else:
        named = {"id": pa.int64(), "title": pa.large_string(), **{f"f{i}": None for i in range(22)}}
        titles = _read(
            paths["u.item"], named, header=False, delimiter="|", encoding="latin1"
        )  # fmt: skip
    # GroupLens' u1 in its order, without test ratings of movies that nobody else rated (BiGI).
    order = [("left", "ascending"), ("right", "ascending")]
    test, train = ratings[:20_000].sort_by(order), ratings[20_000:].sort_by(order)
    known = np.isin(to_numpy(test["right"]), to_numpy(train["right"]))
    split = GivenSplit(_edges(train), _edges(test.filter(pa.array(known))))
    times = np.empty(graph.n_edges, dtype=np.int64)
    times[_positions(graph, ratings)] = to_numpy(ratings["time"])
    return Dataset(entry.name, graph, split, times, _labels(graph, titles["id"], titles["title"]))


def _lastfm(entry: Entry, paths: dict[str, Path]) -> Dataset:
    columns = {"left": pa.int64(), "right": pa.int64(), "weight": pa.float32()}
    graph = as_graph(_read(paths["user_artists.dat"], columns), weight="weight", duplicates="error")
    named = {"id": pa.int64(), "name": pa.large_string(), "url": None, "picture": None}
    artists = _read(paths["artists.dat"], named)
    return Dataset(
        entry.name, graph, labels=_labels(graph, artists["id"], artists["name"])
    )  # fmt: skip


def _madgrades(entry: Entry, paths: dict[str, Path]) -> Dataset:
    ends = {"left": pa.large_string(), "right": pa.large_string(), "weight": pa.float32()}
    graph = as_graph(_read(paths["edges.tsv"], ends), weight="weight", duplicates="error")
    terms = _read(paths["term_edges.tsv"], {"time": pa.int64(), **ends})
    times = np.full(graph.n_edges, np.iinfo(np.int64).max)
    np.minimum.at(times, _positions(graph, terms), to_numpy(terms["time"]))
    named = {"id": pa.large_string(), "number": None, "codes": None, "names": pa.large_string()}
    courses = _read(paths["courses.tsv"], named)
    labels = _labels(graph, courses["id"], courses["names"])
    return Dataset(entry.name, graph, times=times, labels=labels)


def _southern_women(entry: Entry, paths: dict[str, Path]) -> Dataset:
    return Dataset(entry.name, southern_women())


def _viewer_movies(entry: Entry, paths: dict[str, Path]) -> Dataset:
    planted = viewer_movies()
    labels = np.array(planted.names, dtype=object)[planted.right_labels]
    return Dataset(entry.name, planted.graph, labels=labels)


_READERS: dict[str, Callable[[Entry, dict[str, Path]], Dataset]] = {
    "communities": _communities,
    "pairs": _pairs,
    "bine": _bine,
    "movielens": _movielens,
    "lastfm": _lastfm,
    "madgrades": _madgrades,
    "southern_women": _southern_women,
    "viewer_movies": _viewer_movies,
}


def _prepared(data: Dataset) -> Dataset:
    """Do to the graph what the paper does to this data set."""
    if data.name == "madgrades":
        return _pruned(data)
    if data.name == "lastfm-hetrec2011":
        # Paper: "log-scale", no more. Here: log(1 + n), as log(1) = 0 would be no edge.
        graph = data.graph
        scaled = BipartiteGraph(
            graph.left_rows(), graph.left.indices, np.log1p(graph.left.weights),
            left_ids=graph.left.ids, right_ids=graph.right.ids,
        )  # fmt: skip
        return replace(data, graph=scaled)
    return data


def _pruned(data: Dataset) -> Dataset:
    """Remove nodes of degree 1 until none is left; times and labels follow."""
    before, after = data.graph, data.graph.prune()
    left, right = (
        np.isin(old.ids.to_numpy(), new.ids.to_numpy())
        for old, new in ((before.left, after.left), (before.right, after.right))
    )
    kept = left[before.left_rows()] & right[before.left.indices]
    return replace(
        data,
        graph=after,
        times=None if data.times is None else data.times[kept],
        labels=None if data.labels is None else data.labels[right],
    )


# Columns of text, in the order of the file.


def _read(
    path: Path,
    columns: dict[str, pa.DataType | None],
    *,
    header: bool = True,
    delimiter: str = "\t",
    encoding: str = "utf8",
) -> pa.Table:
    """Read the columns that have a type; the others are there but of no use."""
    wanted = {name: kind for name, kind in columns.items() if kind is not None}
    source = find_source(path)
    with source.open() as stream:
        try:
            return pa_csv.read_csv(
                stream,
                read_options=pa_csv.ReadOptions(
                    column_names=list(columns), skip_rows=int(header), encoding=encoding
                ),
                parse_options=pa_csv.ParseOptions(delimiter=delimiter, quote_char=False),
                convert_options=pa_csv.ConvertOptions(
                    column_types=wanted, include_columns=list(wanted), strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid as error:
            raise InputError(
                f"this is not the table it should be ({error})",
                "Remove the file and get the data set again.",
                path=path,
            ) from error


def _edges(table: pa.Table) -> Edges:
    left, right = (table[name].to_numpy() for name in ("left", "right"))
    return Edges(left, right, to_numpy(table["weight"]))


def _positions(graph: BipartiteGraph, table: pa.Table) -> npt.NDArray[np.int64]:
    """Return for each row of a table the place of its edge in ``graph.left.indices``."""
    left, right = (
        side.ids.rows(table[name].to_pylist())
        for side, name in ((graph.left, "left"), (graph.right, "right"))
    )
    edges = graph.left_rows().astype(np.int64) * graph.n_right + graph.left.indices
    wanted = left * graph.n_right + right
    places = np.minimum(np.searchsorted(edges, wanted), len(edges) - 1)
    if not np.array_equal(edges[places], wanted):
        raise InputError(
            "the table of times has pairs that are no edges", "Get the data set again."
        )
    return places


def _labels(
    graph: BipartiteGraph, ids: pa.ChunkedArray, labels: pa.ChunkedArray
) -> npt.NDArray[np.object_]:
    """Return a label for each row of the right side; where there is none, the id is one."""
    known = dict(zip(ids.to_pylist(), labels.to_pylist(), strict=True))
    return np.array([known.get(key) or str(key) for key in graph.right.ids], dtype=object)
