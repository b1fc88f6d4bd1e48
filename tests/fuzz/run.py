"""Running on pynested: plans become arrays and calls, and what comes back becomes plain data again.

`read` looks at the bare buffer and at the integers of the structure only, so that no operator is trusted to read.
"""

from __future__ import annotations

import operator
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

import pynested as pn
from pynested.backends.errors import PynestedError
from pynested.structure import Jagged as JaggedStructure

from .draw import NUMPY
from .draw.numbers import poison
from .oracle import Nest
from .plan import Call, Chain, Dense, Jagged, Memory, Numbers, Operand, Ref

LIMIT = 5.0  # seconds that one call may take before it counts as hanging
LAYOUTS = {"jagged": pn.jagged, "strided": pn.strided}
REFUSALS = (PynestedError, OverflowError)

INFIX: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "matmul": operator.matmul,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "pow": operator.pow, "floor_divide": operator.floordiv, "remainder": operator.mod, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "neg": operator.neg, "abs": operator.abs, "getitem": operator.getitem,
}  # fmt: skip
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}


class Hang(Exception):
    """A call did not come back in time."""


class Unreadable(Exception):
    """What came back is no array: its structure names places that its buffer lacks, or its buffer is no plain array."""


@dataclass
class Outcome:
    """What a call came to: an answer, or an error."""

    value: Any = None
    error: BaseException | None = None

    @property
    def refused(self) -> bool:
        return isinstance(self.error, REFUSALS)

    def __str__(self) -> str:
        if self.error is not None:
            return f"{type(self.error).__name__}: {self.error}"
        text = attempt(lambda: repr(self.value))  # which may fail where the array is no good
        return text.value if text.error is None else f"a {type(self.value).__name__} that cannot be printed"


def attempt(function: Callable[[], Any], limit: float = LIMIT) -> Outcome:
    """What ``function`` comes to; in the main thread it has ``limit`` seconds."""
    watched = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGALRM, _rang) if watched else None
    if watched:
        signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return Outcome(function())
    except Exception as error:
        return Outcome(error=error)
    finally:
        if watched:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _rang(number: int, frame: FrameType | None) -> None:
    raise Hang("no answer in time")


# ---- memory ----------------------------------------------------------------------------------------------------------


def in_memory(memory: Memory) -> Numbers:
    """A copy of the numbers that lies in memory as the plan says; ``root`` finds all of it."""
    numbers, order = memory.numbers, memory.order
    if order == "F":
        return np.array(numbers, order="F")
    if order == "reversed":
        return np.array(numbers[::-1], order="C")[::-1]
    if order == "gapped":
        whole = np.full((2 * numbers.shape[0], *numbers.shape[1:]), poison(numbers.dtype), numbers.dtype)
        whole[::2] = numbers
        return whole[::2]
    if order == "repeated":
        return np.broadcast_to(numbers[:1].copy(), numbers.shape)
    return np.array(numbers, order="C")


def root(array: Numbers) -> Numbers:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class World:
    """The operands and results of one chain, as pynested has them."""

    def __init__(self, chain: Chain, device: str = "cpu") -> None:
        self.chain, self.device = chain, device
        self.memories = [in_memory(memory) for memory in chain.memories]
        self.before = [root(memory).tobytes() for memory in self.memories]
        self.moved: dict[int, Any] = {}  # memories on a device
        self.leaves = {i: self._array(i).requires_grad_() for i in chain.leaves}
        self.known: dict[Ref, Any] = {}
        self.failed: dict[Ref, Outcome] = {}
        for i, operand in enumerate(chain.operands):
            made = attempt(lambda operand=operand: self.build(operand))
            if made.error is None:
                self.known[Ref("x", i)] = made.value
            else:
                self.failed[Ref("x", i)] = made

    def _array(self, memory: int) -> Any:
        """A memory as an array of pynested: the memory itself, or a copy of it on the device."""
        if self.device == "cpu" or self.chain.memories[memory].home:
            return pn.array(self.memories[memory], copy=False, device="cpu")
        if memory not in self.moved:
            self.moved[memory] = pn.array(self.memories[memory], device=self.device)
        return self.moved[memory]

    def build(self, operand: Operand) -> Any:
        """An operand of the plan."""
        leaf = self.leaves.get(operand.memory)
        if isinstance(operand, Dense) and operand.spelling != "array" and leaf is None:
            return _spelled(self.memories[operand.memory], operand.spelling)
        values = self._array(operand.memory) if leaf is None else leaf
        if isinstance(operand, Dense):
            return values
        if isinstance(operand, Jagged):
            lengths = None if operand.lengths is None else np.array(operand.lengths, np.int64)
            return pn.nested_array_from_jagged(values, np.array(operand.offsets), lengths, operand.ragged)
        shape = len(operand.sizes), operand.rank
        sizes, strides = (np.array(one, np.int64).reshape(shape) for one in (operand.sizes, operand.strides))
        return pn.nested_array_from_strided(values, sizes, strides, np.array(operand.offsets, np.int64))

    def step(self, number: int) -> Outcome:
        """One call; what it gives is known from then on."""
        call = self.chain.steps[number]
        outcome = attempt(lambda: run(call, self.known))
        if outcome.error is None and not call.writes:
            self.known[Ref("y", number)] = outcome.value
        return outcome

    def again(self, leaves: dict[int, Any]) -> dict[Ref, Any]:
        """All operands and results once more, of other leaves."""
        own, self.leaves = self.leaves, {**self.leaves, **leaves}
        try:
            known: dict[Ref, Any] = {Ref("x", i): self.build(one) for i, one in enumerate(self.chain.operands)}
        finally:
            self.leaves = own
        for number, call in enumerate(self.chain.steps):
            known[Ref("y", number)] = run(call, known)
        return known

    def changed(self) -> int | None:
        """The first memory that is not, bit for bit, what it was; holes, and what lies between elements, included."""
        for i, (memory, before) in enumerate(zip(self.memories, self.before, strict=True)):
            if root(memory).tobytes() != before:
                return i
        for i, array in self.moved.items():
            if bare(array.detach()).tobytes() != self.memories[i].tobytes():
                return i
        return None


def _spelled(numbers: Numbers, spelling: str) -> Any:
    """A dense array as NumPy has it."""
    if spelling == "scalar":
        return numbers[()]
    if spelling == "matrix":
        return numbers.view(np.matrix)
    if spelling == "masked":
        mask = np.zeros(numbers.shape, np.bool_)
        mask.reshape(-1)[:1] = True
        return np.ma.MaskedArray(numbers, mask)
    return numbers


def run(call: Call, known: dict[Ref, Any]) -> Any:
    """The call, as it is spelled."""
    args, kwargs = call.known(known)
    kwargs = {name: LAYOUTS[value] if name == "layout" else value for name, value in kwargs.items()}
    if call.op == "setitem":
        args[0][args[1]] = args[2]
        return args[0]
    if call.spelling == "infix":
        return INFIX[call.op](*args)
    if call.spelling == "method":
        return getattr(args[0], call.op)(*args[1:], **kwargs)
    if call.spelling == "numpy":
        return NUMPY[call.op](*args, **{NUMPY_NAMES.get(name, name): value for name, value in kwargs.items()})
    return getattr(pn, call.op)(*args, **kwargs)


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(value: Any) -> Any:
    """What an array of pynested holds, as a `Nest`; of several, a list of these."""
    if isinstance(value, tuple | list):
        return [read(one) for one in value]
    if isinstance(value, pn.NestedArray):
        return _read_nested(value)
    if isinstance(value, pn.Array):
        return Nest([bare(value)], "dense", value.dtype)
    if isinstance(value, np.ndarray | np.generic):
        return Nest([np.asarray(value)], "dense", value.dtype)
    return value


def bare(array: Any) -> Numbers:
    """The values of an `Array`, as NumPy has them."""
    values: Numbers = array.data if array.device == "cpu" else array.detach().to("cpu").numpy()
    if type(values) is not np.ndarray:
        raise Unreadable(f"the values are a {type(values).__name__}")
    return values


def _read_nested(x: Any) -> Nest:
    data, structure = bare(x.data), x.structure
    if isinstance(structure, JaggedStructure):
        return _read_jagged(data, structure)
    if data.ndim != 1 or not data.flags.c_contiguous:
        raise Unreadable(f"the buffer of a strided array has shape {data.shape} and strides {data.strides}")
    shapes = zip(structure.sizes.tolist(), structure.strides.tolist(), structure.offsets.tolist(), strict=True)
    parts = [_strided_component(data, *one) for one in shapes]
    return Nest(parts, "strided", data.dtype, sizes=structure.regular_sizes)


def _read_jagged(data: Numbers, structure: Any) -> Nest:
    at = structure.ragged_dim - 1
    lengths = np.diff(structure.offsets) if structure.lengths is None else structure.lengths
    starts, rows = structure.offsets[:-1], data.shape[at]
    if (starts < 0).any() or (lengths < 0).any() or (starts + lengths > rows).any():
        raise Unreadable(f"offsets {structure.offsets}, lengths {structure.lengths}, {rows} rows")
    before = (slice(None),) * at
    cuts = zip(starts.tolist(), lengths.tolist(), strict=True)
    parts = [data[(*before, slice(start, start + n))] for start, n in cuts]
    return Nest(parts, "jagged", data.dtype, at + 1, data.shape)


def _strided_component(flat: Numbers, sizes: list[int], strides: list[int], offset: int) -> Numbers:
    if 0 in sizes:
        return np.zeros(sizes, flat.dtype)
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if offset < 0 or min(strides, default=0) < 0 or last >= flat.size:
        raise Unreadable(f"sizes {sizes}, strides {strides}, offset {offset}, {flat.size} elements")
    width = flat.dtype.itemsize
    steps = [s * width if n > 1 else 0 for n, s in zip(sizes, strides, strict=True)]
    return np.ndarray(sizes, flat.dtype, flat, offset * width, steps)
