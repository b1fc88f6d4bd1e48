"""The definition of `linear`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray, wide


def linear(self: Components, weight: NDArray, bias: Any = None) -> Components:
    """LINEAR: x @ weight.T + bias along the last dimension."""

    def one(x: NDArray) -> Any:
        product = np.matmul(wide(x), wide(weight).T)
        return product if bias is None else product + wide(bias)

    shape, dtype = (*self.shape[:-1], weight.shape[0]), np.result_type(self.dtype, weight.dtype)
    return each(one, self, shape=shape, dtype=dtype)
