"""Lazy arrays: expressions of ufuncs and kernels, which a chain turns into a program.

The rules of autograd compute with arrays and with the kernels of a backend. Given a `LazyArray` and a `LazyBackend`
they run unchanged, and each call leaves a lazy array::

    x = LazyArray(np.dtype("float32"))
    1 - x * x           # a lazy array: np.subtract of 1 and of np.multiply of x and x
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import is_bfloat16
from pynested.backends.numpy.activations import gelu, gelu_backward, gelu_tanh, gelu_tanh_backward
from pynested.backends.numpy.elementwise import cast, relu, sgn, where

_TANH = {gelu: gelu_tanh, gelu_backward: gelu_tanh_backward}  # the kernels for approximate="tanh"
# Kernels of the CPU that are one of NumPy's functions if the dtype is a float.
_NUMPY: dict[Any, Callable[..., Any]] = {relu: lambda x: np.maximum(x, 0), sgn: np.sign}


@dataclass(eq=False)
class LazyArray(np.lib.mixins.NDArrayOperatorsMixin):
    """The result of ``function(*operands)``; an input of the program if there is no function.

    Attributes
    ----------
    dtype : dtype
        Of the elements.
    function : callable or None
        A ufunc, `numpy.where`, or a kernel of the CPU's backend.
    operands : tuple
        Lazy arrays, numbers, and for a cast the dtype.
    """

    dtype: np.dtype[Any]
    function: Callable[..., Any] | None = None
    operands: tuple[Any, ...] = ()

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        if method != "__call__" or options.keys() - {"order"}:  # a block has one dimension, and so one order
            return NotImplemented
        return LazyArray(resolve_dtypes(ufunc, operands)[-1], ufunc, operands)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where or len(args) != 3 or kwargs:
            return NotImplemented
        dtype = resolve_dtypes(np.maximum, args[1:])[-1]
        a, b = (x.astype(dtype) if type(x) is LazyArray else dtype.type(x) for x in args[1:])
        return LazyArray(dtype, function, (args[0], a, b))

    def astype(self, dtype: np.dtype[Any], **options: Any) -> LazyArray:
        """Return the same numbers in another dtype."""
        return self if dtype == self.dtype else LazyArray(dtype, cast, (self, dtype))

    to = astype  # derivatives are written for dense arrays

    @property
    def reads(self) -> list[LazyArray]:
        """The lazy arrays among the operands."""
        return [operand for operand in self.operands if type(operand) is LazyArray]


def resolve_dtypes(ufunc: np.ufunc, operands: Iterable[Any]) -> tuple[np.dtype[Any], ...]:
    """Return the dtypes in which a ufunc takes its operands, and that of its result."""
    kinds = [x.dtype if hasattr(x, "dtype") else np.dtype(bool) if type(x) is bool else type(x) for x in operands]
    half = next((kind for kind in kinds if isinstance(kind, np.dtype) and is_bfloat16(kind)), None)
    if half is not None:  # NumPy does not know that bfloat16 is wide enough for a Python number
        kinds = [half if kind in (int, float) else kind for kind in kinds]
    return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))


class LazyBackend:
    """In the place of a backend: its kernels return lazy arrays.

    On the CPU a kernel that is one of NumPy's functions is recorded as that function, which can write into a buffer.
    """

    device = "cpu"

    def __init__(self, device: str) -> None:
        self._numpy = {where: np.where, **(_NUMPY if device == "cpu" else {})}

    def __getattr__(self, kernel: str) -> Callable[..., Any]:
        function: Any = getattr(get_backend("cpu"), kernel)
        known: Any = getattr(function, "quiet_of", None) or self._numpy.get(function)
        return known or (lambda *operands: _record(function, operands))

    def cast(self, x: LazyArray, dtype: np.dtype[Any], /) -> LazyArray:
        """Return the same numbers in another dtype."""
        return x.astype(dtype)

    def copy(self, x: LazyArray, /) -> LazyArray:
        """Return the array itself: a program never writes into an input."""
        return x


def _record(function: Any, operands: tuple[Any, ...]) -> LazyArray:
    if operands[-1].__class__ is str and function in _TANH:
        function, operands = _TANH[function], operands[:-1]
    return LazyArray(operands[0].dtype, function, operands)


def in_order(results: Iterable[LazyArray], leaves: frozenset[LazyArray] = frozenset()) -> Iterator[LazyArray]:
    """Yield each array that results need once, after its operands; the operands of ``leaves`` are not visited."""
    seen: set[LazyArray] = set()
    stack = [*results][::-1]
    while stack:
        array = stack[-1]
        missing = [] if array in leaves else [operand for operand in array.reads if operand not in seen]
        if missing and array not in seen:
            stack += missing[::-1]
            continue
        stack.pop()
        if array not in seen:
            seen.add(array)
            yield array
