"""The definition of `embedding`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray


def embedding(indices: Components, weight: NDArray) -> Components:
    """EMBEDDING: each index is replaced by that row of `weight`."""
    shape = (*indices.shape, *weight.shape[1:])
    return each(lambda index: np.take(weight, index, axis=0), indices, shape=shape, dtype=weight.dtype)
