"""The definition of `logsumexp`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, over_runs
from pynested.spec.numerics import Axis, NDArray, maximum_along, real, sum_along, wide


def logsumexp(self: Components, dim: Axis = None, keepdim: bool = False) -> Components | NDArray:
    """LOGSUMEXP: the logarithm of the sum of the exponentials of each run, its maximum taken out."""

    def one(run: NDArray) -> Any:
        run = wide(run) * 1.0
        if not run.size:
            return -np.inf
        top = maximum_along(run, 0)
        if not abs(real(top)) < np.inf:
            return top
        return top + np.log(sum_along(np.exp(run - top), 0))

    found: Components = over_runs(one, self, dim, keepdim)
    return found
