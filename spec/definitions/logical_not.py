"""The definition of `logical_not`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each


def logical_not(self: Components) -> Components:
    """LOGICAL_NOT: True where the element equals 0."""
    return each(lambda x: np.logical_not(x), self)
