"""Sizes are worked out once, as soon as their array is there; what follows from the signature is not asked at all."""

from __future__ import annotations

from dataclasses import replace

from ..forms import Value
from ..nodes import Node, Recording
from .known import is_size, is_static, may_raise


def run(recording: Recording) -> tuple[Recording, str]:
    """Take static facts out, and move the reading of sizes forward: no write changes the size of an array."""
    kept = [node for node in recording.nodes if not is_static(node)]
    order: list[Node] = []
    after: dict[Value, int] = {}  # how many nodes of `order` come before a value is there
    moved = 0
    for node in kept:
        at = len(order)
        if is_size(node) and not may_raise(node) and node.mode is None:
            at = max((after.get(value, 0) for value in node.reads), default=0)
            moved += at < len(order)
            after = {value: place + (place > at) for value, place in after.items()}
        order.insert(at, node)
        for value in node.makes:
            after.setdefault(value, at + 1)
    left = len(recording.nodes) - len(kept)
    notes = [f"{left} facts follow from the signature"] * bool(left) + [f"{moved} sizes read at once"] * bool(moved)
    return replace(recording, nodes=order), ", ".join(notes)
