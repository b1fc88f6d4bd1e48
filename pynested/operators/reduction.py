"""Reductions of nested and dense arrays: over the batch, the ragged dimension, regular ones, several, or all.

What kind a result has follows from the layout and the dimensions, never from the lengths. In the jagged layout it is
dense where the ragged dimension is reduced, else jagged. In the strided layout it is dense ``(B,)`` where all
dimensions of the components are reduced, else strided. With dimension 0 it is always dense: components lie
left-aligned, the elements that are present at a position take part, and an irregular dimension that is kept is as long
as the longest component. With no dimension left it is dense ``()``. What lies in holes takes no part.

They are the entries of `pynested.autograd.dense.reduction`; `reduction.pyi` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd.dense.along import function
from pynested.autograd.dense.entries import Reduction
from pynested.autograd.dense.reduction import REDUCTIONS

from .reducing import reduced

__all__ = list(REDUCTIONS)

globals().update((name, function(entry, reduced, __name__)) for name, entry in REDUCTIONS.items())


def _numpys(entry: Reduction) -> Callable[..., Any]:
    """The function of an entry, with the parameters that NumPy's has."""
    own = globals()[entry.name]
    if entry.option == "dtype":

        def typed(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
            return own(a, axis, keepdims, dtype=dtype)

        return typed
    if entry.option == "correction":

        def corrected(a: Any, axis: Any = None, *, ddof: Any = 0, keepdims: bool = False) -> Any:
            return own(a, axis, keepdims, correction=ddof)

        return corrected

    def plain(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return own(a, axis, keepdims)

    return plain


# NumPy's functions of the same names, of nested arrays. np.amax is np.max, but the one is not the other's object.
NUMPY = {getattr(np, name): _numpys(entry) for name, entry in REDUCTIONS.items() if hasattr(np, name)}
NUMPY |= {np.max: NUMPY[np.amax], np.min: NUMPY[np.amin]}
