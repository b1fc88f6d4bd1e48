"""The same values on another device, or in another dtype there."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import transfer
from pynested.backends.dtypes import is_bfloat16

from ..array import Array
from .movement import to_dtype
from .primitive import LINEAR, Primitive

to_device: Primitive = Primitive(
    "to_device",
    lambda k, x, target, source: Array(transfer(x, target), target),
    [lambda g, y, x, target, source: to_device(g, source, target)],
    LINEAR,
    public="to",
)


def converted(x: Array, device: str, dtype: np.dtype[Any]) -> Array:
    """``x`` in ``dtype`` on ``device``; itself where nothing changes."""
    if not is_bfloat16(dtype):  # which the device that x is moved to may have, and its own may lack
        x = to_dtype(x, dtype)
    moved = x if device == x.device else to_device(x, device, x.device)
    return to_dtype(moved, dtype)
