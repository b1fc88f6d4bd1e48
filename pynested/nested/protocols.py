"""Conversion to NumPy, pickling and deep copies of nested arrays; `NestedArray` reaches these functions as methods."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, GradientError

from .array_text import as_text
from .layout_conversion import as_dense, contiguous, drop_gaps
from .nested_array import NestedArray

__all__ = ["as_ndarray", "as_text", "deep_copy", "pickle_parts"]


def as_ndarray(x: NestedArray, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Return the components, which must have one shape, as one NumPy array."""
    dense = as_dense("array", x)
    is_copied = dense.storage is not x.data.storage
    if copy is False and is_copied and dense.numel():
        raise ArgumentError("array: the components of this nested array need a copy to become one dense array.")
    return np.array(dense.numpy(), dtype=dtype, copy=None if is_copied else copy)


def pickle_parts(x: NestedArray) -> Any:
    """Return a function and its arguments that make the array again; gaps of the buffer are left out."""
    detached = x.detach()
    kept = drop_gaps(detached)
    if kept is detached:
        return type(x), (x.data, x.structure)
    if x.is_leaf:
        kept.data.requires_grad = x.requires_grad
    return _unpickle, (type(x), kept.data, kept.structure)


def deep_copy(x: NestedArray, memo: dict[int, Any]) -> NestedArray:
    """Return a leaf with its own memory."""
    if x.data.node is not None:
        raise GradientError("deepcopy: only leaves can be copied so; use x.detach().clone() for the values.")
    make, parts = pickle_parts(x)
    return make(*[deepcopy(part, memo) for part in parts])  # type: ignore[no-any-return]


def _unpickle(nested_class: Any, data: Array, structure: Any) -> NestedArray:
    """Return a contiguous nested array of pickled parts, in which a dimension of stride 0 is stored once."""
    kept = contiguous(nested_class(data.detach(), structure))
    kept.data.requires_grad = data.requires_grad
    return kept
