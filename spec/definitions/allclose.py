"""The definition of `allclose`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray


def allclose(self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """ALLCLOSE: |a - b| <= atol + rtol * |b| everywhere, in float64."""

    def near(a: Any, b: Any) -> NDArray:
        a, b = _nearest(a), _nearest(b)
        finite = np.isfinite(a) & np.isfinite(b)
        within = finite & (np.abs(a - b) <= atol + rtol * np.abs(b))
        return np.asarray(within | (a == b) | (equal_nan & np.isnan(a) & np.isnan(b)))

    with np.errstate(all="ignore"):
        found = each(near, self, other)
    return all(bool(one.all()) for one in (found if isinstance(found, Components) else [found]))


def _nearest(x: Any) -> NDArray:
    """Return the nearest float64s: infinities for Python's integers beyond the largest of them."""
    try:
        return np.asarray(x).astype(np.float64)
    except OverflowError:
        return np.asarray(np.inf if x > 0 else -np.inf)
