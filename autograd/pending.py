"""The cotangents of a backward pass while it runs."""

from __future__ import annotations

from heapq import heappush
from typing import Any

from .tape import Node, next_number


class Pending:
    """The cotangents of one pass: by node, and the nodes still to be read, last first.

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
        self.heap: list[tuple[int, Node]] = []
        self.start = next_number()

    def add(self, node: Any, cotangent: Any) -> None:
        """Add what arrived at ``node`` to what is there already."""
        cotangents = self.cotangents
        if node in cotangents:
            cotangents[node] = cotangents[node] + cotangent
            return
        cotangents[node] = cotangent
        if type(node) is Node:
            heappush(self.heap, (-node.number, node))

    def add_part(self, node: Node, part: int, cotangent: Any) -> None:
        """Add to the cotangent of one of several outputs of ``node``."""
        parts = self.cotangents.get(node)
        if parts is None:
            parts = self.cotangents[node] = [None] * node.parts
            heappush(self.heap, (-node.number, node))
        parts[part] = cotangent if parts[part] is None else parts[part] + cotangent
