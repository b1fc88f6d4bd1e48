"""Comparisons, tests for NaN and infinity, and logical and bitwise functions, element by element.

`pynested.operators.comparison` compares whole arrays. Broadcasting, dtypes, errors and gradients are as
`pynested.operators.elementwise` says. Values and derivatives are computed by `pynested.autograd.primitives`.
"""

from __future__ import annotations

from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, unary
from pynested.nested.operands import ArrayResult, ArrayT, Operand

from ..signatures import binary_signature
from .function_application import NO_FLOATS, apply_pair, apply_primitive


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


@operator
def isnan(self: ArrayT) -> ArrayT:
    """Return whether each element is NaN: ``(B, *, D) -> (B, *, D)``.

    The result is bool. Infinities are not NaN; bools and integers are never NaN. No gradient. Clauses: ISNAN-1 to
    ISNAN-3. After `torch.isnan`.

    >>> pn.isnan(pn.nested_array([[1.0, np.inf], [np.nan]])).unbind()
    (array([False, False]), array([ True]))
    """
    return apply_primitive(unary.isnan, self)


@operator
def isinf(self: ArrayT) -> ArrayT:
    """Return whether each element is inf or -inf: ``(B, *, D) -> (B, *, D)``.

    The result is bool. NaN is not an infinity; bools and integers are never infinities. No gradient. Clauses: ISINF-1
    to ISINF-3. After `torch.isinf`.

    >>> pn.isinf(pn.nested_array([[1.0, np.inf], [np.nan]])).unbind()
    (array([False,  True]), array([False]))
    """
    return apply_primitive(unary.isinf, self)


@operator
def isfinite(self: ArrayT) -> ArrayT:
    """Return whether each element is finite: ``(B, *, D) -> (B, *, D)``.

    The result is bool. Infinities and NaN are not finite; bools and integers are always finite. No gradient. Clauses:
    ISFINITE-1 to ISFINITE-3. After `torch.isfinite`.

    >>> pn.isfinite(pn.nested_array([[1.0, np.inf], [np.nan]])).unbind()
    (array([ True, False]), array([False]))
    """
    return apply_primitive(unary.isfinite, self)


@operator
@binary_signature
def logical_and(self: Operand, other: Operand) -> ArrayResult:
    """Return whether both elements are true, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Every element except a zero is true, NaN too. Operands have any dtype; the result is bool. No gradient. Clauses:
    LOGICAL_AND-1 to LOGICAL_AND-4. After `torch.logical_and`.

    >>> pn.logical_and(pn.nested_array([[0.0, 2.0], [np.nan]]), pn.array([[0], [1]])).unbind()
    (array([False, False]), array([ True]))
    """
    return apply_pair(binary.logical_and, self, other)


@operator
@binary_signature
def logical_or(self: Operand, other: Operand) -> ArrayResult:
    """Return whether either element is true, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Every element except a zero is true, NaN too. Operands have any dtype; the result is bool. No gradient. Clauses:
    LOGICAL_OR-1 to LOGICAL_OR-4. After `torch.logical_or`.

    >>> pn.logical_or(pn.nested_array([[0.0, 2.0], [np.nan]]), pn.array([[0], [1]])).unbind()
    (array([False,  True]), array([ True]))
    """
    return apply_pair(binary.logical_or, self, other)


@operator
@binary_signature
def logical_xor(self: Operand, other: Operand) -> ArrayResult:
    """Return whether exactly one of two elements is true: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Every element except a zero is true, NaN too. Operands have any dtype; the result is bool. No gradient. Clauses:
    LOGICAL_XOR-1 to LOGICAL_XOR-4. After `torch.logical_xor`.

    >>> pn.logical_xor(pn.nested_array([[0.0, 2.0], [np.nan]]), pn.array([[0], [1]])).unbind()
    (array([False,  True]), array([False]))
    """
    return apply_pair(binary.logical_xor, self, other)


@operator
@binary_signature
def bitwise_and(self: Operand, other: Operand) -> ArrayResult:
    """Return the bits that are set in both of two integers, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; for bools it is `and`. Negative integers are in two's complement. DTypeError for
    floats. No gradient. Clauses: BITWISE_AND-1 to BITWISE_AND-6. After `torch.bitwise_and`.

    >>> pn.bitwise_and(pn.nested_array([[6, 3], [-1]]), 5).unbind()
    (array([4, 1]), array([5]))
    """
    return apply_pair(binary.bitwise_and, self, other, NO_FLOATS)


@operator
@binary_signature
def bitwise_or(self: Operand, other: Operand) -> ArrayResult:
    """Return the bits that are set in either of two integers: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; for bools it is `or`. Negative integers are in two's complement. DTypeError for
    floats. No gradient. Clauses: BITWISE_OR-1 to BITWISE_OR-6. After `torch.bitwise_or`.

    >>> pn.bitwise_or(pn.nested_array([[6, 3], [-1]]), 5).unbind()
    (array([7, 7]), array([-1]))
    """
    return apply_pair(binary.bitwise_or, self, other, NO_FLOATS)


@operator
@binary_signature
def bitwise_xor(self: Operand, other: Operand) -> ArrayResult:
    """Return the bits that are set in exactly one of two integers: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; for bools it is `!=`. Negative integers are in two's complement. DTypeError for
    floats. No gradient. Clauses: BITWISE_XOR-1 to BITWISE_XOR-6. After `torch.bitwise_xor`.

    >>> pn.bitwise_xor(pn.nested_array([[6, 3], [-1]]), 5).unbind()
    (array([3, 6]), array([-6]))
    """
    return apply_pair(binary.bitwise_xor, self, other, NO_FLOATS)


@operator
def logical_not(self: ArrayT) -> ArrayT:
    """Return whether each element is zero or False: ``(B, *, D) -> (B, *, D)``.

    The operand has any dtype; the result is bool. Both zeros give True; NaN and the infinities give False. No gradient.
    Clauses: LOGICAL_NOT-1 to LOGICAL_NOT-3. After `torch.logical_not`.

    >>> pn.logical_not(pn.nested_array([[0.0, -0.0], [np.nan]])).unbind()
    (array([ True,  True]), array([False]))
    """
    return apply_primitive(unary.logical_not, self)
