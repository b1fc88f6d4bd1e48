"""Methods in place, such as ``add_``: they write the result of a method into the array itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from ..decorators import explain_wrong_calls
from .math_methods import MathMethods

Written = TypeVar("Written")
Parameters = ParamSpec("Parameters")


def in_place(
    function: Callable[Concatenate[Any, Parameters], Any],
) -> Callable[Concatenate[Written, Parameters], Written]:
    """Return the method that writes the result of the method ``function`` into the array, and returns the array."""
    compute = unwrap(function)

    @wraps(compute)
    def write_result(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._functions.write_result(self, compute, *args, **kwargs)

    write_result.__name__ += "_"
    write_result.__qualname__ = f"InPlaceMethods.{write_result.__name__}"
    write_result.__doc__ = f"Write the result of `pynested.{compute.__name__}` into this array."
    return write_result  # type: ignore[return-value]


@explain_wrong_calls
class InPlaceMethods(MathMethods):
    """Methods that write the result of the method of the same name, with its parameters, and return the array.

    The shape, the layout and the dtype of the array stay. ``_functions`` is the module `pynested.method_functions`.
    """

    __slots__ = ()

    abs_ = in_place(MathMethods.abs)
    acos_ = in_place(MathMethods.acos)
    acosh_ = in_place(MathMethods.acosh)
    add_ = in_place(MathMethods.add)
    asin_ = in_place(MathMethods.asin)
    asinh_ = in_place(MathMethods.asinh)
    atan_ = in_place(MathMethods.atan)
    atanh_ = in_place(MathMethods.atanh)
    bitwise_and_ = in_place(MathMethods.bitwise_and)
    bitwise_or_ = in_place(MathMethods.bitwise_or)
    bitwise_xor_ = in_place(MathMethods.bitwise_xor)
    cbrt_ = in_place(MathMethods.cbrt)
    ceil_ = in_place(MathMethods.ceil)
    clamp_ = in_place(MathMethods.clamp)
    cos_ = in_place(MathMethods.cos)
    cosh_ = in_place(MathMethods.cosh)
    cumsum_ = in_place(MathMethods.cumsum)
    deg2rad_ = in_place(MathMethods.deg2rad)
    div_ = in_place(MathMethods.div)
    dropout_ = in_place(MathMethods.dropout)
    eq_ = in_place(MathMethods.eq)
    erf_ = in_place(MathMethods.erf)
    erfc_ = in_place(MathMethods.erfc)
    exp2_ = in_place(MathMethods.exp2)
    exp_ = in_place(MathMethods.exp)
    expm1_ = in_place(MathMethods.expm1)
    floor_ = in_place(MathMethods.floor)
    floor_divide_ = in_place(MathMethods.floor_divide)
    ge_ = in_place(MathMethods.ge)
    gelu_ = in_place(MathMethods.gelu)
    gt_ = in_place(MathMethods.gt)
    le_ = in_place(MathMethods.le)
    log10_ = in_place(MathMethods.log10)
    log1p_ = in_place(MathMethods.log1p)
    log2_ = in_place(MathMethods.log2)
    log_ = in_place(MathMethods.log)
    logaddexp_ = in_place(MathMethods.logaddexp)
    logical_and_ = in_place(MathMethods.logical_and)
    logical_not_ = in_place(MathMethods.logical_not)
    logical_or_ = in_place(MathMethods.logical_or)
    logical_xor_ = in_place(MathMethods.logical_xor)
    lt_ = in_place(MathMethods.lt)
    masked_fill_ = in_place(MathMethods.masked_fill)
    mul_ = in_place(MathMethods.mul)
    ne_ = in_place(MathMethods.ne)
    neg_ = in_place(MathMethods.neg)
    pow_ = in_place(MathMethods.pow)
    reciprocal_ = in_place(MathMethods.reciprocal)
    relu_ = in_place(MathMethods.relu)
    remainder_ = in_place(MathMethods.remainder)
    round_ = in_place(MathMethods.round)
    rsqrt_ = in_place(MathMethods.rsqrt)
    sgn_ = in_place(MathMethods.sgn)
    sigmoid_ = in_place(MathMethods.sigmoid)
    silu_ = in_place(MathMethods.silu)
    sin_ = in_place(MathMethods.sin)
    sinh_ = in_place(MathMethods.sinh)
    sqrt_ = in_place(MathMethods.sqrt)
    square_ = in_place(MathMethods.square)
    sub_ = in_place(MathMethods.sub)
    tan_ = in_place(MathMethods.tan)
    tanh_ = in_place(MathMethods.tanh)
    trunc_ = in_place(MathMethods.trunc)

    def copy_(self, source: Any) -> Self:
        """Write the values of ``source``, which broadcasts, into this array."""
        return self._functions.write_value(self, "copy_", source)

    def fill_(self, value: Any) -> Self:
        """Write ``value`` to every element."""
        return self._functions.write_value(self, "fill_", value)

    def zero_(self) -> Self:
        """Write 0 to every element."""
        return self._functions.write_value(self, "zero_", 0)

    def uniform_(self, low: float = 0.0, high: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.uniform_`."""
        return self._functions.uniform_(self, low, high, generator)

    def normal_(self, mean: float = 0.0, std: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.normal_`."""
        return self._functions.normal_(self, mean, std, generator)
