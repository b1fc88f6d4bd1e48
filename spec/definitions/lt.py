"""The definition of `lt`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import each


def lt(self: Any, other: Any) -> Any:
    """LT: a < b, element by element."""
    return each(np.less, self, other)
