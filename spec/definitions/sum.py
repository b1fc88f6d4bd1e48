"""The definition of `sum`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import cast, left_align
from pynested.spec.numerics import Axis, NDArray, sum_along


def sum(self: list[NDArray], dim: Axis = None, keepdim: bool = False, dtype: Any = None) -> list[NDArray] | NDArray:
    """SUM: the sum of each run; where the batch is summed, components lie left-aligned and absent elements add 0."""
    components = [cast(component, dtype) for component in self]
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and 0 not in dims:
        axes = tuple(one - 1 for one in dims)
        return [sum_along(component, axes, keepdim) for component in components]
    aligned, _ = left_align(components)
    return sum_along(aligned, dims, keepdim)
