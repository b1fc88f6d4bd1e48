"""Reading the tape: backward for gradients, forward for tangents, and what lies between two nodes.

A `Node` is a recorded operation; a `Leaf` ends the tape at an array that no operation made. Reverse mode visits the
operations from the last to the first, forward mode from the first to the last. Their numbers give the order, so neither
mode needs recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop
from operator import attrgetter
from typing import Any

from pynested.backends.errors import GradientError
from pynested.backends.events import emit_around, listening

from .hooks import hooked
from .nan_check import apply_vjp_checked
from .pending import Pending
from .tape import Node

_number = attrgetter("number")


def pull_back(
    seeds: Iterable[tuple[Any, Any]],
    *,
    create_graph: bool,
    retain_graph: bool,
    wanted: set[Any] | None = None,
    needed: set[Any] | None = None,
    until: set[Any] | None = None,
) -> Pending:
    """Read the tape backward from ``seeds`` (pairs of node and cotangent).

    The result's ``cotangents`` are those of the leaves, of the nodes in ``wanted``, and of those in ``until``, where
    the pass ends. With ``create_graph`` the pass itself is recorded; ``retain_graph`` leaves the saved values in place.
    Only nodes in ``needed`` are visited, if it is given.
    """
    pending = Pending(create_graph)
    for node, cotangent in seeds:
        if needed is None or node in needed:
            pending.add(node, cotangent)
    found: dict[Any, Any] = {}
    heap, cotangents = pending.heap, pending.cotangents
    while heap:
        node = heappop(heap)[1]
        cotangent = cotangents.pop(node)
        if until is not None and node in until:
            found[node] = cotangent
            continue
        if node.hooks or node.retaining is not None:
            cotangent = _visit(node, cotangent, pending)
        if wanted is not None and node in wanted:
            found[node] = cotangent
        if needed is not None and needed.isdisjoint(node.sources):
            continue
        if node.stack is not None:
            apply_vjp_checked(node, node.stack, cotangent, pending, needed)
        elif listening.count:
            emit_around("vjp", node.name, node.rule.apply_vjp, node, cotangent, pending, needed)
        else:
            node.rule.apply_vjp(node, cotangent, pending, needed)
        if not retain_graph:
            node.free()
    cotangents.update(found)
    return pending


def _visit(node: Node, cotangent: Any, pending: Pending) -> Any:
    """Run the hooks of ``node`` and leave the cotangent with an array that asked to retain it."""
    given = hooked(node.hooks or {}, cotangent, pending)
    retaining = node.retaining() if node.retaining is not None else None
    if retaining is not None:
        retaining.accumulate(given.clone())
    return given


def nodes_between(ends: Iterable[Any], starts: Iterable[Any], since: int = 0) -> set[Any]:
    """Return ``starts``, and the nodes on paths from them to the nodes ``ends``; none with a number below ``since``."""
    reached = set(starts)
    for node in sorted(nodes_before(ends, since), key=_number):
        if not reached.isdisjoint(node.sources):
            reached.add(node)
    return reached


def nodes_before(ends: Iterable[Any], since: int = 0) -> set[Node]:
    """The nodes among ``ends``, and every node that they come from; none with a number below ``since``."""
    seen: set[Node] = set()
    pending = list(ends)
    while pending:
        node = pending.pop()
        if type(node) is Node and node not in seen and node.number >= since:
            seen.add(node)
            pending.extend(node.sources)
    return seen


def boundary(ends: Iterable[Any], since: int) -> list[Any]:
    """Return where ``ends`` come from: leaves, and the last nodes with a number below ``since``."""
    ends = list(ends)
    inside = nodes_before(ends, since)
    nodes = [*ends, *(source for node in sorted(inside, key=_number) for source in node.sources)]
    return [node for node in dict.fromkeys(nodes) if node is not None and node not in inside]


def push_forward(tangents: dict[Any, Any], ends: Sequence[Any], since: int = 0) -> list[Any]:
    """Read the tape forward from node ``since``: push ``tangents``, by node, to ``ends``; None where none arrives."""
    for node in sorted(nodes_between(ends, tangents, since).difference(tangents), key=_number):
        arrived = [tangents.get(source) for source in node.sources]
        if listening.count:
            pushed = emit_around("jvp", node.name, node.rule.apply_jvp, node, arrived)
        else:
            pushed = node.rule.apply_jvp(node, arrived)
        if pushed is None:
            continue
        if node.parts == 0 and (pushed.shape != node.shape or pushed.dtype != node.dtype):
            raise GradientError(
                f"{node.rule.name}: its rule pushed a tangent of shape {pushed.shape} and dtype {pushed.dtype}; the "
                f"output has shape {node.shape} and dtype {node.dtype}. The rule is wrong; it must return the output's."
            )
        tangents[node] = pushed
    return [tangents.get(end) for end in ends]
