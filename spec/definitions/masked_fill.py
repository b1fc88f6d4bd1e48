"""The definition of `masked_fill`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each


def masked_fill(self: Components, mask: Any, value: Any) -> Components:
    """MASKED_FILL: `value` where the mask holds, x elsewhere."""
    return each(lambda x, holds: np.where(holds, np.asarray(value, dtype=x.dtype), x), self, mask)
