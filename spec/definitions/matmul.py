"""The definition of `matmul`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import matched
from pynested.spec.numerics import NDArray, wide


def matmul(self: Any, other: Any) -> list[NDArray]:
    """MATMUL: the matrix product, component by component."""
    return [np.matmul(wide(a), wide(b)) for a, b in matched(self, other)]
