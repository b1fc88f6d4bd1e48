"""What an adapter can do, as it says in its answer to `start`. A call beyond that is not sent.

An adapter that says nothing is asked everything. What one says that it lacks is missing, as if it had answered so; and
it is not sent operands that it cannot hold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pynested.spec.encoding import WIDTHS

from .messages import Message, without_gradient
from .placements import LAYOUTS, PLACEMENTS
from .printable import printable
from .replies import Reply

DENSE = "dense"  # the layout of a request whose operands are all dense

# The names that an adapter may list; an operator that the specification lacks is never asked for.
_NAMES: Mapping[str, Any] = {
    "operators": [str],
    "layouts": [set(LAYOUTS)],
    "placements": [set(PLACEMENTS)],
    "dtypes": [set(WIDTHS)],
}
RULE = {**{f"{name}?": rule for name, rule in _NAMES.items()}, "gradients?": bool, "dense?": bool}


@dataclass(frozen=True)
class Capabilities:
    """What an adapter says that it can do; None where it does not say, which stands for everything.

    ``dense`` says that the target has operators on dense arrays too, and answers requests of the layout `dense`.
    """

    operators: tuple[str, ...] | None = None
    layouts: tuple[str, ...] | None = None
    placements: tuple[str, ...] | None = None
    dtypes: tuple[str, ...] | None = None
    gradients: bool = True
    dense: bool = False

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Capabilities:
        """Read what was held against `RULE`."""
        lists: dict[str, Any] = {name: tuple(map(printable, fields[name])) for name in _NAMES if name in fields}
        return cls(**lists, **{name: fields[name] for name in ("gradients", "dense") if name in fields})

    def lacks(self, request: Message) -> str:
        """Return what a request needs and the adapter does not declare, or nothing."""
        if request["layout"] == DENSE and not self.dense:
            return "the adapter says nothing of operators on dense arrays"
        needed = {
            "operators": {request["op"]},
            "layouts": {request["layout"]} - {DENSE},
            "placements": {request["placement"]},
            "dtypes": dtypes_of([*request["args"], *request["kwargs"].values()]),
        }
        for name, wanted in needed.items():
            own: tuple[str, ...] | None = getattr(self, name)
            if own is not None and (lost := sorted(wanted - set(own))):
                return f"the adapter does not list {', '.join(lost)} among its {name}"
        return ""

    def trimmed(self, request: Message) -> Message:
        """Return the request without its gradient where the adapter computes none."""
        return request if self.gradients else without_gradient(request)


def dtypes_of(value: object) -> set[str]:
    """Return the dtypes of the arrays in JSON values, and those that are arguments themselves."""
    if isinstance(value, list):
        return set().union(*map(dtypes_of, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    ((form, fields),) = value.items()
    if form == "list":
        return dtypes_of(fields)
    if form == "dtype":
        return {str(fields)}
    return {str(fields["dtype"])} if form in ("nested", "dense") else set()


def answers_within(
    ask: Callable[[Iterable[Message]], Iterator[Reply]], requests: Iterable[tuple[Message, Reply | None]]
) -> Iterator[Reply]:
    """Yield a reply for each request in order; one that comes with its reply is not sent."""
    known: deque[Reply | None] = deque()  # of the requests that were taken and are not answered yet

    def sent() -> Iterator[Message]:
        for request, instead in requests:
            known.append(instead)
            if instead is None:
                yield request

    for reply in ask(sent()):
        while (instead := known.popleft()) is not None:
            yield instead
        yield reply
    yield from (instead for instead in known if instead is not None)
