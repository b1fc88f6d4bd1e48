"""The definition of `narrow`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.numerics import NDArray


def narrow(array: Components | NDArray, dim: int, start: Any, length: Any) -> Components:
    """NARROW: of each slice, `length` elements from `start` along `dim`; along dimension 0, whole components."""
    x = Components(array, array.shape, array.dtype)
    if dim == 0:
        return x[start : start + length]
    starts, lengths = np.broadcast_to(start, len(x)), np.broadcast_to(length, len(x))
    places = [np.arange(first, first + count) for first, count in zip(starts, lengths, strict=True)]
    regular = isinstance(array, Components) and x.shape[dim] is not None
    shape = (*x.shape[:dim], int(length) if regular else None, *x.shape[dim + 1 :])
    return Components([np.take(one, place, axis=dim - 1) for one, place in zip(x, places, strict=True)], shape, x.dtype)
