"""The definition of `stack`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, broadcast, each


def stack(arrays: list[Components], dim: int = 0) -> Components:
    """STACK: component i of all arrays along a new dimension `dim`."""
    shape = list(broadcast(*(array.shape for array in arrays)))
    shape.insert(dim, len(arrays))
    dtype = np.result_type(*(array.dtype for array in arrays))
    return each(lambda *group: np.stack(group, axis=dim - 1), arrays[0], *arrays[1:], shape=shape, dtype=dtype)
