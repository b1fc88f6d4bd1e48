"""The same values on another device, or in another dtype there."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import transfer
from pynested.backends.dtypes import is_bfloat16

from ..array import Array, raw
from ..tape import state
from .kinds import Linear
from .movement import to_dtype


class Move(Linear):
    """A copy on another device; its cotangent is moved back."""

    def apply(self, arrays: tuple[Any, ...], static: tuple[Any, ...]) -> Any:
        """Copy to the first device of ``static``, from the second, and record a node if a gradient is wanted."""
        x = arrays[0]
        result = Array(transfer(raw(x), static[0]), static[0])
        if x.requires_grad and state.mode:
            result.node, result.tracked = self.record_node(result, arrays, static), True
        return result


to_device: Move = Move(
    "to_device",
    lambda k, x, target, source: transfer(x, target),
    lambda g, shapes, target, source: to_device(g, source, target),
)


def converted(x: Array, device: str, dtype: np.dtype[Any]) -> Array:
    """``x`` in ``dtype`` on ``device``; itself where nothing changes."""
    if not is_bfloat16(dtype):  # which the device that x is moved to may have, and its own may lack
        x = to_dtype(x, dtype)
    moved = x if device == x.device else to_device(x, device, x.device)
    return to_dtype(moved, dtype)
