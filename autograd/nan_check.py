"""The backward step of an operation that was recorded inside `anomaly`: NaN that the step makes is an error."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.errors import GradientError

from .array import raw
from .tape import BackwardPass, Node, Pairs


def apply_vjp_checked(node: Node, cotangent: Any, running: BackwardPass) -> Pairs:
    """Pull a cotangent back through ``node``; any error shows where the operation was recorded."""
    try:
        pairs = node.operation.apply_vjp(node, cotangent, running)
        if not has_nan(cotangent):
            for source, part in pairs:
                if has_nan(part):
                    raise GradientError(
                        f"{node.operation.name}: the gradient of its argument {list(node.sources).index(source)} holds "
                        "NaN, and the cotangent that came in held none."
                    )
    except Exception as error:
        error.add_note(f"{node.operation.name} was recorded here:\n{node.stack}")
        raise
    return pairs


def has_nan(cotangent: Any) -> bool:
    """Return whether a cotangent, or one of the cotangents of several outputs, holds NaN."""
    if isinstance(cotangent, list | dict):
        parts = cotangent.values() if isinstance(cotangent, dict) else cotangent
        return any(part is not None and has_nan(part) for part in parts)
    return bool(np.isnan(raw(cotangent)).any())
