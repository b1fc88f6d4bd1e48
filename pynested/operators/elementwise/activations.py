"""Activations and clamp of nested and dense arrays, element by element."""

from __future__ import annotations

from typing import Any, overload

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, movement, unary
from pynested.backends.errors import ArgumentError
from pynested.lifting.mapping import map_elementwise
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, ArrayT, DenseLike, Operand

from .function_application import NO_BOOLS, ONLY_FLOATS, apply_primitive, paired_operands

_GELU_PRIMITIVES = {"none": unary.gelu, "tanh": unary.gelu_tanh}


@overload
def clamp(self: DenseLike, min: DenseLike | None = None, max: DenseLike | None = None) -> Array: ...
@overload
def clamp(self: NestedArray, min: Operand | None = None, max: Operand | None = None) -> NestedArray: ...
@overload
def clamp(self: Operand, min: Operand | None = None, max: Operand | None = None) -> ArrayResult: ...
@operator
def clamp(self: Operand, min: Operand | None = None, max: Operand | None = None) -> ArrayResult:
    """Limit each element to the range from ``min`` to ``max``: ``(B, *, D) -> (B, *, D)``.

    The bounds broadcast. A bound of None does not limit; without bounds the result is a copy. The result has the
    promoted dtype, also for bools. It is NaN if the element or a bound is NaN, and ``max`` if ``min`` is above ``max``.
    Gradient: ``g`` for the operand that is selected; if a bound equals the element, the element is selected; at NaN not
    specified. Clauses: CLAMP-1 to CLAMP-8. After `torch.clamp` and `numpy.clip`.

    >>> pn.clamp(pn.nested_array([[-2.0, 0.5], [3.0]]), 0, 1).unbind()
    (array([0. , 0.5]), array([1.]))
    """
    bound_by_primitive = {
        primitive: bound for primitive, bound in ((binary.clamp_min, min), (binary.clamp_max, max)) if bound is not None
    }

    def clamp_dense(x: Any, *bounds: Any) -> Array:
        for primitive, bound in zip(bound_by_primitive, bounds, strict=True):
            x = primitive(*paired_operands("clamp", x, bound))
        return x if bounds else movement.copy(as_array("clamp", x))

    if NestedArray in (type(self), type(min), type(max)):
        return map_elementwise("clamp", clamp_dense, self, *bound_by_primitive.values())
    return clamp_dense(self, *bound_by_primitive.values())


@operator
def relu(self: ArrayT) -> ArrayT:
    """Return ``max(x, 0)`` of each element: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, also for integers; DTypeError for bools. relu(NaN) is NaN, relu(inf) is inf; the sign of a zero
    result is not specified. Gradient: ``g`` if x is above 0, and 0 if it is 0 or below; at NaN not specified. Clauses:
    RELU-1 to RELU-6. After `torch.relu`.

    >>> pn.relu(pn.nested_array([[-1, 2], [3]])).unbind()
    (array([0, 2]), array([3]))
    """
    return apply_primitive(unary.relu, self, NO_BOOLS)


@operator
def gelu(self: ArrayT, approximate: str = "none") -> ArrayT:
    """Multiply ``x`` by the probability that a standard normal number is below ``x``: ``(B, *, D) -> (B, *, D)``.

    The dtype stays. gelu(inf) is inf, gelu(0) is a zero, NaN stays NaN; gelu(-inf), and the gradient at both
    infinities, are not specified. Gradient: the derivative of the formula. Clauses: GELU-1 to GELU-7. After
    `torch.nn.functional.gelu`.

    Parameters
    ----------
    approximate : {"none", "tanh"}
        The formula: ``x / 2 * (1 + erf(x / sqrt(2)))``, or its approximation
        ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``.

    Raises
    ------
    DTypeError
        For bools and integers.
    ArgumentError
        For an unknown ``approximate``.

    Examples
    --------
    >>> pn.gelu(pn.nested_array([[0.0, 1.0], [np.inf]])).unbind()
    (array([0.        , 0.84134475]), array([inf]))
    """
    if not isinstance(approximate, str) or approximate not in _GELU_PRIMITIVES:
        raise ArgumentError(f"gelu: approximate must be 'none' or 'tanh', not {value_text(approximate)}.")
    return apply_primitive(_GELU_PRIMITIVES[approximate], self, ONLY_FLOATS)


@operator
def silu(self: ArrayT) -> ArrayT:
    """Return ``x / (1 + exp(-x))`` of each element: ``(B, *, D) -> (B, *, D)``.

    An overflow of exp(-x) does no harm: silu(-1000) is a zero. The dtype stays; DTypeError for bools and integers.
    silu(inf) is inf, silu(0) is a zero, NaN stays NaN; silu(-inf), and the gradient at both infinities, are not
    specified. Gradient: ``g * s * (1 + x * (1 - s))`` with ``s = 1 / (1 + exp(-x))``. Clauses: SILU-1 to SILU-6. After
    `torch.nn.functional.silu`.

    >>> pn.silu(pn.nested_array([[0.0, 1.0], [np.inf]])).unbind()
    (array([0.        , 0.73105858]), array([inf]))
    """
    return apply_primitive(unary.silu, self, ONLY_FLOATS)
