"""The definition of `nested_array`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast


def nested_array(tensor_list: Any, dtype: Any = None) -> Components:
    """NESTED_ARRAY: a copy of each array, in `dtype` or in the dtype of the first."""
    copies = [np.array(array) for array in tensor_list]
    first = copies[0].dtype if copies else np.dtype(np.float64)
    kind = first if dtype is None else np.dtype(dtype)
    return cast(Components(copies, dtype=kind), kind)
