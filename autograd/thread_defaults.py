"""A default value of each thread, which a call changes from then on, or for the length of a ``with`` block."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ThreadDefault(threading.local, Generic[Value]):
    """The default value of the current thread; every thread begins with the same one.

    Attributes
    ----------
    value : Value
        The default now.
    latest : DefaultBlock or None
        The last change, as long as no block has been entered or left since.
    outer : list of Value
        The values that are restored at the ends of the blocks that are open.
    """

    def __init__(self, name: str, value: Value) -> None:
        self.name = name
        self.value = value
        self.latest: DefaultBlock[Value] | None = None
        self.outer: list[Value] = []


class DefaultBlock(Generic[Value]):
    """A change of a default. A ``with`` block makes the change and undoes it at its end; it can be entered again."""

    def __init__(self, default: ThreadDefault[Value], value: Value) -> None:
        self._default, self._value, self._before = default, value, default.value
        default.value, default.latest = value, self

    def __enter__(self) -> None:
        """Set the value, unless the call has just done so."""
        default = self._default
        default.outer.append(self._before if default.latest is self else default.value)
        default.value, default.latest = self._value, None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._default.value, self._default.latest = self._default.outer.pop(), None

    def __repr__(self) -> str:
        return f"<default {self._default.name} {str(self._value)!r}>"
