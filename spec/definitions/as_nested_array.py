"""The definition of `as_nested_array`."""

from __future__ import annotations

from typing import Any

from pynested.spec.numerics import NDArray

from .nested_array import nested_array


def as_nested_array(tensor_list: Any, dtype: Any = None) -> list[NDArray]:
    """AS_NESTED_ARRAY: the arrays of a sequence, or the slices of a dense array, as components."""
    return nested_array(list(tensor_list), dtype)
