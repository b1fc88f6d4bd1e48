"""Tests of each element for NaN and infinity.

Shapes and layouts are as `pynested.operators.elementwise` says. The result is bool and has no gradient.
`pynested.autograd.primitives.unary` computes the values.
"""

from __future__ import annotations

from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import unary
from pynested.nested.operands import ArrayT

from .function_application import apply_primitive


@operator
def isnan(self: ArrayT) -> ArrayT:
    """Return whether each element is NaN: ``(B, *, D) -> (B, *, D)``.

    The result is bool. Infinities are not NaN; bools and integers are never NaN. Gradient: none. Clauses: ISNAN-1 to
    ISNAN-3. After `torch.isnan`.

    >>> pn.isnan(pn.nested_array([[1.0, np.inf], [np.nan]])).unbind()
    (array([False, False]), array([ True]))
    """
    return apply_primitive(unary.isnan, self)


@operator
def isinf(self: ArrayT) -> ArrayT:
    """Return whether each element is inf or -inf: ``(B, *, D) -> (B, *, D)``.

    The result is bool. NaN is not an infinity; bools and integers are never infinities. Gradient: none. Clauses:
    ISINF-1 to ISINF-3. After `torch.isinf`.

    >>> pn.isinf(pn.nested_array([[1.0, np.inf], [np.nan]])).unbind()
    (array([False,  True]), array([False]))
    """
    return apply_primitive(unary.isinf, self)


@operator
def isfinite(self: ArrayT) -> ArrayT:
    """Return whether each element is finite: ``(B, *, D) -> (B, *, D)``.

    The result is bool. Infinities and NaN are not finite; bools and integers are always finite. Gradient: none.
    Clauses: ISFINITE-1 to ISFINITE-3. After `torch.isfinite`.

    >>> pn.isfinite(pn.nested_array([[1.0, np.inf], [np.nan]])).unbind()
    (array([ True, False]), array([False]))
    """
    return apply_primitive(unary.isfinite, self)
