"""The definition of `amax`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import left_align
from pynested.spec.numerics import Axis, NDArray, maximum_along


def amax(self: list[NDArray], dim: Axis = None, keepdim: bool = False) -> list[NDArray] | NDArray:
    """AMAX: the greatest element of each run, NaN where there is one; absent elements never win."""
    dims = (dim,) if isinstance(dim, int) else dim

    def one(x: NDArray, axes: Axis) -> NDArray:
        if x.size == 0:  # What is left, where this is no error, has no elements either: only its shape counts.
            return np.empty(x.sum(axis=axes, keepdims=keepdim).shape, dtype=x.dtype)
        return maximum_along(x, axes, keepdim)

    if dims is not None and 0 not in dims:
        return [one(component, tuple(d - 1 for d in dims)) for component in self]
    aligned, present = left_align(self)
    kind = aligned.dtype.kind
    least = np.iinfo(aligned.dtype).min if kind in "iu" else False if kind == "b" else -np.inf
    return one(np.where(present, aligned, least), dims)
