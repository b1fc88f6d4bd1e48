"""The definition of `narrow`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.numerics import NDArray


def narrow(array: Any, dim: int, start: Any, length: Any) -> list[NDArray]:
    """NARROW: of each slice, `length` elements from `start` along `dim`; along dimension 0, whole components."""
    if dim == 0:
        return list(array)[start : start + length]
    starts, lengths = np.broadcast_to(start, len(array)), np.broadcast_to(length, len(array))
    places = [np.arange(first, first + count) for first, count in zip(starts, lengths, strict=True)]
    return [np.take(x, place, axis=dim - 1) for x, place in zip(array, places, strict=True)]
