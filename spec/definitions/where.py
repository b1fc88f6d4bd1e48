"""The definition of `where`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import each, promoted


def where(condition: Any, self: Any, other: Any) -> Any:
    """WHERE: a where the condition holds, b elsewhere."""
    return each(np.where, *promoted(condition, self, other))
