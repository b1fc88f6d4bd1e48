"""The definition of `sum`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import Components, cast, dims_of, each, left_align, without
from pynested.spec.numerics import Axis, NDArray, sum_along


def sum(self: Components, dim: Axis = None, keepdim: bool = False, dtype: Any = None) -> Components | NDArray:
    """SUM: the sum of each run; where the batch is summed, components lie left-aligned and absent elements add 0."""
    x, dims = cast(self, dtype), dims_of(dim, self.shape)
    if 0 in dims:
        aligned, _ = left_align(x)
        return cast(sum_along(aligned, dims, keepdim), dtype)
    axes = tuple(d - 1 for d in dims)
    sums = each(lambda component: sum_along(component, axes, keepdim), x, shape=without(x.shape, dims, keepdim))
    return cast(sums, dtype)
