"""Registers: arrays without numbers, with which rules write down what they compute.

A rule computes with the verbs of a backend and with arrays. Given a `Recorder` and registers in their place it does
what it always does, call by call, and each call leaves a register::

    x = Register(np.dtype("float32"))
    1 - x * x           # a register made by np.subtract of 1 and of one that np.multiply made of x and x
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import is_bfloat16, is_float
from pynested.backends.numpy.activations import gelu, gelu_backward, gelu_tanh, gelu_tanh_backward
from pynested.backends.numpy.elementwise import cast, relu, sgn, where

from .steps import Step, Steps

# Verbs of the backend that come to one of NumPy's functions, for floats.
_PLAIN: dict[Any, Callable[..., Any]] = {relu: lambda x: np.maximum(x, 0), sgn: np.sign, where: np.where}
_TANH: dict[Any, Callable[..., Any]] = {gelu: gelu_tanh, gelu_backward: gelu_tanh_backward}  # where "tanh" is asked for
_BOOL = np.dtype(bool)


@dataclass(eq=False)
class Register(np.lib.mixins.NDArrayOperatorsMixin):
    """What a function makes of other registers and of numbers; without a function a parameter, which is given.

    Attributes
    ----------
    dtype : dtype
        Of its numbers.
    function : callable
        A ufunc, `numpy.where`, or a verb of the backend.
    operands : tuple of Register or number
        What that takes.
    narrow : bool
        Whether it has one number for each row, which is what the last dimension holds.
    """

    dtype: np.dtype[Any]
    function: Callable[..., Any] | None = None
    operands: tuple[Any, ...] = ()
    narrow: bool = False

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        if method != "__call__" or options.keys() - {"order"}:  # blocks have one dimension, and so one order
            return NotImplemented
        if ufunc is np.add:
            ufunc, operands = _added(*operands)
        return Register(resolved(ufunc, operands)[-1], ufunc, operands)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where or len(args) != 3 or kwargs:
            return NotImplemented
        dtype = resolved(np.maximum, args[1:])[-1]
        a, b = (x.astype(dtype) if type(x) is Register else dtype.type(x) for x in args[1:])
        return Register(dtype, function, (args[0], a, b))

    def astype(self, dtype: np.dtype[Any], **options: Any) -> Register:
        """The same numbers in another dtype."""
        return self if dtype == self.dtype else Register(dtype, cast, (self, dtype))

    def parameter(self) -> Register:
        """What may be given in its place."""
        return Register(self.dtype, narrow=self.narrow)

    @property
    def reads(self) -> list[Register]:
        """The registers that go in."""
        return [one for one in self.operands if type(one) is Register]


def _added(a: Any, b: Any) -> tuple[np.ufunc, tuple[Any, Any]]:
    """What adds: of floats ``a + -b`` is ``a - b`` bit for bit, by a call less."""
    for one, other in ((a, b), (b, a)):
        if type(other) is Register and other.function is np.negative and is_float(other.dtype):
            return np.subtract, (one, *other.operands)
    return np.add, (a, b)


def resolved(ufunc: np.ufunc, operands: Iterable[Any]) -> tuple[np.dtype[Any], ...]:
    """The dtypes of operands, in which NumPy computes, and of the result."""
    kinds = [one.dtype if hasattr(one, "dtype") else _BOOL if type(one) is bool else type(one) for one in operands]
    half = next((one for one in kinds if isinstance(one, np.dtype) and is_bfloat16(one)), None)
    if half is not None:  # which meets Python's numbers as other floats do, but NumPy does not know it
        kinds = [half if one in (int, float) else one for one in kinds]
    return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))


class Recorder:
    """In the place of the CPU's backend: its verbs make registers of registers.

    With ``plain`` a verb that comes to one of NumPy's functions is recorded as that.
    """

    device = "cpu"

    def __init__(self, plain: Mapping[Any, Callable[..., Any]]) -> None:
        self._plain = plain

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        function = getattr(get_backend("cpu"), verb)
        return getattr(function, "quiet_of", None) or self._plain.get(function) or partial(_made_by, function)

    def cast(self, x: Register, dtype: np.dtype[Any], /) -> Register:
        """The same numbers in another dtype."""
        return x.astype(dtype)

    def made_by(self, function: Callable[..., Any], /, *operands: Register) -> Register:
        """What a function of the CPU makes that is no verb."""
        return Register(operands[0].dtype, function, operands)

    def over_rows(self, kernel: Callable[..., None], /, *operands: Register, narrow: bool = False) -> Register:
        """What a kernel of `rows` makes, rows or with ``narrow`` a number for each."""
        return Register(operands[0].dtype, kernel, operands, narrow)

    def copy(self, x: Register, /) -> Register:
        """The register itself: nobody writes into one."""
        return x


def _made_by(function: Callable[..., Any], *operands: Any) -> Register:
    if operands[-1].__class__ is str and function in _TANH:
        return Register(operands[0].dtype, _TANH[function], operands[:-1])
    return Register(operands[0].dtype, function, operands)


ON_CPU, ON_DEVICES = Recorder(_PLAIN), Recorder({where: np.where})


def recorder_for(device: str) -> Recorder:
    """What writes down the verbs of a device."""
    return ON_CPU if device == "cpu" else ON_DEVICES


def registers_of(steps: Steps, device: str, given: Iterable[int] = ()) -> list[Register]:
    """All registers of a chain; the inputs, and those that are ``given``, are parameters."""
    registers = [Register(dtype) for dtype in steps.inputs]
    known, recorder = frozenset(given), recorder_for(device)
    for step in steps.steps:
        made = _computed(step, registers, recorder)
        registers.append(made.parameter() if step.register in known else made)
    return registers


def _computed(step: Step, registers: list[Register], recorder: Recorder) -> Register:
    verb: Any = step.operation.verb
    compute = getattr(recorder, verb) if isinstance(verb, str) else partial(verb, recorder)
    made: Register = compute(*operands_of(step, registers))
    return made


def operands_of(step: Step, registers: list[Register]) -> list[Any]:
    """What a step takes: registers and numbers."""
    return [registers[one] if type(one) is int else one[0] for one in step.operands]  # type: ignore[index]


def in_order(results: Iterable[Register], leaves: frozenset[Register] = frozenset()) -> Iterator[Register]:
    """The registers that results need, each once, after those that it is made of; not what ``leaves`` are made of."""
    seen: set[Register] = set()
    left = [*results][::-1]
    while left:
        one = left[-1]
        before = [] if one in leaves else [operand for operand in one.reads if operand not in seen]
        if before and one not in seen:
            left += before[::-1]
            continue
        left.pop()
        if one not in seen:
            seen.add(one)
            yield one
