"""Rounding of each element to an integer.

Shapes, dtypes and gradients are as `pynested.operators.elementwise` says. Values and derivatives are computed by
`pynested.autograd.primitives.unary`.
"""

from __future__ import annotations

from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import unary
from pynested.nested.operands import ArrayT

from .function_application import BOOLS, apply_primitive


@operator
def floor(self: ArrayT) -> ArrayT:
    """Round each element down, to the greatest integer not above it: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; floor(-0.5) is -1. NaN stays NaN. Gradient: 0 everywhere. Clauses: FLOOR-1 to FLOOR-5. After
    `torch.floor`.

    >>> pn.floor(pn.nested_array([[2.5, -0.5], [-np.inf]])).unbind()
    (array([ 2., -1.]), array([-inf]))
    """
    return apply_primitive(unary.floor, self, BOOLS)


@operator
def ceil(self: ArrayT) -> ArrayT:
    """Round each element up, to the least integer not below it: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; ceil(-0.5) is -0. NaN stays NaN. Gradient: 0 everywhere. Clauses: CEIL-1 to CEIL-5. After `torch.ceil`.

    >>> pn.ceil(pn.nested_array([[2.5, -0.5], [-np.inf]])).unbind()
    (array([ 3., -0.]), array([-inf]))
    """
    return apply_primitive(unary.ceil, self, BOOLS)


@operator
def round(self: ArrayT) -> ArrayT:
    """Round each element to the nearest integer, and a half to the even one: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; round(2.5) is 2, round(-0.5) is -0. NaN stays NaN. Gradient: 0 everywhere. Clauses: ROUND-1 to ROUND-5.
    After `torch.round`.

    >>> pn.round(pn.nested_array([[2.5, -0.5], [-1.6]])).unbind()
    (array([ 2., -0.]), array([-2.]))
    """
    return apply_primitive(unary.round_, self, BOOLS)


@operator
def trunc(self: ArrayT) -> ArrayT:
    """Round each element towards 0: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; trunc(-0.5) is -0. NaN stays NaN. Gradient: 0 everywhere. Clauses: TRUNC-1 to TRUNC-5. After
    `torch.trunc`.

    >>> pn.trunc(pn.nested_array([[2.5, -0.5], [-1.6]])).unbind()
    (array([ 2., -0.]), array([-1.]))
    """
    return apply_primitive(unary.trunc, self, BOOLS)
