"""The entries of `pynested.autograd.rules.functions` as methods; `smooth_methods.pyi` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class SmoothMethods:
    """For each function a method, and one that writes into the array: ``exp`` and ``exp_``."""

    __slots__ = ()


def add_methods(kind: type[SmoothMethods], functions: Any, overwrite: Callable[..., Any]) -> None:
    """Let arrays of this kind have what a module of ``functions`` lists; ``overwrite(self, name)`` writes in place."""
    for name in functions.__all__:
        setattr(kind, name, getattr(functions, name))
        setattr(kind, f"{name}_", _in_place(name, overwrite))


def _in_place(name: str, overwrite: Callable[..., Any]) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return overwrite(self, name)

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"Write what `{name}` gives into the array itself, whose shape and dtype stay."
    return method
