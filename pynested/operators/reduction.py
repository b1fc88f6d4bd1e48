"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

What kind a result has follows from the layout and the dimensions, never from the lengths. In the jagged layout it is
dense where the ragged dimension is reduced, else jagged. In the strided layout it is dense ``(B,)`` where all
dimensions of the components are reduced, else strided. With dimension 0 it is always dense: components lie
left-aligned, the elements that are present at a position take part, and an irregular dimension that is kept is as long
as the longest component. With no dimension left it is dense ``()``. What lies in holes takes no part.

They are the entries of `pynested.tables.reductions`; `reduction.pyi` lists them.
"""

from __future__ import annotations

from pynested.components.reduced import reduced
from pynested.tables.functions import function, numpys
from pynested.tables.reductions import REDUCTIONS

__all__ = list(REDUCTIONS)

_TYPES = {"self": "Operand", "dim": "Dims", "axis": "Dims", "dtype": "DType | None", "return": "NestedArray | Array"}

globals().update((name, function(entry, reduced, __name__, _TYPES)) for name, entry in REDUCTIONS.items())


NUMPY = numpys(globals())
