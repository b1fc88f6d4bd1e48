"""The definition of `clamp`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import each, promoted
from pynested.spec.numerics import NDArray, is_nan, real


def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """CLAMP: what is below `min` becomes `min`, and what is then above `max` becomes `max`."""

    def raised(x: NDArray, low: NDArray) -> NDArray:
        return np.where((real(x) < real(low)) | is_nan(low), low, x)

    def lowered(x: NDArray, high: NDArray) -> NDArray:
        return np.where((real(x) > real(high)) | is_nan(high), high, x)

    if min is not None:
        self = each(raised, *promoted(self, min))
    if max is not None:
        self = each(lowered, *promoted(self, max))
    return promoted(self)[0]
