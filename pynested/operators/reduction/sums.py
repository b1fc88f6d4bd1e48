"""Sums and products of segments: `sum`, `nansum`, `prod` and `logsumexp`.

Floats keep their dtype. Bools and integers give int64, in `logsumexp` float64. Sums and products of float16 are
accumulated in float32, and rounded once.
"""

from __future__ import annotations

from math import inf

from pynested.autograd import Array
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, unary
from pynested.backends import get_backend
from pynested.lifting.reducers import Reducer, subtract_maximum
from pynested.lifting.reduction import reduce_dims
from pynested.lifting.result_dtypes import convert_for_mean, convert_for_sum
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dims, DType, Operand

from ..dim_parameters import dims_or_axis
from ..signatures import dtype_reduction_signature, reduction_signature


@operator
@dtype_reduction_signature
def sum(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None, axis: Dims = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the sum along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    An empty segment sums to +0; the sign of another zero sum is not specified. Gradient: each element gets the
    cotangent of its sum. Clauses: SUM-1 to SUM-10. After `torch.sum`.

    >>> nt = pn.nested_array([[[1, 2], [3, 4]], np.zeros((0, 2), int)], layout=pn.jagged)
    >>> pn.sum(nt, 1)
    array([[4, 6],
           [0, 0]])
    >>> pn.sum(nt, 2).unbind()
    (array([3, 7]), array([], dtype=int64))
    """
    dims, keepdim = dims_or_axis("sum", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "sum", self, dims, keepdim, lambda reducer, x: reducer.sum(x),
        if_empty=0, convert=convert_for_sum, dtype=dtype,
    )  # fmt: skip


@operator
@dtype_reduction_signature
def nansum(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None, axis: Dims = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the sum along ``dim``, in which a NaN counts as 0: ``(B, *, D) -> (B, D)`` along dimension 1.

    An empty segment, or one of NaN only, sums to +0; the sign of another zero sum is not specified. Gradient:
    each element gets the cotangent of its sum; a NaN gets +0. Clauses: NANSUM-1 to NANSUM-7. After `torch.nansum`.

    >>> pn.nansum(pn.nested_array([[1.0, np.nan, 2.0], [], [np.nan]], layout=pn.jagged), 1)
    array([3., 0., 0.])
    """
    dims, keepdim = dims_or_axis("nansum", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "nansum", self, dims, keepdim, _sum_without_nan, if_empty=0, convert=convert_for_sum, dtype=dtype
    )


def _sum_without_nan(reducer: Reducer, x: Array) -> Array:
    is_number = ~get_backend(x.device).isnan(x.data)
    return reducer.sum(binary.where(x, x.dtype.type(0), is_number))


@operator
@dtype_reduction_signature
def prod(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None, axis: Dims = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the product along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    An empty segment gives 1. Gradient: each element gets the cotangent times the product of the other elements, even if
    some are 0. Clauses: PROD-1 to PROD-7. After `torch.prod`.

    >>> pn.prod(pn.nested_array([[2, 3], [], [4]], layout=pn.jagged), 1)
    array([6, 1, 4])
    """
    dims, keepdim = dims_or_axis("prod", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "prod", self, dims, keepdim, lambda reducer, x: reducer.prod(x),
        if_empty=1, convert=convert_for_sum, dtype=dtype,
    )  # fmt: skip


@operator
@reduction_signature
def logsumexp(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, axis: Dims = None, keepdims: bool | None = None
) -> NestedArray | Array:
    """Return the logarithm of the sum of exponentials along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The computation overflows only if the result does. A segment that is empty, or holds only -inf, gives -inf. +inf in
    a segment gives +inf, and NaN gives NaN. Gradient: ``g`` times the softmax of the segment, NaN if all of the segment
    is -inf; not specified for a segment with NaN or +inf. Clauses: LOGSUMEXP-1 to LOGSUMEXP-6. After `torch.logsumexp`.

    >>> pn.logsumexp(pn.nested_array([[1000.0, 1000.0], [], [3.0]], layout=pn.jagged), 1)
    array([1000.69314718,         -inf,    3.        ])
    """
    dims, keepdim = dims_or_axis("logsumexp", dim, keepdim, axis, keepdims)
    return reduce_dims("logsumexp", self, dims, keepdim, _log_sum_exp, if_empty=-inf, convert=convert_for_mean)


def _log_sum_exp(reducer: Reducer, x: Array) -> Array:
    difference, maximum = subtract_maximum(reducer, x)
    return maximum + unary.log(reducer.sum(unary.exp(difference)))
