"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

What kind a result has follows from the layout and the dimensions, never from the lengths. In the jagged layout it is
dense where the ragged dimension is reduced, else jagged. In the strided layout it is dense ``(B,)`` where all
dimensions of the components are reduced, else strided. With dimension 0 it is always dense: components lie
left-aligned, the elements that are present at a position take part, and an irregular dimension that is kept is as long
as the longest component. With no dimension left it is dense ``()``. What lies in holes takes no part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array, dense
from pynested.autograd.dense.canonical import canonical_dims
from pynested.autograd.dense.reduction import accumulated, mean_dtype, to_dtype
from pynested.autograd.rules import reduction as rules
from pynested.autograd.rules import segment
from pynested.backends import Segments
from pynested.backends.errors import EmptyReductionError
from pynested.backends.host import from_host
from pynested.nested_array import NestedArray
from pynested.operands import Dims, DType, Operand

from .reducing import Reduction, Where, reduced


def _sum_of_segments(rows: Array, segments: Segments, where: Where) -> Array:
    return segment.segment_sum(rows, segments)


def _mean_of_segments(rows: Array, segments: Segments, where: Where) -> Array:
    counts = segments.lengths.astype(rows.dtype).reshape(-1, *[1] * (rows.ndim - 1))
    return segment.segment_sum(rows, segments) / Array(from_host(counts, rows.device), rows.device)


def _max_of_segments(rows: Array, segments: Segments, where: Where) -> Array:
    if segments.any_empty and 0 not in rows.shape[1:]:
        i = int(np.flatnonzero(segments.lengths == 0)[0])
        raise EmptyReductionError(
            f"amax: {where(i)} is empty along dim, and nothing has no maximum. Leave it out, or join an element to it "
            "first."
        )
    return segment.segment_max(rows, segments)


_SUM = Reduction("sum", rules.sum_axes, _sum_of_segments)
_MEAN = Reduction("mean", dense.mean, _mean_of_segments)
_AMAX = Reduction("amax", dense.amax, _max_of_segments)


def _rounded(result: NestedArray | Array, dtype: np.dtype[Any]) -> NestedArray | Array:
    """A result in the dtype that it is to have."""
    if isinstance(result, Array):
        return to_dtype(result, dtype)
    return NestedArray(to_dtype(result.data, dtype), result.structure)


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
    if type(self) is not NestedArray:
        return dense.sum(self, dim, keepdim, dtype=dtype)
    dims = canonical_dims("sum", dim, self.ndim)
    data, kind = accumulated(self.data, dtype)
    return _rounded(reduced(NestedArray(data, self.structure), dims, keepdim, _SUM), kind)


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
    if type(self) is not NestedArray:
        return dense.mean(self, dim, keepdim, dtype=dtype)
    dims = canonical_dims("mean", dim, self.ndim)
    kind = mean_dtype("mean", self.data, dtype)
    data, _ = accumulated(self.data, kind)
    return _rounded(reduced(NestedArray(data, self.structure), dims, keepdim, _MEAN), kind)


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
    if type(self) is not NestedArray:
        return dense.amax(self, dim, keepdim)
    return reduced(self, canonical_dims("amax", dim, self.ndim), keepdim, _AMAX)
