"""The pass that fuses chains: elementwise operators of one shape become one node, run block by block.

Operators without other calls between them form a chain, which takes the place of its last operator. A chain has nested
results of one ragged structure only, or dense results of one shape only. If gradients flow through an array that
something else reads too, the chain ends there: inside a chain the array would have no node on the tape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pynested.backends import get_backend
from pynested.backends.cuda import KernelBackend
from pynested.backends.cuda.instantiations import FLOATS

from .fused_chain import FusedChain
from .fusible_ops import PREVIOUS, lower_call
from .inputs import Value, values_in
from .nodes import CHAIN, FUNCTION, METHOD, Fact, Node, Recording


def fuse_chains(recording: Recording) -> Recording:
    """Replace each chain of two or more operators by one node."""
    read_outside = set(values_in(recording.outputs))
    read_outside.update(*[node.reads for node in recording.nodes if not is_fusible(node, recording)])
    nodes: list[Node] = []
    chain: list[Node] = []

    def close() -> None:
        nodes.extend(_fused(chain, recording))
        chain.clear()

    for node in recording.nodes:
        reads = {value for earlier in chain for value in earlier.makes}.intersection(node.reads)
        if not is_fusible(node, recording):
            if reads or node.effect or _is_tracked(node.makes, recording):
                close()
            nodes.append(node)  # before the chain: if both raise errors, the function itself is called
            continue
        made = recording.facts[node.results.number]
        first = recording.facts[chain[0].results.number] if chain else made
        has_other_shape = (first.kind, first.shape) != (made.kind, made.shape)
        if has_other_shape and made.kind == "dense" and not reads and not made.tracked:
            nodes.append(node)  # as a bias that is computed between nested operators
            continue
        if has_other_shape or _is_tracked(reads & read_outside, recording):
            close()
        chain.append(node)
    close()
    return replace(recording, nodes=nodes)


def _is_tracked(values: Iterable[Value], recording: Recording) -> bool:
    return any(recording.facts[value.number].tracked for value in values)


def _fused(nodes: list[Node], recording: Recording) -> list[Node]:
    """Return a chain as one node; one operator, and a chain that nothing reads, as they are."""
    made = [value for node in nodes for value in node.makes]
    read_later = {value for node in recording.nodes if not set(made) & {*node.makes} for value in node.reads}
    read_later.update(values_in(recording.outputs))
    inputs = list(dict.fromkeys(value for node in nodes for value in node.reads if value not in made))
    outputs = [value for value in made if value in read_later]
    if len(nodes) < 2 or not outputs:
        return list(nodes)
    chain = FusedChain(tuple(nodes), inputs, outputs, recording.facts)
    results = outputs[0] if len(outputs) == 1 else tuple(outputs)
    return [Node(chain.name, CHAIN, chain, tuple(inputs), {}, results, None, False, nodes[-1].line)]


def is_fusible(node: Node, recording: Recording) -> bool:
    """Return whether a chain can compute a call: from arrays of one device and numbers to floats or bools."""
    is_call = node.kind in (FUNCTION, METHOD) and node.mode in (None, recording.mode)
    if not is_call or node.effect or type(node.results) is not Value:
        return False
    made = recording.facts[node.results.number]
    calls = lower_call(node, made)
    operands = [operand for _, operands in calls for operand in operands if operand is not PREVIOUS]
    facts = [recording.facts[operand.number] for operand in operands if type(operand) is Value]
    if not facts or {fact.device for fact in facts} != {made.device}:
        return False
    if made.device != "cpu" and not isinstance(get_backend(made.device), KernelBackend):  # without raw kernels
        return False
    if node.name in ("to", "astype") and made.dtype == facts[0].dtype:  # returns its operand, or a copy
        return False
    if made.dtype not in FLOATS and not (made.dtype == "bool" and all(op.may_return_bool for op, _ in calls)):
        return False
    return all(type(operand) is Value or _is_representable(operand, facts) for operand in operands)


def _is_representable(number: Any, facts: list[Fact]) -> bool:
    """Return whether arrays of these dtypes can represent a number; a ufunc cannot compare them with other numbers."""
    if type(number) is not int:
        return isinstance(number, float)
    return 0 <= number < 128 or (abs(number) <= 2**53 and all(fact.dtype in FLOATS for fact in facts))
