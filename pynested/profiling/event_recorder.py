"""Events of a timeline as plain data, in the order in which they began."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from pynested.autograd import Array
from pynested.autograd.array import raw
from pynested.autograd.decorators import Call
from pynested.autograd.primitives.primitive import LISTED_OUTPUT
from pynested.autograd.tape import Node, grad_mode
from pynested.backends.storage import address

from .function_location import function_name
from .object_names import ObjectNames


@dataclass(slots=True)
class Event:
    """Something that happened.

    Attributes
    ----------
    kind : str
        ``call`` of an operator, ``primitive``, ``kernel``, ``launch`` of a CUDA kernel, ``vjp`` and ``jvp`` of a node,
        ``view``, ``tape``, ``accumulate``; of a storage ``allocate``, ``write``, ``free`` and, at the end, ``alive``.
    name : str
        The name of the operator, the primitive, the kernel, the storage or the node.
    depth : int
        The number of events inside which it happened.
    at : float
        The beginning, in seconds since the beginning of the timeline.
    took : float or None
        The duration in seconds, with all that happened inside and the recording of it; None for a moment.
    facts : dict
        Everything else, as strings, numbers, and lists and dicts of them.
    """

    kind: str
    name: str
    depth: int
    at: float
    took: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class EventRecorder:
    """A watcher of operators, and a listener to the events below them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.is_open = True
        self.names = ObjectNames(when_freed=lambda name, nbytes: self._add("free", name, {"bytes": nbytes}))
        self._running: list[tuple[Event, tuple[Any, ...]]] = []  # with the arguments, until they end
        self._start = perf_counter()

    def close(self) -> None:
        """Record each allocated storage that is still alive; then record no more."""
        nbytes = {event.name: event.facts["bytes"] for event in self.events if event.kind == "allocate"}
        for name in list(self.names.living):
            if name in nbytes:
                self._add("alive", name, {"bytes": nbytes[name]})
        self.is_open = False

    def _add(self, kind: str, name: str, facts: dict[str, Any]) -> Event:
        event = Event(kind, name, len(self._running), perf_counter() - self._start, None, facts)
        if self.is_open:
            self.events.append(event)
        return event

    # ---- calls of operators ---------------------------------------------------------------------------------------

    def watch(self, call: Call) -> Any:
        """Record the call of an operator, and everything inside it."""
        self.begin("call", call.name, call.function, (call.args, call.kwargs))
        try:
            result = call.run()
        except BaseException as error:
            self.end(None, error)
            raise
        self.end(result, None)
        return result

    # ---- events of primitives, kernels and storages ---------------------------------------------------------------

    def begin(self, kind: str, name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Record the beginning of an event."""
        if not self.is_open:
            return
        facts: dict[str, Any] = {}
        if kind == "call":
            facts["args"] = [self.names.describe(value) for value in args[0]]
            named = {key: value for key, value in args[1].items() if value is not None}
            facts["kwargs"] = {key: self.names.describe(value) for key, value in named.items()}
        elif kind == "primitive":
            facts["device"] = next((array.storage.device for array in args if type(array) is Array), "cpu")
            facts["args"] = [self.names.describe(value) for value in args]
        elif kind == "kernel":
            facts["function"] = function_name(function)
        elif kind == "launch":
            facts = {"file": args[0], "grid": list(args[2]), "block": list(args[3])}
        elif kind in ("vjp", "jvp"):
            node, arrived = args[:2]
            facts = {"primitive": name, "arrived": self.names.describe(arrived), "sources": self._sources(node)}
            name = self.names.node(node)
        self._running.append((self._add(kind, name, facts), args))

    def _sources(self, node: Node) -> list[str]:
        return [self.names.node(source) for source in node.sources if source is not None]

    def end(self, result: Any, error: BaseException | None) -> None:
        """Record the end of the event that began last."""
        if not self.is_open or not self._running:
            return
        event, args = self._running[-1]
        if error is not None:
            event.facts["raised"] = type(error).__name__
        elif event.kind in ("call", "primitive"):
            event.facts["result"] = self.names.describe(result)
        results = [x for x in (result if isinstance(result, tuple) else (result,)) if type(x) is Array]
        if event.kind == "primitive" and results:
            operands = [operand for operand in args if type(operand) is Array]
            self._note_broadcast(event, [operand.shape for operand in operands], results[0].shape)
            self._note_views(operands, results)
            self._note_tape(operands, results[0])
        event.took = perf_counter() - self._start - event.at
        self._running.pop()

    def _note_broadcast(self, event: Event, shapes: Sequence[tuple[int, ...]], shape: tuple[int, ...]) -> None:
        """Add the shapes of operands that differ if the result has the shape to which they broadcast."""
        sizes = [size in (1, full) for x in shapes for size, full in zip(reversed(x), reversed(shape), strict=False)]
        if len(set(shapes)) > 1 and len(max(shapes, key=len)) <= len(shape) and all(sizes):
            event.facts["broadcast"] = [list(operand) for operand in shapes]

    def _note_views(self, operands: Sequence[Array], results: Sequence[Array]) -> None:
        storages = [operand.storage for operand in operands]
        for array in results:
            data, storage = raw(array), array.storage
            if storage in storages:
                strides = [stride // data.itemsize for stride in data.strides]
                offset = (address(data) - storage.data_ptr) // data.itemsize if data.size else 0
                facts = {"size": list(data.shape), "stride": strides, "storage_offset": offset}
                self._add("view", self.names.storage(storage), facts)

    def _note_tape(self, operands: Sequence[Array], result: Array) -> None:
        node = result.node
        if node is None or not result.tracked:
            wanted = any(operand.tracked for operand in operands)
            unrecorded = "no gradient" if grad_mode.value else "gradients are off"
            why = unrecorded if wanted else "no operand requires grad"
            self._add("tape", "", {"why_not": why})
            return
        node = node.sources[0] if node.operation is LISTED_OUTPUT else node
        saves = [f"operand {i}" for i, saved in enumerate(node.args) if type(saved) is Array]
        saves += ["the result"] * (node.output is not None)
        self._add("tape", self.names.node(node), {"sources": self._sources(node), "saves": saves})

    def note(self, kind: str, name: str, facts: dict[str, Any]) -> None:
        """Record an event without a duration."""
        if not self.is_open:
            return
        if kind == "accumulate":
            storage = facts["leaf"].storage
            facts = {"cotangent": self.names.describe(facts["cotangent"]), "is_first": facts["leaf"]._grad is None}
        else:
            storage = facts["storage"]
            facts = {"version": storage.version} if kind == "write" else {"bytes": int(storage.data.nbytes)}
        self._add(kind, self.names.storage(storage), {"device": storage.device, **facts})
