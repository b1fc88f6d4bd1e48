"""The cotangents of a backward pass while it runs."""

from __future__ import annotations

from heapq import heappush
from typing import Any

from .tape import Line, now


class Pending:
    """The cotangents of one pass: by node, and the lines still to be read, last first.

    Attributes
    ----------
    cotangents : dict
        By node; what is left at the end are those of the leaves.
    start : int
        The number at which the pass began: hooks with a greater one were registered later.
    """

    def __init__(self, graph: bool) -> None:
        self.graph = graph
        self.cotangents: dict[Any, Any] = {}
        self.heap: list[tuple[int, Line]] = []
        self.start = now()

    def add(self, node: Any, cotangent: Any) -> None:
        """Add what arrived at ``node`` to what is there already."""
        cotangents = self.cotangents
        if node in cotangents:
            cotangents[node] = cotangents[node] + cotangent
            return
        cotangents[node] = cotangent
        if type(node) is Line:
            heappush(self.heap, (-node.number, node))

    def add_part(self, line: Line, part: int, cotangent: Any) -> None:
        """Add to the cotangent of one of several outputs of ``line``."""
        parts = self.cotangents.get(line)
        if parts is None:
            parts = self.cotangents[line] = [None] * line.parts
            heappush(self.heap, (-line.number, line))
        parts[part] = cotangent if parts[part] is None else parts[part] + cotangent
