"""Methods in place, such as ``add_``: they write the result of a method into the array itself."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from ..decorators import methods
from .element_methods import ElementMethods
from .methods_with_arguments import MethodsWithArguments

Written = TypeVar("Written")
Parameters = ParamSpec("Parameters")


def in_place(
    function: Callable[Concatenate[Any, Parameters], Any],
) -> Callable[Concatenate[Written, Parameters], Written]:
    """Return the method that writes the result of the method ``function`` into the array, and returns the array."""
    compute = unwrap(function)

    @wraps(compute)
    def write_result(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._ops.write_result(self, compute, *args, **kwargs)

    write_result.__name__ += "_"
    write_result.__qualname__ = f"InPlaceMethods.{write_result.__name__}"
    write_result.__doc__ = f"Write the result of `pynested.{compute.__name__}` into this array."
    return write_result  # type: ignore[return-value]


@methods
class InPlaceMethods(ElementMethods, MethodsWithArguments):
    """Methods that write the result of the method of the same name, with its parameters, and return the array.

    The shape, the layout and the dtype of the array stay. ``_ops`` is the module `pynested.method_functions`.
    """

    __slots__ = ()

    # ---- of one array -----------------------------------------------------------------------------------------------

    abs_ = in_place(ElementMethods.abs)
    acos_ = in_place(ElementMethods.acos)
    acosh_ = in_place(ElementMethods.acosh)
    asin_ = in_place(ElementMethods.asin)
    asinh_ = in_place(ElementMethods.asinh)
    atan_ = in_place(ElementMethods.atan)
    atanh_ = in_place(ElementMethods.atanh)
    cbrt_ = in_place(ElementMethods.cbrt)
    ceil_ = in_place(ElementMethods.ceil)
    cos_ = in_place(ElementMethods.cos)
    cosh_ = in_place(ElementMethods.cosh)
    deg2rad_ = in_place(ElementMethods.deg2rad)
    erf_ = in_place(ElementMethods.erf)
    erfc_ = in_place(ElementMethods.erfc)
    exp_ = in_place(ElementMethods.exp)
    exp2_ = in_place(ElementMethods.exp2)
    expm1_ = in_place(ElementMethods.expm1)
    floor_ = in_place(ElementMethods.floor)
    log_ = in_place(ElementMethods.log)
    log10_ = in_place(ElementMethods.log10)
    log1p_ = in_place(ElementMethods.log1p)
    log2_ = in_place(ElementMethods.log2)
    logical_not_ = in_place(ElementMethods.logical_not)
    neg_ = in_place(ElementMethods.neg)
    reciprocal_ = in_place(ElementMethods.reciprocal)
    relu_ = in_place(ElementMethods.relu)
    round_ = in_place(ElementMethods.round)
    rsqrt_ = in_place(ElementMethods.rsqrt)
    sgn_ = in_place(ElementMethods.sgn)
    sigmoid_ = in_place(ElementMethods.sigmoid)
    silu_ = in_place(ElementMethods.silu)
    sin_ = in_place(ElementMethods.sin)
    sinh_ = in_place(ElementMethods.sinh)
    sqrt_ = in_place(ElementMethods.sqrt)
    square_ = in_place(ElementMethods.square)
    tan_ = in_place(ElementMethods.tan)
    tanh_ = in_place(ElementMethods.tanh)
    trunc_ = in_place(ElementMethods.trunc)

    # ---- of several operands, or with parameters --------------------------------------------------------------------

    add_ = in_place(MethodsWithArguments.add)
    bitwise_and_ = in_place(MethodsWithArguments.bitwise_and)
    bitwise_or_ = in_place(MethodsWithArguments.bitwise_or)
    bitwise_xor_ = in_place(MethodsWithArguments.bitwise_xor)
    clamp_ = in_place(MethodsWithArguments.clamp)
    cumsum_ = in_place(MethodsWithArguments.cumsum)
    div_ = in_place(MethodsWithArguments.div)
    dropout_ = in_place(MethodsWithArguments.dropout)
    eq_ = in_place(MethodsWithArguments.eq)
    floor_divide_ = in_place(MethodsWithArguments.floor_divide)
    ge_ = in_place(MethodsWithArguments.ge)
    gelu_ = in_place(MethodsWithArguments.gelu)
    gt_ = in_place(MethodsWithArguments.gt)
    le_ = in_place(MethodsWithArguments.le)
    logaddexp_ = in_place(MethodsWithArguments.logaddexp)
    logical_and_ = in_place(MethodsWithArguments.logical_and)
    logical_or_ = in_place(MethodsWithArguments.logical_or)
    logical_xor_ = in_place(MethodsWithArguments.logical_xor)
    lt_ = in_place(MethodsWithArguments.lt)
    masked_fill_ = in_place(MethodsWithArguments.masked_fill)
    mul_ = in_place(MethodsWithArguments.mul)
    ne_ = in_place(MethodsWithArguments.ne)
    pow_ = in_place(MethodsWithArguments.pow)
    remainder_ = in_place(MethodsWithArguments.remainder)
    sub_ = in_place(MethodsWithArguments.sub)

    # ---- of new values ----------------------------------------------------------------------------------------------

    def copy_(self, source: Any) -> Self:
        """Write the values of ``source``, which broadcasts, into this array."""
        return self._ops.write_value(self, "copy_", source)

    def fill_(self, value: Any) -> Self:
        """Write ``value`` to every element."""
        return self._ops.write_value(self, "fill_", value)

    def zero_(self) -> Self:
        """Write 0 to every element."""
        return self._ops.write_value(self, "zero_", 0)

    def uniform_(self, low: float = 0.0, high: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.uniform_`."""
        return self._ops.uniform_(self, low, high, generator)

    def normal_(self, mean: float = 0.0, std: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.normal_`."""
        return self._ops.normal_(self, mean, std, generator)
