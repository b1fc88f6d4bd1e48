"""Comparisons, and choice by a condition, on nested and dense arrays, element by element.

What holds for every operator here: operands broadcast as in `pynested.operators.elementwise`. With a nested
operand the result is nested, in the layout of the first one (`equal` answers with one bool). An empty component stays
empty. ShapeError: a dense operand that does not broadcast. DeviceError: operands on different devices.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, boolean, device_of, frozen, operand, together
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import raw
from pynested.autograd.dispatch import operator
from pynested.autograd.numbers import scalar, weak_dtype
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import get_backend
from pynested.backends.dtypes import is_float, promoted
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.mapping import map_elementwise
from pynested.nested.layout_conversion import elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, ArrayT, Dense, DenseLike, Operand, check_devices
from pynested.nested.shape_comparison import first_difference, same_shape

from .closeness import allclose
from .elementwise.operands import apply_rule
from .elementwise.relational import eq, ge, gt, le, lt, ne

__all__ = ["allclose", "eq", "equal", "ge", "gt", "le", "logical_not", "lt", "masked_fill", "ne", "where"]


_INT64 = np.dtype(np.int64)


def _negated(x: Array) -> Array:
    return Array(get_backend(x.device).logical_not(x.data), x.device)


@operator
def logical_not(self: ArrayT) -> ArrayT:
    """True where an element is zero or False: ``(B, *, D) -> (B, *, D)``.

    Any dtype, and the result is bool. Both zeros give True; NaN and the infinities give False. No gradient.

    Clauses: LOGICAL_NOT-1 to LOGICAL_NOT-3. After `torch.logical_not`.

    Examples
    --------
    >>> pn.logical_not(pn.nested_array([[0.0, -0.0], [np.nan]])).unbind()
    (array([ True,  True]), array([False]))
    """
    return apply_rule("logical_not", _negated, self)


@operator
def equal(self: Operand, other: Operand) -> bool:
    """One Python bool: the same shape, and the same value everywhere: ``(B, *, D), (B, *, D) -> bool``.

    Parameters
    ----------
    self, other : NestedArray or Array
        A dense one counts as the nested array of its slices along dimension 0.

    Notes
    -----
    Layout, placement and dtype take no part: numbers of different dtypes are compared exactly. Arrays of different
    shapes are not equal, which is no error; nothing is broadcast. NaN equals nothing, and +0 equals -0. Two batches of
    no components are equal where their other dimensions agree. No gradient.

    Clauses: EQUAL-1 to EQUAL-6. After `torch.equal`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.equal(nt, pn.nested_array([[1.0, 2.0], [3.0]])), pn.equal(nt, nt[:1])
    (True, False)
    """
    if type(self) is not NestedArray and type(other) is not NestedArray:
        a, b = together("equal", self, other)
        return a.shape == b.shape and _same_elements(a.device, a.data, b.data)
    if isinstance(self, NestedArray) and isinstance(other, NestedArray):
        check_devices("equal", (self, other))
        return same_shape(self, other) and _same_elements(self.device, _flat(self), _flat(other))
    nested, given = (self, other) if isinstance(self, NestedArray) else (other, self)
    assert isinstance(nested, NestedArray)
    _, whole = together("equal", nested.data, given)
    if len(nested) != (whole.shape[0] if whole.ndim else -1) or nested.ndim != whole.ndim:
        return False
    sizes = np.array([whole.shape[1:]], np.int64)
    same = first_difference(nested.extents, sizes) is None
    return same and _same_elements(nested.device, _flat(nested), whole.data.reshape(-1))


def _same_elements(device: str, a: Any, b: Any) -> bool:
    """Whether bare arrays of one shape hold the same numbers: exactly, though float64 has not every int64."""
    same = a == b
    if a.dtype != b.dtype and _INT64 in (a.dtype, b.dtype):
        floats, integers = (b, a) if a.dtype == _INT64 else (a, b)
        if is_float(floats.dtype):
            k = get_backend(device)
            wide = k.cast(floats, np.dtype(np.float64))
            same = same & (wide < 2.0**63) & (k.cast(wide, _INT64) == integers)
    return bool(same.all())


def _flat(x: NestedArray) -> Any:
    """The bare elements, component by component, each row-major."""
    return elements(NestedArray(x.data.detach(), x.structure)).data


def _chosen(condition: Any, self: Any, other: Any) -> Array:
    place = device_of(self, other, condition)
    a, b = operand("where", self, place), operand("where", other, place)
    if type(a) is not Array and type(b) is not Array:
        a = as_array("where", a, place)
    if type(a) is not Array:
        a = scalar("where", a, weak_dtype(a, b.dtype))
    elif type(b) is not Array:
        b = scalar("where", b, weak_dtype(b, a.dtype))
    elif place != "cpu":  # NumPy's where does not promote bfloat16
        dtype = promoted(a.dtype, b.dtype)
        a, b = to_dtype(a, dtype), to_dtype(b, dtype)
    chosen = boolean("where", "condition", condition, a, b)
    broadcast_shape("where", chosen.shape, np.shape(raw(a)), np.shape(raw(b)))
    result: Array = of_elements.where(a, b, frozen(chosen, a, b))
    return result


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
    """``self`` where ``condition`` holds, ``other`` elsewhere: ``(B, *, D), (B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    condition : NestedArray or Array
        Bools.
    self, other : NestedArray, Array or number
        All three broadcast, as the module says.

    Raises
    ------
    DTypeError
        For a condition that is not bool.
    OverflowError
        For a number that the promoted dtype cannot hold: 300 for int8, 1e5 for float16.
    StructureError
        For nested arguments that differ in lengths or numbers of components.

    Notes
    -----
    The promoted dtype of ``self`` and ``other``. What is not chosen does not show, NaN and infinities included.
    Gradient: the cotangent goes to the operand that was chosen and +0 to the other, even where the cotangent is NaN.

    Clauses: WHERE-1 to WHERE-7. After `torch.where`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, np.nan], [3.0]], layout=pn.jagged)
    >>> pn.where(nt == nt, nt, 0).unbind()
    (array([1., 0.]), array([3.]))
    """
    if NestedArray in (type(condition), type(self), type(other)):
        return map_elementwise("where", _chosen, condition, self, other)
    return _chosen(condition, self, other)


def _filled(self: Any, mask: Any, value: Any) -> Array:
    """`masked_fill` of a dense array, but for the shape of the result, which may be larger."""
    x = as_array("masked_fill", self)
    hidden = boolean("masked_fill", "mask", mask, x)
    broadcast_shape("masked_fill", x.shape, hidden.shape)
    return of_elements.where(x, scalar("masked_fill", value, x.dtype), get_backend(x.device).logical_not(hidden))


@overload
def masked_fill(self: DenseLike, mask: Operand, value: float) -> Array: ...
@overload
def masked_fill(self: NestedArray, mask: Operand, value: float) -> NestedArray: ...
@operator
def masked_fill(self: Operand, mask: Operand, value: float) -> ArrayResult:
    """``value`` where ``mask`` holds, ``self`` elsewhere: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        The result has its shape, layout and dtype.
    mask : NestedArray or Array
        Bools; a dense one broadcasts, and so do regular dimensions of size 1 of a nested one.
    value : number
        Converted to the dtype of ``self``, which must be able to hold it.

    Raises
    ------
    DTypeError
        For a mask that is not bool, and a ``value`` that no element can equal: 0.5, inf or NaN for integers, 2 for
        bools.
    OverflowError
        For an integer outside the range of the integer dtype of ``self``: 300 for int8.
    StructureError
        For a nested mask with other lengths, or another number of components.

    Notes
    -----
    An empty component stays empty. Gradient: the cotangent where the mask is False, and +0 where it is True.

    Clauses: MASKED_FILL-1 to MASKED_FILL-7. After `torch.Tensor.masked_fill`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.masked_fill(nt, nt < 3, 0).unbind()
    (array([0, 0]), array([3]))
    """
    if type(self) is not NestedArray:
        if type(mask) is NestedArray:
            raise StructureError("masked_fill: a nested mask fills a nested array, this one is dense. Nest it first.")
        whole = _filled(self, mask, value)
        if whole.shape != np.shape(raw(self)):
            raise ShapeError(_enlarging(mask, self))
        return whole
    filled = map_elementwise("masked_fill", lambda x, hidden: _filled(x, hidden, value), self, mask)
    if not same_shape(filled, self):
        raise (StructureError if type(mask) is NestedArray else ShapeError)(_enlarging(mask, self))
    return filled


def _enlarging(mask: Any, x: Any) -> str:
    return f"masked_fill: a mask of shape {np.shape(raw(mask))} would enlarge an array of shape {np.shape(raw(x))}."
