"""Application of functions of one element, or of two elements, to dense and nested operands.

The formulas are in `pynested.autograd.rules`: `unary_functions` for one element, `binary_functions` for two. The
functions here convert the operands, refuse dtypes, and name the component in error messages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.operands import as_array, as_operand, as_operand_pair
from pynested.autograd.arguments.scalars import checked_scalar, refused_operand
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import raw
from pynested.autograd.rules.binary_functions import PAIRS, RULES, Pair
from pynested.autograd.rules.binary_kernels import met
from pynested.autograd.rules.kinds import same_device
from pynested.autograd.rules.rule import bind
from pynested.autograd.rules.unary_functions import FUNCTIONS
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DivisionByZero, DTypeError
from pynested.lifting.mapping import map_components, map_elementwise
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, ArrayT, Operand

BOOLS, INTEGERS = "b", "iu"  # kinds of dtype, as in NumPy's `dtype.kind`, that an operator can refuse


def apply_rule(name: str, rule: Callable[[Array], Array], self: ArrayT, refused: str = "") -> ArrayT:
    """Apply ``rule`` to each element of an operand; raise for a dtype whose kind is in ``refused``."""
    x: Any = self._buffer if type(self) is NestedArray else self
    x = x if type(x) is Array else as_array(name, x)
    if refused and x.dtype.kind in refused:
        accepted = "floating point" if INTEGERS in refused else "numbers"
        raise DTypeError(f"{name}: takes {accepted}, not {x.dtype}. Convert the array first: x.to(pn.float64).")
    result: Any = map_elementwise(name, rule, self) if type(self) is NestedArray else rule(x)
    return result  # type: ignore[no-any-return]


def apply_function(name: str, self: ArrayT) -> ArrayT:
    """Apply the function of this name in `pynested.autograd.rules.unary_functions` to each element."""
    function = FUNCTIONS[name]
    return apply_rule(name, function.computed, self, BOOLS if function.dtypes in ("wrap", "stay") else "")


def apply_pair(name: str, self: Operand, other: Operand) -> ArrayResult:
    """Apply the function of this name in `pynested.autograd.rules.binary_functions` to each pair of elements."""
    function = dense_pair_function(name)
    if type(self) is NestedArray or type(other) is NestedArray:
        try:
            return map_elementwise(name, function, self, other)
        except (ArgumentError, DivisionByZero):
            _raise_for_component(name, function, self, other)
            raise
    return function(self, other)


@cache
def dense_pair_function(name: str) -> Callable[[Any, Any], Array]:
    """Return the function of this name for two dense operands, which are arrays or numbers."""
    pair = PAIRS[name]
    compute: Callable[[Any, Any], Array] = RULES[name] if name in RULES else _without_gradient(pair)

    def function(self: Any, other: Any) -> Array:
        a, b = paired_operands(name, self, other)
        if pair.refused:
            _check_pair(pair, a, b)
        return compute(a, b)

    return function


def paired_operands(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return two operands whose shapes broadcast; at least one of them is an Array."""
    if type(a) is not Array or type(b) is not Array:
        a, b = as_operand_pair(name, a, b)
        if type(a) is not Array and type(b) is not Array:
            return as_array(name, a), b
    if type(a) is Array and type(b) is Array and a._bare.shape != b._bare.shape:
        broadcast_shape(name, a._bare.shape, b._bare.shape)
    return a, b


def _without_gradient(pair: Pair) -> Callable[[Any, Any], Array]:
    """Return the function for two dense operands that records nothing."""

    def compute(a: Any, b: Any) -> Array:
        device = same_device(pair.name, (a, b))
        try:
            return Array(bind(pair.computed, device)(raw(a), raw(b)), device)
        except OverflowError:
            raise refused_operand(pair.name, a, b) from None

    return compute


def _check_pair(pair: Pair, a: Any, b: Any) -> None:
    """Raise for dtypes that the operator does not support, and for integers whose result is undefined."""
    dtype = met(a, b)
    if is_float(dtype):
        if "f" in pair.refused:
            raise DTypeError(
                f"{pair.name}: takes bools and integers, not {dtype}. Compare first, or convert: x.to(pn.int64)."
            )
    elif "i" in pair.refused:
        raise DTypeError(f"{pair.name}: takes floats, not {dtype}. Convert one of them first: x.to(pn.float64).")
    elif dtype.kind in pair.refused:
        raise DTypeError(f"{pair.name}: takes numbers, not bools. Convert one of them first: x.to(pn.int8).")
    elif pair.check is not None and 0 not in getattr(a, "shape", ()):
        for number in (x for x in (a, b) if type(x) is int):
            checked_scalar(pair.name, number, dtype)  # a number that the dtype cannot represent is refused first
        pair.check(pair.name, a, b)


def _raise_for_component(name: str, function: Callable[[Any, Any], Array], *operands: Operand) -> None:
    """Compute the components in their order, and raise the first error with the number of its component."""
    component_numbers = count()

    def function_of_component(a: Any, b: Any) -> Array:
        number = next(component_numbers)
        try:
            return function(a, b)
        except (ArgumentError, DivisionByZero) as error:
            raise type(error)(str(error).replace(name, f"{name}: component {number}", 1)) from None

    arrays = [x if type(x) is NestedArray else as_operand(name, x) for x in operands]
    with no_grad():
        map_components(function_of_component, *arrays)
