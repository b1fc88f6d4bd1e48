"""The definition of `eq`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import matched
from pynested.spec.numerics import NDArray


def eq(self: Any, other: Any) -> list[NDArray]:
    """EQ: a == b, element by element."""
    return [np.equal(a, b) for a, b in matched(self, other)]
