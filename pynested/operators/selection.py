"""Selection of elements by a condition: `where` and `masked_fill`.

The result is nested if an operand is nested, in the layout of the first nested operand. Operands broadcast as in
`pynested.operators.elementwise`. An empty component of an operand is empty in the result. A dense operand that does not
broadcast raises ShapeError. Operands on different devices raise DeviceError.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import (
    as_array,
    as_operand,
    as_raw_bools,
    copy_if_any_requires_grad,
    device_of,
)
from pynested.autograd.arguments.scalars import checked_scalar, weak_dtype
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import raw
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import binary, movement
from pynested.backends import get_backend
from pynested.backends.dtypes import promoted
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.mapping import map_elementwise
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, Dense, DenseLike, Operand
from pynested.nested.shape_comparison import same_shape


def _where(condition: Any, self: Any, other: Any) -> Array:
    """Select between dense operands; the result has their promoted dtype."""
    device = device_of(self, other, condition)
    a, b = _in_promoted_dtype(as_operand("where", self, device), as_operand("where", other, device), device)
    raw_condition = as_raw_bools("where", "condition", condition, a, b)
    broadcast_shape("where", raw_condition.shape, np.shape(raw(a)), np.shape(raw(b)))
    result: Array = binary.where(a, b, copy_if_any_requires_grad(raw_condition, a, b))
    return result


def _in_promoted_dtype(a: Any, b: Any, device: str) -> tuple[Any, Any]:
    """Return two operands of `where` in their promoted dtype, at least one as an Array.

    A Python number beside an Array becomes a scalar of the promoted dtype, which must be able to represent the number.
    """
    if type(a) is not Array and type(b) is not Array:
        a = as_array("where", a, device)
    if type(a) is not Array:
        return checked_scalar("where", a, weak_dtype(a, b.dtype)), b
    if type(b) is not Array:
        return a, checked_scalar("where", b, weak_dtype(b, a.dtype))
    dtype = promoted(a.dtype, b.dtype)
    return movement.to_dtype(a, dtype), movement.to_dtype(b, dtype)


@overload
def where(condition: Dense, self: DenseLike, other: DenseLike) -> Array: ...
@overload
def where(condition: NestedArray, self: Operand, other: Operand) -> NestedArray: ...
@overload
def where(condition: Operand, self: NestedArray, other: Operand) -> NestedArray: ...
@overload
def where(condition: Operand, self: Operand, other: NestedArray) -> NestedArray: ...
@operator
def where(condition: Operand, self: Operand, other: Operand) -> ArrayResult:
    """Select ``self`` if ``condition`` is True, else ``other``: ``(B, *, D), (B, *, D), (B, *, D) -> (B, *, D)``.

    ``condition`` is bool, and all three operands broadcast. The result has the promoted dtype of ``self`` and
    ``other``. An element that is not selected has no effect, even if it is NaN or an infinity. DTypeError unless the
    condition is bool. OverflowError for a number that the promoted dtype cannot represent: 300 for int8, 1e5 for
    float16. StructureError for nested operands that differ in lengths or numbers of components. Gradient: the cotangent
    for the selected operand, +0 for the other operand, even if the cotangent is NaN. Clauses: WHERE-1 to WHERE-7. After
    `torch.where`.

    >>> nt = pn.nested_array([[1.0, np.nan], [3.0]], layout=pn.jagged)
    >>> pn.where(nt == nt, nt, 0).unbind()
    (array([1., 0.]), array([3.]))
    """
    if NestedArray in (type(condition), type(self), type(other)):
        return map_elementwise("where", _where, condition, self, other)
    return _where(condition, self, other)


@overload
def masked_fill(self: DenseLike, mask: Operand, value: float) -> Array: ...
@overload
def masked_fill(self: NestedArray, mask: Operand, value: float) -> NestedArray: ...
@operator
def masked_fill(self: Operand, mask: Operand, value: float) -> ArrayResult:
    """Replace the elements whose ``mask`` is True by ``value``: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The shape, the layout and the dtype stay; an empty component stays empty. ``mask`` is bool. A dense mask broadcasts,
    and so does a regular dimension of size 1 of a nested mask. Gradient: the cotangent for elements whose mask is
    False, +0 for all others. Clauses: MASKED_FILL-1 to MASKED_FILL-7. After `torch.Tensor.masked_fill`.

    Parameters
    ----------
    value : number
        The dtype of ``self`` must be able to represent it.

    Raises
    ------
    DTypeError
        For a mask that is not bool, and for a ``value`` that no element can equal: 0.5, inf or NaN for integers, 2 for
        bools.
    OverflowError
        For an integer outside the range of the integer dtype of ``self``: 300 for int8.
    StructureError
        For a nested mask with different lengths, or a different number of components.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.masked_fill(nt, nt < 3, 0).unbind()
    (array([0, 0]), array([3]))
    """

    def fill(x: Any, mask: Any) -> Any:
        """Fill a dense array. A mask of a larger shape enlarges the result."""
        array = as_array("masked_fill", x)
        raw_mask = as_raw_bools("masked_fill", "mask", mask, array)
        broadcast_shape("masked_fill", array.shape, raw_mask.shape)
        is_kept = get_backend(array.device).logical_not(raw_mask)
        return binary.where(array, checked_scalar("masked_fill", value, array.dtype), is_kept)

    result: Any
    if type(self) is NestedArray:
        result = map_elementwise("masked_fill", fill, self, mask)
        is_same = same_shape(result, self)
    elif type(mask) is NestedArray:
        raise StructureError("masked_fill: the mask is nested and the array is dense. Nest the array first.")
    else:
        result = fill(self, mask)
        is_same = result.shape == np.shape(raw(self))
    if not is_same:
        error_class = StructureError if type(mask) is NestedArray else ShapeError
        raise error_class(
            f"masked_fill: a mask of shape {np.shape(raw(mask))} would enlarge an array of shape {np.shape(raw(self))}."
        )
    return result  # type: ignore[no-any-return]
