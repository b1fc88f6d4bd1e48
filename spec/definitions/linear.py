"""The definition of `linear`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.numerics import NDArray, wide


def linear(self: list[NDArray], weight: NDArray, bias: Any = None) -> list[NDArray]:
    """LINEAR: x @ weight.T + bias along the last dimension."""
    products = [np.matmul(wide(x), wide(weight).T) for x in self]
    return products if bias is None else [product + wide(bias) for product in products]
