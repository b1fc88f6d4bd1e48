"""Trigonometric and hyperbolic functions of each element, and their inverses.

NaN stays NaN. Shapes, dtypes and gradients are as `pynested.operators.elementwise` says.
`pynested.autograd.primitives.unary` computes values and derivatives.
"""

from __future__ import annotations

from pynested.autograd.decorators import operator
from pynested.autograd.primitives import unary
from pynested.nested.operands import ArrayT

from .function_application import apply_primitive


@operator
def sin(self: ArrayT) -> ArrayT:
    """Return the sine of each element, in radians: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. The sine of a zero is the same zero; the sine of an infinity is
    NaN. Gradient: ``g * cos(x)``. Clauses: SIN-1 to SIN-4. After `torch.sin`.

    >>> pn.sin(pn.nested_array([[0.0, np.pi / 2], [np.inf]])).unbind()
    (array([0., 1.]), array([nan]))
    """
    return apply_primitive(unary.sin, self)


@operator
def cos(self: ArrayT) -> ArrayT:
    """Return the cosine of each element, in radians: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. The cosine of a zero is 1; the cosine of an infinity is NaN.
    Gradient: ``-g * sin(x)``. Clauses: COS-1 to COS-4. After `torch.cos`.

    >>> pn.cos(pn.nested_array([[0.0, np.pi], [np.inf]])).unbind()
    (array([ 1., -1.]), array([nan]))
    """
    return apply_primitive(unary.cos, self)


@operator
def tan(self: ArrayT) -> ArrayT:
    """Return the tangent of each element, in radians: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. The tangent of a zero is the same zero; the tangent of an infinity
    is NaN. Gradient: ``g * (1 + tan(x)**2)``. Clauses: TAN-1 to TAN-4. After `torch.tan`.

    >>> pn.tan(pn.nested_array([[0.0, -0.0], [np.inf]])).unbind()
    (array([ 0., -0.]), array([nan]))
    """
    return apply_primitive(unary.tan, self)


@operator
def asin(self: ArrayT) -> ArrayT:
    """Return the arc sine of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. asin of a zero is the same zero, asin(1) is pi / 2, rounded, and
    asin of a number below -1 or above 1 is NaN. Gradient: ``g / sqrt(1 - x**2)``, an infinity at -1 and 1; not
    specified outside the domain. Clauses: ASIN-1 to ASIN-5. After `torch.asin`.

    >>> pn.asin(pn.nested_array([[0.0, 1.0], [2.0]])).unbind()
    (array([0.        , 1.57079633]), array([nan]))
    """
    return apply_primitive(unary.asin, self)


@operator
def acos(self: ArrayT) -> ArrayT:
    """Return the arc cosine of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. acos(1) is +0, acos of a number below -1 or above 1 is NaN, acos(0)
    is pi / 2, rounded. Gradient: ``-g / sqrt(1 - x**2)``, an infinity at -1 and 1; not specified outside the domain.
    Clauses: ACOS-1 to ACOS-5. After `torch.acos`.

    >>> pn.acos(pn.nested_array([[1.0, 0.0], [2.0]])).unbind()
    (array([0.        , 1.57079633]), array([nan]))
    """
    return apply_primitive(unary.acos, self)


@operator
def atan(self: ArrayT) -> ArrayT:
    """Return the arc tangent of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. atan of a zero is the same zero, atan(inf) is pi / 2, and
    atan(-inf) is -pi / 2. Gradient: ``g / (1 + x**2)``. Clauses: ATAN-1 to ATAN-4. After `torch.atan`.

    >>> pn.atan(pn.nested_array([[0.0, 1.0], [-np.inf]])).unbind()
    (array([0.        , 0.78539816]), array([-1.57079633]))
    """
    return apply_primitive(unary.atan, self)


@operator
def sinh(self: ArrayT) -> ArrayT:
    """Return the hyperbolic sine of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. Zeros and infinities stay as they are; overflow gives an infinity.
    Gradient: ``g * cosh(x)``. Clauses: SINH-1 to SINH-4. After `torch.sinh`.

    >>> pn.sinh(pn.nested_array([[0.0, 1.0], [-np.inf]])).unbind()
    (array([0.        , 1.17520119]), array([-inf]))
    """
    return apply_primitive(unary.sinh, self)


@operator
def cosh(self: ArrayT) -> ArrayT:
    """Return the hyperbolic cosine of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. cosh of a zero is 1, cosh of an infinity is inf; overflow gives
    inf. Gradient: ``g * sinh(x)``. Clauses: COSH-1 to COSH-4. After `torch.cosh`.

    >>> pn.cosh(pn.nested_array([[0.0, 1.0], [-np.inf]])).unbind()
    (array([1.        , 1.54308063]), array([inf]))
    """
    return apply_primitive(unary.cosh, self)


@operator
def tanh(self: ArrayT) -> ArrayT:
    """Return the hyperbolic tangent of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. tanh of a zero is the same zero, tanh(inf) is 1, tanh(-inf) is -1.
    Gradient: ``g * (1 - tanh(x)**2)``. Clauses: TANH-1 to TANH-4. After `torch.tanh`.

    >>> pn.tanh(pn.nested_array([[0.0, np.inf], [-np.inf]])).unbind()
    (array([0., 1.]), array([-1.]))
    """
    return apply_primitive(unary.tanh, self)


@operator
def asinh(self: ArrayT) -> ArrayT:
    """Return the inverse hyperbolic sine of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. Zeros and infinities stay as they are. Gradient:
    ``g / sqrt(1 + x**2)``. Clauses: ASINH-1 to ASINH-4. After `torch.asinh`.

    >>> pn.asinh(pn.nested_array([[0.0, 1.0], [-np.inf]])).unbind()
    (array([0.        , 0.88137359]), array([-inf]))
    """
    return apply_primitive(unary.asinh, self)


@operator
def acosh(self: ArrayT) -> ArrayT:
    """Return the inverse hyperbolic cosine of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. acosh(1) is +0, acosh of a number below 1 is NaN, acosh(inf) is
    inf. Gradient: ``g / sqrt(x**2 - 1)``, an infinity at 1; not specified outside the domain. Clauses: ACOSH-1 to
    ACOSH-5. After `torch.acosh`.

    >>> pn.acosh(pn.nested_array([[1.0, np.inf], [0.5]])).unbind()
    (array([ 0., inf]), array([nan]))
    """
    return apply_primitive(unary.acosh, self)


@operator
def atanh(self: ArrayT) -> ArrayT:
    """Return the inverse hyperbolic tangent of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. atanh of a zero is the same zero, atanh(1) is inf, atanh(-1) is
    -inf, and atanh of a number below -1 or above 1 is NaN. Gradient: ``g / (1 - x**2)``, an infinity at -1 and 1; not
    specified outside the domain. Clauses: ATANH-1 to ATANH-3, ATANH-5 to ATANH-6. After `torch.atanh`.

    >>> pn.atanh(pn.nested_array([[0.0, 1.0], [2.0]])).unbind()
    (array([ 0., inf]), array([nan]))
    """
    return apply_primitive(unary.atanh, self)


@operator
def deg2rad(self: ArrayT) -> ArrayT:
    """Convert each element from degrees to radians, ``x * pi / 180``: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. Zeros and infinities stay as they are; deg2rad(180) is pi.
    Gradient: ``g * pi / 180``. Clauses: DEG2RAD-1 to DEG2RAD-4. After `torch.deg2rad`.

    >>> pn.deg2rad(pn.nested_array([[0.0, 180.0], [-np.inf]])).unbind()
    (array([0.        , 3.14159265]), array([-inf]))
    """
    return apply_primitive(unary.deg2rad, self)
