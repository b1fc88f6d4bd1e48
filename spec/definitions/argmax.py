"""The definition of `argmax`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, place_over_runs
from pynested.spec.numerics import NDArray


def argmax(self: Components, dim: int | None = None, keepdim: bool = False) -> Components | NDArray:
    """ARGMAX: where the first of the greatest elements of each run is, or its first NaN."""
    if dim is None:
        return np.asarray(np.argmax(self, keepdims=keepdim))
    found: Components = place_over_runs(lambda run: int(np.argmax(run)), self, dim, keepdim)
    return found
