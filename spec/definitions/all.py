"""The definition of `all`."""

from __future__ import annotations

import builtins

from pynested.spec.components import Components, over_runs
from pynested.spec.numerics import Axis, NDArray


def all(self: Components, dim: Axis = None, keepdim: bool = False) -> Components | NDArray:
    """ALL: whether all elements are true, of each run; True of nothing."""
    found: Components = over_runs(lambda run: builtins.all(x != 0 for x in run), self, dim, keepdim)
    return found
