"""Comparisons of two operands, element by element. `pynested.operators.comparison` compares whole arrays.

Broadcasting, dtypes, errors and gradients are as `pynested.operators.elementwise` says. Values and derivatives are
computed by `pynested.autograd.primitives.binary`.
"""

from __future__ import annotations

from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import binary
from pynested.nested.operands import ArrayResult, Operand

from ..signatures import binary_signature
from .function_application import apply_pair


@operator
@binary_signature
def eq(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self == other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is bool; the operands are compared after promotion. NaN equals nothing, not even NaN, and +0 equals -0. A
    Python integer that an integer dtype cannot represent equals no element of the dtype. `equal` returns one bool. No
    gradient. Clauses: EQ-1 to EQ-5. After `torch.eq`.

    >>> pn.eq(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([False,  True]), array([False]))
    """
    return apply_pair(binary.eq, self, other)


@operator
@binary_signature
def ne(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self != other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is bool; the operands are compared after promotion. NaN differs from everything, even from NaN, and +0
    equals -0. A Python integer that an integer dtype cannot represent differs from every element of the dtype. No
    gradient. Clauses: NE-1 to NE-4. After `torch.ne`.

    >>> pn.ne(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([ True, False]), array([ True]))
    """
    return apply_pair(binary.ne, self, other)


@operator
@binary_signature
def lt(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self < other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is bool; the operands are compared after promotion. False is less than True, and -0 is not less than +0.
    The result is False if an operand is NaN. A Python integer beyond the range of an integer dtype is greater, or less,
    than every element of the dtype. No gradient. Clauses: LT-1 to LT-5. After `torch.lt`.

    >>> pn.lt(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([ True, False]), array([False]))
    """
    return apply_pair(binary.lt, self, other)


@operator
@binary_signature
def le(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self <= other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is bool; the operands are compared after promotion. False is less than True, and -0 equals +0. The result
    is False if an operand is NaN. A Python integer beyond the range of an integer dtype is greater, or less, than every
    element of the dtype. No gradient. Clauses: LE-1 to LE-4. After `torch.le`.

    >>> pn.le(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([ True,  True]), array([False]))
    """
    return apply_pair(binary.le, self, other)


@operator
@binary_signature
def gt(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self > other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is bool; the operands are compared after promotion. True is greater than False, and +0 is not greater
    than -0. The result is False if an operand is NaN. A Python integer beyond the range of an integer dtype is greater,
    or less, than every element of the dtype. No gradient. Clauses: GT-1 to GT-4. After `torch.gt`.

    >>> pn.gt(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([False, False]), array([False]))
    """
    return apply_pair(binary.gt, self, other)


@operator
@binary_signature
def ge(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self >= other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is bool; the operands are compared after promotion. True is greater than False, and -0 equals +0. The
    result is False if an operand is NaN. A Python integer beyond the range of an integer dtype is greater, or less,
    than every element of the dtype. No gradient. Clauses: GE-1 to GE-4. After `torch.ge`.

    >>> pn.ge(pn.nested_array([[1.0, 2.0], [np.nan]]), 2).unbind()
    (array([False,  True]), array([False]))
    """
    return apply_pair(binary.ge, self, other)
