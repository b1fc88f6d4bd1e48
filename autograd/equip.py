"""Methods that are written in terms of the class that has them: they come after it, and are put into it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

_OF_EVERY_CLASS = frozenset(vars(type("", (), {"__slots__": ()})))


def equip(kind: type, *sources: Mapping[str, Any]) -> None:
    """Put into the class ``kind`` what mappings hold: functions by name, or the contents of other classes."""
    for source in sources:
        for name, value in source.items():
            if name in _OF_EVERY_CLASS:
                continue
            if inspect.isfunction(value) and "." in value.__qualname__:  # of no module, so it is a method only
                value.__qualname__ = f"{kind.__name__}.{name}"  # what Python calls it where an argument is missing
            setattr(kind, name, value)
