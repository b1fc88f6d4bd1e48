"""The definition of `bmm`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.numerics import NDArray, wide


def bmm(self: Any, mat2: Any) -> list[NDArray]:
    """BMM: the matrix product of component i with component, or slice, i."""
    return [np.matmul(wide(a), wide(b)) for a, b in zip(self, mat2, strict=True)]
