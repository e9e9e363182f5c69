"""The methods that experiments know by name, and how they are set up when they are measured."""

from __future__ import annotations

import difflib
import importlib.util
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bivec.errors import InputError, require

NORM = 3.0
"""Root mean square norm of vectors that are measured, for all methods and data sets alike.

The machines of link prediction have a fixed length scale (gamma = 0.1), so vectors need a length,
and it must not be chosen on test pairs. Of 1, 1.5, 2, 3, 4 and 5, this is within .01 of the best in
12 of 14 cases (FOBE and HOBE, 50 samples a node; left and right task on Amazon, MadGrades and
YouTube, left on DBLP), by the accuracy on edges that were held out once more from training edges.
In Amazon's left task 4 gains .05 for FOBE and .01 for HOBE. Rankings do not depend on it.
"""


def registry() -> dict[str, Callable[..., Any]]:
    """Return every method that can be measured, by name: what makes an estimator of it."""
    from bivec.baselines import ALL_METHODS
    from bivec.combine import METHODS as COMBINATIONS
    from bivec.models import METHODS, PRESETS

    return {**METHODS, **PRESETS, **ALL_METHODS, **COMBINATIONS}


def every_method(parameter: str | None = None) -> tuple[str, ...]:
    """Return the methods that ``all`` stands for: those that can be run here.

    Those whose optional package is missing are left out with a warning. Where a parameter is
    named, those that do not have it are left out, too.
    """
    known = [name for name in registry() if parameter in (None, *make_method(name).get_params())]
    absent = [name for name in known if not _installed(name)]
    if absent:
        warnings.warn(
            f"left out, as torch is not installed: {', '.join(absent)}. "
            "Install it with: pip install 'bivec[combine]'",
            stacklevel=2,
        )
    return tuple(name for name in known if name not in absent)


def _installed(name: str) -> bool:
    """Whether the optional package of a method is there; without importing it, which is slow."""
    from bivec.combine import METHODS as COMBINATIONS

    return name not in COMBINATIONS or importlib.util.find_spec("torch") is not None


def make_method(name: str, **parameters: Any) -> Any:
    """Return an estimator by name, at its defaults and what is given.

    Where its vectors have no length of their own, they get :data:`NORM`.

    >>> make_method("verse", dim=16)
    VERSE(dim=16, norm=3.0)
    """
    known = registry()
    if name not in known:
        raise InputError(f"there is no method {name!r}", f"{near(name, known)}")
    estimator = known[name]()
    if estimator.get_params().get("norm", NORM) is None and "norm" not in parameters:
        parameters = {**parameters, "norm": NORM}
    return estimator.set_params(**parameters)


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return what decides an estimator's vectors, apart from the seed."""
    free = ("random_state", "n_jobs", "progress")
    return {k: v for k, v in sorted(estimator.get_params().items()) if k not in free}


def chosen_methods(text: str, parameter: str | None = None) -> tuple[str, ...]:
    """Understand a list of methods as the command line takes it: ``fobe,hobe`` or ``all``.

    ``all`` is as :func:`every_method` has it. A method that is named must be able to run.

    >>> chosen_methods("hobe, fobe")
    ('hobe', 'fobe')
    """
    if text.strip() == "all":
        return every_method(parameter)
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for name in names:
        make_method(name)
        if not _installed(name):
            require("torch", extra="combine", purpose=f"The method {name}")
    return names


def parse_settings(settings: Iterable[str], methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Understand ``fobe.norm=5`` (one method) and ``dim=64`` (every method that has it).

    >>> parse_settings(["dim=64", "hobe.order=gauss-seidel", "fobe.norm=none"], ["fobe", "hobe"])
    {'fobe': {'dim': 64, 'norm': None}, 'hobe': {'dim': 64, 'order': 'gauss-seidel'}}
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in methods}
    for text in settings:
        key, equals, value = text.partition("=")
        method, dot, name = key.strip().rpartition(".")
        if not equals or not name or (dot and not method):
            raise InputError(
                f"{text!r} is no setting", "Write METHOD.NAME=VALUE, such as fobe.norm=5."
            )
        if method and method not in found:
            raise InputError(
                f"{text!r} sets a parameter of {method!r}, which is not measured",
                f"Measured are {', '.join(found)}.",
            )
        able = [m for m in found if name in make_method(m).get_params()]
        for target in [method] if method else able:
            found[target][name] = plain_value(_literal(value.strip()))
        if not method and not able:
            raise InputError(f"no method has a parameter {name!r}", f"In {text!r}.")
    for method, values in found.items():
        make_method(method, **values)
    return found


def plain_value(value: Any) -> Any:
    """Return a value of a file as a parameter: the word ``none`` is None, which TOML lacks."""
    return None if value == "none" else value


def near(name: str, known: Mapping[str, Any] | Iterable[str]) -> str:
    """Return what may have been meant, for a message."""
    words = list(known)
    close = difflib.get_close_matches(name, words, n=3) or [w for w in words if name and name in w]
    meant = f"Did you mean {' or '.join(map(repr, close[:3]))}? " if close else ""
    return f"{meant}There are {', '.join(words)}."


def _literal(text: str) -> Any:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text
