"""Where equally strided arrays lie in a flat buffer, and copies of them that lie as they do, which move run by run."""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..heads import Ints
from .running import scratch

Array = NDArray[Any]
Numbers = tuple[int, ...]

PIECE = 8  # elements: an index for each shorter piece takes more time than it saves


class Lying(NamedTuple):
    """How an array lies: runs of elements that follow each other, and the steps from run to run."""

    axes: Numbers  # outermost first
    back: Numbers  # where each axis is among these
    sizes: Numbers  # along these
    counts: Numbers  # of runs
    steps: Numbers
    run: int


@lru_cache(1024)
def _lying(shape: Numbers, steps: Numbers) -> Lying:
    axes = sorted(range(len(shape)), key=lambda axis: -steps[axis])
    outer, run = [axis for axis in axes if shape[axis] != 1], 1
    while outer and steps[outer[-1]] == run:
        run *= shape[outer.pop()]
    counts, apart = zip(*[(shape[axis], steps[axis]) for axis in outer], strict=True) if outer else ((), ())
    back = tuple(1 + axes.index(axis) for axis in range(len(axes)))
    return Lying((0, *[1 + axis for axis in axes]), (0, *back), tuple(shape[axis] for axis in axes), counts, apart, run)


class Place:
    """Arrays of one shape in a flat buffer: what is taken of each component, and where it begins."""

    def __init__(self, starts: Any, shape: Numbers, steps: Numbers, count: int = 1) -> None:
        self.starts: Any = starts  # Ints, or that of the first of so many that follow each other
        self.shape, self.steps, self.count = shape, steps, count
        self.copied = type(starts) is not int  # there are several
        self._lying = _lying(shape, steps)

    def view(self, buffer: Array) -> Array:
        """The only array, (1, ...), or those that follow each other."""
        start = 0 if 0 in self.shape else self.starts * buffer.itemsize
        strides = [step * buffer.itemsize for step in (prod(self.shape), *self.steps)]
        return np.ndarray((self.count, *self.shape), buffer.dtype, buffer, start, strides)

    def room(self, dtype: np.dtype[Any], slot: str) -> Array:
        """Memory for copies of K arrays, (K, ...), that lie as these do."""
        made = scratch(slot, (len(self.starts), *self._lying.sizes), dtype)
        return made.transpose(self._lying.back)

    def copy(self, buffer: Array, slot: str) -> Array:
        """Copies of all arrays, (K, ...)."""
        found = self.room(buffer.dtype, slot)
        if found.size:
            length, index = self._pieces
            lying = found.transpose(self._lying.axes)
            if length < PIECE:
                lying.reshape(self._runs)[...] = self._everywhere(buffer)[self.starts]
            else:
                pieces = buffer[: len(buffer) // length * length].reshape(-1, length)
                pieces.take(index, axis=0, out=lying.reshape(-1, length), mode="clip")  # "raise" copies once more
        return found

    def put(self, copies: Array, buffer: Array) -> None:
        """What `room` gave goes to where the arrays are."""
        if copies.size:
            self._everywhere(buffer)[self.starts] = copies.transpose(self._lying.axes).reshape(self._runs)

    @cached_property
    def _runs(self) -> Numbers:
        """The shape of copies as runs."""
        return len(self.starts), *self._lying.counts, self._lying.run

    @cached_property
    def _pieces(self) -> tuple[int, Ints]:
        """The rows of a matrix that all runs are made of, and how long these are."""
        *_, counts, steps, run = self._lying
        length = gcd(run, np.gcd.reduce(self.starts).item(), *steps)
        index = self.starts // length
        for count, step in zip((*counts, run // length), (*steps, length), strict=True):
            index = index[..., None] + np.arange(count) * (step // length)
        return length, index.reshape(-1)

    def _everywhere(self, buffer: Array) -> Array:
        """A view of such an array, as runs, at each element up to the last start."""
        strides = [step * buffer.itemsize for step in (1, *self._lying.steps, 1)]
        return np.ndarray((self._last + 1, *self._runs[1:]), buffer.dtype, buffer, 0, strides)

    @cached_property
    def _last(self) -> int:
        return int(self.starts.max())
