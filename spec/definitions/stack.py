"""The definition of `stack`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray


def stack(arrays: list[list[NDArray]], dim: int = 0) -> list[NDArray]:
    """STACK: component i of all arrays along a new dimension `dim`."""
    return [np.stack(group, axis=dim - 1) for group in zip(*arrays, strict=True)]
