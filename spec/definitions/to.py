"""The definition of `to`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def to(self: Components, dtype: Any = None) -> Components:
    """TO: every element as a number of `dtype`; of a floating one the nearest, to which whoever compares rounds."""
    if dtype is None or np.dtype(dtype).kind == "f":
        return each(wide, self)
    kind = np.dtype(dtype)

    def one(number: Any) -> Any:
        if kind.kind == "b":
            return number != 0
        least, greatest = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        if isinstance(number, int):
            return (number - least) % (greatest - least + 1) + least
        if math.isnan(number):
            return 0
        return int(max(least, min(greatest, number)))

    return each(lambda x: np.array([one(number) for number in x.ravel().tolist()], kind).reshape(x.shape), self)
