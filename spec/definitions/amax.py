"""The definition of `amax`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, dims_of, each, left_align, without
from pynested.spec.numerics import Axis, NDArray, maximum_along


def amax(self: Components, dim: Axis = None, keepdim: bool = False) -> Components | NDArray:
    """AMAX: the greatest element of each run, NaN where there is one; absent elements never win."""
    dims = dims_of(dim, self.shape)

    def one(x: NDArray, axes: tuple[int, ...]) -> NDArray:
        if x.size == 0:  # What is left, where this is no error, has no elements either: only its shape counts.
            return np.empty(x.sum(axis=axes, keepdims=keepdim).shape, dtype=x.dtype)
        return maximum_along(x, axes, keepdim)

    if 0 not in dims:
        axes = tuple(d - 1 for d in dims)
        return each(lambda component: one(component, axes), self, shape=without(self.shape, dims, keepdim))
    aligned, present = left_align(self)
    kind = aligned.dtype.kind
    least = np.iinfo(aligned.dtype).min if kind in "iu" else False if kind == "b" else -np.inf
    return one(np.where(present, aligned, least), dims)
