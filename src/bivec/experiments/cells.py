"""Results of one cell of an experiment, kept in a file each.

A cell is the smallest piece that is computed and kept: one method on one data set, share and seed.
Its file is named by a hash of everything that decides its figures, so a result is found again by
whatever experiment needs it, and never after a change. Files are written whole or not at all: who
kills a run loses the cell at hand.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bivec.datasets import cache_dir
from bivec.errors import SaveError
from bivec.io.atomic import atomic_file

FORMAT = 1
"""Version of the files; other versions are not read."""


@dataclass(frozen=True)
class Cell:
    """What is computed at once.

    Attributes
    ----------
    kind : {"links", "references", "ranking"}
        A method in link prediction, the predictors without vectors, or a method that ranks.
    dataset, method : str
        Names, for people and for the name of the file.
    seed : int
        Of split, method and tasks.
    spec : dict
        Everything that decides the figures.
    share : float, optional
        Training share of link prediction.
    rate : int, optional
        Samples a node, in a sensitivity study.
    """

    kind: str
    dataset: str
    method: str
    seed: int
    spec: Mapping[str, Any]
    share: float | None = None
    rate: int | None = None

    @property
    def key(self) -> str:
        """The hash of what decides the figures."""
        return hashlib.sha256(canonical(self.spec).encode()).hexdigest()

    def __str__(self) -> str:
        parts = [self.dataset, self.method]
        parts += [f"share {self.share:g}"] if self.share is not None else []
        parts += [f"rate {self.rate}"] if self.rate is not None else []
        return ", ".join([*parts, f"seed {self.seed}"])


@dataclass(frozen=True)
class CellResult:
    """A cell and what came out of it.

    Attributes
    ----------
    cell : Cell
        What was computed.
    figures : dict
        As JSON can hold them; ``{"error": message}`` where there are none.
    environment : dict
        Where it was computed.
    cached : bool
        Whether it was found and not computed now.
    """

    cell: Cell
    figures: dict[str, Any]
    environment: dict[str, Any]
    cached: bool = False

    @property
    def error(self) -> str | None:
        """Why there are no figures."""
        message = self.figures.get("error")
        return None if message is None else str(message)


@dataclass
class CellStore:
    """A directory of results; without one, nothing is kept.

    Attributes
    ----------
    directory : path or None
        Where the files are.
    fresh : bool
        Look at nothing that is there; it is overwritten.
    notes : list of str
        Files that were there and could not be used.
    """

    directory: Path | None = None
    fresh: bool = False
    notes: list[str] = field(default_factory=list)

    def path(self, cell: Cell) -> Path | None:
        """Return where the result of a cell is or will be."""
        if self.directory is None:
            return None
        return self.directory / f"{cell.kind}-{cell.dataset}-{cell.method}-{cell.key[:20]}.json"

    def get(self, cell: Cell) -> CellResult | None:
        """Return a result that is there; one that is damaged is noted and as good as absent."""
        place = self.path(cell)
        if place is None or self.fresh:
            return None
        try:
            record = json.loads(place.read_bytes())
            if record["format"] != FORMAT:
                raise ValueError(f"its format is {record['format']}")
            if record["key"] != cell.key:
                raise ValueError("it belongs to another cell")
            if record["checksum"] != _checksum(record["figures"]):
                raise ValueError("its checksum does not fit")
            return CellResult(cell, record["figures"], dict(record["environment"]), cached=True)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            self.notes.append(f"the kept result {place.name} was damaged ({reason}): computed anew")
            return None

    def put(self, result: CellResult) -> None:
        """Keep a result."""
        place = self.path(result.cell)
        if place is None:
            return
        record = {
            "format": FORMAT,
            "key": result.cell.key,
            "cell": str(result.cell),
            "spec": result.cell.spec,
            "figures": result.figures,
            "checksum": _checksum(result.figures),
            "environment": result.environment,
        }
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SaveError(
                f"cannot keep results in {place.parent}: {error.strerror or error}. Choose another "
                "place with --cache or BIVEC_CACHE."
            ) from error
        with atomic_file(place) as temporary:
            temporary.write_text(json.dumps(record, indent=1), encoding="utf-8")


def default_directory() -> Path:
    """Return where results are kept unless told otherwise: ``results`` in bivec's cache."""
    return cache_dir() / "results"


def canonical(value: Any) -> str:
    """Return a value as JSON, the same text for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def without_nan(value: Any) -> Any:
    """Return a value with None for numbers that JSON does not know.

    >>> without_nan({"a": float("nan"), "b": (1.5, float("inf"))})
    {'a': None, 'b': [1.5, None]}
    """
    if isinstance(value, Mapping):
        return {str(k): without_nan(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _checksum(figures: Any) -> str:
    return hashlib.sha256(canonical(figures).encode()).hexdigest()
