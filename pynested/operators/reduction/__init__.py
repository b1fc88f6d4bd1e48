"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

The kind of a result follows from the layout and the dimensions, never from the lengths. In the jagged layout it is
dense if the ragged dimension is reduced, else jagged. In the strided layout it is dense ``(B,)`` if all dimensions of
the components are reduced, else strided. With dimension 0 it is always dense: components are aligned at the left, the
elements that are present at a position take part, and an irregular dimension that is kept is as long as the longest
component. With no dimension left it is dense ``()``. Gaps take no part.
"""

from .extremes import all, amax, amin, any, argmax, argmin
from .moments import mean, nanmean, std, var
from .sums import logsumexp, nansum, prod, sum

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "mean", "nanmean", "nansum", "prod", "std", "sum",
    "var",
]  # fmt: skip
