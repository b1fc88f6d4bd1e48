"""Arithmetic on nested and dense arrays, element by element.

Two operands meet as in `pynested.operators.elementwise.pairs`, with its errors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pynested.autograd import Array, dense
from pynested.components.mapping import elementwise, unary
from pynested.nested.array import NestedArray
from pynested.nested.operands import Joined, Kind, Operand


def _with_alpha(function: Callable[..., Array], alpha: float) -> Callable[..., Array]:
    """``function`` of two operands, with an alpha that is hardly ever there."""
    return function if type(alpha) is int and alpha == 1 else partial(function, alpha=alpha)


def add(self: Operand, other: Operand, *, alpha: float = 1) -> Joined:
    """``self + alpha * other``: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast, as the module says.
    alpha : number
        ``other`` is multiplied by it first, in the promoted dtype.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.
    ShapeError
        For a dense operand that does not broadcast; for ``(B, *, D) + (B, D)`` the message names ``v[:, None, :]``.
    OverflowError
        For a Python integer that the integer dtype of the array cannot hold, int8 + 300, and for such an ``alpha``.

    Notes
    -----
    Promoted dtype; integers wrap in it, and bool + bool is ``or``. Floats are rounded once (with ``alpha``, perhaps
    before the addition too). Gradient: ``g`` for ``self``, ``alpha * g`` for ``other``.

    Clauses: ADD-1 to ADD-11. After `torch.add`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.add(nt, pn.array([[10.0], [20.0]]), alpha=2).unbind()
    (array([21., 22.]), array([43.]))
    """
    if type(self) is NestedArray or type(other) is NestedArray:
        return elementwise("add", _with_alpha(dense.add, alpha), self, other)
    return dense.add(self, other, alpha=alpha)


def sub(self: Operand, other: Operand, *, alpha: float = 1) -> Joined:
    """``self - alpha * other``: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast, as the module says.
    alpha : number
        ``other`` is multiplied by it first, in the promoted dtype.

    Raises
    ------
    StructureError
        For nested operands that differ.
    DTypeError
        For bool - bool; `eq` and `logical_not` say what is meant.
    OverflowError
        For a number, ``alpha`` too, that the integer dtype cannot hold.

    Notes
    -----
    Promoted dtype; integers wrap in it: 0 - 1 is 255 for uint8. inf - inf is NaN, and x - x is +0 for finite x.
    Gradient: ``g`` for ``self``, ``-alpha * g`` for ``other``.

    Clauses: SUB-1 to SUB-8. After `torch.sub`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.sub(10, nt).unbind()
    (array([9., 8.]), array([7.]))
    """
    if type(self) is NestedArray or type(other) is NestedArray:
        return elementwise("sub", _with_alpha(dense.sub, alpha), self, other)
    return dense.sub(self, other, alpha=alpha)


def neg(self: Kind) -> Kind:
    """``-self``: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers wrap: -(-128) is -128 for int8, -1 is 255 for uint8. Zeros and infinities change
    their sign, NaN stays NaN. DTypeError for bools. Gradient: ``-g``.

    Clauses: NEG-1 to NEG-4. After `torch.neg`.

    Examples
    --------
    >>> pn.neg(pn.nested_array([[0.0, 2.0], [-3.0]])).unbind()
    (array([-0., -2.]), array([3.]))
    """
    return unary("neg", dense.neg, self)


def abs(self: Kind) -> Kind:
    """``|self|``: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, bools too; the least integer of a signed dtype wraps to itself. |-0| is +0, NaN stays NaN.
    Gradient: ``g * sgn(x)``, which is 0 at 0; at NaN it is not specified.

    Clauses: ABS-1 to ABS-4. After `torch.abs`.

    Examples
    --------
    >>> pn.abs(pn.nested_array([[-0.0, 2.0], [-3.0]])).unbind()
    (array([0., 2.]), array([3.]))
    """
    return unary("abs", dense.abs, self)


def sgn(self: Kind) -> Kind:
    """-1, 0 or 1 as an element is below, equal to or above 0: ``(B, *, D) -> (B, *, D)``.

    The dtype stays. The sign of NaN is NaN; the sign of the zero that a zero becomes is not specified. DTypeError for
    bools. Gradient: 0 everywhere.

    Clauses: SGN-1 to SGN-5. After `torch.sgn` and `numpy.sign`.

    Examples
    --------
    >>> pn.sgn(pn.nested_array([[0.5, -2.0], [np.nan]])).unbind()
    (array([ 1., -1.]), array([nan]))
    """
    return unary("sgn", dense.sgn, self)
