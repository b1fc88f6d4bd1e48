"""The pass that fuses chains: elementwise operators that share arrays become one node, run block by block.

Operators that nothing else stands between form a stretch; in a stretch, those that share arrays form a chain. A chain
takes the place of its last operator. A chain has nested results only, or dense results only. If gradients flow through
an array that something else reads too, the chain ends there: inside a chain the array would have no node on the tape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .fused_chain import FusedChain
from .fusible_ops import is_fusible
from .nodes import CHAIN, Node, Recording
from .value_trees import Value, values_in


def fuse_chains(recording: Recording) -> tuple[Recording, str]:
    """Replace each chain of two or more operators by one node."""
    read_outside = set(values_in(recording.outputs))
    for node in recording.nodes:
        if not is_fusible(node, recording):
            read_outside.update(node.reads)
    nodes: list[Node] = []
    stretch: list[Node] = []

    def close() -> None:
        for chain in _connected(stretch, recording):
            nodes.extend(_fused(chain, recording))
        stretch.clear()

    for node in recording.nodes:
        made = {value for earlier in stretch for value in earlier.makes}
        reads = made.intersection(node.reads)
        if not is_fusible(node, recording):
            if reads or _is_tracked(node.makes, recording) or not node.can_move:
                close()
            nodes.append(node)
        elif stretch and _kind(node, recording) != _kind(stretch[0], recording):
            if _kind(node, recording) == "dense" and not reads and not _is_tracked(node.makes, recording):
                nodes.append(node)  # as a bias that is computed between nested operators
            else:
                close()
                stretch.append(node)
        else:
            if _is_tracked(reads & read_outside, recording):
                close()
            stretch.append(node)
    close()
    sizes = [len(node.function.nodes) for node in nodes if isinstance(node.function, FusedChain)]
    return replace(recording, nodes=nodes), f"{sum(sizes)} operators in {len(sizes)}" if sizes else ""


def _kind(node: Node, recording: Recording) -> str:
    return recording.facts[node.results.number].kind


def _is_tracked(values: Iterable[Value], recording: Recording) -> bool:
    return any(recording.facts[value.number].tracked for value in values)


def _connected(stretch: list[Node], recording: Recording) -> list[list[Node]]:
    """Return the nodes in groups that share arrays: nested ones, if the nodes make nested arrays.

    Interleaved groups change places. If gradients flow, the order of the tape would show that: each node is a group.
    """
    groups: list[list[int]] = []
    arrays = [_arrays(node, recording) for node in stretch]
    for i in range(len(stretch)):
        met = [group for group in groups if any(arrays[i] & arrays[j] for j in group)]
        groups = [group for group in groups if group not in met]
        groups.append(sorted([i, *[j for group in met for j in group]]))
    is_reordered = [i for group in groups for i in group] != list(range(len(stretch)))
    if is_reordered and any(_is_tracked(node.makes, recording) for node in stretch):
        return [[node] for node in stretch]
    return [[stretch[i] for i in group] for group in groups]


def _arrays(node: Node, recording: Recording) -> set[Value]:
    """Return the arrays of the kind that a node makes, among those that it reads and makes."""
    kind = _kind(node, recording)
    return {value for value in (*node.reads, *node.makes) if recording.facts[value.number].kind == kind}


def _fused(nodes: list[Node], recording: Recording) -> list[Node]:
    """Return a chain as one node; one operator, and a chain that nothing reads, as they are."""
    made = [value for node in nodes for value in node.makes]
    read_later = {value for node in recording.nodes if not set(made) & {*node.makes} for value in node.reads}
    read_later.update(values_in(recording.outputs))
    inputs = list(dict.fromkeys(value for node in nodes for value in node.reads if value not in made))
    outputs = [value for value in made if value in read_later]
    if len(nodes) < 2 or not outputs:
        return nodes
    chain = FusedChain(nodes, inputs, outputs, recording.facts)
    results = outputs[0] if len(outputs) == 1 else tuple(outputs)
    return [Node(chain.name, CHAIN, chain, tuple(inputs), {}, results, None, False, nodes[-1].spot)]
