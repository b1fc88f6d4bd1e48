"""The definition of `cat`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray


def cat(arrays: list[list[NDArray]], dim: int = 0) -> list[NDArray]:
    """CAT: the components of all arrays in a row, or component i of all arrays joined along `dim`."""
    if dim == 0:
        return [component for array in arrays for component in array]
    return [np.concatenate(group, axis=dim - 1) for group in zip(*arrays, strict=True)]
