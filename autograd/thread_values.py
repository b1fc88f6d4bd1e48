"""Values that each thread has for itself, and their change for the length of a ``with`` block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ThreadValue(threading.local, Generic[Value]):
    """The value of the current thread. In every thread ``make`` returns the first value."""

    def __init__(self, make: Callable[[], Value]) -> None:
        self.value = make()


class ValueChange(Generic[Value]):
    """A change of a thread's value, made at once. At the end of a ``with`` block the value before it is restored."""

    def __init__(self, changed: ThreadValue[Value], value: Value) -> None:
        self._changed, self._value, self._previous = changed, value, changed.value
        changed.value = value

    def __enter__(self) -> None:
        self._changed.value = self._value

    def __exit__(self, *_: object) -> None:
        self._changed.value = self._previous
