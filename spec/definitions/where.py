"""The definition of `where`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import promoted
from pynested.spec.numerics import NDArray


def where(condition: Any, self: Any, other: Any) -> list[NDArray]:
    """WHERE: a where the condition holds, b elsewhere."""
    return [np.where(holds, a, b) for holds, a, b in promoted(condition, self, other)]
