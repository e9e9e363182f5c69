"""Load a data set: find its files, read them, compare the counts, prepare as the paper does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from bivec.datasets.dataset import Dataset
from bivec.datasets.places import Place, check, files
from bivec.datasets.readers import READERS
from bivec.datasets.registry import Counts, Entry, describe
from bivec.errors import InputError
from bivec.graph import BipartiteGraph


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
    folder = next(iter(found.values())).parent if found else None
    try:
        data = READERS[entry.reader](entry, {file.name: path for file, path in found.items()})
    except InputError as error:
        raise (error.located(folder) if folder else error) from error.__cause__
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
        new.ids.find(old.ids) >= 0
        for old, new in ((before.left, after.left), (before.right, after.right))
    )
    kept = left[before.left_rows()] & right[before.left.indices]
    return replace(
        data,
        graph=after,
        times=None if data.times is None else data.times[kept],
        labels=None if data.labels is None else data.labels[right],
    )
