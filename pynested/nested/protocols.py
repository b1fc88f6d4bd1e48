"""What Python, NumPy and pickle ask of a nested array."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, GradientError
from pynested.components.packing import as_dense, compact, contiguous

from .array import NestedArray
from .show import as_text

__all__ = ["as_ndarray", "as_text", "deep_copy", "pickle_parts"]


def as_ndarray(x: NestedArray, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Return the components, which must have one shape, as one NumPy array."""
    dense = as_dense("array", x)
    is_copied = dense.storage is not x.data.storage
    if copy is False and is_copied and dense.numel():
        raise ArgumentError("array: the components of this nested array need a copy to become one dense array.")
    return np.array(dense.numpy(), dtype=dtype, copy=None if is_copied else copy)


def pickle_parts(x: NestedArray) -> Any:
    """Return a function and its arguments, which make the array again; gaps of the buffer are left out."""
    detached = x.detach()
    kept = compact(detached)
    if kept is detached:
        return type(x), (x.data, x.structure)
    if x.is_leaf:
        kept.data.requires_grad = x.requires_grad
    return _unpickled, (type(x), kept.data, kept.structure)


def deep_copy(x: NestedArray, memo: dict[int, Any]) -> NestedArray:
    """Return a leaf with its own memory."""
    if x.data.line is not None:
        raise GradientError("deepcopy: only leaves can be copied so; use x.detach().clone() for the values.")
    make, parts = pickle_parts(x)
    return make(*[deepcopy(part, memo) for part in parts])  # type: ignore[no-any-return]


def _unpickled(kind: Any, data: Array, structure: Any) -> NestedArray:
    """Return a nested array of stored parts, whose dimensions of stride 0 were stored once."""
    kept = contiguous(kind(data.detach(), structure))
    kept.data.requires_grad = data.requires_grad
    return kept
