"""Readers of data sets: paths in, the data as it is in the files out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from bivec.arrow import to_numpy
from bivec.datasets.dataset import Dataset, Edges, GivenSplit, Ids
from bivec.datasets.registry import Entry
from bivec.datasets.southern_women import southern_women
from bivec.datasets.viewer_movies import viewer_movies
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.io import as_graph, read_edges
from bivec.io.source import find_source


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
    # GroupLens' u1 in its order; BiGI leaves out test ratings of movies without a training rating.
    order = [("left", "ascending"), ("right", "ascending")]
    test, train = ratings[:20_000].sort_by(order), ratings[20_000:].sort_by(order)
    known = pc.is_in(test["right"], value_set=pc.unique(train["right"]))
    split = GivenSplit(_edges(train), _edges(test.filter(known)))
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


READERS: dict[str, Callable[[Entry, dict[str, Path]], Dataset]] = {
    "communities": _communities,
    "pairs": _pairs,
    "bine": _bine,
    "movielens": _movielens,
    "lastfm": _lastfm,
    "madgrades": _madgrades,
    "southern_women": _southern_women,
    "viewer_movies": _viewer_movies,
}


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
    return Edges(_ids(table["left"]), _ids(table["right"]), to_numpy(table["weight"]))


def _ids(column: pa.ChunkedArray) -> Ids:
    if pa.types.is_integer(column.type):
        return to_numpy(column)
    return np.array(column.to_pylist(), dtype=object)


def _positions(graph: BipartiteGraph, table: pa.Table) -> npt.NDArray[np.int64]:
    """Return for each row of a table the place of its edge in ``graph.left.indices``."""
    left, right = (
        to_numpy(pc.index_in(table[name], value_set=side.ids.to_arrow()).fill_null(-1))
        for side, name in ((graph.left, "left"), (graph.right, "right"))
    )
    edges = graph.left_rows().astype(np.int64) * graph.n_right + graph.left.indices
    wanted = left.astype(np.int64) * graph.n_right + right
    places: npt.NDArray[np.int64] = np.minimum(np.searchsorted(edges, wanted), len(edges) - 1)
    if (left < 0).any() or (right < 0).any() or not np.array_equal(edges[places], wanted):
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
