"""Views that hold a place of memory twice. They are read-only, as a write to one element would change another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .component_layout import strided_index, surely_without_repeats


def is_writable(x: Any) -> bool:
    """Return whether the elements of ``x`` can be written."""
    if isinstance(x, np.ndarray):
        return x.flags.writeable
    return not has_repeated_places(x)  # arrays of CuPy have no such flag


def unbroadcast_view(x: Any) -> Any:
    """Return a view of ``x`` in which each dimension of stride 0, along which elements repeat, has size 1."""
    dims = zip(x.shape, x.strides, strict=True)
    return x[tuple([slice(0, 1) if step == 0 and size else slice(None) for size, step in dims])]


class ViewBase:
    """The base of a view that repeats places, so that nobody makes it writable; or of a writable part without repeats.

    Its attribute ``base`` is the array whose memory the view shows, as for an ndarray.
    """

    __slots__ = ("__array_interface__", "base")

    def __init__(self, view: NDArray[Any], base: NDArray[Any], is_read_only: bool) -> None:
        interface = view.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], is_read_only)}
        self.base = base


def view_with_base(view: NDArray[Any], memory: NDArray[Any], *, is_read_only: bool) -> NDArray[Any]:
    """Return ``view``, a view of ``memory``, as a view whose base is a `ViewBase`."""
    result = np.asarray(ViewBase(view, memory, is_read_only))
    return result if result.dtype == view.dtype else result.view(view.dtype)  # bfloat16 comes back as two bytes


def writable_view(x: Any) -> Any:
    """Return ``x``, or a writable view of it if its memory is writable and it repeats no place; otherwise None."""
    if is_writable(x):
        return x
    base = x.base
    while isinstance(base, np.ndarray):
        base = base.base
    if type(base) is not ViewBase or not base.base.flags.writeable or has_repeated_places(x):
        return None
    return view_with_base(x, base.base, is_read_only=False)


def without_repeated_writes(x: Any) -> Any:
    """Return ``x``, or a read-only view of it if it is an array of NumPy that holds a place twice."""
    if isinstance(x, np.ndarray) and x.flags.writeable and has_repeated_places(x):
        x = x.view()
        x.flags.writeable = False
    return x


def has_repeated_places(x: Any) -> bool:
    """Return whether an array holds a place twice."""
    sizes, strides = np.array([x.shape], np.int64), abs(np.array([x.strides], np.int64)) // x.itemsize
    return bool(repeating_components(sizes, strides))


def repeating_components(sizes: NDArray[np.int64], strides: NDArray[np.int64]) -> list[int]:
    """Return the indices of components that hold a place twice; they have these sizes and strides, (B, d)."""
    is_short_stride = strides[:, :-1] < sizes[:, 1:] * strides[:, 1:]  # shorter than the next dimension
    if not np.count_nonzero(is_short_stride) and not np.count_nonzero(strides[:, -1:] <= 0):
        return []  # row-major components, the most common ones
    is_unclear = ~surely_without_repeats(sizes, strides) & (sizes > 0).all(axis=1)
    # A component repeats a place if a stride is 0, or if it has more elements than there are places from the first of
    # them to the last.
    num_places = ((sizes - 1) * strides).sum(axis=1) + 1
    is_repeating = is_unclear & (((sizes > 1) & (strides == 0)).any(axis=1) | (sizes.prod(axis=1) > num_places))
    for i in np.flatnonzero(is_unclear & ~is_repeating).tolist():
        places = strided_index(sizes[i : i + 1], strides[i : i + 1], np.zeros(1, np.int64))
        is_repeating[i] = len(np.unique(places)) < len(places)
    return np.flatnonzero(is_repeating).tolist()
