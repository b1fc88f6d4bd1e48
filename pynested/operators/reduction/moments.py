"""Means, variances and standard deviations of segments.

A *segment* is the elements from which one element of the result is computed. Bools and integers give float64, floats
keep their dtype. ``correction`` is subtracted from the number of elements; ArgumentError if it is below 0 or NaN.
"""

from __future__ import annotations

from math import nan

from pynested.autograd import Array
from pynested.autograd.arguments.scalars import canonical_real
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, movement, unary
from pynested.backends import get_backend
from pynested.lifting.reducers import Reducer, subtract_maximum
from pynested.lifting.reduction import reduce_dims
from pynested.lifting.result_dtypes import convert_for_mean
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dims, DType, Operand

from ..dim_parameters import dims_or_axis
from ..signatures import correction_reduction_signature, dtype_reduction_signature


@operator
@dtype_reduction_signature
def mean(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None, axis: Dims = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the mean along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The mean over all dimensions is the mean of all elements, not the mean of the means of components. If dimension 0 is
    reduced, the divisor at a position is the number of elements that components have there. The mean of an empty
    segment is NaN. Gradient: each element gets the cotangent of its segment divided by the number of elements; an empty
    component gets an empty gradient. Clauses: MEAN-1 to MEAN-8. After `torch.mean`.

    >>> nt = pn.nested_array([[1.0, 2.0], [], [6.0]], layout=pn.jagged)
    >>> pn.mean(nt, 1), pn.mean(nt), pn.mean(nt, 0)
    (array([1.5, nan, 6. ]), array(3.), array([3.5, 2. ]))
    """
    dims, keepdim = dims_or_axis("mean", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "mean", self, dims, keepdim, lambda reducer, x: reducer.sum(x) / reducer.count(x),
        if_empty=nan, convert=convert_for_mean, dtype=dtype,
    )  # fmt: skip


@operator
@dtype_reduction_signature
def nanmean(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None, axis: Dims = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the mean along ``dim`` without NaN: ``(B, *, D) -> (B, D)`` along dimension 1.

    An empty segment, or one of NaN only, gives NaN. The sign of a zero is not specified. Gradient: each element gets
    the cotangent of its segment divided by the number of elements that are not NaN; a NaN gets +0. Clauses: NANMEAN-1
    to NANMEAN-8. After `torch.nanmean`.

    >>> pn.nanmean(pn.nested_array([[1.0, np.nan, 2.0], [], [np.nan]], layout=pn.jagged), 1)
    array([1.5, nan, nan])
    """
    dims, keepdim = dims_or_axis("nanmean", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "nanmean", self, dims, keepdim, _mean_without_nan, if_empty=nan, convert=convert_for_mean, dtype=dtype
    )


def _mean_without_nan(reducer: Reducer, x: Array) -> Array:
    is_number = ~get_backend(x.device).isnan(x.data)
    total = reducer.sum(binary.where(x, x.dtype.type(0), is_number))
    return total / reducer.sum(movement.to_dtype(Array(is_number, x.device), x.dtype))


@operator
@correction_reduction_signature
def var(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, correction: float = 1, axis: Dims = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the variance along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The mean is subtracted first. The divisor of the sum of squares is the number of elements less ``correction``, and
    at least 0; for 0, elements that differ give an infinity. The result is NaN for an empty segment, for equal elements
    and the divisor 0, and for a segment that holds a NaN or an infinity. Gradient: ``2 * g * (x - mean) / divisor``.
    Clauses: VAR-1 to VAR-10. After `torch.var`.

    >>> nt = pn.nested_array([[1.0, 3.0], [], [5.0]], layout=pn.jagged)
    >>> pn.var(nt, 1), pn.var(nt, 1, correction=0)
    (array([ 2., nan, nan]), array([ 1., nan,  0.]))
    """
    dims, keepdim = dims_or_axis("var", dim, keepdim, axis, keepdims)
    correction = canonical_real("var", "correction", correction, 0)
    return reduce_dims(
        "var", self, dims, keepdim, lambda reducer, x: _variance(reducer, x, correction),
        if_empty=nan, convert=convert_for_mean,
    )  # fmt: skip


def _variance(reducer: Reducer, x: Array, correction: float) -> Array:
    deviation = _subtract_mean(reducer, x)
    return reducer.sum(deviation * deviation) / reducer.count(x, correction)


def _subtract_mean(reducer: Reducer, x: Array) -> Array:
    """Subtract the mean of each segment. The maximum is subtracted first, so that equal elements give exactly 0."""
    difference, _ = subtract_maximum(reducer, x)
    return difference - reducer.spread(reducer.sum(difference) / reducer.count(x), x)


@operator
@correction_reduction_signature
def std(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, correction: float = 1, axis: Dims = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the standard deviation along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The result is the square root of the variance, and NaN if `var` is NaN. No square overflows or underflows in the
    dtype. Gradient: ``g * (x - mean) / (divisor * result)``, and 0 if all elements are equal. Clauses: STD-1 to STD-10.
    After `torch.std`.

    >>> pn.std(pn.nested_array([[1.0, 3.0, 5.0], [], [4.0, 4.0]], layout=pn.jagged), 1)
    array([ 2., nan,  0.])
    """
    dims, keepdim = dims_or_axis("std", dim, keepdim, axis, keepdims)
    correction = canonical_real("std", "correction", correction, 0)
    return reduce_dims(
        "std", self, dims, keepdim, lambda reducer, x: _standard_deviation(reducer, x, correction),
        if_empty=nan, convert=convert_for_mean,
    )  # fmt: skip


def _standard_deviation(reducer: Reducer, x: Array, correction: float) -> Array:
    """Return the root of the variance. Deviations are scaled to at most 1, so that no square overflows or underflows.

    A root of 0 is a constant, so that its gradient is 0.
    """
    backend, one = get_backend(x.device), x.dtype.type(1)
    deviation = _subtract_mean(reducer, x)
    largest = reducer.amax(unary.abs_(deviation.detach()))
    scale = binary.where(largest, one, backend.isfinite(largest.data) & (largest.data > 0))
    scaled = deviation / reducer.spread(scale, x)
    variance = reducer.sum(scaled * scaled) / reducer.count(x, correction)
    is_nonzero = variance.data != 0
    root = unary.sqrt(binary.where(variance, one, is_nonzero))
    return scale * binary.where(root, x.dtype.type(0), is_nonzero)
