"""Events of kernels, storages and the layers above, for listeners in the same thread; `pynested.timeline` listens.

A place that emits an event tests `listening.count` first, so that it costs one attribute while nobody listens:

    if listening.count:
        emit("write", device, storage=storage)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
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


class _ThreadListeners(threading.local):
    listeners: tuple[Listener, ...] = ()


class _ListenerCount:
    """The number of listeners in all threads."""

    __slots__ = ("count",)  # the fastest attribute to read

    def __init__(self) -> None:
        self.count = 0


listening = _ListenerCount()
_thread = _ThreadListeners()
_lock = threading.Lock()


@contextmanager
def listened_by(listener: Listener) -> Iterator[None]:
    """Send the events of this thread to ``listener``."""
    with _lock:
        listening.count += 1
    _thread.listeners = (*_thread.listeners, listener)
    try:
        yield
    finally:
        _thread.listeners = tuple(other for other in _thread.listeners if other is not listener)
        with _lock:
            listening.count -= 1


def emit(kind: str, name: str, **facts: Any) -> None:
    """Send an event without a duration."""
    for listener in _thread.listeners:
        listener.note(kind, name, facts)


def emit_around(kind: str, name: str, function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """Return ``function(*args, **kwargs)``, and send its beginning and its end."""
    listeners = _thread.listeners
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
