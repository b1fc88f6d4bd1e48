"""What watches while a timeline is open: it notes each call and each step, and says what became of it."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from pynested.autograd import Array
from pynested.nested.array import NestedArray
from pynested.surface.passing import STEP, Call

from .events import Event
from .names import Names


def _references() -> int:
    """What `sys.getrefcount` says of an object that nothing but a variable holds; Python's versions differ."""
    alone = object()
    return sys.getrefcount(alone)


_OWN = _references()
Handler = Callable[["Recorder", Call], Any]  # runs the call, and returns what it gives


class Recorder:
    """The events of one timeline, in the order in which they began.

    ``of_calls`` notes what is public, ``of_steps`` what has the name of a step.
    """

    def __init__(self, of_calls: Handler, of_steps: Mapping[str, Handler]) -> None:
        self.events: list[Event] = []
        self.names = Names(self._died)
        self.sources: dict[int, str] = {}  # by the address of large memory, where it came from
        self.open = True
        self.inside: list[Event] = []
        self._of_calls, self._of_steps = of_calls, of_steps
        self.began = perf_counter()

    def __call__(self, call: Call) -> Any:
        """Watch one call."""
        if call.kind == STEP:
            return self._of_steps[call.name](self, call)
        return self._of_calls(self, call)

    def note(self, kind: str, name: str, **facts: Any) -> Event:
        """Add what takes no time."""
        event = Event(kind, name, len(self.inside), perf_counter() - self.began, None, facts)
        self.events.append(event)
        return event

    @contextmanager
    def span(self, kind: str, name: str, **facts: Any) -> Iterator[Event]:
        """Add what takes the time of the body; what happens in it is inside."""
        event = self.note(kind, name, **facts)
        self.inside.append(event)
        begun = perf_counter()
        try:
            yield event
        except BaseException as error:
            event.facts["raised"] = type(error).__name__
            raise
        finally:
            event.took = perf_counter() - begun
            self.inside.pop()

    def call(self) -> Event | None:
        """The innermost public call that is going on."""
        return next((event for event in reversed(self.inside) if event.kind == "call"), None)

    def mourn(self, name: str, result: Any) -> None:
        """Note when arrays that ``name`` gave to the user are gone, though their memory may live on in views."""
        for array in result if isinstance(result, tuple | list) else (result,):
            buffer = array.data if isinstance(array, NestedArray) else array
            if type(buffer) is Array:
                weakref.finalize(buffer, self._gone, name, self.names.words(array), weakref.ref(buffer.storage))

    def _gone(self, name: str, words: str, storage: weakref.ref[Any]) -> None:
        if self.open:
            left = storage()
            others = 0 if left is None else sys.getrefcount(left) - _OWN - 1  # one is held by the array that goes
            self.note("gone", name, array=words, holders_left=others)

    def _died(self, name: str, nbytes: int) -> None:
        if self.open:
            self.note("dies", name, bytes=nbytes)
