"""The definition of `dropout`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.numerics import NDArray, wide


def dropout(self: list[NDArray], p: float = 0.5, training: bool = True, generator: Any = None) -> list[NDArray]:
    """DROPOUT: each element is +0 with probability `p`, or else divided by 1 - p."""
    if not training:
        return self
    draw = np.random.default_rng() if generator is None else generator
    return [np.where(draw.random(x.shape) < p, 0.0, x / np.float64(1 - p)) for x in map(wide, self)]
