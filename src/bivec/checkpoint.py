"""Checkpoints: the state of training in one file, from which it goes on to the same bytes.

The file is a zip archive of numpy arrays (``.npz``) without pickled objects. It is replaced whole
or not at all, so a process that is killed while writing leaves the last good one.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bivec.errors import FormatError, InputError
from bivec.io.atomic import atomic_file
from bivec.settings import EpochRecord

EVERY = 60.0
"""Seconds between checkpoints: a minute of work is what a killed process loses."""

_ARRAYS = ("left", "right", "left_squares", "right_squares", "sums")


def fingerprint(parts: list[Any]) -> str:
    """Return a hash of arrays and settings: what decides the bytes that training reaches."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()


class Checkpoint:
    """A file that holds the state of one training.

    Parameters
    ----------
    path : path
        The file. Where it exists, training goes on from it.
    key : str
        The :func:`fingerprint` of the training; a file with another one is refused.
    every : float, optional
        Seconds between two writes; a minute where not given.
    """

    def __init__(self, path: Any, key: str, every: float | None = None) -> None:
        self.path, self.key = Path(path), key
        self.every = EVERY if every is None else every
        self._written = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return the state in the file, or None where there is none yet."""
        if not self.path.exists():
            return None
        if not self.path.is_file() or not _starts_like_one(self.path):
            raise InputError(f"{self.path} is no checkpoint", "Choose another name for one.")
        try:
            with self.path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                state: dict[str, Any] = {name: file[name] for name in _ARRAYS}
                told = json.loads(bytes(file["state"]).decode())
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise FormatError(
                f"{self.path} is no whole checkpoint ({error}). Delete it to start afresh."
            ) from error
        if told["key"] != self.key:
            raise InputError(
                f"{self.path} is the checkpoint of another training (other edges, seed, method, "
                "parameters or version)",
                "Choose another file, or delete this one to start afresh.",
            )
        history = [EpochRecord(**record) for record in told["history"]]
        return {**state, "epoch": told["epoch"], "block": told["block"], "history": history}

    def offer(self, state: dict[str, Any]) -> None:
        """Write a state if the last one is old enough."""
        if time.monotonic() - self._written >= self.every:
            self.save(state)

    def save(self, state: dict[str, Any]) -> None:
        """Write a state."""
        told = {
            "key": self.key, "epoch": state["epoch"], "block": state["block"],
            "history": [asdict(record) for record in state["history"]],
        }  # fmt: skip
        text = np.frombuffer(json.dumps(told).encode(), np.uint8)
        arrays = {name: state[name] for name in _ARRAYS}
        with atomic_file(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, state=text, **arrays)
        self._written = time.monotonic()


def _starts_like_one(path: Path) -> bool:
    """Whether a file begins as a zip archive does, or is empty, as a write that was cut short."""
    with path.open("rb") as file:
        return file.read(2) in (b"PK", b"")
