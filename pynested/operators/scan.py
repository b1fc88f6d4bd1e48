"""Scans of nested and dense arrays: cumulative results along each segment."""

from __future__ import annotations

import numpy as np

from pynested.autograd import Array
from pynested.autograd.dispatch import operator
from pynested.autograd.rules.segment import segment_cumsum
from pynested.backends import Segments
from pynested.lifting.along_dim import along_dim, swap_axes
from pynested.lifting.result_dtypes import sum_dtype
from pynested.nested.operands import ArrayT, DType

from .dimensions import either_dim

__all__ = ["cumsum"]


@operator
def cumsum(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return the cumulative sums along ``dim``: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Bools and integers give int64, floats keep their dtype.
    dim : int
        Any but the batch.
    dtype : optional
        Every element is converted to it first, as `to` does, and the result has it.
    axis
        NumPy's name of dim.

    Raises
    ------
    DimensionError
        For ``dim`` 0 of a nested array, and one out of range.

    Notes
    -----
    Each segment begins anew: neither a NaN nor the rounding of another one is in its sums. An empty segment stays
    empty. float16 is accumulated wider, and each element rounded once. Gradient: the sums of the cotangent from each
    element to the end of its segment.

    Clauses: CUMSUM-1 to CUMSUM-10. After `torch.cumsum`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2, 3], [], [10, 20]], layout=pn.jagged)
    >>> pn.cumsum(nt, 1).unbind()
    (array([1, 3, 6]), array([]), array([10, 30]))
    """
    named = either_dim("cumsum", dim, axis)
    return along_dim("cumsum", self, named, segment_cumsum, _cumsum_of_axis, sum_dtype, dtype)


def _cumsum_of_axis(x: Array, axis: int) -> Array:
    """Sum along an axis as one segment of rows, which hold the other axes."""
    rows, segment = swap_axes(x, 0, axis), Segments(np.array([0, x.shape[axis]]))
    return swap_axes(segment_cumsum(rows, segment), 0, axis).contiguous()
