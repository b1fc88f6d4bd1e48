"""Visits of the nodes of the tape: backward for gradients, forward for tangents, and the nodes between two nodes.

Reverse mode visits the nodes from the last to the first, forward mode from the first to the last. Their numbers give
the order, so neither mode needs recursion.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

import numpy as np

from pynested.backends.errors import GradientError
from pynested.backends.events import LISTENERS, emit_around

from .array import Array, check_gradient, raw
from .containers import flatten
from .hooks import apply_hooks
from .primitives.binary import add
from .primitives.movement import broadcast_to, cast, summed_to, to_dtype
from .tape import BackwardPass, Node, SourceCotangents, node_or_leaf


def run_backward(
    this_pass: BackwardPass,
    seeds: SourceCotangents,
    *,
    retain_graph: bool,
    result_nodes: Container[Any] = (),
    end_nodes: Container[Any] = (),
) -> dict[Any, Any]:
    """Run reverse mode from ``seeds``, pairs of node and cotangent.

    Return the cotangents of the leaves, of ``result_nodes``, and of ``end_nodes``. The pass does not go beyond an end
    node. ``retain_graph`` keeps the saved values.
    """
    this_pass.caller_storages.update([cotangent.storage for _, cotangent in seeds])
    nodes_to_visit, cotangents, results = this_pass.nodes_to_visit, this_pass.cotangents, {}
    heap: list[tuple[int, Node]] = []
    _accumulate([(node, seed) for node, seed in seeds if node in nodes_to_visit], this_pass, heap)
    while heap:
        node = heappop(heap)[1]
        cotangent = cotangents.pop(node)
        if node in end_nodes:
            results[node] = cotangent
            continue
        if node.hooks or node.retaining_arrays:
            cotangent = _apply_node_hooks(node, cotangent, this_pass)
        if node in result_nodes:
            results[node] = cotangent
        if nodes_to_visit.isdisjoint(node.sources):
            continue
        if node.num_listed_outputs:
            cotangent = [cotangent.get(i) for i in range(node.num_listed_outputs)]
        apply_vjp = node.operation.apply_vjp if node.stack is None else _apply_vjp_checked
        if LISTENERS:
            pairs = emit_around("vjp", node.name, apply_vjp, node, cotangent, this_pass)
        else:
            pairs = apply_vjp(node, cotangent, this_pass)
        for i, (source, term) in enumerate(pairs):
            if type(term) is Array and (term._raw.shape != source.shape or term._raw.dtype != source.dtype):
                pairs[i] = source, _matched_to_source(node, source, term)
        term = None  # or it would keep the last term alive
        _accumulate(pairs, this_pass, heap)
        if not retain_graph:
            node.free()
    return cotangents | results


def _accumulate(pairs: SourceCotangents, this_pass: BackwardPass, heap: list[tuple[int, Node]]) -> None:
    """Add each cotangent to what has arrived at its source; push a node when its first one arrives. Empty ``pairs``."""
    cotangents = this_pass.cotangents
    for source, term in pairs:
        earlier = cotangents.get(source)
        if earlier is None:
            cotangents[source] = term
            if type(source) is Node:
                heappush(heap, (-source.number, source))
        elif type(term) is dict:  # cotangents of a node with several outputs, by the position of the output
            earlier.update({i: add(earlier[i], x) if i in earlier else x for i, x in term.items()})
        else:
            cotangents[source] = add(earlier, term)
    pairs.clear()


def _apply_node_hooks(node: Node, cotangent: Any, this_pass: BackwardPass) -> Any:
    """Return the cotangent after the hooks of ``node``; each array with `retain_grad` accumulates a copy."""
    gradient = apply_hooks(node.hooks, cotangent, this_pass)
    for reference in node.retaining_arrays:
        if (array := reference()) is not None:
            array.accumulate(gradient.clone())
    return gradient


def _apply_vjp_checked(node: Node, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
    """Apply the vjp of a node that was recorded inside `anomaly`; raise if it makes NaN from a cotangent without NaN.

    Any error shows where the node was recorded.
    """
    try:
        pairs = node.operation.apply_vjp(node, cotangent, this_pass)
        if not _has_nan(cotangent):
            for source, term in pairs:
                if _has_nan(term):
                    positions = " or ".join(str(i) for i, other in enumerate(node.sources) if other is source)
                    raise GradientError(
                        f"{node.operation.name}: the gradient of its argument {positions} holds NaN, and the cotangent "
                        "that came in held none."
                    )
    except Exception as error:
        lines = node.stack.format() if node.stack else []
        error.add_note(f"{node.operation.name} was recorded here:\n{''.join(lines)}")
        raise
    return pairs


def _has_nan(cotangent: Any) -> bool:
    """Return whether a cotangent, or one of the cotangents of several outputs, holds NaN."""
    return any(np.isnan(raw(g)).any() for g in flatten(cotangent)[0])


def _matched_to_source(node: Node, source: Any, cotangent: Array) -> Array:
    """Sum a cotangent over the dimensions that the operation broadcast, and cast it to the dtype of ``source``."""
    if cotangent.shape == node.shape and _broadcasts(source.shape, node.shape):
        cotangent = summed_to(cotangent, source.shape)
    if node.dtype is not None and cotangent.dtype == node.dtype:  # None, for several outputs, is equal to float64
        cotangent = to_dtype(cotangent, source.dtype)
    origin = f"{node.operation.name}: its vjp is wrong; it returned"
    check_gradient(origin, cotangent, source.shape, source.dtype, cotangent.device, "cotangent")
    return cotangent


def _broadcasts(shape: tuple[int, ...], target: Any) -> bool:
    sizes = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(size in (1, target_size) for size, target_size in sizes)


def vjp_between(
    outputs: Sequence[Array | None],
    cotangents: Sequence[Array | None],
    inputs: Iterable[Any],
    first_number: int,
    new_pass: BackwardPass,
) -> dict[Any, Any]:
    """Take ``cotangents`` of ``outputs`` back to ``inputs``, nodes or leaves; return the cotangents by input.

    The recording began at ``first_number``. ``new_pass`` visits the nodes between the outputs and the inputs.
    """
    pairs = zip(outputs, cotangents, strict=True)
    seeds = [(node_or_leaf(y), g) for y, g in pairs if y is not None and y.tracked and g is not None]
    end_nodes = {node for node in inputs if node is not None}
    new_pass.nodes_to_visit = nodes_between([node for node, _ in seeds], end_nodes, first_number)
    return run_backward(new_pass, seeds, retain_graph=new_pass.is_recorded, end_nodes=end_nodes)


def nodes_between(output_nodes: Iterable[Any], input_nodes: Iterable[Any], first_number: int = 0) -> set[Any]:
    """Return the input nodes, and the nodes from ``first_number`` on that lie on paths from an input to an output."""
    between = set(input_nodes)
    for node in walk_back(output_nodes, first_number)[0]:
        if not between.isdisjoint(node.sources):
            between.add(node)
    return between


def walk_back(output_nodes: Iterable[Any], first_number: int = 0) -> tuple[list[Node], list[Any]]:
    """Return the output nodes and the nodes that lead to them, from ``first_number`` on, in the order of their numbers.

    The second list has the leaves, and the nodes below ``first_number``, at which the walk stops.
    """
    outputs, inside = list(output_nodes), set()
    pending = outputs.copy()
    while pending:
        node = pending.pop()
        if type(node) is Node and node not in inside and node.number >= first_number:
            inside.add(node)
            pending.extend(node.sources)
    nodes = sorted(inside, key=attrgetter("number"))
    visited = dict.fromkeys([*outputs, *[source for node in nodes for source in node.sources]])
    return nodes, [node for node in visited if node is not None and node not in inside]


def run_forward(tangents: dict[Any, Any], output_nodes: Sequence[Any], first_number: int = 0) -> list[Any]:
    """Run forward mode from ``tangents``, a dict by node, and return the tangent of each output node, or None.

    The tangents of the visited nodes are added to ``tangents``. Nodes below ``first_number`` are not visited.
    """
    for node in walk_back(output_nodes, first_number)[0]:
        source_tangents = [tangents.get(source) for source in node.sources]
        if node in tangents or all(t is None for t in source_tangents):
            continue
        if LISTENERS:
            tangent = emit_around("jvp", node.name, node.operation.apply_jvp, node, source_tangents)
        else:
            tangent = node.operation.apply_jvp(node, source_tangents)
        if tangent is not None:
            is_list = node.num_listed_outputs > 0
            tangents[node] = tangent if is_list else _matched_to_output(node, source_tangents, tangent)
    return [tangents.get(node) for node in output_nodes]


def _matched_to_output(node: Node, source_tangents: Sequence[Array | None], tangent: Array) -> Array:
    """Broadcast and cast a tangent to the output; a jvp may return it in the shape and dtype of an argument."""
    if tangent.shape == node.shape and tangent.dtype == node.dtype:
        return tangent
    known_tangents = [t for t in source_tangents if t is not None]
    if tangent.dtype in [t.dtype for t in known_tangents]:
        tangent = cast(tangent, node.dtype)
    if tangent.shape in [t.shape for t in known_tangents] and _broadcasts(tangent.shape, node.shape):
        tangent = broadcast_to(tangent, node.shape)
    origin = f"{node.operation.name}: its jvp is wrong; it returned"
    check_gradient(origin, tangent, node.shape, node.dtype, tangent.device, "tangent")
    return tangent
