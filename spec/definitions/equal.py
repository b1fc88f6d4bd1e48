"""The definition of `equal`."""

from __future__ import annotations

from typing import Any

import numpy as np


def equal(self: Any, other: Any) -> bool:
    """EQUAL: the same number of components, the same shapes, and the same elements."""
    same = (a.shape == b.shape and bool(np.all(a == b)) for a, b in zip(self, other, strict=False))
    return len(self) == len(other) and all(same)
