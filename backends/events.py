"""Events of kernels, storages and the layers above, for listeners in the same thread; `pynested.timeline` listens.

Code that emits an event looks at `LISTENERS` first, which costs nearly nothing while nobody listens:

    if LISTENERS:
        emit("write", device, storage=storage)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Listener(Protocol):
    """An object that receives the events of a thread."""

    def note(self, kind: str, name: str, facts: dict[str, Any]) -> None:
        """Receive an event without a duration."""

    def begin(self, kind: str, name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Receive the beginning of an event, which is a call of ``function``."""

    def end(self, result: Any, error: BaseException | None) -> None:
        """Receive the end of the event that began last."""


LISTENERS: dict[int, tuple[Listener, ...]] = {}  # by thread; empty while nobody listens


@contextmanager
def listened_by(listener: Listener) -> Iterator[None]:
    """Send the events of this thread to ``listener``."""
    thread = get_ident()
    LISTENERS[thread] = (*LISTENERS.get(thread, ()), listener)
    try:
        yield
    finally:
        LISTENERS[thread] = tuple(other for other in LISTENERS[thread] if other is not listener)
        if not LISTENERS[thread]:
            del LISTENERS[thread]


def emit(kind: str, name: str, **facts: Any) -> None:
    """Send an event without a duration."""
    for listener in LISTENERS.get(get_ident(), ()):
        listener.note(kind, name, facts)


def emit_around(kind: str, name: str, function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """Return ``function(*args, **kwargs)``, and send its beginning, without ``kwargs``, and its end."""
    listeners = LISTENERS.get(get_ident(), ())
    for listener in listeners:
        listener.begin(kind, name, function, args)
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        for listener in listeners:
            listener.end(None, error)
        raise
    for listener in listeners:
        listener.end(result, None)
    return result


class ObservedBackend:
    """A backend whose kernels emit events."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._backend, name)
        return partial(emit_around, "kernel", name, value) if callable(value) else value
