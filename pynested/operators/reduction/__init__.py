"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

The kind of a result follows from the layout and the dimensions, never from the lengths. In the jagged layout it is
dense if the ragged dimension is reduced, else jagged. In the strided layout it is dense ``(B,)`` if all dimensions of
the components are reduced, else strided. With dimension 0 it is always dense: components are aligned at the left, and
the elements that are present at a position take part. An irregular dimension that is kept is as long as the longest
component. With no dimension left it is dense ``()``. Gaps take no part.

``dim`` is the dimension to reduce, or a tuple of dimensions; None reduces all. ``keepdim`` keeps a reduced dimension,
with size 1. ``axis`` and ``keepdims`` are NumPy's names of ``dim`` and ``keepdim``. With a ``dtype``, every element is
first converted to it, as `to` does, and the result has it.

Errors: DimensionError for a dimension that is out of range or named twice. DTypeError for a ``dtype`` of `mean` and
`nanmean` that is not floating. EmptyReductionError of `amax`, `amin`, `argmax` and `argmin` for a segment without
elements, with the number of its component, unless the result has no elements either.
"""

from .extremes import all, amax, amin, any, argmax, argmin
from .moments import mean, nanmean, std, var
from .sums import logsumexp, nansum, prod, sum

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "mean", "nanmean", "nansum", "prod", "std", "sum",
    "var",
]  # fmt: skip
