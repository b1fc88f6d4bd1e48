"""Pickling and deep copies of nested arrays, for the methods ``__reduce__`` and ``__deepcopy__``."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pynested.autograd import Array
from pynested.backends.errors import GradientError

from .layout_conversion import contiguous, drop_gaps
from .nested_array import NestedArray


def pickle_parts(x: NestedArray) -> Any:
    """Return a function and its arguments, from which pickle makes the array again, without gaps in the buffer."""
    detached = x.detach()
    without_gaps = drop_gaps(detached)
    if without_gaps is detached:
        return type(x), (x.data, x.structure)
    if x.is_leaf:
        without_gaps.data.requires_grad = x.requires_grad
    return _unpickle, (type(x), without_gaps.data, without_gaps.structure)


def deep_copy(x: NestedArray, memo: dict[int, Any]) -> NestedArray:
    """Return a leaf with its own memory."""
    if x.data.node is not None:
        raise GradientError("deepcopy: only a leaf has a deep copy. Use x.detach().clone() to copy the values.")
    make, parts = pickle_parts(x)
    return make(*[deepcopy(part, memo) for part in parts])  # type: ignore[no-any-return]


def _unpickle(nested_class: Any, data: Array, structure: Any) -> NestedArray:
    """Return a contiguous nested array. The pickled structure repeats elements by strides of 0 if the array did."""
    nested = contiguous(nested_class(data.detach(), structure))
    nested.data.requires_grad = data.requires_grad
    return nested
