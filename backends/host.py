"""What array modules do not have in common: the way to the host and back, and whether an array can be written to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numpy.placement import strided_index
from .registry import get_backend


def to_host(x: Any) -> NDArray[Any]:
    """An array as one of NumPy's: itself if it is one, otherwise a copy of what lies on the device."""
    host: NDArray[Any] = x if isinstance(x, np.ndarray) else x.get() if hasattr(x, "get") else np.asarray(x)
    return host


def from_host(values: NDArray[Any], device: str) -> Any:
    """Numbers that were worked out on the host as an array of ``device``; on the CPU the array itself."""
    return values if device == "cpu" else get_backend(device).xp.asarray(values)


def fill_from(memory: Any, values: Any) -> None:
    """Give a contiguous array the values of another of the same shape and dtype, wherever each of them lies."""
    if isinstance(memory, np.ndarray):
        memory[...] = to_host(values)
    elif isinstance(values, np.ndarray):
        memory.set(np.asarray(values, order="C"))
    else:
        memory[...] = values


def writable(x: Any) -> bool:
    """Whether elements can be written one by one; only NumPy marks arrays that repeat a place."""
    if isinstance(x, np.ndarray):
        return x.flags.writeable
    sizes, strides = np.array([x.shape], np.int64), abs(np.array([x.strides], np.int64)) // x.itemsize
    return not repeating(sizes, strides)


def repeating(sizes: NDArray[np.int64], strides: NDArray[np.int64]) -> list[int]:
    """The components of these sizes and strides, (B, d), that hold a place twice.

    Strides and extents tell at once which cannot, row-major ones first.
    """
    if (strides[:, :-1] >= sizes[:, 1:] * strides[:, 1:]).all() and (strides[:, -1:] > 0).all():
        return []
    order = np.argsort(strides, axis=1, kind="stable")
    n, s = np.take_along_axis(sizes, order, 1), np.take_along_axis(strides, order, 1)
    extents = (n - 1) * s
    within = (n == 1) | (s > np.cumsum(extents, axis=1) - extents)
    unsure = np.flatnonzero(~within.all(axis=1) & (sizes > 0).all(axis=1)).tolist()
    return [i for i in unsure if _places(sizes[i], strides[i]) < sizes[i].prod()]


def _places(size: NDArray[np.int64], stride: NDArray[np.int64]) -> int:
    """How many places a component of this size and these strides has."""
    return int(np.unique(strided_index(size[None], stride[None], np.zeros(1, np.int64))).size)
