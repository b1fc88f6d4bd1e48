"""The definition of `div`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import promoted
from pynested.spec.numerics import NDArray


def div(self: Any, other: Any) -> list[NDArray]:
    """DIV: the true quotient a / b, element by element."""
    return [np.true_divide(a, b) for a, b in promoted(self, other)]
