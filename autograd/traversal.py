"""Visits of the nodes of the tape: backward for gradients, forward for tangents, and the nodes between two nodes.

A `Node` is a recorded operation; a `Leaf` ends the tape at an array that no operation made. Reverse mode visits the
operations from the last to the first, forward mode from the first to the last. Their numbers give the order, so neither
mode needs recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

import numpy as np

from pynested.backends.errors import GradientError
from pynested.backends.events import LISTENERS, emit_around
from pynested.backends.storage import Storage

from .array import Array, raw
from .hooks import apply_hooks
from .primitives.binary import add
from .primitives.movement import broadcast_to, cast, summed_to, to_dtype
from .tape import BackwardPass, Node, SourceCotangents, source_of

_number = attrgetter("number")


def run_backward(
    seeds: SourceCotangents,
    *,
    create_graph: bool,
    retain_graph: bool,
    wanted: set[Any] | None = None,
    needed: set[Any] | None = None,
    until: set[Any] | None = None,
    held: set[Storage] | None = None,
) -> BackwardPass:
    """Run reverse mode from ``seeds``, pairs of node and cotangent.

    The result's ``cotangents`` are those of the leaves, of the nodes in ``wanted``, and of the nodes in ``until``, at
    which the pass ends. With ``create_graph`` the pass itself is recorded; ``retain_graph`` keeps the saved values. If
    ``needed`` is not None, the pass visits only nodes of this set. ``held`` has the storages whose memory a caller can
    hold, so that `backward` copies a gradient in such memory. A pass inside another pass shares the set of that pass.
    """
    this_pass = BackwardPass(create_graph, needed, held=set() if held is None else held)
    this_pass.held.update([cotangent.storage for _, cotangent in seeds])
    cotangents, results = this_pass.cotangents, {}
    heap: list[tuple[int, Node]] = []
    _accumulate([(node, seed) for node, seed in seeds if needed is None or node in needed], this_pass, heap)
    while heap:
        node = heappop(heap)[1]
        cotangent = cotangents.pop(node)
        if until is not None and node in until:
            results[node] = cotangent
            continue
        if node.hooks or node.retaining_array is not None:
            cotangent = _apply_node_hooks(node, cotangent, this_pass)
        if wanted is not None and node in wanted:
            results[node] = cotangent
        if needed is not None and needed.isdisjoint(node.sources):
            continue
        if node.num_parts:  # the node has several outputs
            cotangent = [cotangent.get(i) for i in range(node.num_parts)]
        if node.stack is not None:  # the node was recorded inside `anomaly`
            pairs = _apply_vjp_checked(node, cotangent, this_pass)
        elif LISTENERS:
            pairs = emit_around("vjp", node.name, node.operation.apply_vjp, node, cotangent, this_pass)
        else:
            pairs = node.operation.apply_vjp(node, cotangent, this_pass)
        for i, (source, term) in enumerate(pairs):
            if type(term) is Array and (term._raw.shape != source.shape or term._raw.dtype != source.dtype):
                pairs[i] = source, _matched_to_source(node, source, term)
        term = None  # frees the memory of a term as soon as it is added
        _accumulate(pairs, this_pass, heap)
        if not retain_graph:
            node.free()
    cotangents.update(results)
    return this_pass


def _accumulate(pairs: SourceCotangents, this_pass: BackwardPass, heap: list[tuple[int, Node]]) -> None:
    """Add cotangents to those that have arrived before, push nodes that the pass must visit, and empty ``pairs``."""
    cotangents = this_pass.cotangents
    for source, term in pairs:
        before = cotangents.get(source)
        if before is None:
            cotangents[source] = term
            if type(source) is Node:
                heappush(heap, (-source.number, source))
        elif type(term) is dict:  # cotangents of a node with several outputs, by the number of the output
            before.update({i: add(before[i], x) if i in before else x for i, x in term.items()})
        else:
            cotangents[source] = add(before, term)
    pairs.clear()


def _apply_node_hooks(node: Node, cotangent: Any, this_pass: BackwardPass) -> Any:
    """Return the cotangent after the hooks of ``node``; an array with `retain_grad` accumulates a copy."""
    replaced = apply_hooks(node.hooks or {}, cotangent, this_pass)
    array = node.retaining_array() if node.retaining_array is not None else None
    if array is not None:
        array.accumulate(replaced.clone())
    return replaced


def _apply_vjp_checked(node: Node, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
    """Apply the vjp of a node that was recorded inside `anomaly`: NaN that it makes is an error.

    Any error shows where the node was recorded.
    """
    try:
        pairs = node.operation.apply_vjp(node, cotangent, this_pass)
        if not _has_nan(cotangent):
            for source, term in pairs:
                if _has_nan(term):
                    raise GradientError(
                        f"{node.operation.name}: the gradient of its argument {list(node.sources).index(source)} holds "
                        "NaN, and the cotangent that came in held none."
                    )
    except Exception as error:
        lines = node.stack.format() if node.stack else []
        error.add_note(f"{node.operation.name} was recorded here:\n{''.join(lines)}")
        raise
    return pairs


def _has_nan(cotangent: Any) -> bool:
    """Return whether a cotangent, or one of the cotangents of several outputs, holds NaN."""
    if isinstance(cotangent, list | dict):
        parts = cotangent.values() if isinstance(cotangent, dict) else cotangent
        return any(part is not None and _has_nan(part) for part in parts)
    return bool(np.isnan(raw(cotangent)).any())


def _matched_to_source(node: Node, source: Any, cotangent: Array) -> Array:
    """Return a cotangent in the shape and dtype of its argument, which was broadcast or promoted."""
    shapes, dtypes = (source.shape, node.shape), (source.dtype, node.dtype)
    if cotangent.shape not in shapes or cotangent.dtype not in dtypes or not _broadcasts(source.shape, cotangent.shape):
        raise GradientError(
            f"{node.operation.name}: its vjp returned a cotangent of shape {cotangent.shape} and dtype "
            f"{cotangent.dtype} for argument {list(node.sources).index(source)}, which has shape {source.shape} and "
            f"dtype {source.dtype}. The derivative is wrong; it must return the argument's shape and dtype."
        )
    return to_dtype(summed_to(cotangent, source.shape), source.dtype)


def _broadcasts(shape: tuple[int, ...], to: Any) -> bool:
    sizes = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(size in (1, large) for size, large in sizes)


def vjp_between(
    results: Sequence[Array | None],
    cotangents: Sequence[Array | None],
    sources: Iterable[Any],
    since: int,
    graph: bool,
    held: set[Storage] | None = None,
) -> dict[Any, Any]:
    """Return the cotangents of ``sources``, for ``results`` that were recorded from them after number ``since``."""
    pairs = zip(results, cotangents, strict=True)
    seeds = [(source_of(x), g) for x, g in pairs if x is not None and x.tracked and g is not None]
    until = {source for source in sources if source is not None}
    between = nodes_between([node for node, _ in seeds], until, since)
    this_pass = run_backward(seeds, create_graph=graph, retain_graph=graph, needed=between, until=until, held=held)
    return {source: this_pass.cotangents[source] for source in until if source in this_pass.cotangents}


def nodes_between(ends: Iterable[Any], starts: Iterable[Any], since: int = 0) -> set[Any]:
    """Return ``starts``, and the nodes on paths from ``starts`` to ``ends``; none with a number below ``since``."""
    reached = set(starts)
    for node in sorted(nodes_before(ends, since), key=_number):
        if not reached.isdisjoint(node.sources):
            reached.add(node)
    return reached


def nodes_before(ends: Iterable[Any], since: int = 0) -> set[Node]:
    """Return the nodes among ``ends``, and all nodes before them; none with a number below ``since``."""
    seen: set[Node] = set()
    pending = list(ends)
    while pending:
        node = pending.pop()
        if type(node) is Node and node not in seen and node.number >= since:
            seen.add(node)
            pending.extend(node.sources)
    return seen


def boundary(ends: Iterable[Any], since: int) -> list[Any]:
    """Return the leaves, and the nodes with a number below ``since``, at which a walk back from ``ends`` stops."""
    ends = list(ends)
    inside = nodes_before(ends, since)
    nodes = [*ends, *(source for node in sorted(inside, key=_number) for source in node.sources)]
    return [node for node in dict.fromkeys(nodes) if node is not None and node not in inside]


def run_forward(tangents: dict[Any, Any], ends: Sequence[Any], since: int = 0) -> list[Any]:
    """Run forward mode from ``tangents``, by node, and return the tangents of ``ends``, None if none arrives.

    Nodes with a number below ``since`` are not visited.
    """
    for node in sorted(nodes_between(ends, tangents, since).difference(tangents), key=_number):
        arrived = [tangents.get(source) for source in node.sources]
        if all(t is None for t in arrived):
            continue
        if LISTENERS:
            tangent = emit_around("jvp", node.name, node.operation.apply_jvp, node, arrived)
        else:
            tangent = node.operation.apply_jvp(node, arrived)
        if tangent is not None:
            tangents[node] = tangent if node.num_parts else _matched_to_output(node, arrived, tangent)
    return [tangents.get(end) for end in ends]


def _matched_to_output(node: Node, arrived: Sequence[Array | None], tangent: Array) -> Array:
    """Return a tangent, which can have the shape and dtype of an argument, in the shape and dtype of the output."""
    if tangent.shape == node.shape and tangent.dtype == node.dtype:
        return tangent
    shapes = [node.shape, *[t.shape for t in arrived if t is not None]]
    dtypes = [node.dtype, *[t.dtype for t in arrived if t is not None]]
    if tangent.shape not in shapes or tangent.dtype not in dtypes or not _broadcasts(tangent.shape, node.shape):
        raise GradientError(
            f"{node.operation.name}: its jvp returned a tangent of shape {tangent.shape} and dtype {tangent.dtype}; "
            f"the output has shape {node.shape} and dtype {node.dtype}. The derivative is wrong; it must return the "
            "output's shape and dtype."
        )
    tangent = tangent if tangent.dtype == node.dtype else cast(tangent, node.dtype)
    return tangent if tangent.shape == node.shape else broadcast_to(tangent, node.shape)
