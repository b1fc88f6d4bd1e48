"""Values that each thread has for itself, and their change for the length of a ``with`` block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ThreadValue(threading.local, Generic[Value]):
    """The value of the current thread. Each thread starts with a value of its own, ``make()``."""

    def __init__(self, make: Callable[[], Value]) -> None:
        self.value = make()


class ValueChange(Generic[Value]):
    """A change of a thread's value, made by the constructor. The end of a ``with`` block restores the former value."""

    def __init__(self, thread_value: ThreadValue[Value], value: Value) -> None:
        self._thread_value, self._value, self._previous = thread_value, value, thread_value.value
        thread_value.value = value

    def __enter__(self) -> None:
        self._thread_value.value = self._value

    def __exit__(self, *_: object) -> None:
        self._thread_value.value = self._previous
