"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

What kind a result has follows from the layout and the dimensions, never from the lengths. In the jagged layout it is
dense where the ragged dimension is reduced, else jagged. In the strided layout it is dense ``(B,)`` where all
dimensions of the components are reduced, else strided. With dimension 0 it is always dense: components lie
left-aligned, the elements that are present at a position take part, and an irregular dimension that is kept is as long
as the longest component. With no dimension left it is dense ``()``. What lies in holes takes no part.
"""

from __future__ import annotations

from pynested.autograd import Array, dense
from pynested.nested_array import NestedArray
from pynested.operands import Dims, DType, Operand

from .reducing import reduced


def sum(self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> NestedArray | Array:
    """The sum of each run along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Bools and integers give int64, floats keep their dtype.
    dim : int, tuple of int or None
        Which dimensions are summed over; None is all of them. The module says what kind of result that gives.
    keepdim : bool
        Whether a summed dimension stays, with size 1.
    dtype : dtype, optional
        Every element is converted to it before the sum, as `to` does, and the result has it.

    Raises
    ------
    DimensionError
        For a dimension out of range, or named twice.

    Notes
    -----
    A run without elements sums to +0; the sign of another sum that is zero is not specified. float16 is accumulated
    wider and rounded once. Gradient: every element gets the cotangent of its sum.

    Clauses: SUM-1 to SUM-10. After `torch.sum`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2], [3, 4]], np.zeros((0, 2), int)], layout=pn.jagged)
    >>> pn.sum(nt, 1)
    array([[4, 6],
           [0, 0]])
    >>> pn.sum(nt, 2).unbind()
    (array([3, 7]), array([]))
    """
    return reduced(dense.sum, self, dim, keepdim, dtype=dtype)


def mean(self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> NestedArray | Array:
    """The sum of each run along ``dim`` by its number of elements: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Bools and integers give float64, floats keep their dtype.
    dim : int, tuple of int or None
        As for `sum`. None is the mean of all elements, each counted once, and not the mean of the components' means;
        with dimension 0 the divisor is the number of elements present at the position.
    keepdim : bool
        Whether a dimension that is averaged over stays, with size 1.
    dtype : dtype, optional
        Every element is converted to it, a floating one, first.

    Raises
    ------
    DTypeError
        For a ``dtype`` that is not floating.
    DimensionError
        For a dimension out of range, or named twice.

    Notes
    -----
    The mean of a run without elements is NaN. Gradient: every element gets the cotangent of its run by the number of
    elements of that run; an empty component gets an empty gradient.

    Clauses: MEAN-1 to MEAN-8. After `torch.mean`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [], [6.0]], layout=pn.jagged)
    >>> pn.mean(nt, 1), pn.mean(nt), pn.mean(nt, 0)
    (array([1.5, nan, 6. ]), array(3.), array([3.5, 2. ]))
    """
    return reduced(dense.mean, self, dim, keepdim, dtype=dtype)


def prod(self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> NestedArray | Array:
    """The product of each run along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Bools and integers give int64, floats keep their dtype.
    dim : int, tuple of int or None
        As for `sum`; with dimension 0 the elements present at a position are multiplied.
    keepdim : bool
        Whether a reduced dimension stays, with size 1.
    dtype : dtype, optional
        Every element is converted to it before the product, and the result has it.

    Raises
    ------
    DimensionError
        For a dimension out of range, or named twice.

    Notes
    -----
    The product of a run without elements is 1. float16 is multiplied wider and rounded once. Gradient: to each element
    the cotangent times the product of the others, which no zero spoils.

    Clauses: PROD-1 to PROD-7. After `torch.prod`.

    Examples
    --------
    >>> pn.prod(pn.nested_array([[2, 3], [], [4]], layout=pn.jagged), 1)
    array([6, 1, 4])
    """
    return reduced(dense.prod, self, dim, keepdim, dtype=dtype)


def logsumexp(self: Operand, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array:
    """The logarithm of the sum of exponentials of each run along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    Parameters
    ----------
    self : NestedArray or Array
        Bools and integers give float64, floats keep their dtype.
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
    It overflows only where the result does. A run without elements, or of nothing but -inf, gives -inf; one with +inf
    gives +inf, one with NaN NaN. Gradient: the cotangent times the softmax of the run, NaN where all of it is -inf.

    Clauses: LOGSUMEXP-1 to LOGSUMEXP-6. After `torch.logsumexp`.

    Examples
    --------
    >>> pn.logsumexp(pn.nested_array([[1000.0, 1000.0], [], [3.0]], layout=pn.jagged), 1)
    array([1000.69314718,         -inf,    3.        ])
    """
    return reduced(dense.logsumexp, self, dim, keepdim)


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
