"""The definition of `prod`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast, over_runs
from pynested.spec.numerics import Axis, NDArray, product_along


def prod(self: Components, dim: Axis = None, keepdim: bool = False, dtype: Any = None) -> Components | NDArray:
    """PROD: the product of each run; absent elements are 1."""

    def one(x: NDArray, present: NDArray, axes: tuple[int, ...]) -> NDArray:
        return product_along(np.where(present, x, np.ones((), x.dtype)), axes, keepdim)

    products: Components = over_runs(one, cast(self, dtype), dim, keepdim)
    return cast(products, dtype)
