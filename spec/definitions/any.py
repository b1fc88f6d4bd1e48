"""The definition of `any`."""

from __future__ import annotations

import builtins

from pynested.spec.components import Components, over_runs
from pynested.spec.numerics import Axis, NDArray


def any(self: Components, dim: Axis = None, keepdim: bool = False) -> Components | NDArray:
    """ANY: whether any element is true, of each run; False of nothing."""
    found: Components = over_runs(lambda run: builtins.any(x != 0 for x in run), self, dim, keepdim)
    return found
