"""What kernels and quick verbs are held against: the plain verbs, or else NumPy; bfloat16 is rounded once here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from pynested.backends import plain

BFLOAT16 = np.dtype(bfloat16)
KEPT_WIDE = {"layer_norm": (1, 2), "cross_entropy": (1,)}  # results in what kernels accumulate in


def widened(given: Any) -> Any:
    """Floats as float64, anything else as it is."""
    is_float = isinstance(given, np.ndarray) and given.dtype in (BFLOAT16, np.float32)
    return given.astype(np.float64) if is_float else given


class Reference:
    """The kernels of the device "plain", of bfloat16 too."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(plain, name)

        def computed(*given: Any) -> Any:
            if not any(getattr(one, "dtype", None) == BFLOAT16 for one in given):
                return verb(*given)
            found = verb(*map(widened, given))
            if not isinstance(found, tuple):
                return rounded(found, BFLOAT16)
            kept = KEPT_WIDE.get(name, ())
            return tuple(rounded(one, np.float32 if i in kept else BFLOAT16) for i, one in enumerate(found))

        return computed


def rounded(found: Any, dtype: Any) -> Any:
    """Floats of ``dtype``; anything else as it is."""
    return found.astype(dtype) if getattr(found, "dtype", None) == np.float64 else found


cpu = Reference()
