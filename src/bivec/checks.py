"""Checks of parameters: what is allowed is said once, and the message names the parameter."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from bivec.errors import InputError


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return an integer within [low, high], or say what is wrong with it.

    >>> check_integer("dim", np.int32(8), low=1)
    8
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name}={value!r} is no integer", _range(name, low, high))
    number = int(value)
    if number < low or (high is not None and number > high):
        raise InputError(f"{name}={number} is out of range", _range(name, low, high))
    return number


def check_number(
    name: str,
    value: Any,
    low: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Return a finite number, at least ``low``, more than ``above``, less than ``below``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}={value!r} is no number")
    number = float(value)
    limits = [f"at least {low:g}"] if low is not None else []
    limits += [f"more than {above:g}"] if above is not None else []
    limits += [f"less than {below:g}"] if below is not None else []
    if (
        not math.isfinite(number)
        or (low is not None and number < low)
        or (above is not None and number <= above)
        or (below is not None and number >= below)
    ):
        raise InputError(
            f"{name}={number:g} is out of range",
            f"{name} is finite{''.join(f', {x}' for x in limits)}.",
        )
    return number


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return the value if it is one of the choices.

    >>> check_choice("draw", "walk", ("walk", "set"))
    'walk'
    """
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name}={value!r} is no choice", f"Choose one of {', '.join(choices)}.")
    return value


def seed_of(random_state: Any) -> int:
    """Return a seed from an integer, a numpy generator (which advances), or None (fresh entropy).

    >>> seed_of(7)
    7
    """
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.SeedSequence):
        return int(random_state.generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, (bool, np.bool_)) or not isinstance(random_state, numbers.Integral):
        raise InputError(
            f"random_state={random_state!r} is no seed",
            "Give an integer that is not negative, a numpy generator, or None.",
        )
    return check_integer("random_state", random_state, low=0, high=2**63 - 1)


def _range(name: str, low: int, high: int | None) -> str:
    return f"{name} is at least {low}." if high is None else f"{name} lies in {low} to {high}."
