"""The definition of `cumsum`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast, each
from pynested.spec.numerics import NDArray, wide


def cumsum(self: Components, dim: int, dtype: Any = None) -> Components:
    """CUMSUM: each element of a run along `dim` becomes the sum of the elements up to it."""

    def one(x: NDArray) -> Any:
        x = wide(x)
        return np.add.accumulate(x, axis=dim - 1, dtype=np.int64 if x.dtype.kind in "biu" else x.dtype)

    return cast(each(one, cast(self, dtype)), dtype)
