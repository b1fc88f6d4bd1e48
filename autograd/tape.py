"""The tape: a list of lines, each of which can pull a cotangent up and push a tangent down.

A line is written when an operator meets an array that wants a gradient. Reverse mode reads the lines from the last to
the first, forward mode from the first to the last; the order is the number a line got when it was written, so neither
direction needs recursion or a sort of the graph.

A line holds values and the lines before it, never the array it made, and instead of a leaf that leaf's stand-in: there
are no cycles, and a graph that nobody holds is gone at once.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from pynested.backends.errors import GradientError

if TYPE_CHECKING:
    from .anomaly import Trace
    from .array import Array
    from .rules.rule import Rule

Hook = Callable[["Array"], "Array | None"]
OFF, RECORDING, ANOMALY = 0, 1, 2
FREED: Any = ("freed",)


class State(threading.local):
    """What the current thread records: nothing, lines, or lines with the place in the program that wrote them."""

    mode = RECORDING

    def __init__(self) -> None:
        self.before: list[int] = []


state = State()
_numbers = itertools.count()


class Line:
    """One recorded operation: its rule, where its inputs came from, and what its derivative needs.

    Attributes
    ----------
    number : int
        Position on the tape; every source has a smaller one.
    sources : tuple
        For each array argument the `Line` or the leaf's stand-in it came from, or None if it is constant.
    inputs, output, static
        The saved values, as the rule asked for them, and the arguments that are not arrays.
    version : int
        Sum of the versions of the saved storages; another sum later means that a saved value was overwritten.
    shapes : tuple
        The shapes of all array arguments, where the rule is not elementwise.
    parts : int
        How many outputs there are, where they hang from this line by a part each; 0 where the line is the one output's.
    trace : Trace or None
        Where the line was written, inside `anomaly`.
    """

    # fmt: off
    __slots__ = (
        "__weakref__", "dtype", "hooks", "inputs", "keeper", "number", "output", "parts", "rule", "shape", "shapes",
        "sources", "static", "trace", "version",
    )  # fmt: on

    shapes: tuple[tuple[int, ...], ...]

    def __init__(
        self, rule: Rule, sources: tuple[Any, ...], static: tuple[Any, ...], shape: tuple[int, ...], dtype: Any
    ) -> None:
        self.number = next(_numbers)
        self.rule = rule
        self.sources = sources
        self.static = static
        self.shape = shape
        self.dtype = dtype
        self.inputs: Any = None
        self.output: Any = None
        self.version = 0
        self.parts = 0
        self.hooks: list[Hook] | None = None
        self.keeper: weakref.ref[Array] | None = None
        self.trace: Trace | None = None

    def save(self, inputs: Any, output: Any) -> None:
        """Keep what the derivative needs: some of the inputs, and the output without its history."""
        self.inputs, self.output = inputs, output
        self.version = version_of(inputs, output)
        if state.mode == ANOMALY:
            from .anomaly import Trace

            self.trace = Trace()
            self.trace.remember(self)

    def saved(self) -> tuple[Any, Any]:
        """The saved inputs and output, after checking that they are still what they were."""
        if self.inputs is FREED:
            raise GradientError(
                f"{self.rule.name}: its saved values were freed by an earlier backward pass over the same graph. "
                "Give retain_graph=True to the first pass to keep them."
            )
        if self.version != version_of(self.inputs, self.output):
            raise GradientError(
                f"{self.rule.name}: a value saved for the gradient was overwritten in place after it was used. "
                "Use the functional form (x = x.mul(2) for x.mul_(2)), or clone before writing."
            )
        if self.trace is not None:
            self.trace.compare(self)
        return self.inputs, self.output

    def free(self) -> None:
        """Drop the saved values; a line that needed none can be read again."""
        if self.inputs is not None or self.output is not None:
            self.inputs, self.output = FREED, None


def version_of(inputs: Any, output: Any) -> int:
    """Sum of the versions of the storages of saved arrays; versions only grow, so a write changes the sum."""
    total: int = output.storage.version if output is not None else 0
    for saved in inputs or ():
        if saved is not None and hasattr(saved, "storage"):
            total += saved.storage.version
    return total


def source_of(array: Array) -> Any:
    """Where gradients of ``array`` go: the line that made it, its stand-in if it is a leaf, or None."""
    if not array.requires_grad:
        return None
    return array.line or array.stand_in()


def held(arrays: Iterable[Any], sources: Iterable[Any]) -> tuple[Any, ...]:
    """``arrays`` as a line may hold them: in place of a leaf, which may hold the line by its grad, its stand-in."""
    return tuple([s if s is not None and type(s) is not Line else a for a, s in zip(arrays, sources, strict=True)])


class Pending:
    """The cotangents of one pass: by node, and the lines still to be read, last first.

    Attributes
    ----------
    cotangents : dict
        By node; what is left at the end are those of the leaves.
    exposed : set of int
        The owners of the memory, by id, that somebody else holds too: gradients must not live there.
    """

    def __init__(self, graph: bool) -> None:
        self.graph = graph
        self.cotangents: dict[Any, Any] = {}
        self.heap: list[tuple[int, Line]] = []
        self.exposed: set[int] = set()

    def add(self, node: Any, cotangent: Any) -> None:
        """Add what arrived at ``node`` to what is there already."""
        cotangents = self.cotangents
        if node in cotangents:
            cotangents[node] = cotangents[node] + cotangent
            return
        cotangents[node] = cotangent
        if type(node) is Line:
            heappush(self.heap, (-node.number, node))

    def add_part(self, line: Line, part: int, cotangent: Any) -> None:
        """Add to the cotangent of one of several outputs of ``line``."""
        parts = self.cotangents.get(line)
        if parts is None:
            parts = self.cotangents[line] = [None] * line.parts
            heappush(self.heap, (-line.number, line))
        parts[part] = cotangent if parts[part] is None else parts[part] + cotangent


def pull_back(
    seeds: Iterable[tuple[Any, Any]],
    *,
    graph: bool,
    keep: bool,
    wanted: set[Any] | None = None,
    needed: set[Any] | None = None,
) -> Pending:
    """Read the tape upwards from ``seeds`` (pairs of node and cotangent).

    The result's ``cotangents`` are those of the leaves and of the lines in ``wanted``. With ``graph`` they are arrays
    and the pass itself is recorded; ``keep`` leaves the saved values in place; ``needed`` limits the pass to its nodes.
    """
    pending = Pending(graph)
    for node, cotangent in seeds:
        pending.add(node, cotangent)
    found: dict[Any, Any] = {}
    heap, cotangents = pending.heap, pending.cotangents
    while heap:
        line = heappop(heap)[1]
        cotangent = cotangents.pop(line)
        if line.hooks or line.keeper is not None:
            cotangent = _visit(line, cotangent, pending)
        if wanted is not None and line in wanted:
            found[line] = cotangent
        if line.trace is None:
            line.rule.pull(line, cotangent, pending, needed)
        else:
            line.trace.pull(line, cotangent, pending, needed)
        if not keep:
            line.free()
    cotangents.update(found)
    return pending


def _visit(line: Line, cotangent: Any, pending: Pending) -> Any:
    """Run the hooks of ``line`` and leave the cotangent with an array that asked to retain it."""
    from .array import Array, as_cotangent, raw

    given = cotangent if isinstance(cotangent, Array) else as_cotangent(cotangent, line)
    given = hooked(line.hooks, given, pending.exposed)
    keeper = line.keeper() if line.keeper is not None else None
    if keeper is not None:
        keeper.accumulate(given.clone())
    return given if isinstance(cotangent, Array) else raw(given)


def hooked(hooks: Sequence[Hook] | None, given: Array, exposed: set[int]) -> Array:
    """The cotangent after ``hooks``; each may return a replacement of the same shape and dtype, or None."""
    from .array import Array, owner

    for hook in hooks or ():
        answer = hook(given)
        exposed.add(owner(given))
        if answer is None:
            continue
        if not isinstance(answer, Array) or answer.shape != given.shape or answer.dtype != given.dtype:
            what = f"shape {answer.shape} and dtype {answer.dtype}" if isinstance(answer, Array) else repr(answer)
            raise GradientError(
                f"hook {getattr(hook, '__name__', hook)!r} returned {what}; the gradient has shape {given.shape} and "
                f"dtype {given.dtype}. Return an array like it, or None."
            )
        given = answer
        exposed.add(owner(given))
    return given


def lines_between(ends: Iterable[Any], starts: set[Any]) -> list[Line]:
    """Every line on a path from ``starts`` (nodes) to ``ends`` (nodes), first to last."""
    reached = set(starts)
    between: list[Line] = []
    for line in sorted(lines_before(ends), key=lambda line: line.number):
        if line in starts or not reached.isdisjoint(line.sources):
            reached.add(line)
            between.append(line)
    return between


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
    nodes = [*ends, *(source for line in sorted(inside, key=lambda line: line.number) for source in line.sources)]
    return [node for node in dict.fromkeys(nodes) if node is not None and node not in inside]


def now() -> int:
    """A number above that of every line so far."""
    return next(_numbers)


def push_forward(tangents: dict[Any, Any], ends: Sequence[Any]) -> list[Any]:
    """Read the tape downwards: ``tangents`` by node, pushed to ``ends``; None where nothing arrives."""
    for line in lines_between(ends, set(tangents)):
        if line in tangents:
            continue
        pushed = line.rule.push(line, [tangents.get(source) for source in line.sources])
        if pushed is None:
            continue
        if line.parts == 0 and (pushed.shape != line.shape or pushed.dtype != line.dtype):
            raise GradientError(
                f"{line.rule.name}: its rule pushed a tangent of shape {pushed.shape} and dtype {pushed.dtype}; the "
                f"output has shape {line.shape} and dtype {line.dtype}. The rule is wrong; it must return the output's."
            )
        tangents[line] = pushed
    return [tangents.get(end) for end in ends]
