"""Write a file or a directory whole or not at all.

Everything is first written under a temporary name beside the target, flushed to the disk, and then
renamed. Whoever looks at the target sees the old state or the new one; a process that is killed
leaves at most a hidden temporary beside it.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from bivec.errors import SaveError, is_text


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path; on success it becomes the target, on any error it is removed."""
    target = _followed(path)
    with _explained(target):
        if target.is_dir():
            raise SaveError(f"cannot write {target}: it is a directory. Choose another name.")
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(descriptor)
        temporary = Path(name)
        try:
            yield temporary
            _flush(temporary)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _flush(target.parent)


@contextmanager
def atomic_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary directory; on success it takes the target's place.

    An existing target is moved aside for the moment between two renames. An error or Ctrl-C in that
    moment brings it back; should the process be killed, both versions are complete, hidden beside
    the target (``.NAME.old-*`` and ``.NAME.new-*``).
    """
    target = _followed(path)
    with _explained(target):
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=target.parent))
        try:
            yield temporary
            for file in temporary.iterdir():
                _flush(file)
            _flush(temporary)
            temporary.chmod(0o777 & ~_umask())
            _replace_directory(target, temporary)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        _flush(target.parent)


def _replace_directory(target: Path, fresh: Path) -> None:
    if not target.exists():
        fresh.rename(target)
        return
    aside = target.with_name(f".{target.name}.old-{secrets.token_hex(4)}")
    target.rename(aside)
    try:
        fresh.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)  # the new one is there, whatever becomes of the old


def _followed(path: str | os.PathLike[str]) -> Path:
    """Return where a symbolic link leads, so that the link stays one."""
    given = Path(path)
    return given.resolve() if given.is_symlink() else given


def check_replaceable(target: Path, ours: Collection[str], marker: str) -> None:
    """Refuse to replace anything but a directory of our own files, of which ``marker`` is one."""
    if not target.exists():
        return
    if not (target / marker).is_file():
        raise SaveError(
            f"cannot write {target}: something else of that name is there. Choose another name."
        )
    if foreign := sorted({file.name for file in target.iterdir()} - set(ours)):
        raise SaveError(
            f"cannot write {target}: it holds {foreign[0]}, which would be lost. "
            "Choose another name, or move that elsewhere."
        )


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Turn the operating system's errors into one readable line."""
    if not is_text(target):
        raise SaveError(f"cannot write {target}: its name is no UTF-8 text. Choose another name.")
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
        if full:
            what = "the disk is full. Make room and try again"
        elif isinstance(error, FileNotFoundError) and not target.parent.exists():
            what = f"the directory {target.parent} does not exist. Create it first"
        else:
            what = f"{error.strerror or error}. Check the place and try again"
        raise SaveError(f"cannot write {target}: {what}; nothing was changed.") from error


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
