"""Reductions that choose among the elements of a run, or say something about them."""

from __future__ import annotations

from pynested.autograd import Array, dense
from pynested.nested_array import NestedArray
from pynested.operands import Dims, Operand

from ..reducing import reduced


def amax(self: Operand, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array:
    """The greatest element of each run along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype, which the result has; the maximum of bools is a bool.
    dim : int, tuple of int or None
        As for `sum`; with dimension 0 only the elements present at a position are compared.
    keepdim : bool
        Whether a reduced dimension stays, with size 1.

    Raises
    ------
    EmptyReductionError
        For a run without elements, naming the component, unless the result has no elements either.
    DimensionError
        For a dimension out of range, or named twice.

    Notes
    -----
    A run that holds a NaN has the maximum NaN, other runs are untouched by it; a run of -inf has -inf. Gradient: to the
    greatest element, split evenly between equal ones; of a run that holds a NaN not specified.

    Clauses: AMAX-1 to AMAX-8. After `torch.amax`.

    Examples
    --------
    >>> nt = pn.nested_array([[-np.inf], [1.0, 2.0], [3.0, np.nan]], layout=pn.jagged)
    >>> pn.amax(nt, 1)
    array([-inf,   2.,  nan])
    """
    return reduced(dense.amax, self, dim, keepdim)


def amin(self: Operand, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array:
    """The least element of each run along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype, which the result has; the minimum of bools is a bool.
    dim : int, tuple of int or None
        As for `sum`; with dimension 0 only the elements present at a position are compared.
    keepdim : bool
        Whether a reduced dimension stays, with size 1.

    Raises
    ------
    EmptyReductionError
        For a run without elements, naming the component, unless the result has no elements either.
    DimensionError
        For a dimension out of range, or named twice.

    Notes
    -----
    NaN, infinities and the gradient are those of `amax`: a NaN in a run wins, and equal elements share a cotangent
    evenly.

    Clauses: AMIN-1 to AMIN-8. After `torch.amin`.

    Examples
    --------
    >>> pn.amin(pn.nested_array([[np.inf], [1.0, 2.0], [3.0, np.nan]], layout=pn.jagged), 1)
    array([inf,  1., nan])
    """
    return reduced(dense.amin, self, dim, keepdim)


def any(self: Operand, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array:
    """Whether any element is true, of each run along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; all but zeros is true, NaN too. The result is bool.
    dim : int, tuple of int or None
        As for `sum`; with dimension 0 of the elements present at a position.
    keepdim : bool
        Whether a reduced dimension stays, with size 1.

    Raises
    ------
    DimensionError
        For a dimension out of range, or named twice.

    Notes
    -----
    Of a run without elements it is False. There is no gradient.

    Clauses: ANY-1 to ANY-3. After `torch.any`.

    Examples
    --------
    >>> pn.any(pn.nested_array([[0, 1], [], [0]], layout=pn.jagged), 1)
    array([ True, False, False])
    """
    return reduced(dense.any, self, dim, keepdim)


def all(self: Operand, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array:
    """Whether all elements are true, of each run along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; all but zeros is true, NaN too. The result is bool.
    dim : int, tuple of int or None
        As for `sum`; with dimension 0 of the elements present at a position.
    keepdim : bool
        Whether a reduced dimension stays, with size 1.

    Raises
    ------
    DimensionError
        For a dimension out of range, or named twice.

    Notes
    -----
    Of a run without elements it is True. There is no gradient.

    Clauses: ALL-1 to ALL-3. After `torch.all`.

    Examples
    --------
    >>> pn.all(pn.nested_array([[0, 1], [], [0]], layout=pn.jagged), 1)
    array([False,  True, False])
    """
    return reduced(dense.all, self, dim, keepdim)


def argmax(self: Operand, dim: int, keepdim: bool = False) -> NestedArray | Array:
    """Where the greatest element of each run along ``dim`` is: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the result is int64.
    dim : int
        One dimension. A place is counted within the component; along dimension 0 it is the number of a component.
    keepdim : bool
        Whether the dimension stays, with size 1.

    Raises
    ------
    EmptyReductionError
        For a run without elements, naming the component, unless the result has no elements either.
    ArgumentError
        For several dimensions, or None.
    DimensionError
        For a dimension out of range.

    Notes
    -----
    Of equal elements it is the first, and in a run that holds a NaN the first NaN. There is no gradient.

    Clauses: ARGMAX-1 to ARGMAX-8. After `torch.argmax`.

    Examples
    --------
    >>> pn.argmax(pn.nested_array([[1, 3], [7], [2, 9, 9]], layout=pn.jagged), 1)
    array([1, 0, 1])
    """
    return reduced(dense.argmax, self, dim, keepdim)


def argmin(self: Operand, dim: int, keepdim: bool = False) -> NestedArray | Array:
    """Where the least element of each run along ``dim`` is: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the result is int64.
    dim : int
        One dimension. A place is counted within the component; along dimension 0 it is the number of a component.
    keepdim : bool
        Whether the dimension stays, with size 1.

    Raises
    ------
    EmptyReductionError
        For a run without elements, naming the component, unless the result has no elements either.
    ArgumentError
        For several dimensions, or None.
    DimensionError
        For a dimension out of range.

    Notes
    -----
    Of equal elements it is the first, and in a run that holds a NaN the first NaN. There is no gradient.

    Clauses: ARGMIN-1 to ARGMIN-8. After `torch.argmin`.

    Examples
    --------
    >>> pn.argmin(pn.nested_array([[1, 3], [7], [2, 9, 9]], layout=pn.jagged), 1)
    array([0, 0, 0])
    """
    return reduced(dense.argmin, self, dim, keepdim)
