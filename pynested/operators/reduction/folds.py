"""Reductions that join all elements of a run: sums, means, products, logarithms of sums."""

from __future__ import annotations

from pynested.autograd import Array, dense
from pynested.nested_array import NestedArray
from pynested.operands import Dims, DType, Operand

from ..reducing import reduced


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
