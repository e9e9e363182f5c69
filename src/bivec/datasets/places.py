"""Where the files of data sets lie on this machine, and whether they are what they should be.

A data set is looked for in the directory that is named, or else in the one that ``BIVEC_DATA``
names and then in the cache; each has one folder a data set.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bivec.datasets.registry import Entry, File, describe
from bivec.errors import InputError, MissingDataError

Place = str | os.PathLike[str]
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file, and whether its content has the expected checksum."""

    file: File
    path: Path
    size: int
    sha256: str

    @property
    def ok(self) -> bool:
        """Whether it is the expected file."""
        return self.sha256 == self.file.sha256


def cache_dir() -> Path:
    """Return where downloads go: ``BIVEC_CACHE``, or ``bivec`` in the user's cache directory."""
    if chosen := os.environ.get("BIVEC_CACHE"):
        return Path(chosen)
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    try:
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA")
            base = Path(local) if local else Path.home() / "AppData" / "Local"
        elif Path(xdg).is_absolute():  # the standard says to ignore a relative one
            base = Path(xdg)
        else:
            base = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    except RuntimeError:
        raise InputError(
            "there is no home directory to keep data sets in", "Set BIVEC_CACHE to a directory."
        ) from None
    return base / "bivec"


def places(data_dir: Place | None = None) -> list[Path]:
    """Return the directories in which data sets are looked for, in this order."""
    if data_dir is not None:
        return [Path(data_dir)]
    own = os.environ.get("BIVEC_DATA")
    return [*([Path(own)] if own else []), cache_dir() / "datasets"]


def find(entry: Entry, data_dir: Place | None = None) -> dict[File, Path] | None:
    """Return the files of the first layout that is complete in one folder, or None."""
    for place in places(data_dir):
        for layout in entry.layouts:
            found = {file: _plain_or_gzip(place / entry.name / file.name) for file in layout}
            if all(found.values()):
                return {file: path for file, path in found.items() if path is not None}
    return None


def available(name: str, data_dir: Place | None = None) -> bool:
    """Tell whether a data set can be loaded here without a download.

    >>> available("southern-women")
    True
    """
    entry = describe(name)
    return entry.included or find(entry, data_dir) is not None


def path(name: str, data_dir: Place | None = None) -> Path:
    """Return the folder with a data set's files.

    Raises
    ------
    MissingDataError
        If they are not on this machine; the message says how to get them.
    """
    return next(iter(files(describe(name), data_dir).values())).parent


def files(entry: Entry, data_dir: Place | None = None) -> dict[File, Path]:
    """Return the files of a data set, or say how to get them."""
    if entry.included:
        raise InputError(
            f"{entry.name} comes with bivec and has no files",
            f'Load it with bivec.datasets.load("{entry.name}").',
        )
    found = find(entry, data_dir)
    if found is None:
        raise MissingDataError(what_to_do(entry, data_dir))
    return found


def verify(name: str, data_dir: Place | None = None) -> list[FileCheck]:
    """Read a data set's files and compare their checksums with those that are known."""
    return [check(file, place) for file, place in files(describe(name), data_dir).items()]


def check(file: File, place: Path) -> FileCheck:
    """Compare one file, gzipped or not, with what it should be."""
    digest, size = hashlib.sha256(), 0
    try:
        for block in _content(place):
            digest.update(block)
            size += len(block)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"cannot read it ({error})", "Remove it and get the data set again.", path=place
        ) from error
    return FileCheck(file, place, size, digest.hexdigest())


def _content(place: Path) -> Iterator[bytes]:
    with place.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(place) if packed else place.open("rb") as stream:
        while block := stream.read(_BLOCK):
            yield block


def _plain_or_gzip(place: Path) -> Path | None:
    gzipped = place.with_name(f"{place.name}.gz")
    return next((path for path in (place, gzipped) if path.is_file()), None)


def what_to_do(entry: Entry, data_dir: Place | None) -> str:
    """Say how to get a data set that is not here, and where it was looked for."""
    looked = places(data_dir)
    needed = " (or ".join(", ".join(file.name for file in layout) for layout in entry.layouts)
    needed += ")" * (len(entry.layouts) - 1)
    lacking = [
        f"{folder} is there, but lacks {', '.join(missing)}"
        for folder in (place / entry.name for place in looked)
        if folder.is_dir()
        and (missing := [f.name for f in entry.layouts[0] if not _plain_or_gzip(folder / f.name)])
    ]
    get = (
        f"Get it with: bivec datasets get {entry.name}. Or put"
        if entry.downloads
        else f"It cannot be downloaded by a program (see: bivec datasets show {entry.name}). Put"
    )
    return (
        f"the data set {entry.name} is not on this machine. {get} {needed} into a folder "
        f"{entry.name} of the directory that BIVEC_DATA or --data-dir (data_dir=) names. "
        f"Looked in {', '.join(map(str, looked))}." + (f" {'; '.join(lacking)}." if lacking else "")
    )
