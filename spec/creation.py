"""New arrays of programs: filled ones, random ones, and the dense array that equal components make.

Random numbers are a stand-in: a seed and the number of draws since then say what they are, and every number is one that
a right implementation may draw. A program asks only what is true of any such numbers: their dtype, their range, whether
two draws are equal. So no implementation has to have this stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .components import Components
from .numerics import NDArray

__all__ = ["FILLED", "Stream", "is_random", "like"]

Shape = tuple[int, ...]
# What each element of a new array is, of those that are like another one; of an empty one it is anything.
FILLED: Mapping[str, float] = {"zeros_like": 0, "ones_like": 1, "empty_like": 0}
_STEPS = 256  # levels of a random number: fractions of 256 are floats of every dtype


def is_random(op: str) -> bool:
    """Return whether a creation draws random numbers.

    >>> is_random("rand_like"), is_random("zeros_like")
    (True, False)
    """
    return op.startswith("rand")


class Stream:
    """Random numbers that a seed begins: a linear congruential generator, each number of 0 to 255 once in 256."""

    def __init__(self, seed: int = 0) -> None:
        self._state = seed % _STEPS

    def _next(self) -> int:
        self._state = (5 * self._state + 3) % _STEPS
        return self._state

    def drawn(self, op: str, shape: Shape, low: int = 0, high: int = 0) -> NDArray:
        """Return numbers of the distribution that an operator names."""
        kind = op.removesuffix("_like")
        levels = np.array([self._next() for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)
        of: Mapping[str, Callable[[NDArray], NDArray]] = {
            "rand": lambda level: level / _STEPS,
            "randn": lambda level: (level - _STEPS // 2) / (_STEPS // 4),  # from -2 to 2, with a variance of about 4/3
            "randint": lambda level: low + level % (high - low),
        }
        return of[kind](levels)


def like(x: Any, made: Callable[[Shape], NDArray], dtype: Any) -> Any:
    """Return an array of the shape of ``x``, each part of which is ``made`` of its shape."""
    if not isinstance(x, Components):
        return made(x.shape).astype(dtype)
    return Components([made(one.shape).astype(dtype) for one in x], x.shape, dtype)
