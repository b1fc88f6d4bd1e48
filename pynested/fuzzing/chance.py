"""Chance that is the same on every machine: a seed and a number give one chain, whatever was drawn before."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Chance:
    """Draws from the generator that Python promises to keep (`random.Random.random`), begun from numbers."""

    def __init__(self, *key: int) -> None:
        mixed = 0
        for number in key:
            mixed = (mixed << 64) | (number & (2**64 - 1))
        self._next = random.Random(mixed).random

    def below(self, end: int) -> int:
        """An integer from 0 to ``end`` - 1."""
        return int(self._next() * end)

    def between(self, least: int, most: int) -> int:
        """An integer from ``least`` to ``most``, both possible."""
        return least + int(self._next() * (most - least + 1))

    def happens(self, share: float) -> bool:
        """True in this share of all cases."""
        return self._next() < share

    def one(self, choices: Sequence[T]) -> T:
        """One of several, equally likely; what is there twice is twice as likely."""
        return choices[int(self._next() * len(choices))]

    def order(self, count: int) -> list[int]:
        """The numbers below ``count`` in any order."""
        keys = [self._next() for _ in range(count)]
        return sorted(range(count), key=keys.__getitem__)

    def uniform(self, count: int) -> Any:
        """Floats from [0, 1)."""
        return np.array([self._next() for _ in range(count)])

    def picks(self, pool: Any, count: int) -> Any:
        """``count`` entries of an array."""
        size = len(pool)
        return pool[[int(self._next() * size) for _ in range(count)]]
