"""Exponentials, logarithms, roots and the error function of each element; and `logaddexp` of two operands.

NaN stays NaN. Shapes, dtypes and gradients are as `pynested.operators.elementwise` says.
`pynested.autograd.primitives` computes values and derivatives.
"""

from __future__ import annotations

from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, unary
from pynested.nested.operands import ArrayResult, ArrayT, Operand

from ..signatures import binary_signature
from .function_application import NO_BOOLS, ONLY_FLOATS, apply_pair, apply_primitive


@operator
def exp(self: ArrayT) -> ArrayT:
    """Return ``e**x`` of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. exp(-inf) is +0, exp(0) is 1, overflow gives inf. Gradient: ``g``
    times the result. Clauses: EXP-1 to EXP-4. After `torch.exp`.

    >>> pn.exp(pn.nested_array([[0.0, -np.inf], [1000.0]])).unbind()
    (array([1., 0.]), array([inf]))
    """
    return apply_primitive(unary.exp, self)


@operator
def exp2(self: ArrayT) -> ArrayT:
    """Return ``2**x`` of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. exp2(-inf) is +0, exp2(0) is 1, overflow gives inf. Gradient:
    ``g * log(2)`` times the result. Clauses: EXP2-1 to EXP2-4. After `torch.exp2`.

    >>> pn.exp2(pn.nested_array([[3.0, -1.0], [-np.inf]])).unbind()
    (array([8. , 0.5]), array([0.]))
    """
    return apply_primitive(unary.exp2, self)


@operator
def expm1(self: ArrayT) -> ArrayT:
    """Return ``e**x - 1`` of each element, accurate for small x: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. expm1 of a zero is the same zero, expm1(-inf) is -1, overflow gives
    inf. Gradient: ``g * e**x``. Clauses: EXPM1-1 to EXPM1-4. After `torch.expm1`.

    >>> pn.expm1(pn.nested_array([[0.0, -np.inf], [1e-20]])).unbind()
    (array([ 0., -1.]), array([1.e-20]))
    """
    return apply_primitive(unary.expm1, self)


@operator
def log(self: ArrayT) -> ArrayT:
    """Return the natural logarithm of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. log(0) is -inf for both zeros, log of a negative number is NaN,
    log(1) is +0, log(inf) is inf. Gradient: ``g / x``, also at 0, where it is an infinity; not specified outside the
    domain. Clauses: LOG-1 to LOG-5. After `torch.log`.

    >>> pn.log(pn.nested_array([[1.0, 0.0], [-1.0]])).unbind()
    (array([  0., -inf]), array([nan]))
    """
    return apply_primitive(unary.log, self)


@operator
def log2(self: ArrayT) -> ArrayT:
    """Return the logarithm to base 2 of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. log2(0) is -inf for both zeros, log2 of a negative number is NaN,
    log2(1) is +0, log2(inf) is inf. Gradient: ``g / (x * log(2))``, an infinity at 0; not specified outside the domain.
    Clauses: LOG2-1 to LOG2-5. After `torch.log2`.

    >>> pn.log2(pn.nested_array([[8.0, 0.0], [-1.0]])).unbind()
    (array([  3., -inf]), array([nan]))
    """
    return apply_primitive(unary.log2, self)


@operator
def log10(self: ArrayT) -> ArrayT:
    """Return the logarithm to base 10 of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. log10(0) is -inf for both zeros, log10 of a negative number is NaN,
    log10(1) is +0, log10(inf) is inf. Gradient: ``g / (x * log(10))``, an infinity at 0; not specified outside the
    domain. Clauses: LOG10-1 to LOG10-5. After `torch.log10`.

    >>> pn.log10(pn.nested_array([[100.0, 0.0], [-1.0]])).unbind()
    (array([  2., -inf]), array([nan]))
    """
    return apply_primitive(unary.log10, self)


@operator
def log1p(self: ArrayT) -> ArrayT:
    """Return ``log(1 + x)`` of each element, accurate for small x: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. log1p of a zero is the same zero, log1p(-1) is -inf, log1p(inf) is
    inf, and log1p of a number below -1 is NaN. Gradient: ``g / (1 + x)``; not specified outside the domain. Clauses:
    LOG1P-1 to LOG1P-5. After `torch.log1p`.

    >>> pn.log1p(pn.nested_array([[0.0, -1.0], [1e-20]])).unbind()
    (array([  0., -inf]), array([1.e-20]))
    """
    return apply_primitive(unary.log1p, self)


@operator
@binary_signature
def logaddexp(self: Operand, other: Operand) -> ArrayResult:
    """Return ``log(e**self + e**other)`` without overflow of the powers: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype, which must be floating. It is NaN if an operand is NaN, and inf if an operand is
    inf. If one operand is -inf, the result is the other operand. DTypeError for two integers or bools; convert one to
    floats first. Gradient: ``g / (1 + e**(b - a))`` for ``self``, ``g / (1 + e**(a - b))`` for ``other``. Clauses:
    LOGADDEXP-1 to LOGADDEXP-7. After `torch.logaddexp`.

    >>> pn.logaddexp(pn.nested_array([[0.0, 1000.0], [-np.inf]]), 0.0).unbind()
    (array([6.93147181e-01, 1.00000000e+03]), array([0.]))
    """
    return apply_pair(binary.logaddexp, self, other, ONLY_FLOATS)


@operator
def sqrt(self: ArrayT) -> ArrayT:
    """Return the square root of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. The root of a zero is the same zero, the root of inf is inf, and
    the root of a negative number is NaN. Gradient: ``g / (2 * sqrt(x))``, an infinity at 0; not specified outside the
    domain. Clauses: SQRT-1 to SQRT-5. After `torch.sqrt`.

    >>> pn.sqrt(pn.nested_array([[4.0, 0.0], [-1.0]])).unbind()
    (array([2., 0.]), array([nan]))
    """
    return apply_primitive(unary.sqrt, self)


@operator
def cbrt(self: ArrayT) -> ArrayT:
    """Return the real cube root of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. Zeros and infinities stay as they are. Gradient:
    ``g / (3 * cbrt(x)**2)``, an infinity at 0. Clauses: CBRT-1 to CBRT-4. After `numpy.cbrt`.

    >>> pn.cbrt(pn.nested_array([[8.0, -0.0], [-np.inf]])).unbind()
    (array([ 2., -0.]), array([-inf]))
    """
    return apply_primitive(unary.cbrt, self)


@operator
def rsqrt(self: ArrayT) -> ArrayT:
    """Return ``1 / sqrt(x)`` of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. rsqrt(0) is inf, rsqrt(-0) is -inf, rsqrt(inf) is +0, and rsqrt of
    a negative number is NaN. Gradient: ``-g / (2 * x * sqrt(x))``; not specified outside the domain. Clauses: RSQRT-1
    to RSQRT-5. After `torch.rsqrt`.

    >>> pn.rsqrt(pn.nested_array([[4.0, 0.0], [-1.0]])).unbind()
    (array([0.5, inf]), array([nan]))
    """
    return apply_primitive(unary.rsqrt, self)


@operator
def square(self: ArrayT) -> ArrayT:
    """Return ``x * x`` of each element: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers wrap in it; DTypeError for bools. The square of a zero is +0, the square of an
    infinity is inf, and overflow gives inf. Gradient: ``2 * g * x``. Clauses: SQUARE-1 to SQUARE-5. After
    `torch.square`.

    >>> pn.square(pn.nested_array([[-3.0, 0.5], [np.inf]])).unbind()
    (array([9.  , 0.25]), array([inf]))
    """
    return apply_primitive(unary.square, self, NO_BOOLS)


@operator
def reciprocal(self: ArrayT) -> ArrayT:
    """Return ``1 / x`` of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, bools and integers become float64. The reciprocal of a zero is an infinity of the same
    sign, and the reciprocal of an infinity is a zero of the same sign. Gradient: ``-g / x**2``. Clauses: RECIPROCAL-1
    to RECIPROCAL-4. After `torch.reciprocal`.

    >>> pn.reciprocal(pn.nested_array([[4, 0], [-2]])).unbind()
    (array([0.25,  inf]), array([-0.5]))
    """
    return apply_primitive(unary.reciprocal, self)


@operator
def sigmoid(self: ArrayT) -> ArrayT:
    """Return ``1 / (1 + exp(-x))`` of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. sigmoid(inf) is 1, sigmoid(-inf) is +0, sigmoid(0) is 1/2.
    Gradient: ``g * y * (1 - y)`` with ``y`` the result. Clauses: SIGMOID-1 to SIGMOID-4. After `torch.sigmoid`.

    >>> pn.sigmoid(pn.nested_array([[0.0, np.inf], [-np.inf]])).unbind()
    (array([0.5, 1. ]), array([0.]))
    """
    return apply_primitive(unary.sigmoid, self)


@operator
def erf(self: ArrayT) -> ArrayT:
    """Return the error function of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. erf of a zero is the same zero, erf(inf) is 1, erf(-inf) is -1.
    Gradient: ``g * 2 / sqrt(pi) * exp(-x**2)``. Clauses: ERF-1 to ERF-4. After `torch.erf`.

    >>> pn.erf(pn.nested_array([[0.0, np.inf], [0.5]])).unbind()
    (array([0., 1.]), array([0.52049988]))
    """
    return apply_primitive(unary.erf, self)


@operator
def erfc(self: ArrayT) -> ArrayT:
    """Return ``1 - erf(x)`` of each element, accurate for large x: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. erfc of a zero is 1, erfc(inf) is +0, erfc(-inf) is 2. Gradient:
    ``-g * 2 / sqrt(pi) * exp(-x**2)``. Clauses: ERFC-1 to ERFC-4. After `torch.erfc`.

    >>> pn.erfc(pn.nested_array([[0.0, -np.inf], [10.0]])).unbind()
    (array([1., 2.]), array([2.08848758e-45]))
    """
    return apply_primitive(unary.erfc, self)
