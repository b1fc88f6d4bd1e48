"""Differences between array modules: what an array is, copies between host and device, and what can be written to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, DeviceError
from .places import by_stride, past_smaller, strided_index
from .registry import get_backend


def as_bare(name: str, data: Any) -> Any:
    """A scalar, or an array of whatever class, as one of NumPy's own, in the same memory; another module's as it is."""
    if isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, np.ndarray):
        refuse_masked(name, data)
        return data.view(np.ndarray)
    if not hasattr(data, "dtype") or not hasattr(data, "strides"):
        raise ArgumentError(f"{name}: {type(data).__name__} is no array. Make one of it: pn.array(values).")
    return data


def refuse_masked(name: str, value: Any) -> None:
    """Refuse a masked array, of which NumPy would drop the mask."""
    known = type(value) is np.ndarray or not isinstance(value, np.ndarray)
    if not known and isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(
            f"{name}: a masked array is given, of which elements have no value. Give them one, m.filled(0), or choose "
            "those that have one: pn.masked_select(m.data, ~np.ma.getmaskarray(m))."
        )


def to_host(x: Any) -> NDArray[Any]:
    """An array as one of NumPy's: itself if it is one, otherwise a copy of what lies on the device."""
    if isinstance(x, np.ndarray) or not hasattr(x, "get"):
        return np.asarray(x)
    try:
        host: NDArray[Any] = x.get()
    except RuntimeError as error:  # the copy waits for what was launched before it, and hears what became of that
        raise DeviceError(
            f"the GPU failed before an array could be copied from it: {error}. To find the launch that failed, set the "
            "environment variable PYNESTED_CHECK to 1."
        ) from error
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
    return not repeats(x)


def stored_once(x: Any) -> Any:
    """A view of ``x`` in which each dimension of stride 0, along which elements repeat, has size 1."""
    dims = zip(x.shape, x.strides, strict=True)
    return x[tuple([slice(0, 1) if step == 0 and size else slice(None) for size, step in dims])]


class Window:
    """The base of a view that repeats places: the view is read-only, and `written_to` finds the memory."""

    __slots__ = ("__array_interface__", "base")

    def __init__(self, view: NDArray[Any], memory: NDArray[Any], read_only: bool) -> None:
        described = view.__array_interface__
        self.__array_interface__ = {**described, "data": (described["data"][0], read_only)}
        self.base = memory


def window(view: NDArray[Any], memory: NDArray[Any], read_only: bool = True) -> NDArray[Any]:
    """A view of ``memory`` that repeats places, read-only; or the part of one, to be written."""
    made = np.asarray(Window(view, memory, read_only))
    return made if made.dtype == view.dtype else made.view(view.dtype)  # bfloat16 comes back as two bytes


def written_to(x: Any) -> Any:
    """``x``, if it can be written; the same places of a part of a `Window` in which none repeats; otherwise None."""
    if writable(x):
        return x
    base = x.base
    while isinstance(base, np.ndarray):
        base = base.base
    if type(base) is not Window or not base.base.flags.writeable or repeats(x):
        return None
    return window(x, base.base, read_only=False)


def repeats(x: Any) -> bool:
    """Whether an array holds a place twice."""
    sizes, strides = np.array([x.shape], np.int64), abs(np.array([x.strides], np.int64)) // x.itemsize
    return bool(repeating(sizes, strides))


def repeating(sizes: NDArray[np.int64], strides: NDArray[np.int64]) -> list[int]:
    """Return the components of these sizes and strides, (B, d), that hold a place twice.

    Strides and extents tell at once which components surely do, and which surely do not, row-major ones first. The
    others have no more elements than the places between their first and their last one, which lie in memory.
    """
    inside = strides[:, :-1] < sizes[:, 1:] * strides[:, 1:]  # the one before steps inside of this dimension
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
