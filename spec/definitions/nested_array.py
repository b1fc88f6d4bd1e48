"""The definition of `nested_array`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import cast
from pynested.spec.numerics import NDArray


def nested_array(tensor_list: Any, dtype: Any = None) -> list[NDArray]:
    """NESTED_ARRAY: a copy of each array, in `dtype` or in the dtype of the first."""
    copies = [np.array(array) for array in tensor_list]
    return [cast(copy, copies[0].dtype if dtype is None else dtype) for copy in copies]
