"""The definition of `amin`."""

from __future__ import annotations

from pynested.spec.components import Components, over_runs
from pynested.spec.numerics import Axis, NDArray, minimum_along


def amin(self: Components, dim: Axis = None, keepdim: bool = False) -> Components | NDArray:
    """AMIN: the least element of each run, NaN where there is one; a run without elements is an error."""
    found: Components = over_runs(lambda run: minimum_along(run, 0), self, dim, keepdim)
    return found
