"""A default value of each thread, which a call changes from then on, or for the length of a ``with`` block."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ThreadDefault(threading.local, Generic[Value]):
    """The default value of the current thread; every thread begins with the same one."""

    def __init__(self, value: Value) -> None:
        self.value = value


class DefaultBlock(Generic[Value]):
    """A change of a default, made at once. At the end of a ``with`` block the value before the change is restored."""

    def __init__(self, default: ThreadDefault[Value], value: Value) -> None:
        self._default, self._value, self._before = default, value, default.value
        default.value = value

    def __enter__(self) -> None:
        self._default.value = self._value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._default.value = self._before
