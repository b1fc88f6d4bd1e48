"""What an adapter can do, as it says in its answer to `start`. A request beyond that is not sent.

An adapter that says nothing is asked every call, and no program: these an adapter has to know of. What one says that it
lacks is missing, as if it had answered so; and it is not sent operands that it cannot hold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pynested.spec.encoding import WIDTHS
from pynested.spec.programs import OF_TAPE, operator_of

from .corpus import dtypes_of, forms
from .messages import Message, without_gradient
from .placements import LAYOUTS, PLACEMENTS, words
from .printable import printable
from .replies import MISSING, UNCALLED, Reply

# The names that an adapter may list; an operator that the specification lacks is never asked for.
_NAMES: Mapping[str, Any] = {
    "operators": [str],
    "layouts": [set(LAYOUTS)],
    "placements": [set(PLACEMENTS)],
    "dtypes": [set(WIDTHS)],
}
RULE = {**{f"{name}?": rule for name, rule in _NAMES.items()}, "gradients?": bool, "programs?": bool}


@dataclass(frozen=True)
class Capabilities:
    """What an adapter says that it can do; None where it does not say, which stands for everything."""

    operators: tuple[str, ...] | None = None
    layouts: tuple[str, ...] | None = None
    placements: tuple[str, ...] | None = None
    dtypes: tuple[str, ...] | None = None
    gradients: bool = True
    programs: bool = False

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Capabilities:
        """Read what was held against `RULE`."""
        lists: dict[str, Any] = {name: tuple(map(printable, fields[name])) for name in _NAMES if name in fields}
        return cls(**lists, gradients=fields.get("gradients", True), programs=fields.get("programs", False))

    def lacks(self, request: Message) -> str:
        """Return what a request needs and the adapter does not declare, or nothing."""
        if "steps" in request and not self.programs:
            return "the adapter does not say that it runs programs"
        if "steps" in request and not self.gradients and _needs_tape(request):
            return "the adapter says that it computes no gradients"
        for name, needed in _NEEDED.items():
            own: tuple[str, ...] | None = getattr(self, name)
            if own is not None and (lost := sorted(needed(request) - set(own))):
                return f"the adapter does not list {', '.join(lost)} among its {name}"
        return ""


def _needs_tape(program: Message) -> bool:
    """Return whether a program has to do with gradients."""
    return bool(program["tracked"]) or any(step["op"] in (*OF_TAPE, "requires_grad") for step in program["steps"])


def _operators(request: Message) -> set[str]:
    """Return the operators that a request needs."""
    if "steps" in request:
        return {operator_of(step["op"]) for step in request["steps"]} - {""}
    return {request["op"]}


def _dtypes(request: Message) -> set[str]:
    """Return the dtypes of the arrays of a request, and those that are arguments themselves."""
    calls = request.get("steps", [request])
    values = [value for call in calls for value in (*call["args"], *call.get("kwargs", {}).values())]
    values += request.get("inputs", {}).values()
    return dtypes_of(values) | {str(fields) for form, fields in forms(values) if form == "dtype"}


# What a request needs of each list.
_NEEDED: Mapping[str, Callable[[Message], set[str]]] = {
    "operators": _operators,
    "layouts": lambda request: {request["layout"]},
    "placements": lambda request: set(words(request["placement"])),
    "dtypes": _dtypes,
}


class Within:
    """The requests of a session that are within what its adapter can do; `answers` puts the others in their places."""

    def __init__(self, capabilities: Capabilities, requests: Iterable[Message]) -> None:
        self._capabilities, self._requests = capabilities, iter(requests)
        self._lacking: deque[str] = deque()  # of each request that was taken and has no reply yet: why it is not sent

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        """Return the next request that is sent, without its gradient where the adapter computes none."""
        while why := self._capabilities.lacks(request := next(self._requests)):
            self._lacking.append(why)
        self._lacking.append("")
        return request if self._capabilities.gradients else without_gradient(request)

    def answers(self, replies: Iterable[Reply]) -> Iterator[Reply]:
        """Yield a reply for every request, in order."""
        for reply in replies:
            while why := self._lacking.popleft():
                yield Reply(MISSING, UNCALLED + why)
            yield reply
        while self._lacking:
            yield Reply(MISSING, UNCALLED + self._lacking.popleft())
