"""What bivec knows of a data set, and how one is found by name."""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from typing import Any, Literal

from bivec.errors import InputError, shown

Origin = Literal["original", "copy", "assembly"]


@dataclass(frozen=True, slots=True)
class File:
    """A file of a data set.

    Attributes
    ----------
    name : str
        Its name in the data set's folder; it may lie there gzipped, with ``.gz`` behind the name.
    sha256, size : str, int or None
        Of the content, uncompressed: how it was compressed does not matter.
    origin : {"original", "copy", "assembly"}
        What the checksum was taken from: the publisher's own file (or one that agrees with an
        independent record of it), somebody's copy of it, which may differ in the ends of lines
        and the like, or tables that were put together from another publication.
    """

    name: str
    sha256: str
    size: int | None
    origin: Origin = "original"


@dataclass(frozen=True, slots=True)
class Download:
    """An address, and which files of the data set come out of it.

    Attributes
    ----------
    url : str
        A plain file, or by its suffix a ``.gz``, ``.zip`` or ``.tar.bz2``.
    files : tuple of str
        Names of the files it gives.
    sha256 : str or None
        Of what the address gives, where it is known.
    """

    url: str
    files: tuple[str, ...]
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many nodes and edges there must be; None where nobody has published it."""

    left: int
    right: int
    edges: int | None

    def __str__(self) -> str:
        edges = "an unknown number of" if self.edges is None else f"{self.edges:,}"
        return f"{self.left:,} left, {self.right:,} right, {edges} edges"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A data set of the registry.

    Attributes
    ----------
    name, aliases
        What it is called; the name is also the name of its folder.
    title, left, right, weight
        What it is, what its two sides are and what a weight says.
    source, licence, citation
        Where it comes from, on which terms, and what to cite.
    reader : str
        Which function of :mod:`bivec.datasets.readers` reads it.
    layouts : tuple of tuple of File
        The files; where there are several layouts, one of them is enough. None for what comes
        with bivec.
    downloads : tuple of Download
        How to get a layout from its source; none where no program can.
    counts, raw_counts : Counts
        Of the graph as the paper prepares it and, where that differs, as it is in the files.
    preparation, split, time, labels, notes : str
        What is done to the graph, which split, times and labels there are, what to know; empty
        where there is none.
    """

    name: str
    title: str
    left: str
    right: str
    source: str
    licence: str
    citation: str
    reader: str
    counts: Counts
    aliases: tuple[str, ...] = ()
    weight: str = ""
    raw_counts: Counts | None = None
    layouts: tuple[tuple[File, ...], ...] = ()
    downloads: tuple[Download, ...] = ()
    preparation: str = ""
    split: str = ""
    time: str = ""
    labels: str = ""
    notes: str = ""

    @property
    def included(self) -> bool:
        """Whether it comes with bivec and needs no files."""
        return not self.layouts

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**dataclasses.asdict(self), "included": self.included}


def names() -> tuple[str, ...]:
    """Return the names of all data sets.

    >>> "snap-com-amazon" in names()
    True
    """
    return tuple(_entries())


def describe(name: str) -> Entry:
    """Return what is known of a data set, by its name or an alias.

    >>> describe("amazon").name, describe("amazon").counts.edges
    ('snap-com-amazon', 67462)
    """
    entries = _entries()
    known = {alias: entry for entry in entries.values() for alias in (entry.name, *entry.aliases)}
    key = str(name).strip().casefold().replace("_", "-")
    if key in known:
        return known[key]
    near = difflib.get_close_matches(key, known, n=3) or [k for k in known if key and key in k][:3]
    meant = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise InputError(
        f"there is no data set {shown(name)}", f"{meant}All are listed by: bivec datasets list"
    )


def _entries() -> dict[str, Entry]:
    from bivec.datasets.catalogue import ENTRIES  # which is made of the classes above

    return ENTRIES
