"""Scans of nested and dense arrays: each element of a run becomes what the run holds up to it."""

from __future__ import annotations

from pynested.autograd import dense
from pynested.autograd.dense.reduction import added, to_dtype
from pynested.autograd.rules import segment
from pynested.nested_array import NestedArray, around
from pynested.operands import DType, Kind
from pynested.runs import along

__all__ = ["cumsum"]


def cumsum(self: Kind, dim: int, *, dtype: DType | None = None) -> Kind:
    """The sums of each run along ``dim`` up to each of its elements: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Bools and integers give int64, floats keep their dtype; the result has the layout.
    dim : int
        Any but the batch.
    dtype : dtype, optional
        Every element is converted to it first, as `to` does, and the result has it.

    Raises
    ------
    DimensionError
        For ``dim`` 0 of a nested array, and one out of range.

    Notes
    -----
    Each run begins anew: neither a NaN nor the rounding of another one is in its sums. An empty run stays empty.
    float16 is accumulated wider, and each element rounded once. Gradient: the sums of the cotangent from each element
    to the end of its run.

    Clauses: CUMSUM-1 to CUMSUM-10. After `torch.cumsum`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2, 3], [], [10, 20]], layout=pn.jagged)
    >>> pn.cumsum(nt, 1).unbind()
    (array([1, 3, 6]), array([]), array([10, 30]))
    """
    if not isinstance(self, NestedArray):
        return dense.cumsum(self, dim, dtype=dtype)
    data, kind = added("cumsum", self.data, dtype)
    sums = along("cumsum", around(data, self.structure), dim, segment.segment_cumsum, dense.cumsum)
    return around(to_dtype(sums.data, kind), sums.structure)
