"""A file as a stream of bytes: found, decompressed, counted, and its first bytes looked at."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from bivec.errors import InputError, is_text

Progress = Callable[[int, int], None]
"""Called with bytes read so far and bytes in all."""

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\x04\x22\x4d\x18": "lz4",
}
_UNREADABLE = {
    b"\xfd7zXZ\x00": "an xz archive",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a numpy array",
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"FEA1": "a Feather file of version 1",
    b"SQLite format 3\x00": "an SQLite database",
}
HEAD_BYTES = 1 << 18


@dataclass(frozen=True)
class Source:
    """A readable file, its compression (told by its first bytes, not its name) and its start."""

    path: Path
    compression: str | None
    size: int
    head: bytes
    """The first bytes after decompression."""

    @property
    def whole(self) -> bool:
        """Whether the head is all there is."""
        return len(self.head) < HEAD_BYTES

    @contextmanager
    def open(self, progress: Progress | None = None) -> Iterator[pa.NativeFile]:
        """Open the decompressed bytes; trouble while reading becomes one clear error."""
        try:
            with _stream(self.path, self.compression, self.size, progress) as stream:
                yield stream
        except OSError as error:
            raise read_error(self.path, self.compression, error) from error


def find_source(path: str | os.PathLike[str]) -> Source:
    """Open a path far enough to know what it is."""
    place = Path(path)
    if not is_text(place):
        raise InputError("its name is no UTF-8 text", "Rename it.", path=place)
    if place.is_dir():
        hint = "Name a file in it."
        if (place / "manifest.json").exists():
            hint = "It looks like a saved embedding: open it with bivec.load."
        raise InputError("this is a directory", hint, path=place)
    try:
        status = place.stat()
        if not stat.S_ISREG(status.st_mode):  # before opening, which may wait for a writer
            raise InputError(
                "this is a pipe or a device, and bivec looks at a file more than once",
                "Save it to a file first; compressed files are read as they are.",
                path=place,
            )
        with place.open("rb") as file:
            magic = file.read(262)
        size = status.st_size
    except FileNotFoundError:
        raise InputError("there is no such file", "Check the path.", path=place) from None
    except OSError as error:
        raise InputError(
            f"cannot read it ({error.strerror})", "Check its permissions.", path=place
        ) from error
    if not magic:
        raise InputError(
            "the file is empty",
            "An edge list needs at least one line: left id, right id.",
            path=place,
        )
    _refuse_foreign(magic, place)
    compression = next((name for prefix, name in _MAGIC.items() if magic.startswith(prefix)), None)
    try:
        with _stream(place, compression, size, None) as stream:
            head = _read_head(stream)
    except OSError as error:
        raise read_error(place, compression, error) from error
    if not head:
        raise InputError(
            "the file is empty after decompression", "Fetch or compress it again.", path=place
        )
    if compression:
        _refuse_foreign(head, place)
    return Source(place, compression, size, head)


def _refuse_foreign(head: bytes, path: Path) -> None:
    """Name a file of a kind that would only give a puzzling error further on."""
    if head.startswith(b"\xff\xff\xff\xff"):
        raise InputError(
            "this is an Arrow stream, not an Arrow file",
            "Write it as an Arrow file (pyarrow.ipc.new_file) or as Parquet.",
            path=path,
        )
    what = next((what for prefix, what in _UNREADABLE.items() if head.startswith(prefix)), None)
    if head[257:262] == b"ustar":
        what = "a tar archive"
    elif re.match(rb"([^\0]\0){4}|(\0[^\0]){4}", head):
        what = "UTF-16 text"
    if what is not None:
        raise InputError(
            f"this is {what}, not an edge list that bivec reads",
            "Convert it to CSV, Parquet or another format that 'bivec info --help' lists.",
            path=path,
        )


def _read_head(stream: pa.NativeFile) -> bytes:
    head = b""
    while len(head) < HEAD_BYTES and (block := stream.read(HEAD_BYTES - len(head))):
        head += block
    return head


def _stream(
    path: Path, compression: str | None, size: int, progress: Progress | None
) -> pa.NativeFile:
    if progress is None:
        return pa.input_stream(str(path), compression=compression)
    counting = pa.PythonFile(_Counting(path.open("rb"), size, progress), mode="r")
    return counting if compression is None else pa.CompressedInputStream(counting, compression)


class _Counting:
    """A file that tells how much of it has been read."""

    def __init__(self, file: BinaryIO, size: int, progress: Progress) -> None:
        self._file, self._size, self._progress = file, size, progress
        self._done = 0

    def read(self, n: int = -1) -> bytes:
        block = self._file.read(n)
        self._done += len(block)
        self._progress(self._done, self._size)
        return block

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def read_error(path: Path, compression: str | None, error: OSError) -> InputError:
    """Say what an error of the operating system or of a decompressor means for the user."""
    if compression is not None and error.errno in (None, errno.EIO):
        truncated = "runcated" in str(error)
        return InputError(
            f"the {compression} data {'ends too early' if truncated else 'is damaged'} ({error})",
            "Fetch or compress the file again.",
            path=path,
        )
    return InputError(f"cannot read it ({error})", "Check the disk and try again.", path=path)
