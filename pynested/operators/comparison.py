"""Comparison of whole arrays, and selection of elements by a condition: the chapter *comparison* of the specification.

`equal` and `allclose` return one bool. The result of `where` and `masked_fill` is nested if an operand is nested, in
the layout of the first nested operand. Their operands broadcast as in `pynested.operators.elementwise`. An empty
component of an operand is empty in the result. A dense operand that does not broadcast raises ShapeError. Operands on
different devices raise DeviceError. The comparisons of elements, such as `eq`, are in `elementwise.logical`.
"""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, as_arrays_on_one_device, as_operand, as_raw_bools, device_of
from pynested.autograd.arguments.scalars import canonical_real, checked_scalar, nearest_float, promote_dtype
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import raw
from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, movement
from pynested.autograd.tape import grad_mode
from pynested.backends import get_backend
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.mapping import map_elementwise
from pynested.nested.layout_conversion import elements, in_promoted_dtype, slices_as_components
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, Dense, DenseLike, Operand, on_one_device
from pynested.nested.shape_comparison import same_shape

from .elementwise.logical import eq, ge, gt, le, logical_not, lt, ne

__all__ = ["allclose", "eq", "equal", "ge", "gt", "le", "logical_not", "lt", "masked_fill", "ne", "where"]

_INT64 = np.dtype(np.int64)


@operator
def equal(self: Operand, other: Operand) -> bool:
    """Return whether two arrays have the same shape and equal elements: ``(B, *, D), (B, *, D) -> bool``.

    If one operand is dense, its slices along dimension 0 are compared with the components of the other operand. Layout,
    placement and dtype are not compared; numbers of different dtypes are compared exactly. The operands do not
    broadcast; different shapes give False. NaN equals nothing, and +0 equals -0. Two empty batches are equal if their
    components would have equal shapes. No gradient. Clauses: EQUAL-1 to EQUAL-6. After `torch.equal`.

    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.equal(nt, pn.nested_array([[1.0, 2.0], [3.0]])), pn.equal(nt, nt[:1])
    (True, False)
    """
    if type(self) is not NestedArray and type(other) is not NestedArray:
        a, b = as_arrays_on_one_device("equal", self, other)
        return a.shape == b.shape and _have_equal_elements(a.device, a.data, b.data)
    a, b = (x.detach() for x in on_one_device("equal", self, other))
    if 0 in (a.ndim, b.ndim):
        return False
    left, right = (x if isinstance(x, NestedArray) else NestedArray(*slices_as_components(x, len(x))) for x in (a, b))
    return same_shape(left, right) and _have_equal_elements(left.device, elements(left).data, elements(right).data)


def _have_equal_elements(device: str, a: Any, b: Any) -> bool:
    """Return whether raw arrays of equal shape have equal elements. Floats and int64 are compared exactly."""
    is_equal = a == b
    # NumPy compares a float and an int64 as float64s, which cannot represent every int64.
    if a.dtype != b.dtype and _INT64 in (a.dtype, b.dtype):
        floats, integers = (b, a) if a.dtype == _INT64 else (a, b)
        if is_float(floats.dtype):
            backend = get_backend(device)
            wide = backend.cast(floats, np.dtype(np.float64))
            is_equal = is_equal & (wide < 2.0**63) & (backend.cast(wide, _INT64) == integers)
    return bool(is_equal.all())


@operator
def allclose(self: Operand, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether ``|self - other| <= atol + rtol * |other|`` everywhere: ``(B, *, D), (B, *, D) -> bool``.

    The operands broadcast, and are compared as the nearest float64s. Two empty components are close; without any
    elements the result is True. An infinity is close to itself only. No gradient. Clauses: ALLCLOSE-1 to ALLCLOSE-7.
    After `torch.allclose`.

    Parameters
    ----------
    rtol, atol : float
        The tolerance relative to ``other``, and the absolute tolerance.
    equal_nan : bool
        Whether NaN is close to NaN.

    Raises
    ------
    StructureError
        For nested operands that differ in lengths or numbers of components; `equal` returns False instead.
    ArgumentError
        For a tolerance that is below 0 or NaN.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.allclose(nt, nt + 1e-9), pn.allclose(nt, nt + 0.1), pn.allclose(nt, nt + 0.1, atol=0.2)
    (True, False, True)
    """
    check_flags("allclose", equal_nan=equal_nan)
    relative, absolute = canonical_real("allclose", "rtol", rtol, 0), canonical_real("allclose", "atol", atol, 0)

    def are_close(*operands: Any) -> Array:
        arrays = as_arrays_on_one_device("allclose", *[nearest_float(x) if type(x) is int else x for x in operands])
        a, b = [movement.to_dtype(x.detach(), np.dtype(np.float64)) for x in arrays]
        broadcast_shape("allclose", a.shape, b.shape)
        magnitude = abs(b)
        are_finite = (abs(a) < math.inf) & (magnitude < math.inf)
        is_close = (abs(a - b) <= magnitude * relative + absolute) & are_finite | (a == b)
        return is_close | (a != a) & (b != b) if equal_nan else is_close

    is_nested = NestedArray in (type(self), type(other))
    result = map_elementwise("allclose", are_close, self, other).data if is_nested else are_close(self, other)
    return bool(result.data.all())


def _where(condition: Any, self: Any, other: Any) -> Array:
    """Select between dense operands; the result has their promoted dtype."""
    device = device_of(self, other, condition)
    a, b = _promoted_operands(as_operand("where", self, device), as_operand("where", other, device), device)
    raw_condition = as_raw_bools("where", "condition", condition, a, b)
    broadcast_shape("where", raw_condition.shape, np.shape(raw(a)), np.shape(raw(b)))
    if grad_mode.value and any(type(x) is Array and x.requires_grad for x in (a, b)):
        raw_condition = raw_condition.copy()  # so that a later write into the condition does not change the gradient
    return binary.where(a, b, raw_condition)  # type: ignore[no-any-return]


def _promoted_operands(a: Any, b: Any, device: str) -> tuple[Any, Any]:
    """Return two operands of `where` in their promoted dtype, at least one as an Array.

    A Python number beside an Array becomes a scalar of the promoted dtype, which must be able to represent the number.
    """
    if type(a) is not Array and type(b) is not Array:
        a = as_array("where", a, device)
    if type(a) is not Array:
        return checked_scalar("where", a, promote_dtype(a, b.dtype)), b
    if type(b) is not Array:
        return a, checked_scalar("where", b, promote_dtype(b, a.dtype))
    a, b = in_promoted_dtype(a, b)
    return a, b


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
        For a number outside the range of the dtype of ``self``: 300 for int8, 1e5 for float16.
    StructureError
        For a nested mask of a dense array, of different lengths or of another number of components.

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
        keeps_shape = same_shape(result, self)
    elif type(mask) is NestedArray:
        raise StructureError("masked_fill: the mask is nested and the array is dense. Nest the array first.")
    else:
        result = fill(self, mask)
        keeps_shape = result.shape == np.shape(raw(self))
    if not keeps_shape:
        error_class = StructureError if type(mask) is NestedArray else ShapeError
        raise error_class(
            f"masked_fill: a mask of shape {np.shape(raw(mask))} would enlarge an array of shape {np.shape(raw(self))}."
        )
    return result  # type: ignore[no-any-return]
