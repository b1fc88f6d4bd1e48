"""The definition of `silu`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def silu(self: Components) -> Components:
    """SILU: x / (1 + exp(-x)), element by element."""
    return each(lambda x: wide(x) / (1 + np.exp(-wide(x))), self)
