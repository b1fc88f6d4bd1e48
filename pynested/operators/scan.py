"""Scans of nested and dense arrays: cumulative results along each segment.

``dim`` is any dimension but the batch; ``axis`` is NumPy's name of ``dim``. If a ``dtype`` is given, every element is
first converted as `to` does, and the result has this dtype.
"""

from __future__ import annotations

import numpy as np

from pynested.autograd import Array
from pynested.autograd.decorators import operator
from pynested.autograd.primitives.segment import segment_cumsum
from pynested.backends import Segments
from pynested.lifting.along_dim import along_dim, swap_axes
from pynested.lifting.result_dtypes import convert_for_sum
from pynested.nested.operands import ArrayT, DType

from .dim_parameters import dim_or_axis

__all__ = ["cumsum"]


@operator
def cumsum(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return the cumulative sums along ``dim``: ``(B, *, D) -> (B, *, D)``.

    Bools and integers give int64, floats keep their dtype. float16 is accumulated in float32, and each element is
    rounded once. Other segments do not change the sums of a segment, not even by rounding. An empty segment stays
    empty. DimensionError for ``dim`` 0 of a nested array, and for a ``dim`` out of range. Gradient: the sums of the
    cotangent from each element to the end of its segment. Clauses: CUMSUM-1 to CUMSUM-10. After `torch.cumsum`.

    >>> nt = pn.nested_array([[1, 2, 3], [], [10, 20]], layout=pn.jagged)
    >>> pn.cumsum(nt, 1).unbind()
    (array([1, 3, 6]), array([], dtype=int64), array([10, 30]))
    """
    chosen_dim = dim_or_axis("cumsum", dim, axis)
    return along_dim("cumsum", self, chosen_dim, segment_cumsum, _cumsum_of_axis, convert_for_sum, dtype)


def _cumsum_of_axis(x: Array, axis: int) -> Array:
    """Take the slices across ``axis`` as the rows of one segment, and return its cumulative sums."""
    rows, segment = swap_axes(x, 0, axis), Segments(np.array([0, x.shape[axis]]))
    return swap_axes(segment_cumsum(rows, segment), 0, axis).contiguous()
