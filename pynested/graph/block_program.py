"""A chain on the CPU: a list of steps, run over blocks of the operands that stay in the cache.

A step is a ufunc or a kernel, the slots of its operands, and the slot of its result. A ufunc computes each element in
the same way wherever it lies, so a block has the bits of the whole array; only the sign of a NaN is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.backends.caching_allocator import LARGE, empty
from pynested.backends.numpy.blocks import run_shares
from pynested.backends.quiet import without_warnings

from .fusible_ops import LazyArray, resolve_dtypes, topological_order

BLOCK_BYTES = 384 * 1024  # of an array of a block; the arrays of a step, at most three, stay in the cache


class Step(NamedTuple):
    """``slots[target] = function(*slots[sources])``, or ``fill(*slots[sources], out=slots[target])``."""

    function: Any
    fill: Callable[..., Any]
    sources: tuple[int, ...]
    target: int


class BlockProgram:
    """``program(shape, operands) -> results``: each result has ``shape``, or is the operand if it is an input."""

    def __init__(self, inputs: Sequence[LazyArray], results: Sequence[LazyArray]) -> None:
        known = frozenset(inputs)
        order = dict.fromkeys(topological_order(results, known))
        self.reads = [i for i, x in enumerate(inputs) if x in order]  # the other operands may be None
        self.computed = [x for x in dict.fromkeys(results) if x not in known]
        self.itemsize = max([x.dtype.itemsize for x in order], default=1)
        # The inputs, the computed results, and then constants and scratch arrays; only constants are filled.
        self.slots: list[Any] = [None] * (len(inputs) + len(self.computed))
        self.expanded: list[int] = []  # slots of constants of which a whole block is needed
        self.scratch: dict[int, np.dtype[Any]] = {}  # of each scratch array, by its slot
        slot_of = {x: i for i, x in enumerate([*inputs, *self.computed])}
        self.result_slots = [slot_of[x] for x in results]
        self.steps = self._plan([x for x in order if x not in known], slot_of)

    def _plan(self, order: list[LazyArray], slot_of: dict[LazyArray, int]) -> list[Step]:
        """Return the steps. A scratch slot is used again after its last reader."""
        last_reader = {operand: x for x in order for operand in x.reads}
        free: list[int] = []
        steps = []
        for x in order:
            operands = enumerate(x.operands)
            sources = tuple([slot_of[y] if type(y) is LazyArray else self._constant(x, i) for i, y in operands])
            read = {slot_of[y] for y in x.reads if last_reader[y] is x}
            # A ufunc may write where an operand lies; there np.sign takes a branch at each element, 12 times slower.
            in_place = isinstance(x.function, np.ufunc) and x.function is not np.sign
            if in_place:
                free += read & self.scratch.keys()
            if x not in slot_of:
                slot_of[x] = self._scratch_slot(x.dtype, free)
            if not in_place:
                free += read & self.scratch.keys()
            steps.append(Step(x.function, _fill_function(x), sources, slot_of[x]))
        return steps

    def _scratch_slot(self, dtype: np.dtype[Any], free: list[int]) -> int:
        fitting = [slot for slot in free if self.scratch[slot] == dtype]
        if fitting:
            free.remove(fitting[-1])
            return fitting[-1]
        self.slots.append(None)
        self.scratch[len(self.slots) - 1] = dtype
        return len(self.slots) - 1

    def _constant(self, x: LazyArray, i: int) -> int:
        """Return the slot of operand i, which is no array."""
        number = x.operands[i]
        if isinstance(x.function, np.ufunc):
            number = np.asarray(number, resolve_dtypes(x.function, x.operands)[i])
        self.slots.append(number)
        if x.function in (np.maximum, np.minimum):  # vectorised for two arrays only
            self.expanded.append(len(self.slots) - 1)
        return len(self.slots) - 1

    @without_warnings
    def __call__(self, shape: tuple[int, ...], operands: Sequence[Any]) -> list[Any]:
        """Compute the results. An operand with fewer elements broadcasts against the dimensions behind the first."""
        size = prod(shape)
        if size * self.itemsize <= LARGE:
            slots = [*operands, *self.slots[len(operands) :]]
            for function, _, sources, target in self.steps:
                slots[target] = function(*[slots[i] for i in sources])
        else:
            made = [empty(shape, x.dtype) for x in self.computed]
            slots = [*operands, *made]
            if made:
                self._run_blocks(shape, size, operands, made)
        return [slots[i] for i in self.result_slots]

    def _run_blocks(self, shape: tuple[int, ...], size: int, operands: Sequence[Any], made: list[NDArray[Any]]) -> None:
        # One element stands for elements that share its memory, as in an expanded cotangent.
        used = [(i, x if any(x.strides) else x[(0,) * x.ndim]) for i, x in enumerate(operands) if i in self.reads]
        small = [(i, x) for i, x in used if x.shape != shape]
        row = shape[1:] if any(x.ndim for _, x in small) else ()
        block_size = min(size, max(1, BLOCK_BYTES // self.itemsize // max(1, prod(row))) * prod(row))
        cut = [(i, np.ascontiguousarray(x).reshape(-1)) for i, x in used if x.shape == shape]
        cut += [(len(operands) + i, x.reshape(-1)) for i, x in enumerate(made)]
        repeated = [(i, np.broadcast_to(x, (block_size // prod(row), *row)).reshape(-1)) for i, x in small]
        repeated += [(i, np.full(block_size, self.slots[i])) for i in self.expanded]

        def work(first: int, last: int) -> None:
            slots = list(self.slots)
            block_arrays = [*repeated, *[(i, np.empty(block_size, dtype)) for i, dtype in self.scratch.items()]]
            for start in range(first * block_size, min(last * block_size, size), block_size):
                for i, x in cut:
                    slots[i] = x[start : start + block_size]
                for i, x in block_arrays:
                    slots[i] = x[: size - start]
                for _, fill, sources, target in self.steps:
                    fill(*[slots[i] for i in sources], out=slots[target])

        run_shares(work, -(-size // block_size), size * self.itemsize)


def _fill_function(x: LazyArray) -> Callable[..., Any]:
    """Return what computes a lazy array in a block, ``fill(*operands, out=block)``."""
    function: Any = x.function
    if isinstance(function, np.ufunc):
        return function
    if function is np.where:
        return _choose
    return partial(_copied, function)


def _choose(condition: Any, a: Any, b: Any, out: NDArray[Any]) -> None:
    """Compute `numpy.where` by bits. `numpy.where` takes a branch at each element, which is slow."""
    mask = np.negative(condition.view(np.int8))  # all bits set where the condition holds, no bit elsewhere
    chosen, a, b = (x.view(f"i{out.itemsize}") for x in (out, a, b))
    np.bitwise_xor(a, b, out=chosen)
    np.bitwise_and(chosen, mask, out=chosen)
    np.bitwise_xor(chosen, b, out=chosen)


def _copied(function: Callable[..., Any], *operands: Any, out: NDArray[Any]) -> None:
    out[...] = function(*operands)
