"""The definition of `nested_array`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast


def nested_array(tensor_list: Any, dtype: Any = None) -> Components:
    """NESTED_ARRAY: a copy of each array, in `dtype` or in the dtype of the first."""
    copies = [np.array(array) for array in tensor_list]
    kind = copies[0].dtype if copies else np.dtype(np.float64)
    return cast(Components([copy.astype(kind) for copy in copies], dtype=kind), dtype)
