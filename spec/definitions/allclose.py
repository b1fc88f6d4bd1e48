"""The definition of `allclose`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray


def allclose(self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """ALLCLOSE: |a - b| <= atol + rtol * |b| everywhere, in float64."""

    def near(a: Any, b: Any) -> NDArray:
        a, b = np.asarray(a).astype(np.float64), np.asarray(b).astype(np.float64)
        finite = np.isfinite(a) & np.isfinite(b)
        within = finite & (np.abs(a - b) <= atol + rtol * np.abs(b))
        return np.asarray(within | (a == b) | (equal_nan & np.isnan(a) & np.isnan(b)))

    with np.errstate(all="ignore"):
        found = each(near, self, other)
    return all(bool(one.all()) for one in (found if isinstance(found, Components) else [found]))
