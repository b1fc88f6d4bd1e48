"""The definition of `embedding`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray, constant


def embedding(indices: Components, weight: NDArray, padding_idx: int | None = None) -> Components:
    """EMBEDDING: each index is replaced by that row of `weight`; nothing flows back to the row `padding_idx`."""
    if padding_idx is not None:
        weight = weight.copy()
        weight[padding_idx] = constant(weight[padding_idx])
    shape = (*indices.shape, *weight.shape[1:])
    return each(lambda index: np.take(weight, index, axis=0), indices, shape=shape, dtype=weight.dtype)
