"""The definition of `lt`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import matched
from pynested.spec.numerics import NDArray


def lt(self: Any, other: Any) -> list[NDArray]:
    """LT: a < b, element by element."""
    return [np.less(a, b) for a, b in matched(self, other)]
