"""The definition of `dropout`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray, wide


def dropout(self: Components, p: float = 0.5, training: bool = True, generator: Any = None) -> Components:
    """DROPOUT: each element is multiplied by 0 with probability `p`, or else divided by 1 - p."""
    draw = np.random.default_rng() if generator is None else generator

    def one(x: NDArray) -> NDArray:
        return np.where(draw.random(x.shape) < p, 0 * wide(x), wide(x) / np.float64(1 - p or 1))

    return each(one, self) if training else self
