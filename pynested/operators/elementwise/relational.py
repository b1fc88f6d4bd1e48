"""Comparisons of two operands, element by element; `pynested.operators.comparison` has those of whole arrays.

Broadcasting, dtypes, errors and gradients are as `pynested.operators.elementwise` says. Values and derivatives are
computed by `pynested.autograd.rules.pairs`.
"""

from __future__ import annotations

from typing import overload

from pynested.autograd import Array
from pynested.autograd.dispatch import operator
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, DenseLike, Operand

from .operands import apply_pair


@overload
def eq(self: DenseLike, other: DenseLike) -> Array: ...
@overload
def eq(self: NestedArray, other: Operand) -> NestedArray: ...
@overload
def eq(self: Operand, other: NestedArray) -> NestedArray: ...
@operator
def eq(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self == other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.

    Notes
    -----
    The result is bool; the operands are compared after promotion. NaN equals nothing, itself included, and +0 equals
    -0. A Python integer that an integer dtype cannot represent equals no element of it. `equal` returns one bool. No
    gradient.

    Clauses: EQ-1 to EQ-5. After `torch.eq`.

    Examples
    --------
    >>> pn.eq(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([False,  True]), array([False]))
    """
    return apply_pair("eq", self, other)


@overload
def ne(self: DenseLike, other: DenseLike) -> Array: ...
@overload
def ne(self: NestedArray, other: Operand) -> NestedArray: ...
@overload
def ne(self: Operand, other: NestedArray) -> NestedArray: ...
@operator
def ne(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self != other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.

    Notes
    -----
    The result is bool; the operands are compared after promotion. NaN differs from everything, itself included, and +0
    equals -0. A Python integer that an integer dtype cannot represent differs from every element of it. No gradient.

    Clauses: NE-1 to NE-4. After `torch.ne`.

    Examples
    --------
    >>> pn.ne(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([ True, False]), array([ True]))
    """
    return apply_pair("ne", self, other)


@overload
def lt(self: DenseLike, other: DenseLike) -> Array: ...
@overload
def lt(self: NestedArray, other: Operand) -> NestedArray: ...
@overload
def lt(self: Operand, other: NestedArray) -> NestedArray: ...
@operator
def lt(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self < other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.

    Notes
    -----
    The result is bool; the operands are compared after promotion. False < True. False with NaN, and so is -0 < +0. A
    Python integer beyond the range of an integer dtype lies above, or below, every element of it. No gradient.

    Clauses: LT-1 to LT-5. After `torch.lt`.

    Examples
    --------
    >>> pn.lt(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([ True, False]), array([False]))
    """
    return apply_pair("lt", self, other)


@overload
def le(self: DenseLike, other: DenseLike) -> Array: ...
@overload
def le(self: NestedArray, other: Operand) -> NestedArray: ...
@overload
def le(self: Operand, other: NestedArray) -> NestedArray: ...
@operator
def le(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self <= other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.

    Notes
    -----
    The result is bool; the operands are compared after promotion. False <= True. False with NaN; -0 <= +0 both ways. A
    Python integer beyond the range of an integer dtype lies above, or below, every element of it. No gradient.

    Clauses: LE-1 to LE-4. After `torch.le`.

    Examples
    --------
    >>> pn.le(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([ True,  True]), array([False]))
    """
    return apply_pair("le", self, other)


@overload
def gt(self: DenseLike, other: DenseLike) -> Array: ...
@overload
def gt(self: NestedArray, other: Operand) -> NestedArray: ...
@overload
def gt(self: Operand, other: NestedArray) -> NestedArray: ...
@operator
def gt(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self > other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.

    Notes
    -----
    The result is bool; the operands are compared after promotion. True > False. False with NaN, and so is +0 > -0. A
    Python integer beyond the range of an integer dtype lies above, or below, every element of it. No gradient.

    Clauses: GT-1 to GT-4. After `torch.gt`.

    Examples
    --------
    >>> pn.gt(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([False, False]), array([False]))
    """
    return apply_pair("gt", self, other)


@overload
def ge(self: DenseLike, other: DenseLike) -> Array: ...
@overload
def ge(self: NestedArray, other: Operand) -> NestedArray: ...
@overload
def ge(self: Operand, other: NestedArray) -> NestedArray: ...
@operator
def ge(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self >= other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.

    Notes
    -----
    The result is bool; the operands are compared after promotion. True >= False. False with NaN; -0 >= +0 both ways. A
    Python integer beyond the range of an integer dtype lies above, or below, every element of it. No gradient.

    Clauses: GE-1 to GE-4. After `torch.ge`.

    Examples
    --------
    >>> pn.ge(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([False,  True]), array([False]))
    """
    return apply_pair("ge", self, other)
