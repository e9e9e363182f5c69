"""Get a data set from its source: download, unpack, check, put into its folder."""

from __future__ import annotations

import gzip
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from bivec.datasets.download import Progress, download
from bivec.datasets.places import Place, cache_dir, check, find, what_to_do
from bivec.datasets.registry import Download, File, describe
from bivec.errors import DownloadError, InputError, MissingDataError
from bivec.io.atomic import atomic_file

_BLOCK = 1 << 20


def fetch(
    name: str,
    data_dir: Place | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Download a data set, unless it is here; return its folder.

    A download that stopped goes on where it was. Files are checked before they get their names.

    Parameters
    ----------
    name : str
        A data set of the registry.
    data_dir : path, optional
        The directory for its folder; the cache (:func:`cache_dir`) where not given.
    force : bool
        Whether to download it again even if it is here.
    progress : callable, optional
        Called with a file's name, its bytes so far, and its bytes in all or None.

    Raises
    ------
    MissingDataError
        If no program can download it; the message says what else to do.
    DownloadError, SaveError
        If the source does not give it, gives something else, or it cannot be written.

    Warns
    -----
    UserWarning
        If a file differs from the one that bivec knows, where that is only somebody's copy.
    """
    entry = describe(name)
    if entry.included:
        raise InputError(
            f"{entry.name} comes with bivec",
            f'There is nothing to get: bivec.datasets.load("{entry.name}").',
        )
    if not force and (found := find(entry, data_dir)) is not None:
        for file, place in found.items():
            if file.origin == "original" and not check(file, place).ok:
                raise InputError(
                    "this is not the file that bivec knows",
                    "Remove it and run the command again.",
                    path=place,
                )
        return next(iter(found.values())).parent
    if not entry.downloads:
        raise MissingDataError(what_to_do(entry, data_dir))
    root = cache_dir() / "datasets" if data_dir is None else Path(data_dir)
    folder = root / entry.name
    known = {file.name: file for layout in entry.layouts for file in layout}
    for source in entry.downloads:
        wanted = [known[name] for name in source.files]
        if not force and all(_is_right(file, folder / file.name) for file in wanted):
            continue  # from an earlier attempt
        _fetch_one(source, wanted, folder, progress)
    return folder


def _is_right(file: File, place: Path) -> bool:
    return place.is_file() and check(file, place).ok


def _fetch_one(
    source: Download, wanted: list[File], folder: Path, progress: Progress | None
) -> None:
    # Under a name that find() does not take for a file of the set.
    packed = folder / f"{PurePosixPath(source.url).name}.download"
    download(source.url, packed, sha256=source.sha256, progress=progress)
    try:
        for file in wanted:
            with atomic_file(folder / file.name) as temporary:
                with temporary.open("wb") as out:
                    for block in _blocks(packed, source.url, file.name):
                        out.write(block)
                _compare(file, temporary, source)
    finally:
        packed.unlink()


def _compare(file: File, temporary: Path, source: Download) -> None:
    found = check(file, temporary)
    if found.ok:
        return
    what = (
        f"{file.name} from {source.url} is not the file that bivec knows (sha256 {found.sha256}, "
        f"{found.size:,} bytes; known: {file.sha256})"
    )
    if file.origin == "original":
        raise DownloadError(
            f"{what}; it was not kept. Try again; if it stays so, the file was changed at its "
            f"source."
        )
    # The known one is a copy: the source may be right. Loading compares the counts.
    warnings.warn(f"{what}, which is a copy. It was kept; loading checks its counts.", stacklevel=4)


def _blocks(packed: Path, url: str, name: str) -> Iterator[bytes]:
    """Yield the content of one file of what was downloaded, block by block.

    Only trouble with reading arises in here; that of the disk arises where blocks are written.
    """
    try:
        with _opened(packed, url, name) as content:
            while block := content.read(_BLOCK):
                yield block
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError) as error:
        raise DownloadError(
            f"what {url} gave is damaged or no archive ({error}); it was not kept. Try again."
        ) from error


@contextmanager
def _opened(packed: Path, url: str, name: str) -> Iterator[IO[bytes]]:
    """Open one file of what was downloaded; a member is found by its name, in any folder."""
    if url.endswith(".zip"):
        with (
            zipfile.ZipFile(packed) as archive,
            archive.open(_only(name, archive.namelist(), url)) as content,
        ):
            yield content
    elif url.endswith(".tar.bz2"):
        with tarfile.open(packed, "r:bz2") as tape:
            regular = [info.name for info in tape if info.isfile()]
            with cast("IO[bytes]", tape.extractfile(_only(name, regular, url))) as member:
                yield member
    else:
        with gzip.open(packed) if url.endswith(".gz") else packed.open("rb") as plain:
            yield cast("IO[bytes]", plain)


def _only(name: str, members: Iterable[str], url: str) -> str:
    found = [member for member in members if PurePosixPath(member).name == name]
    if len(found) != 1:
        raise DownloadError(
            f"the archive from {url} has {len(found)} files {name}; it should have one. It was "
            f"changed at its source."
        )
    return found[0]
