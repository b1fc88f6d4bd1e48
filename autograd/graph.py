"""Reading the tape: upwards for gradients, downwards for tangents, and what lies between two nodes.

A node is a recorded operation (`Line`) or the end of the tape at a leaf (`Leaf`). Reverse mode reads the recorded
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
from .nan_check import pull as pull_checked
from .pending import Pending
from .tape import Line

_number = attrgetter("number")


def pull_back(
    seeds: Iterable[tuple[Any, Any]],
    *,
    graph: bool,
    keep: bool,
    wanted: set[Any] | None = None,
    needed: set[Any] | None = None,
    until: set[Any] | None = None,
) -> Pending:
    """Read the tape upwards from ``seeds`` (pairs of node and cotangent).

    The result's ``cotangents`` are those of the leaves, of the lines in ``wanted``, and of those in ``until``, where
    the pass ends. With ``graph`` the pass itself is recorded. ``keep`` leaves the saved values in place; ``needed``
    limits the pass, and the seeds, to its nodes.
    """
    pending = Pending(graph)
    for node, cotangent in seeds:
        if needed is None or node in needed:
            pending.add(node, cotangent)
    found: dict[Any, Any] = {}
    heap, cotangents = pending.heap, pending.cotangents
    while heap:
        line = heappop(heap)[1]
        cotangent = cotangents.pop(line)
        if until is not None and line in until:
            found[line] = cotangent
            continue
        if line.hooks or line.keeper is not None:
            cotangent = _visit(line, cotangent, pending)
        if wanted is not None and line in wanted:
            found[line] = cotangent
        if needed is not None and needed.isdisjoint(line.sources):
            continue
        if line.stack is not None:
            pull_checked(line, line.stack, cotangent, pending, needed)
        elif listening.count:
            emit_around("vjp", line.name, line.rule.pull, line, cotangent, pending, needed)
        else:
            line.rule.pull(line, cotangent, pending, needed)
        if not keep:
            line.free()
    cotangents.update(found)
    return pending


def _visit(line: Line, cotangent: Any, pending: Pending) -> Any:
    """Run the hooks of ``line`` and leave the cotangent with an array that asked to retain it."""
    given = hooked(line.hooks or {}, cotangent, pending)
    keeper = line.keeper() if line.keeper is not None else None
    if keeper is not None:
        keeper.accumulate(given.clone())
    return given


def nodes_between(ends: Iterable[Any], starts: Iterable[Any], since: int = 0) -> set[Any]:
    """``starts``, and every line on a path from them to ``ends`` (nodes) whose number is not below ``since``."""
    reached = set(starts)
    for line in sorted(lines_before(ends, since), key=_number):
        if not reached.isdisjoint(line.sources):
            reached.add(line)
    return reached


def lines_before(ends: Iterable[Any], since: int = 0) -> set[Line]:
    """The lines among ``ends``, and every line that they come from; none with a number below ``since``."""
    seen: set[Line] = set()
    stack = list(ends)
    while stack:
        line = stack.pop()
        if type(line) is Line and line not in seen and line.number >= since:
            seen.add(line)
            stack.extend(line.sources)
    return seen


def boundary(ends: Iterable[Any], since: int) -> list[Any]:
    """The nodes that ``ends`` come from and that are leaves or lines with a number below ``since``."""
    ends = list(ends)
    inside = lines_before(ends, since)
    nodes = [*ends, *(source for line in sorted(inside, key=_number) for source in line.sources)]
    return [node for node in dict.fromkeys(nodes) if node is not None and node not in inside]


def push_forward(tangents: dict[Any, Any], ends: Sequence[Any], since: int = 0) -> list[Any]:
    """Read the tape downwards from line ``since``: push ``tangents``, by node, to ``ends``; None where none arrives."""
    for line in sorted(nodes_between(ends, tangents, since).difference(tangents), key=_number):
        arrived = [tangents.get(source) for source in line.sources]
        if listening.count:
            pushed = emit_around("jvp", line.name, line.rule.push, line, arrived)
        else:
            pushed = line.rule.push(line, arrived)
        if pushed is None:
            continue
        if line.parts == 0 and (pushed.shape != line.shape or pushed.dtype != line.dtype):
            raise GradientError(
                f"{line.rule.name}: its rule pushed a tangent of shape {pushed.shape} and dtype {pushed.dtype}; the "
                f"output has shape {line.shape} and dtype {line.dtype}. The rule is wrong; it must return the output's."
            )
        tangents[line] = pushed
    return [tangents.get(end) for end in ends]
