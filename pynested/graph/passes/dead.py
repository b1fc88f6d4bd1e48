"""Dead code: what nobody reads is not computed, unless it acts or might raise an error."""

from __future__ import annotations

from dataclasses import replace

from ..forms import Value, values_in
from ..nodes import Node, Recording
from .known import cannot_fail, is_elementwise


def run(recording: Recording) -> tuple[Recording, str]:
    """Leave calls out, from the last to the first."""
    read: set[Value] = set(values_in(recording.outputs))
    kept: list[Node] = []
    for node in reversed(recording.nodes):
        if not read.intersection(node.makes) and any(node.makes) and _harmless(node, recording):
            continue
        kept.insert(0, node)
        read.update(node.reads)
    gone = len(recording.nodes) - len(kept)
    return replace(recording, nodes=kept), f"{gone} calls left out" if gone else ""


def _harmless(node: Node, recording: Recording) -> bool:
    """Whether nothing would be noticed: no effect, and no error, as that of two operands that do not meet."""
    alone = is_elementwise(node, recording) and len(set(node.reads)) == 1
    return cannot_fail(node) or (alone and not node.effect)
