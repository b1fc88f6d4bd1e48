"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

The layout of the operand and the reduced dimensions decide whether a result is nested or dense; lengths do not. In the
jagged layout the result is dense if the ragged dimension is reduced, else jagged. In the strided layout it is dense
``(B,)`` if all dimensions of the components are reduced, else strided. If dimension 0 is reduced, the result is dense.
Then components are aligned at the left, and the elements that exist at a position are reduced together; a kept
irregular dimension is as long as the longest component: [[1, 2], [3]] summed along 0 is [4, 2]. If all dimensions are
reduced, the result is dense ``()``. Gaps have no effect.

``dim`` is the dimension to reduce, or a tuple of dimensions; None reduces all. ``keepdim`` keeps a reduced dimension,
with size 1. ``axis`` and ``keepdims`` are NumPy's names of ``dim`` and ``keepdim``. If a ``dtype`` is given, every
element is first converted as `to` does, and the result has this dtype.

Errors: DimensionError for a dimension that is out of range or named twice. In `mean` and `nanmean`, DTypeError for a
``dtype`` that is not floating. In `amax`, `amin`, `argmax` and `argmin`, EmptyReductionError for a segment without
elements, unless the result has no elements either; the message names the component.
"""

from .extremes import all, amax, amin, any, argmax, argmin
from .moments import mean, nanmean, std, var
from .sums import logsumexp, nansum, prod, sum

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "mean", "nanmean", "nansum", "prod", "std", "sum",
    "var",
]  # fmt: skip
