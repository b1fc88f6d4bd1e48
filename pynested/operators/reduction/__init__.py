"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

What kind a result has follows from the layout and the dimensions, never from the lengths. In the jagged layout it is
dense where the ragged dimension is reduced, else jagged. In the strided layout it is dense ``(B,)`` where all
dimensions of the components are reduced, else strided. With dimension 0 it is always dense: components lie
left-aligned, the elements that are present at a position take part, and an irregular dimension that is kept is as long
as the longest component. With no dimension left it is dense ``()``. What lies in holes takes no part.
"""

from __future__ import annotations

from .choices import all, amax, amin, any, argmax, argmin
from .folds import logsumexp, mean, prod, sum

__all__ = ["all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "mean", "prod", "sum"]
