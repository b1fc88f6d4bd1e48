"""The definition of `div`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import each, promoted


def div(self: Any, other: Any) -> Any:
    """DIV: the true quotient a / b, element by element."""
    return each(np.true_divide, *promoted(self, other))
