"""Products, quotients, powers, extremes and `logaddexp` of two operands, element by element.

Broadcasting, dtypes, errors and gradients are as `pynested.operators.elementwise` says. Values and derivatives are
computed by `pynested.autograd.primitives.binary`.
"""

from __future__ import annotations

from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import binary
from pynested.nested.operands import ArrayResult, Operand

from .function_application import BOOLS, INTEGERS, apply_pair, refuse_negative, refuse_zeros
from .signatures import of_two_operands


@operator
@of_two_operands
def mul(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self * other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it, and bool * bool is ``and``. 0 * inf is NaN; a zero has the
    sign of the product of the signs. Gradient: ``g * other`` for ``self``, ``g * self`` for ``other``. Clauses: MUL-1
    to MUL-5. After `torch.mul`.

    >>> pn.mul(pn.nested_array([[1.0, 2.0], [3.0]]), 2).unbind()
    (array([2., 4.]), array([6.]))
    """
    return apply_pair(binary.mul, self, other)


@operator
@of_two_operands
def div(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self / other``, the true quotient, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Bools and integers of every width give float64; floats give the promoted dtype. x / 0 is an infinity with the sign
    of the quotient and 0 / 0 is NaN, also for integers. Gradient: ``g / b`` for ``self``, ``-g * a / b**2`` for
    ``other``. Clauses: DIV-1 to DIV-5. After `torch.div`.

    >>> pn.div(pn.nested_array([[1, 2], [0]]), 0).unbind()
    (array([inf, inf]), array([nan]))
    """
    return apply_pair(binary.div, self, other)


@operator
@of_two_operands
def floor_divide(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self // other``, the quotient rounded down, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it. A float divided by 0 is an infinity or NaN, as in `div`.
    ``1.0 // 0.1`` is 9, since the float 0.1 is a little more than a tenth. DTypeError for two bools; convert one to
    int8 first. DivisionByZero for integers that are divided by 0, naming the component and the position. Gradient: 0
    for both. Clauses: FLOOR_DIVIDE-1 to FLOOR_DIVIDE-8. After `torch.floor_divide`.

    >>> pn.floor_divide(pn.nested_array([[7, -7], [6]]), 2).unbind()
    (array([ 3, -4]), array([3]))
    """
    return apply_pair(binary.floor_divide, self, other, BOOLS, refuse_zeros)


@operator
@of_two_operands
def remainder(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self % other``, which is 0 or has the sign of ``other``: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is ``a - floor(a / b) * b`` in the promoted dtype, rounded once. The remainder of a float by 0, and of an
    infinity, is NaN. The remainder of a number by an infinity of the same sign is the number. DTypeError for two bools;
    convert one to int8 first. DivisionByZero for integers that are divided by 0, naming the component and the position.
    Gradient: ``g`` for ``self``, ``-g * floor(a / b)`` for ``other``. Clauses: REMAINDER-1 to REMAINDER-9. After
    `torch.remainder`.

    >>> pn.remainder(pn.nested_array([[7, -7], [6]]), 4).unbind()
    (array([3, 1]), array([2]))
    """
    return apply_pair(binary.remainder, self, other, BOOLS, refuse_zeros)


@operator
@of_two_operands
def pow(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self ** other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it. x**0 and 1**x are 1, even if x is NaN. A negative number to
    a power that is not an integer is NaN, and 0 to a negative power is an infinity. DTypeError for two bools; convert
    one to int8 first. ArgumentError for integers to a negative power, naming the component and the position. Gradient:
    ``g * b * a**(b - 1)`` for ``self``, 0 if b is 0; ``g * a**b * log(a)`` for ``other``, 0 if a is 0 and b is not
    negative. Clauses: POW-1 to POW-9. After `torch.pow`.

    >>> pn.pow(pn.nested_array([[1.0, -2.0], [0.0]]), 3).unbind()
    (array([ 1., -8.]), array([0.]))
    """
    return apply_pair(binary.pow_, self, other, BOOLS, refuse_negative)


@operator
@of_two_operands
def maximum(self: Operand, other: Operand) -> ArrayResult:
    """Return the greater of two elements, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype, also for bools. It is NaN if an operand is NaN. Gradient: ``g`` for the greater
    operand, half of it for each if they are equal. Clauses: MAXIMUM-1 to MAXIMUM-6. After `torch.maximum`.

    >>> pn.maximum(pn.nested_array([[1.0, 5.0], [np.nan]]), 3.0).unbind()
    (array([3., 5.]), array([nan]))
    """
    return apply_pair(binary.maximum, self, other)


@operator
@of_two_operands
def minimum(self: Operand, other: Operand) -> ArrayResult:
    """Return the smaller of two elements, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype, also for bools. It is NaN if an operand is NaN. Gradient: ``g`` for the smaller
    operand, half of it for each if they are equal. Clauses: MINIMUM-1 to MINIMUM-6. After `torch.minimum`.

    >>> pn.minimum(pn.nested_array([[1.0, 5.0], [np.nan]]), 3.0).unbind()
    (array([1., 3.]), array([nan]))
    """
    return apply_pair(binary.minimum, self, other)


@operator
@of_two_operands
def logaddexp(self: Operand, other: Operand) -> ArrayResult:
    """Return ``log(e**self + e**other)`` without overflow of the powers: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype, which must be floating. It is NaN if an operand is NaN, and inf if an operand is
    inf. If one operand is -inf, the result is the other operand. DTypeError for two integers or bools; convert one to
    floats first. Gradient: ``g / (1 + e**(b - a))`` for ``self``, ``g / (1 + e**(a - b))`` for ``other``. Clauses:
    LOGADDEXP-1 to LOGADDEXP-7. After `torch.logaddexp`.

    >>> pn.logaddexp(pn.nested_array([[0.0, 1000.0], [-np.inf]]), 0.0).unbind()
    (array([6.93147181e-01, 1.00000000e+03]), array([0.]))
    """
    return apply_pair(binary.logaddexp, self, other, BOOLS + INTEGERS)
