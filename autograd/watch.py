"""Pulling a cotangent through a line that was recorded inside `anomaly`: NaN that it makes is an error."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.errors import GradientError

from .pending import Pending
from .tape import Line
from .trace import Trace, bare


def pull(line: Line, trace: Trace, cotangent: Any, pending: Pending, needed: set[Any] | None) -> None:
    """Pull through ``line``; whatever goes wrong is told with the place where the line was written."""
    try:
        line.rule.pull(line, cotangent, _Watched(pending, line, has_nan(cotangent)), needed)
    except Exception as error:
        error.add_note(f"{line.rule.name} was recorded here:\n{trace.where()}")
        raise


class _Watched(Pending):
    """The cotangents of a pass, while one line that must not make NaN out of numbers adds to them."""

    def __init__(self, pending: Pending, line: Line, had_nan: bool) -> None:
        self.graph = pending.graph
        self.cotangents, self.heap, self.exposed = pending.cotangents, pending.heap, pending.exposed
        self.start = pending.start
        self.line, self.had_nan = line, had_nan

    def add(self, node: Any, cotangent: Any) -> None:
        """Check, then add."""
        if not self.had_nan and has_nan(cotangent):
            number = next(i for i, source in enumerate(self.line.sources) if source is node)
            raise GradientError(
                f"{self.line.rule.name}: the gradient of its argument {number} holds NaN, and the cotangent that came "
                "in held none."
            )
        super().add(node, cotangent)


def has_nan(cotangent: Any) -> bool:
    """Whether a cotangent, or one of those of several outputs, holds NaN."""
    if cotangent is None:
        return False
    if isinstance(cotangent, list):
        return any(has_nan(part) for part in cotangent)
    return bool(np.isnan(bare(cotangent)).any())
