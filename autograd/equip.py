"""Methods that are written in terms of the class that has them: they come after it, and are put into it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

_OF_EVERY_CLASS = frozenset(vars(type("", (), {"__slots__": ()})))
_FUNCTIONS_ONLY = frozenset({"getitem", "cross_entropy"})  # written x[index]; a function in PyTorch too


def equip(kind: type, *sources: Mapping[str, Any]) -> None:
    """Put into the class ``kind`` what mappings hold: functions by name, or the contents of other classes."""
    for source in sources:
        for name, value in source.items():
            if name in _OF_EVERY_CLASS:
                continue
            if inspect.isfunction(value) and "." in value.__qualname__:  # of no module, so it is a method only
                value.__qualname__ = f"{kind.__name__}.{name}"  # what Python calls it where an argument is missing
            setattr(kind, name, value)


def methods(functions: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Those of ``functions`` whose first parameter is ``self``."""
    return {
        name: function
        for name, function in functions.items()
        if name not in _FUNCTIONS_ONLY and next(iter(inspect.signature(function).parameters), "") == "self"
    }


def in_place(functions: Mapping[str, Any], overwrite: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """For each function, as ``add``, a method ``add_`` that writes its result by ``overwrite(self, add, ...)``."""
    return {f"{name}_": _in_place(name, function, overwrite) for name, function in functions.items()}


def _in_place(name: str, function: Any, overwrite: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        return overwrite(self, function, *arguments, **options)

    method.__name__ = f"{name}_"
    method.__doc__ = f"Write what `{name}` gives into the array itself, whose shape and dtype stay."
    method.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return method
