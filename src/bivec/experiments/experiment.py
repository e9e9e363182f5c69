"""An experiment as a file: what is measured on what, how, and what was published.

A TOML file that says everything is checked before anything runs; what is wrong is said with the
file, the key and what is allowed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from bivec.checks import check_choice, check_integer, check_number
from bivec.datasets import describe
from bivec.errors import InputError
from bivec.evaluation.link_prediction import TASKS
from bivec.evaluation.metrics import PROTOCOLS
from bivec.experiments.methods import every_method, make_method, near, plain_value
from bivec.experiments.published import Published, check_published
from bivec.queries.choose import SCORERS

KINDS = ("link-prediction", "recommendation", "sensitivity")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is measured, on what, and how; checked.

    Attributes
    ----------
    name, kind, title, paper, notes
        What it is; ``paper`` names the table or figure it belongs to.
    datasets, methods : tuple of str
        What is measured on what.
    parameters : dict
        What differs from a method's defaults, by method.
    seeds : tuple of int
        One repetition each: of split, method and tasks.
    train_shares, tasks
        Of link prediction and sensitivity.
    rates : tuple of int
        Samples a node, for sensitivity.
    test_share, k, protocols, scorers
        Of recommendation; the share is held out where a data set has no split of its own.
    published : Published
        The paper's figures.
    quick : dict
        What the small version changes.
    """

    name: str
    kind: str
    title: str = ""
    paper: str = ""
    notes: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ("fobe", "hobe")
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    train_shares: tuple[float, ...] = (0.5,)
    tasks: tuple[str, ...] = TASKS
    rates: tuple[int, ...] = tuple(2**k for k in range(11))
    test_share: float = 0.4
    k: int = 10
    protocols: tuple[str, ...] = PROTOCOLS
    scorers: tuple[str, ...] = ("blend", "centroid")
    published: Published = field(default_factory=Published)
    quick: Mapping[str, Any] = field(default_factory=dict)

    def quickened(self) -> tuple[Experiment, list[str]]:
        """Return the small version, and what it changes in words."""
        changes = []
        values: dict[str, Any] = {}
        for key, value in self.quick.items():
            if key == "parameters":
                merged = {m: dict(self.parameters.get(m, {})) for m in self.methods}
                for method in self.methods:
                    given = value.get(method, {})
                    merged[method] |= given
                    usual = make_method(method, **self.parameters.get(method, {})).get_params()
                    changes += [
                        f"{method}: {name} {new} instead of {usual[name]}"
                        for name, new in given.items()
                    ]
                values[key] = merged
            else:
                values[key] = value
                before, now = (", ".join(map(str, v)) for v in (getattr(self, key), value))
                changes.append(f"{key.replace('_', ' ')} {now} instead of {before}")
        return replace(self, **values), changes


def names() -> tuple[str, ...]:
    """Return the names of the experiments that come with bivec.

    >>> "sensitivity" in names()
    True
    """
    return tuple(sorted(f.name.removesuffix(".toml") for f in _files() if f.name.endswith(".toml")))


def find(name: str) -> Experiment:
    """Return an experiment by its name, or from the path of a file."""
    if name.endswith(".toml"):
        return read_experiment(name)
    if name not in names():
        raise InputError(
            f"there is no experiment {name!r}", near(name, names()) + " A .toml file will do, too."
        )
    file = resources.files("bivec.experiments").joinpath("files", f"{name}.toml")
    return _parse(file.read_text("utf-8"), name, f"{name}.toml")


def read_experiment(path: str | Path) -> Experiment:
    """Read and check a file."""
    place = Path(path)
    try:
        text = place.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"cannot read it ({reason})", "Name a TOML file.", path=place) from error
    return _parse(text, place.stem, str(place))


def _files() -> Any:
    return resources.files("bivec.experiments").joinpath("files").iterdir()


def _parse(text: str, name: str, place: str) -> Experiment:
    try:
        return check_experiment(name, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"it is no TOML: {error}", "Mend the syntax there.", path=place) from error
    except InputError as error:
        raise error.located(place) from error.__cause__


# What is allowed

_COMMON = ("kind", "title", "paper", "notes", "datasets", "methods", "parameters", "seeds",
           "published", "quick")  # fmt: skip
_OWN = {
    "link-prediction": ("train_shares", "tasks"),
    "recommendation": ("test_share", "k", "protocols", "scorers"),
    "sensitivity": ("train_shares", "tasks", "rates"),
}
_QUICK = ("datasets", "methods", "parameters", "seeds", "train_shares", "tasks", "rates",
          "protocols", "scorers")  # fmt: skip


def check_experiment(name: str, values: Mapping[str, Any]) -> Experiment:
    """Return the experiment that a table of values describes, or say which key is wrong.

    >>> check_experiment("mine", {"kind": "sensitivity", "datasets": ["amazon"]}).datasets
    ('snap-com-amazon',)
    """
    if "kind" not in values:
        raise InputError("the key 'kind' is missing", f"It is one of {', '.join(KINDS)}.")
    kind = check_choice("kind", values["kind"], KINDS)
    checked = _checked(values, (*_COMMON, *_OWN[kind]), "")
    if not checked.get("datasets"):
        raise InputError("the key 'datasets' is missing or empty", "Name at least one data set.")
    own = checked.setdefault("parameters", {})
    methods = checked.get("methods", ("fobe", "hobe"))
    for method in own:
        if method not in methods:
            raise InputError(f"parameters.{method}: {method!r} is not among the methods",
                             f"Measured are {', '.join(methods)}.")  # fmt: skip
    quick = values.get("quick", {})
    if not isinstance(quick, Mapping):
        raise InputError("quick is no table", "Write its keys under [quick].")
    allowed = tuple(key for key in _QUICK if key in (*_COMMON, *_OWN[kind]))
    checked["quick"] = _checked(quick, allowed, "quick.")
    if kind == "sensitivity":
        for shares in (checked.get("train_shares", (0.5,)), checked["quick"].get("train_shares")):
            if shares is not None and len(shares) != 1:
                raise InputError("train_shares has several shares", "A sensitivity study has one.")
        if any("n_samples" in given for given in own.values()):
            raise InputError("n_samples is set", "In a sensitivity study the rates decide it.")
        for method in (*methods, *checked["quick"].get("methods", ())):
            if "n_samples" not in make_method(method).get_params():
                raise InputError(f"{method} takes no samples of nodes", "Leave it out.")
    checked["published"] = check_published(values.get("published", {}), kind)
    checked.setdefault("title", name)
    return Experiment(name=name, **checked)


def _checked(values: Mapping[str, Any], allowed: tuple[str, ...], prefix: str) -> dict[str, Any]:
    """Check each key of a table."""
    found = {}
    for key, value in values.items():
        if key not in allowed:
            raise InputError(f"there is no key {prefix + key!r}", near(key, allowed))
        if key in _CHECKS:
            found[key] = _CHECKS[key](prefix + key, value)
    return found


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{key}={value!r} is no text", "Put it in quotes.")
    return value


def _several(check: Callable[[str, Any], Any]) -> Callable[[str, Any], tuple[Any, ...]]:
    """Return a check of a list of distinct values."""

    def every(key: str, values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list) or not values:
            raise InputError(f"{key}={values!r} is no list of values", "Write them in [brackets].")
        found = tuple(check(key, value) for value in values)
        if len(set(found)) < len(found):
            raise InputError(f"{key} has a value twice", "Name each once.")
        return found

    return every


def _methods(key: str, value: Any) -> tuple[str, ...]:
    if value == "all":
        return every_method()
    names: tuple[str, ...] = _several(_text)(key, value)
    for name in names:
        try:
            make_method(name)
        except InputError as error:
            raise InputError(f"{key}: {error.problem}", error.hint) from None
    return names


def _dataset(key: str, value: Any) -> str:
    try:
        return describe(_text(key, value)).name
    except InputError as error:
        raise InputError(f"{key}: {error.problem}", error.hint) from None


def _parameters(key: str, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, Mapping) or not all(isinstance(v, Mapping) for v in value.values()):
        raise InputError(f"{key} is no table of tables", f"Write them under [{key}.METHOD].")
    found = {}
    for method, given in value.items():
        found[method] = {name: plain_value(v) for name, v in given.items()}
        try:
            make_method(method, **found[method])
        except InputError as error:
            raise InputError(f"{key}.{method}: {error.problem}", error.hint) from None
    return found


def _choices(*choices: str) -> Callable[[str, Any], tuple[Any, ...]]:
    return _several(lambda key, value: check_choice(key, value, choices))


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "kind": _text,
    "title": _text,
    "paper": _text,
    "notes": _several(_text),
    "datasets": _several(_dataset),
    "methods": _methods,
    "parameters": _parameters,
    "seeds": _several(lambda key, value: check_integer(key, value, low=0)),
    "train_shares": _several(lambda key, value: check_number(key, value, above=0, below=1)),
    "tasks": _choices(*TASKS),
    "rates": _several(lambda key, value: check_integer(key, value, low=1)),
    "test_share": lambda key, value: check_number(key, value, above=0, below=1),
    "k": lambda key, value: check_integer(key, value, low=1),
    "protocols": _choices(*PROTOCOLS),
    "scorers": _choices(*SCORERS),
}
"""How the value of a key is checked; ``published`` and ``quick`` are tables of their own."""
