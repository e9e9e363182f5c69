"""Fetch one address into a file: with progress, resumed where it stopped, checked, whole.

What has come so far lies beside the target as ``NAME.part``, with the server's mark of the version
(ETag or date) in ``NAME.part.version``: the rest is asked for on the condition that the version is
still the same (RFC 9110, sections 13.1.5 and 14.2), so parts of two versions are never joined.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import bivec
from bivec.errors import DownloadError, SaveError

Progress = Callable[[str, int, int | None], None]
"""Called with a file's name, its bytes so far and its bytes in all (None where unknown)."""

_BLOCK = 1 << 16


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Fetch an address into a file that appears when it is complete and right.

    Parameters
    ----------
    url : str
        The address.
    target : path
        The file. Its directory is made.
    sha256 : str, optional
        What arrives must have this checksum, or nothing is kept.
    progress : callable, optional
        Called with the file's name, the bytes so far, and the bytes in all or None.
    timeout : float
        Seconds without a byte after which the server counts as silent.

    Raises
    ------
    DownloadError
        If the server does not give the file; what has come is kept, and the next call goes on
        from there.
    SaveError
        If it cannot be written.
    """
    part, version = (target.with_name(target.name + end) for end in (".part", ".part.version"))
    with _written(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    have = part.stat().st_size if part.exists() else 0
    if have == 0 or not _receive(url, part, version, have, progress, timeout):
        _receive(url, part, version, 0, progress, timeout)
    if sha256 is not None:
        with part.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha256:
            part.unlink()
            version.unlink(missing_ok=True)
            raise DownloadError(
                f"{url} gave other bytes than expected (sha256 {found}, not {sha256}); they were "
                f"not kept. Try again; if it stays so, the file was changed at its source, or "
                f"something between here and there answers in its place."
            )
    with _written(target):
        part.replace(target)
        version.unlink(missing_ok=True)
    return target


def _receive(
    url: str, part: Path, version: Path, have: int, progress: Progress | None, timeout: float
) -> bool:
    """Append what comes after ``have`` bytes; False if the server cannot go on from there."""
    headers = {"User-Agent": f"bivec/{bivec.__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if version.exists():
            headers["If-Range"] = version.read_text(encoding="latin-1")
    request = urllib.request.Request(url, headers=headers)
    with _reached(url, part), suppress(_NotFromThere):
        with _open(request, timeout, have) as answer:
            begin, total = _extent(answer, have)
            if begin == 0:
                _remember(answer, version)
            _store(answer, part, begin, total, progress)
        size = part.stat().st_size
        if total is not None and size != total:
            raise DownloadError(
                f"the connection to {url} ended after {size:,} of {total:,} bytes. What came is "
                f"kept: run the command again to go on from there."
            )
        return True
    return False


class _NotFromThere(Exception):  # noqa: N818
    """The server has nothing after the bytes that are here."""


@contextmanager
def _open(request: urllib.request.Request, timeout: float, have: int) -> Iterator[Any]:
    try:
        answer = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            if have and error.code == 416:
                raise _NotFromThere from None
            raise
    with answer:
        yield answer


def _extent(answer: Any, have: int) -> tuple[int, int | None]:
    """Return where the bytes of an answer begin in the file, and how long the file is."""
    if answer.status != 206:  # the whole file: no resuming here, or another version
        length = answer.headers.get("Content-Length", "")
        return 0, int(length) if length.isdecimal() else None
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
    if match is None or int(match[1]) != have:
        raise _NotFromThere
    return have, None if match[2] == "*" else int(match[2])


def _remember(answer: Any, version: Path) -> None:
    """Keep the mark of the version; a weak ETag does not promise the same bytes."""
    tag = answer.headers.get("ETag", "")
    mark = tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")
    with _written(version):
        version.unlink(missing_ok=True)
        if mark:
            version.write_text(mark, encoding="latin-1")


def _store(
    answer: Any, part: Path, begin: int, total: int | None, progress: Progress | None
) -> None:
    name, done = part.name.removesuffix(".part"), begin
    with _written(part):
        file = part.open("ab" if begin else "wb")
    try:
        while block := answer.read1(_BLOCK):  # what is there, without waiting for more
            with _written(part):
                file.write(block)
            done += len(block)
            if progress is not None:
                progress(name, done, total)
        with _written(part):
            file.flush()
            os.fsync(file.fileno())
    finally:
        with suppress(OSError):  # a full disk has been told already
            file.close()


@contextmanager
def _reached(url: str, part: Path) -> Iterator[None]:
    """Say what the network did, in one line."""
    again = "Check the connection and run the command again"
    try:
        yield
    except urllib.error.HTTPError as error:
        raise DownloadError(
            f"the server answered {error.code} ({error.reason}) for {url}. It may have moved or be "
            f"down for a while: try again later, or get it in a browser."
        ) from error
    except urllib.error.URLError as error:
        raise DownloadError(f"cannot reach {url} ({error.reason}). {again}.") from error
    except (OSError, http.client.HTTPException) as error:
        kept = f"{part.stat().st_size:,} bytes are kept" if part.exists() else "nothing came"
        raise DownloadError(
            f"the connection to {url} broke ({error or type(error).__name__}); {kept}. {again}."
        ) from error


@contextmanager
def _written(place: Path) -> Iterator[None]:
    """Say what the disk did, in one line."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what = "the disk is full. Make room, or set BIVEC_CACHE to a directory on another disk"
        else:
            what = (
                f"{error.strerror or error}. Check the directory's permissions, or set BIVEC_CACHE "
                f"to another"
            )
        raise SaveError(
            f"cannot write {place}: {what}; then run the command again, which goes on from what "
            f"has come."
        ) from error
