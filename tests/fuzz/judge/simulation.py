"""A simulation of memory in NumPy: every buffer down to the holes, and every array as places of a buffer.

A view is what the same call makes of the places. Whether a result is a view or a copy is the target's business; it is
asked with `np.shares_memory`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import pynested as pn

from ..oracle import Nest, Refused, Silent, ask, flat
from ..plan import Call, Dense, Ref, found, places
from ..run import bare, in_memory, read, root
from . import Difference
from .chains import Checked


class Placed:
    """An array: the buffer that it lies in, and where there each of its elements lies.

    ``doubtful`` is a copy of components that overlapped, which may overlap in the copy too.
    """

    def __init__(self, buffer: int, where: Nest, doubtful: bool = False) -> None:
        self.buffer, self.where, self.doubtful = buffer, where, doubtful
        places = flat(where, np.int64)
        self.repeats = np.unique(places).size != places.size  # an element lies where another one lies


class Simulation:
    """All memories of a chain, and every array that looks into them."""

    def __init__(self, checked: Checked) -> None:
        self.checked, self.world = checked, checked.world
        self.buffers = [memory.numbers.copy() for memory in checked.chain.memories]
        self.copies: dict[int, Any] = {}  # the arrays of pynested that hold the buffers which came later
        self.known: dict[Ref, Any] = {}
        for i, one in enumerate(checked.chain.operands):
            buffer = self.buffers[one.memory]
            parts = (
                [np.arange(buffer.size).reshape(buffer.shape)] if isinstance(one, Dense) else places(one, buffer.shape)
            )
            where = checked.plain[Ref("x", i)].like(parts, np.int64)
            self.known[Ref("x", i)] = Placed(one.memory, where)

    def now(self) -> dict[Ref, Any]:
        """Every array as it is now, read from pynested."""
        return {ref: read(value) for ref, value in self.world.known.items()}

    def result(self, number: int, call: Call, value: Any) -> None:
        """A result is a view of the array that it shares memory with, or has a buffer of its own."""
        if not call.refs or any(ref.whole not in self.known for ref in call.refs):
            return
        source = found(call.refs[0], self.known)
        if not isinstance(source, Placed) or not isinstance(call.args[0], Ref):
            return
        if call.op == "getitem" and isinstance(call.args[1], Ref):
            return  # a copy of what a mask chooses
        wheres = call.mapped(lambda one: found(one, self.known).where if isinstance(one, Ref) else one)
        try:
            where = ask(call.op, wheres.args, wheres.kwargs).value
        except (Refused, Silent):
            return
        original = found(call.refs[0], self.world.known)
        self.known[Ref("y", number)] = self._placed(value, where, source, original)

    def _placed(self, value: Any, where: Any, source: Placed, original: Any) -> Any:
        if not isinstance(where, Nest):
            return [self._placed(a, b, source, original) for a, b in zip(value, where, strict=True)]
        if np.shares_memory(memory_of(value), memory_of(original)) or not sum(one.size for one in where):
            return Placed(source.buffer, where, source.doubtful)
        plain = read(value)
        numbers, at, parts = flat(plain, plain.dtype), 0, []
        for one in plain:
            parts.append(np.arange(at, at + one.size).reshape(one.shape))
            at += one.size
        self.buffers.append(numbers)
        self.copies[len(self.buffers) - 1] = value
        return Placed(len(self.buffers) - 1, plain.like(parts, np.int64), source.repeats or source.doubtful)

    def write(self, target: Placed, where: Any, numbers: Any) -> None:
        """New numbers at some places of the buffer of an array."""
        self.buffers[target.buffer].reshape(-1)[where] = numbers

    def actual(self, buffer: int) -> Any:
        """What pynested has in a buffer, flat."""
        if buffer in self.copies:
            return flat(read(self.copies[buffer]), self.buffers[buffer].dtype)
        moved = self.world.moved.get(buffer)
        memory = self.world.memories[buffer] if moved is None else bare(moved)
        return np.array(memory, order="C").reshape(-1)

    def follow(self) -> None:
        """Take over what pynested has: after a write of which the specification says nothing."""
        for i, buffer in enumerate(self.buffers):
            self.buffers[i] = self.actual(i).reshape(buffer.shape).copy()

    def lenient(self, target: Placed) -> bool:
        """Whether a write may be refused: places repeat somewhere in the memory, or it is read-only."""
        arrays = [one for known in self.known.values() for one in (known if isinstance(known, list) else [known])]
        if any(one.buffer == target.buffer and (one.repeats or one.doubtful) for one in arrays):
            return True
        memories = self.world.memories
        own = target.buffer < len(memories) and target.buffer not in self.world.moved
        return own and not memories[target.buffer].flags.writeable

    def differs(self) -> Difference | None:
        """The first memory that is not what it should be."""
        for i, buffer in enumerate(self.buffers):
            came, due = self.actual(i), buffer.reshape(-1)
            if i < len(self.world.memories) and i not in self.world.moved:  # what lies between elements too
                memory = replace(self.checked.chain.memories[i], numbers=buffer)
                came, due = root(self.world.memories[i]), root(in_memory(memory))
            if not same(came, due):
                return Difference("memory", repr(came), repr(due), f" {i}")
        return None


def memory_of(value: Any) -> Any:
    """The bare buffer of an array."""
    if isinstance(value, np.ndarray):
        return value
    return value.data.data if isinstance(value, pn.NestedArray) else value.data


def same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
