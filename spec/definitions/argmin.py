"""The definition of `argmin`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, place_over_runs
from pynested.spec.numerics import NDArray


def argmin(self: Components, dim: int | None = None, keepdim: bool = False) -> Components | NDArray:
    """ARGMIN: where the first of the least elements of each run is, or its first NaN."""
    if dim is None:
        return np.asarray(np.argmin(self, keepdims=keepdim))
    found: Components = place_over_runs(lambda run: int(np.argmin(run)), self, dim, keepdim)
    return found
