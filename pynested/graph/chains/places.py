"""Where the registers of a block lie: in a block of a result, or in scratch memory that serves again and again.

What a ufunc makes may lie where one of its operands lay that nobody reads any more, so that few arrays are in use at
once and all of them stay in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .kernels import scratch_of
from .registers import Register

_SLOW_IN_PLACE = (np.sign,)  # NumPy's loop guesses at each sign there: twelve times slower, where signs are random


class Place(NamedTuple):
    """One array of a block, as the text calls it: ``x0`` a parameter, ``y0`` a result, ``s0`` scratch memory.

    Where it is narrow it has a number for each row of the block.
    """

    name: str
    dtype: np.dtype[Any]
    narrow: bool = False

    def fits(self, register: Register) -> bool:
        """Whether a register may lie here."""
        return (self.dtype, self.narrow) == (register.dtype, register.narrow)


class Places:
    """The places of all registers of a block, and of the scratch arrays that kernels ask for.

    Attributes
    ----------
    of : dict
        The place of each register, by itself.
    beside : dict
        The scratch arrays of each register that a kernel makes.
    scratch : list of Place
        All scratch arrays.
    """

    def __init__(self, order: Sequence[Register], given: Mapping[Register, Place], wanted: Mapping[Register, Place]):
        self.of: dict[Register, Place] = dict(given)
        self.beside: dict[Register, list[Place]] = {}
        self.scratch: list[Place] = []
        self._free: list[Place] = []
        self._count = 0
        last = _last_readers(order)
        for one in order:
            read = dict.fromkeys(one.reads)
            gone = [self.of[other] for other in read if last[other] is one and self.of[other] in self.scratch]
            self._lay(one, gone, wanted.get(one))
            self._free += [place for place in gone if place in self.scratch and place != self.of[one]]

    def _lay(self, one: Register, gone: list[Place], result: Place | None) -> None:
        """Find the place of ``one``, where those that are ``gone`` may be used by a ufunc at once."""
        in_place = _reads_before_it_writes(one) and one.function not in _SLOW_IN_PLACE
        there = [place for place in gone if place.fits(one) and in_place]
        if result is None:
            self.of[one] = there[0] if there else self._any(one)
        else:
            self.of[one] = result
            if there:
                self._give(there[0], result)
        self.beside[one] = [self._any(one) for _ in range(scratch_of(one))]
        self._free += self.beside[one]

    def _any(self, register: Register) -> Place:
        """A scratch array that is free, or a new one."""
        for i, place in enumerate(self._free):
            if place.fits(register):
                return self._free.pop(i)
        made = Place(f"s{self._count}", register.dtype, register.narrow)
        self._count += 1
        self.scratch.append(made)
        return made

    def _give(self, place: Place, result: Place) -> None:
        """Let the block of a result serve as scratch memory until it gets its numbers."""
        self.scratch.remove(place)
        for places in self.beside.values():
            places[:] = [result if one == place else one for one in places]
        self.of.update({one: result for one, other in self.of.items() if other == place})


def _last_readers(order: Sequence[Register]) -> dict[Register, Register]:
    """For each register the one that reads it last."""
    return {read: one for one in order for read in one.reads}


def _reads_before_it_writes(one: Register) -> bool:
    return isinstance(one.function, np.ufunc)
