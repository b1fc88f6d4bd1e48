"""The backward step of an operation that was recorded inside `anomaly`: NaN that the step makes is an error."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.errors import GradientError

from .array import raw
from .pending import Pending
from .recorded_stack import RecordedStack
from .tape import Node


def apply_vjp_checked(
    node: Node, stack: RecordedStack, cotangent: Any, pending: Pending, needed: set[Any] | None
) -> None:
    """Pull a cotangent back through ``node``; any error shows where the operation was recorded."""
    try:
        node.rule.apply_vjp(node, cotangent, _CheckedPending(pending, node, has_nan(cotangent)), needed)
    except Exception as error:
        error.add_note(f"{node.rule.name} was recorded here:\n{stack}")
        raise


class _CheckedPending(Pending):
    """The cotangents of a pass, while one operation adds to them that must not make NaN out of numbers."""

    def __init__(self, pending: Pending, node: Node, had_nan: bool) -> None:
        self.graph = pending.graph
        self.cotangents, self.heap = pending.cotangents, pending.heap
        self.start = pending.start
        self.node, self.had_nan = node, had_nan

    def add(self, node: Any, cotangent: Any) -> None:
        """Check a cotangent, then add it."""
        if not self.had_nan and has_nan(cotangent):
            number = next(i for i, source in enumerate(self.node.sources) if source is node)
            raise GradientError(
                f"{self.node.rule.name}: the gradient of its argument {number} holds NaN, and the cotangent that came "
                "in held none."
            )
        super().add(node, cotangent)


def has_nan(cotangent: Any) -> bool:
    """Return whether a cotangent, or one of the cotangents of several outputs, holds NaN."""
    if cotangent is None:
        return False
    if isinstance(cotangent, list):
        return any(has_nan(part) for part in cotangent)
    return bool(np.isnan(raw(cotangent)).any())
