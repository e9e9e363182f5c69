"""The few errors that bivec raises, and the way to ask for an optional package.

Every message says what is wrong, where, and what to do next. All of them derive from
:class:`BivecError`, so ``except bivec.BivecError`` catches what a user can mend.
"""

from __future__ import annotations

import importlib
import reprlib
from os import PathLike
from types import ModuleType
from typing import Any


class BivecError(Exception):
    """Anything that went wrong in a way the caller can mend."""


class InputError(BivecError, ValueError):
    """Input that cannot be read as a bipartite graph.

    Parameters
    ----------
    problem : str
        What is wrong, without a trailing full stop.
    hint : str
        What to do about it: one sentence, or empty.
    path, line, column, side
        Where it is wrong, as far as it is known. ``line`` counts from 1, as editors do;
        ``column`` is a description such as ``"3 ('stars')"``.
    """

    def __init__(
        self,
        problem: str,
        hint: str = "",
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        column: str | None = None,
        side: str | None = None,
    ) -> None:
        self.problem = problem
        self.hint = hint
        self.path = None if path is None else str(path)
        self.line = line
        self.column = column
        self.side = side
        super().__init__(str(self))

    def __str__(self) -> str:
        """Join place, problem and way out into one line."""
        place = [self.path] if self.path else []
        if self.line is not None:
            place.append(f"line {self.line:,}")
        if self.column is not None:
            place.append(f"column {self.column}")
        text = f"{', '.join(place)}: {self.problem}." if place else f"{self.problem}."
        return " ".join(f"{text} {self.hint}".split("\n")).rstrip()

    def located(self, path: str | PathLike[str]) -> InputError:
        """Return this error with the file named, unless one is named already."""
        place = self.path or path
        return InputError(
            self.problem, self.hint, path=place, line=self.line, column=self.column, side=self.side
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the parts: the default would pass the joined message as the problem."""
        return _rebuild_input_error, (
            type(self), self.problem, self.hint, self.path, self.line, self.column, self.side,
        )  # fmt: skip


def _rebuild_input_error(
    kind: type[InputError],
    problem: str,
    hint: str,
    path: str | None,
    line: int | None,
    column: str | None,
    side: str | None,
) -> InputError:
    return kind(problem, hint, path=path, line=line, column=column, side=side)


class UnknownIdError(InputError, LookupError):
    """An id that the graph or embedding does not hold; ``hint`` has near ones, if there are any."""

    def __str__(self) -> str:
        """Join what is unknown and what may have been meant."""
        return f"{self.problem}; {self.hint}" if self.hint else f"{self.problem}."


class FormatError(BivecError):
    """A ``.bivec`` directory that is damaged, incomplete or from another version."""


class SaveError(BivecError):
    """Something could not be written; what was there before is unchanged."""


class MissingDataError(BivecError, LookupError):
    """A data set of the registry whose files are not on this machine."""


class DownloadError(BivecError):
    """A download that failed, or brought something other than was expected."""


class NotEnoughMemoryError(BivecError, MemoryError):
    """Work that was refused before it started, because it cannot fit."""


class NotFittedError(BivecError, ValueError, AttributeError):
    """Something was asked of an estimator that only ``fit`` can give."""


class MissingExtraError(BivecError, ImportError):
    """A feature whose optional packages are not installed."""


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80


def is_text(path: str | PathLike[str]) -> bool:
    r"""Whether the name of a path is text; on Linux it may be any bytes.

    >>> is_text("bücher.csv"), is_text("b\udcfccher.csv")
    (True, False)
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: Any) -> str:
    """Return a value as a message shows it: its repr, cut in the middle where it is long.

    >>> shown("ann"), len(shown("a" * 1000))
    ("'ann'", 80)
    """
    return _short.repr(value)


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    >>> require("json", extra="evaluate", purpose="an example").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs the package '{module.split('.')[0]}', which is not installed. "
            f"Install it with: pip install 'bivec[{extra}]'"
        ) from error
