"""The definition of `embedding`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray


def embedding(indices: list[NDArray], weight: NDArray) -> list[NDArray]:
    """EMBEDDING: each index is replaced by that row of `weight`."""
    return [np.take(weight, index, axis=0) for index in indices]
