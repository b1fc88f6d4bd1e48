"""The definition of `mean`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import cast, left_align
from pynested.spec.numerics import Axis, NDArray, mean_along, sum_along


def mean(self: list[NDArray], dim: Axis = None, keepdim: bool = False, dtype: Any = None) -> list[NDArray] | NDArray:
    """MEAN: the sum of each run divided by the number of its elements, absent elements not counted."""
    components = [cast(component, dtype) for component in self]
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and 0 not in dims:
        axes = tuple(one - 1 for one in dims)
        return [mean_along(component, axes, keepdim) for component in components]
    aligned, present = left_align(components)
    count = present.sum(axis=dims, keepdims=keepdim)
    return np.where(count == 0, np.nan, sum_along(aligned, dims, keepdim) / np.maximum(count, 1))
