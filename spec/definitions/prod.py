"""The definition of `prod`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import Components, cast, over_runs
from pynested.spec.numerics import Axis, NDArray, product_along


def prod(self: Components, dim: Axis = None, keepdim: bool = False, dtype: Any = None) -> Components | NDArray:
    """PROD: the product of each run; that of nothing is 1."""
    products: Components = over_runs(lambda run: product_along(run, 0), cast(self, dtype), dim, keepdim)
    return cast(products, dtype)
