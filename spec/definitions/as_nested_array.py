"""The definition of `as_nested_array`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast

from .nested_array import nested_array


def as_nested_array(tensor_list: Any, dtype: Any = None) -> Components:
    """AS_NESTED_ARRAY: the arrays of a sequence, the slices of a dense array, or the components of a nested one."""
    if isinstance(tensor_list, (Components, np.ndarray)):
        return cast(Components(tensor_list, tensor_list.shape, tensor_list.dtype), dtype)
    return nested_array(tensor_list, dtype)
