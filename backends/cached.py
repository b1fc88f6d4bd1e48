"""`cached_property` without a lock: that of Python 3.11 has one for all instances, which a forked child may find held.

Two threads may work out the same value at the same time; both find the same, and one of the two is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .memory import with_room

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:
        """A property that is worked out when it is first asked for, and then an attribute like any other."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = with_room(compute)
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.compute(instance)
            return value


__all__ = ["cached_property"]
