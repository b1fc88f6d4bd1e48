"""The definition of `nested_array`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import cast
from pynested.spec.numerics import NDArray


def nested_array(arrays: Any, dtype: Any = None) -> list[NDArray]:
    """NESTED_ARRAY: a copy of each array, in `dtype` or in the dtype of the first."""
    copies = [np.array(array) for array in arrays]
    return [cast(copy, copies[0].dtype if dtype is None else dtype) for copy in copies]
