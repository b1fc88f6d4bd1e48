"""The definition of `gelu`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray, erf, wide


def gelu(self: Components, approximate: str = "none") -> Components:
    """GELU: x / 2 * (1 + erf(x / sqrt(2))), or the approximation of it by a tanh."""

    def one(x: NDArray) -> Any:
        x = wide(x)
        if approximate == "tanh":
            return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))
        return x / 2 * (1 + erf(x / np.sqrt(2)))

    return each(one, self)
