"""Chains: elementwise operators that read each other become one call, which computes them block by block.

On the CPU a reduction of rows may be the last of them, which nothing of the chain reads.

What is made of dense arrays alone, for nested ones, is no part of a chain; it comes before, in the same node where both
write lines of the tape. A chain ends where something else reads what it makes. Where gradients flow, a value that the
function gives away, or that anybody differentiates by, is not inside of a chain: there it has no line of the tape of
its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..chains import Chain, Parted
from ..chains.chain import name_of
from ..forms import Value, values_in
from ..nodes import FUNCTION, Node, Recording
from .groups import grouped
from .known import cannot_fail, is_elementwise, is_end


def run(recording: Recording) -> tuple[Recording, str]:
    """Let each chain of two or more operators be one node, where the last of them may stand."""
    outside = _read_outside(recording)
    done: list[Node] = []
    row: list[Node] = []  # elementwise operators between which nothing has to stay where it is
    makes: set[Value] = set()
    ended: set[Value] = set()
    sizes: list[int] = []

    def close() -> None:
        for nodes in grouped(row, recording):
            done.extend(_closed(nodes, recording, outside, sizes))
        row.clear()
        makes.clear()
        ended.clear()

    for node in recording.nodes:
        end = is_end(node, recording) and _of_one_kind([*row, node], recording)
        if end or is_elementwise(node, recording):
            if _asked_for(makes.intersection(node.reads), recording, outside) or not ended.isdisjoint(node.reads):
                close()
            row.append(node)
            makes.update(node.makes)
            ended.update(node.makes if end else ())
        elif cannot_fail(node) and makes.isdisjoint(node.reads) and not _recorded(node, recording):
            done.append(node)
        else:
            close()
            done.append(node)
    close()
    return replace(recording, nodes=done), f"{sum(sizes)} operators in {len(sizes)}" if sizes else ""


def _of_one_kind(nodes: Iterable[Node], recording: Recording) -> bool:
    """Whether all of them make nested arrays, or all of them dense ones."""
    return len({recording.facts[value.number].kind for node in nodes for value in node.makes}) == 1


def _read_outside(recording: Recording) -> set[Value]:
    """The values that something else reads than what chains have."""
    found = set(values_in(recording.outputs))
    for node in recording.nodes:
        if not is_elementwise(node, recording) and not is_end(node, recording):
            found.update(node.reads)
    return found


def _recorded(node: Node, recording: Recording) -> bool:
    """Whether it writes a line of the tape, whose place among the others says in which order gradients are added."""
    return any(recording.facts[value.number].tracked for value in node.makes)


def _asked_for(values: Iterable[Value], recording: Recording, outside: set[Value]) -> bool:
    """Whether somebody may ask for the gradient of what would be inside of a chain."""
    return any(value in outside and recording.facts[value.number].tracked for value in values)


def _closed(nodes: list[Node], recording: Recording, outside: set[Value], sizes: list[int]) -> Sequence[Node]:
    """A group as a chain, or as what comes before a chain and this, in one node."""
    if len(nodes) < 2:
        return nodes
    inputs, outputs = _borders(nodes, recording, outside)
    made = [value for node in nodes for value in node.makes]
    if not outputs or len(set(made)) != len(made):
        return nodes
    if _of_one_kind(nodes, recording):
        sizes.append(len(nodes))
        return [_node(Chain(nodes, inputs, outputs, recording.facts), nodes, inputs, outputs)]
    dense, nested = (_of_kind(kind, nodes, recording) for kind in ("dense", "nested"))
    both_draw = any(node.effect for node in dense) and any(node.effect for node in nested)
    if len(nested) < 2 or both_draw or not _dense_read_first(nodes, recording):
        return nodes
    parts = [*_closed(dense, recording, outside, sizes), *_closed(nested, recording, outside, sizes)]
    return [_node(Parted(nodes, parts, inputs, outputs), nodes, inputs, outputs)]


def _borders(
    nodes: Sequence[Node], recording: Recording, outside: set[Value]
) -> tuple[Sequence[Value], Sequence[Value]]:
    """The values that go in, generators of random numbers at the end, and those that others read."""
    made = [value for node in nodes for value in node.makes]
    later = {value for node in recording.nodes if node not in nodes for value in node.reads}
    read = dict.fromkeys(value for node in nodes for value in node.reads if value not in made)
    inputs = sorted(read, key=lambda value: recording.facts[value.number].kind == "other")
    return inputs, [value for value in made if value in outside or value in later]


def _of_kind(kind: str, nodes: Iterable[Node], recording: Recording) -> list[Node]:
    return [node for node in nodes if recording.facts[node.results.number].kind == kind]


def _dense_read_first(nodes: Sequence[Node], recording: Recording) -> bool:
    """Whether no gradient comes to a value in another order, once what is of dense arrays alone comes first."""
    by_nested: set[Value] = set()
    for node in nodes:
        if recording.facts[node.results.number].kind == "nested":
            by_nested.update(node.reads)
        elif any(recording.facts[value.number].tracked for value in by_nested.intersection(node.reads)):
            return False
    return True


def _node(function: Chain | Parted, nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value]) -> Node:
    results = outputs[0] if len(outputs) == 1 else tuple(outputs)
    effect = any(node.effect for node in nodes)
    return Node(name_of(nodes), FUNCTION, function, tuple(inputs), {}, results, None, effect, nodes[-1].spot)
