"""Softmax, its logarithm, and softmin along one dimension of nested and dense arrays.

``dim`` is any dimension but the batch; ``axis`` is NumPy's name of ``dim``. If a ``dtype`` is given, every element is
first converted as `to` does, and the result has this dtype; otherwise the dtype of the operand stays. The layout stays.

Errors: DimensionError for ``dim`` 0 of a nested array, and for a ``dim`` that is out of range. DTypeError for bools and
integers without a ``dtype``, and for a ``dtype`` that is not floating.
"""

from __future__ import annotations

from pynested.autograd import Array
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import unary
from pynested.autograd.primitives.segment import segment_softmax, softmax_last
from pynested.lifting.along_dim import along_dim, swap_axes
from pynested.lifting.reducers import AxisReducer, Reducer, SegmentReducer
from pynested.lifting.result_dtypes import float_dtype, wide_float_dtype
from pynested.nested.operands import ArrayT, DType

from ..dim_parameters import either_dim


@operator
def softmax(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return ``exp(x - max) / sum`` along ``dim``: ``(B, *, D) -> (B, *, D)``.

    The shift keeps finite input finite: (1000, 1001) gives the numbers of (0, 1). An empty segment stays empty. -inf
    beside finite elements becomes +0. A segment that holds a NaN or +inf, or only -inf, becomes all NaN; no other
    segment does. Gradient: ``y * (g - sum(y * g))`` with ``y`` the result. Clauses: SOFTMAX-1 to SOFTMAX-9. After
    `torch.nn.functional.softmax`.

    >>> nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
    >>> pn.softmax(nt, 1).unbind()
    (array([0.5, 0.5]), array([0., 1.]), array([]))
    """
    chosen_dim = either_dim("softmax", dim, axis)
    return along_dim("softmax", self, chosen_dim, segment_softmax, _softmax_of_axis, float_dtype, dtype)


def _softmax_of_axis(x: Array, axis: int) -> Array:
    last = x.ndim - 1
    return swap_axes(softmax_last(swap_axes(x, axis, last)), axis, last).contiguous()


@operator
def log_softmax(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return the logarithm of the softmax along ``dim``: ``(B, *, D) -> (B, *, D)``.

    An element far below the maximum keeps its logarithm, though its softmax is 0. An empty segment stays empty. -inf
    beside finite elements stays. A segment that holds a NaN or +inf, or only -inf, becomes all NaN; no other
    segment does. Gradient: ``g - softmax * sum(g)``. Clauses: LOG_SOFTMAX-1 to LOG_SOFTMAX-9. After
    `torch.nn.functional.log_softmax`.

    >>> nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
    >>> pn.log_softmax(nt, 1).unbind()
    (array([-0.69314718, -0.69314718]), array([-inf,   0.]), array([]))
    """
    chosen_dim = either_dim("log_softmax", dim, axis)
    return along_dim(
        "log_softmax", self, chosen_dim, lambda rows, segments: _log_softmax(SegmentReducer(segments), rows),
        lambda x, axis: _log_softmax(AxisReducer((axis,)), x), wide_float_dtype, dtype,
    )  # fmt: skip


def _log_softmax(reducer: Reducer, x: Array) -> Array:
    difference = x - reducer.spread(reducer.amax(x.detach()), x)
    return difference - reducer.spread(unary.log(reducer.sum(unary.exp(difference))), x)


@operator
def softmin(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return the softmax of ``-x`` along ``dim``: ``(B, *, D) -> (B, *, D)``.

    The least element gets the largest share. An empty segment stays empty. +inf beside finite elements becomes +0. A
    segment that holds a NaN or -inf, or only +inf, becomes all NaN; no other segment does. Gradient:
    ``-y * (g - sum(y * g))`` with ``y`` the result. Clauses: SOFTMIN-1 to SOFTMIN-9. After
    `torch.nn.functional.softmin`.

    >>> pn.softmin(pn.nested_array([[1000.0, 1000.0], [np.inf, 3.0], []], layout=pn.jagged), 1).unbind()
    (array([0.5, 0.5]), array([0., 1.]), array([]))
    """
    chosen_dim = either_dim("softmin", dim, axis)
    return along_dim(
        "softmin", self, chosen_dim, lambda rows, segments: segment_softmax(-rows, segments),
        lambda x, axis: _softmax_of_axis(-x, axis), float_dtype, dtype,
    )  # fmt: skip
