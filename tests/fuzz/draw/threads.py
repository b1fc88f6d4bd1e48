"""Plans for several threads at once. The plan is drawn; how the threads take turns is not."""

from __future__ import annotations

from dataclasses import dataclass

from pynested.fuzzing.chance import Chance

THREAD = 6  # the first number of a key
WAYS = ("checkpoint", "random", "chains")


@dataclass(frozen=True)
class Threads:
    """So many threads that do the same so often, with arrays of ``size`` elements."""

    way: str
    count: int
    size: int
    repeats: int
    seed: int


def threads(seed: int, number: int) -> Threads:
    """Plan ``number``."""
    chance = Chance(THREAD, seed, number)
    return Threads(chance.one(WAYS), chance.between(2, 4), chance.one((10, 1000, 10000)), 20, chance.below(2**31))
