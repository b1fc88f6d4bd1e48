"""The definition of `masked_fill`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import matched
from pynested.spec.numerics import NDArray


def masked_fill(self: list[NDArray], mask: Any, value: Any) -> list[NDArray]:
    """MASKED_FILL: `value` where the mask holds, x elsewhere."""
    return [np.where(holds, np.asarray(value, dtype=x.dtype), x) for x, holds in matched(self, mask)]
