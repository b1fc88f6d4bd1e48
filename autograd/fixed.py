"""Attributes that are only read: those that others rely on, and those that belong to what an array holds."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NoReturn

from pynested.backends.errors import ReadOnlyError


def fixed(name: str, slot: str) -> Any:
    """An attribute, kept in ``slot``, that cannot be set; it is read without a call of Python.

    What spends its time on tiny arrays reads the slot itself, which takes a quarter of the time.
    """

    def refuse(self: Any, value: Any) -> NoReturn:
        kind = type(self).__name__
        raise ReadOnlyError(f"{kind}.{name} cannot be set. Make another {kind}, or write: x.copy_(source).")

    return property(attrgetter(slot), refuse)


def shown(path: str, says: str) -> Any:
    """An attribute of what an array holds, as one of its own; it is read without a call of Python."""
    return property(attrgetter(path), doc=says)
