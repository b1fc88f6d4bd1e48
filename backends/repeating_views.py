"""Views that hold a place of memory twice, and so cannot be written element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .places import by_stride, past_smaller, strided_index


def writable(x: Any) -> bool:
    """Return whether each element of ``x`` can be written. Arrays of NumPy know it by a flag, those of CuPy do not."""
    if isinstance(x, np.ndarray):
        return x.flags.writeable
    return not repeats(x)


def stored_once(x: Any) -> Any:
    """Return a view of ``x`` in which each dimension of stride 0, along which elements repeat, has size 1."""
    dims = zip(x.shape, x.strides, strict=True)
    return x[tuple([slice(0, 1) if step == 0 and size else slice(None) for size, step in dims])]


class RepeatingBase:
    """The base of a read-only view that repeats places.

    A part of the view that repeats none can be written: `writable_view` makes it of the memory, which this base holds.
    """

    __slots__ = ("__array_interface__", "base")

    def __init__(self, view: NDArray[Any], memory: NDArray[Any], read_only: bool) -> None:
        described = view.__array_interface__
        self.__array_interface__ = {**described, "data": (described["data"][0], read_only)}
        self.base = memory


def repeating_view(view: NDArray[Any], memory: NDArray[Any], read_only: bool = True) -> NDArray[Any]:
    """Return ``view``, a view of ``memory``, with a `RepeatingBase`."""
    result = np.asarray(RepeatingBase(view, memory, read_only))
    return result if result.dtype == view.dtype else result.view(view.dtype)  # bfloat16 comes back as two bytes


def writable_view(x: Any) -> Any:
    """Return ``x`` if it can be written, or a writable view of the same places if none repeats, or None."""
    if writable(x):
        return x
    base = x.base
    while isinstance(base, np.ndarray):
        base = base.base
    if type(base) is not RepeatingBase or not base.base.flags.writeable or repeats(x):
        return None
    return repeating_view(x, base.base, read_only=False)


def repeats(x: Any) -> bool:
    """Return whether an array holds a place twice."""
    sizes, strides = np.array([x.shape], np.int64), abs(np.array([x.strides], np.int64)) // x.itemsize
    return bool(repeating_components(sizes, strides))


def repeating_components(sizes: NDArray[np.int64], strides: NDArray[np.int64]) -> list[int]:
    """Return the numbers of the components of these sizes and strides, (B, d), that hold a place twice.

    Sizes and strides tell of most components whether they do. The places of all elements of the others are compared.
    """
    inside = strides[:, :-1] < sizes[:, 1:] * strides[:, 1:]  # a step along a dimension stays within the next one
    if not np.count_nonzero(inside) and not np.count_nonzero(strides[:, -1:] <= 0):
        return []
    n, s = by_stride(sizes, strides)
    extents = (n - 1) * s
    has_elements = (sizes > 0).all(axis=1)
    is_crowded = ((n > 1) & (s == 0)).any(axis=1) | (n.prod(axis=1) > extents.sum(axis=1) + 1)  # more than places
    is_apart = past_smaller(n, s, extents).all(axis=1)
    found = np.flatnonzero(has_elements & is_crowded).tolist()
    for i in np.flatnonzero(has_elements & ~is_crowded & ~is_apart).tolist():
        places = strided_index(n[i : i + 1], s[i : i + 1], np.zeros(1, np.int64))
        if len(np.unique(places)) < len(places):
            found.append(i)
    return sorted(found)
