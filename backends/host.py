"""Checks of raw arrays, and copies of them between the host and a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .allocators import allocator
from .errors import ArgumentError, DeviceError, named_type
from .registry import get_backend


def as_raw_array(name: str, data: Any) -> Any:
    """Return ``data`` as an ndarray without the subclass, in the same memory. A scalar of NumPy becomes an array."""
    if isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, np.ndarray):
        refuse_masked(name, data)
        return data.view(np.ndarray)
    if not hasattr(data, "dtype") or not hasattr(data, "strides"):
        raise ArgumentError(f"{name}: {named_type(data)} is no array. Convert it: pn.array(values).")
    return data


def refuse_masked(name: str, value: Any) -> None:
    """Refuse a masked array, of which NumPy would drop the mask."""
    is_subclass = isinstance(value, np.ndarray) and type(value) is not np.ndarray
    if is_subclass and isinstance(value, np.ma.MaskedArray):  # np.ma is imported only for a subclass
        raise ArgumentError(
            f"{name}: the masked elements of a masked array have no value. Fill them, m.filled(0), or select the other "
            "elements: pn.masked_select(m.data, ~np.ma.getmaskarray(m))."
        )


def to_host(x: Any) -> NDArray[Any]:
    """Return an array of NumPy: ``x`` itself, or a copy of an array that lies on a GPU."""
    if isinstance(x, np.ndarray) or not hasattr(x, "get"):
        return np.asarray(x)
    try:
        host: NDArray[Any] = x.get()
    except RuntimeError as error:  # the copy waits for the launches before it, and reports their errors
        raise DeviceError(
            f"the GPU failed before an array could be copied from it: {error}. To find the launch that failed, set the "
            "environment variable PYNESTED_CHECK to 1."
        ) from error
    return host


def from_host(values: NDArray[Any], device: str) -> Any:
    """Return a NumPy array as an array of ``device``: a copy on a GPU, otherwise the array itself."""
    return values if device == "cpu" else get_backend(device).xp.asarray(values)


def transfer(x: Any, device: str) -> Any:
    """Return a copy of ``x`` in new memory on ``device``; ``x`` can lie on any device."""
    copy = allocator(device)(x.shape, x.dtype)
    if isinstance(copy, np.ndarray):
        copy[...] = to_host(x)
    elif isinstance(x, np.ndarray):
        copy.set(np.asarray(x, order="C"))
    else:
        copy[...] = x
    return copy
