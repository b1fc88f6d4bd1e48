"""What is drawn, as plain data: memory, arrays that look into it, and calls of operators on these.

Nothing here knows the target: the same chain can be run on any implementation of the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from .oracle import Nest

Numbers: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Memory:
    """A dense NumPy array, and how its elements lie: C, F, reversed, gapped (every other row of more), repeated.

    A ``leaf`` is one that gradients are asked for. One that stays at ``home`` is on the CPU, where others are moved to
    a device.
    """

    numbers: Numbers
    order: str = "C"
    leaf: bool = False
    home: bool = False


@dataclass(frozen=True)
class Dense:
    """All of a memory: as an array of the target, or as NumPy's array, matrix, masked array or scalar."""

    memory: int
    spelling: str = "array"


@dataclass(frozen=True)
class Jagged:
    """Component i is ``lengths[i]`` rows of the memory from ``offsets[i]``, along dimension ``ragged`` - 1."""

    memory: int
    offsets: tuple[int, ...]
    lengths: tuple[int, ...] | None = None
    ragged: int = 1


@dataclass(frozen=True)
class Strided:
    """Component i has ``sizes[i]`` and begins at ``offsets[i]`` of a flat memory, with ``strides[i]``."""

    memory: int
    sizes: tuple[tuple[int, ...], ...]
    strides: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]
    rank: int  # of the components


Operand: TypeAlias = Dense | Jagged | Strided


@dataclass(frozen=True)
class Ref:
    """Operand (x) or result (y) number so and so of a chain, or one item of a result that is a tuple."""

    kind: str
    number: int
    item: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}{self.number}" + ("" if self.item is None else f"[{self.item}]")

    @property
    def whole(self) -> Ref:
        return replace(self, item=None)


@dataclass(frozen=True)
class Call:
    """One call: the operator, its arguments with `Ref` for arrays, and how it is written.

    ``spelling`` is function, method, infix (a + b, x[index]) or numpy (np.sin(x)). A write in place is a call too:
    ``add_``, or ``setitem`` for ``x[index] = value``.
    """

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    spelling: str = "function"

    @property
    def refs(self) -> list[Ref]:
        """Every array that is named among the arguments."""
        found: list[Ref] = []
        self.mapped(lambda value: found.append(value) if isinstance(value, Ref) else None)
        return found

    @property
    def writes(self) -> bool:
        return self.op.endswith("_") or self.op == "setitem"

    def mapped(self, change: Callable[[Any], Any]) -> Call:
        """The call with ``change`` of every argument, also of those inside lists and tuples."""
        kwargs = {name: _mapped(change, value) for name, value in self.kwargs.items()}
        return replace(self, args=_mapped(change, self.args), kwargs=kwargs)

    def known(self, known: dict[Ref, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with every `Ref` replaced by what it names."""
        call = self.mapped(lambda value: found(value, known) if isinstance(value, Ref) else value)
        return call.args, call.kwargs


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_mapped(change, one) for one in value)
    return change(value)


class Missing(LookupError):
    """A `Ref` names what is not there, as it may in a plan that was made smaller."""


def found(ref: Ref, known: dict[Ref, Any]) -> Any:
    """What a `Ref` names."""
    value = known.get(ref.whole)
    if ref.whole not in known or (ref.item is not None and not -1 < ref.item < len(value)):
        raise Missing(str(ref))
    return value if ref.item is None else value[ref.item]


@dataclass(frozen=True)
class Chain:
    """Calls one after the other; each may use the operands, and the results of those before it."""

    memories: tuple[Memory, ...]
    operands: tuple[Operand, ...]
    steps: tuple[Call, ...]

    @property
    def leaves(self) -> list[int]:
        """The memories that gradients are asked for."""
        return [i for i, memory in enumerate(self.memories) if memory.leaf]


def places(operand: Jagged | Strided, shape: tuple[int, ...]) -> list[Numbers]:
    """For each component, where its elements lie in the memory of this shape, counted in C order."""
    if isinstance(operand, Strided):
        return [strided_places(*one) for one in zip(operand.sizes, operand.strides, operand.offsets, strict=True)]
    index = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    before = (slice(None),) * (operand.ragged - 1)
    pairs = zip(operand.offsets, lengths_of(operand), strict=False)
    return [index[(*before, slice(start, start + n))] for start, n in pairs]


def lengths_of(operand: Jagged) -> tuple[int, ...]:
    """The lengths of the components, given or not."""
    if operand.lengths is not None:
        return operand.lengths
    return tuple(b - a for a, b in pairwise(operand.offsets))


def strided_places(sizes: Any, strides: Any, offset: int) -> Numbers:
    """Where the elements of one strided component lie."""
    if 0 in sizes:  # beside which others may be vast
        return np.zeros(tuple(sizes), np.int64)
    where = np.full((), offset, np.int64)
    for size, stride in zip(sizes, strides, strict=True):
        where = where[..., None] + np.arange(size) * stride
    return where


def seen(memory: Memory, operand: Operand, numbers: Any = None) -> Nest:
    """What an operand shows: its components. ``numbers`` stand for those in memory, if they are given."""
    values = memory.numbers if numbers is None else numbers
    dtype = memory.numbers.dtype
    if isinstance(operand, Dense):
        return Nest([values], "dense", dtype)
    flat = values.reshape(-1)
    components = [flat[where] for where in places(operand, values.shape)]
    if isinstance(operand, Strided):
        return Nest(components, "strided", dtype, sizes=(None,) * operand.rank)
    return Nest(components, "jagged", dtype, operand.ragged, values.shape)
