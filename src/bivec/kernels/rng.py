"""Counter-based random numbers: a draw is a function of its coordinates, not of a history.

A stream is named by (seed, relation, node, step) and its numbers are counted 0, 1, 2, ... Each
number is the splitmix64 finaliser of key and counter, so any draw can be derived again anywhere: by
another thread, by another machine, or by a test that asks what training saw.

References
----------
Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivec.kernels.jit import Array, inner, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)
_NONE = np.uint64(0)
_S27, _S30, _S31, _S32, _S40 = (np.uint64(shift) for shift in (27, 30, 31, 32, 40))
_UNIT = np.float32(2.0**-24)


@inner
def mix(z: Any) -> Any:  # pragma: no cover
    """Scramble 64 bits: each input bit flips each output bit with probability one half."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@inner
def stream(seed: Any, relation: int, node: int) -> Any:  # pragma: no cover
    """Return the key of one relation of one node; :func:`step_key` narrows it to one step."""
    key = mix(np.uint64(seed) + _GOLDEN * np.uint64(relation + 1))
    return mix(key + _GOLDEN * np.uint64(node + 1))


@inner
def step_key(key: Any, step: int) -> Any:  # pragma: no cover
    """Return the key of one step of a stream."""
    return mix(key ^ (_GOLDEN * np.uint64(step + 1)))


@inner
def bits(key: Any, counter: int) -> Any:  # pragma: no cover
    """Return the 64 random bits at one position of a stream."""
    return mix(key + _GOLDEN * np.uint64(counter + 1))


@inner
def scale(r: Any, n: int) -> int:  # pragma: no cover
    """Return 64 uniform bits as an integer in [0, n), for n up to ``2**63``.

    The high half of the 128-bit product ``r * n`` (Lemire 2019): no division, and no value is
    more than ``n / 2**64`` likelier than another.
    """
    m = np.uint64(n)
    high, low = r >> _S32, r & _LOW
    m_high, m_low = m >> _S32, m & _LOW
    middle = high * m_low + ((low * m_low) >> _S32)
    if m_high == _NONE:  # the same with two products less
        return np.int64(middle >> _S32)  # type: ignore[return-value]
    carry = low * m_high + (middle & _LOW)
    return np.int64(high * m_high + (middle >> _S32) + (carry >> _S32))  # type: ignore[return-value]


@inner
def below(key: Any, counter: int, n: int) -> int:  # pragma: no cover
    """Return a uniform integer in [0, n)."""
    return scale(bits(key, counter), n)


@inner
def even(key: Any, turn: int, n: int) -> int:  # pragma: no cover
    """Return the integer in [0, n) that is due in a turn: uniform, and evenly spread over turns.

    Turns are steps of the golden ratio from a random start (a Kronecker sequence), so that any few
    of them in a row are well apart.
    """
    return scale(bits(key, 0) + _GOLDEN * np.uint64(turn), n)


@inner
def unit(key: Any, counter: int) -> Any:  # pragma: no cover
    """Return a uniform float32 in [0, 1), a multiple of ``2**-24``."""
    return np.float32(bits(key, counter) >> _S40) * _UNIT


@kernel
def fill_uniform(
    table: Array, first: int, seed: Any, relation: int, low: float, high: float
) -> None:  # pragma: no cover
    """Fill a table, the first row of which is node ``first``, with uniforms in [low, high).

    A row depends on its node and not on the rows around it.
    """
    start = np.float32(low)
    width = np.float32(high) - start
    for i in range(table.shape[0]):
        key = stream(seed, relation, first + i)
        for c in range(table.shape[1]):
            table[i, c] = start + width * unit(key, c)


def warmup() -> None:
    """Compile for the tables that bivec fills."""
    fill_uniform(np.empty((1, 1), np.float32), 0, 0, 0, -1.0, 1.0)
