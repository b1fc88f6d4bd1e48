"""Common subexpressions: what was computed already is not computed again.

Not where gradients flow, for there two calls give two gradients, which are rounded and added; and not of what somebody
else may hold, for two calls give two arrays. What gives the array that it was given, with its history, gives way to it.
"""

from __future__ import annotations

from dataclasses import replace

from ..forms import Value, alike, renamed, values_in
from ..nodes import FUNCTION, Node, Recording
from .known import FRESH, cannot_fail, changes_nothing, escaping, is_size


def run(recording: Recording) -> tuple[Recording, str]:
    """Let each call that was made before, with the same arguments and no write between, give way to the first."""
    held = escaping(recording)
    seen = {value for node in recording.nodes if node.effect for value in node.reads} | {*values_in(recording.outputs)}
    names: dict[Value, Value] = {}
    before: list[Node] = []
    kept: list[Node] = []
    for node in recording.nodes:
        args, kwargs = renamed((node.args, dict(node.kwargs)), names)
        node = replace(node, args=args, kwargs=kwargs)
        if changes_nothing(node, recording) and seen.isdisjoint(node.makes):
            names[node.results] = node.args[0]
            continue
        first = next((one for one in before if _same(one, node)), None) if _mergeable(node, recording, held) else None
        if first is not None:
            names.update(zip(node.makes, first.makes, strict=True))
            continue
        kept.append(node)
        before = [one for one in before if is_size(one)] if node.effect else [*before, node]
    gone = len(recording.nodes) - len(kept)
    outputs = renamed(recording.outputs, names)
    return replace(recording, nodes=kept, outputs=outputs), f"{gone} calls left out" if gone else ""


def _mergeable(node: Node, recording: Recording, held: set[Value]) -> bool:
    if is_size(node):
        return cannot_fail(node)
    made = list(node.makes)
    fresh = node.kind == FUNCTION and node.name in FRESH and not node.effect
    return fresh and not any(value in held or recording.facts[value.number].tracked for value in made)


def _same(one: Node, other: Node) -> bool:
    return (
        one.name == other.name
        and one.mode == other.mode
        and alike((one.args, dict(one.kwargs)), (other.args, dict(other.kwargs)))
        and len(list(one.makes)) == len(list(other.makes))
    )
