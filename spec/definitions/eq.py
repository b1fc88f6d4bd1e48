"""The definition of `eq`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import each


def eq(self: Any, other: Any) -> Any:
    """EQ: a == b, element by element."""
    return each(np.equal, self, other)
