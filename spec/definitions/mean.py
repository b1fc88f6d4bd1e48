"""The definition of `mean`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast, dims_of, each, left_align, without
from pynested.spec.numerics import Axis, NDArray, mean_along, sum_along


def mean(self: Components, dim: Axis = None, keepdim: bool = False, dtype: Any = None) -> Components | NDArray:
    """MEAN: the sum of each run divided by the number of its elements, absent elements not counted."""
    x, dims = cast(self, dtype), dims_of(dim, self.shape)
    if 0 in dims:
        aligned, present = left_align(x)
        count = present.sum(axis=dims, keepdims=keepdim)
        return np.where(count == 0, np.nan, sum_along(aligned, dims, keepdim) / np.maximum(count, 1))
    axes = tuple(d - 1 for d in dims)
    return each(lambda component: mean_along(component, axes, keepdim), x, shape=without(x.shape, dims, keepdim))
