"""The entries of the tables of functions of one and of two elements as methods; `smooth_methods.pyi` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class SmoothMethods:
    """For each function a method, and one that writes into the array, ``exp`` and ``exp_``; and Python's signs."""

    __slots__ = ()


def add_methods(kind: type[SmoothMethods], functions: Any, overwrite: Callable[..., Any]) -> None:
    """Let arrays of this kind have what a module of ``functions`` lists; ``overwrite(self, name)`` writes in place."""
    for name in functions.__all__:
        setattr(kind, name, getattr(functions, name))
        setattr(kind, f"{name}_", _in_place(name, overwrite))


def add_pairs(kind: type[SmoothMethods], functions: Any, overwrite: Callable[..., Any], infix: Any) -> None:
    """The same for functions of two elements; ``infix(name, a, b)`` is what Python's signs call."""
    for name, entry in functions.PAIRS.items():
        methods = {name: getattr(functions, name)}
        if entry.in_place:
            methods[f"{name}_"] = _in_place_by(name, overwrite)
        for method in methods.keys() - vars(kind).keys():  # what a class writes out stays
            setattr(kind, method, methods[method])
        for sign, method in _signs(name, entry.sign, infix) if entry.sign else ():
            method.__name__ = method.__qualname__ = sign
            method.__doc__ = f"What `{name}` gives."
            setattr(kind, sign, method)


def _signs(name: str, sign: str, infix: Any) -> list[tuple[str, Callable[[Any, Any], Any]]]:
    return [
        (f"__{sign}__", lambda self, other: infix(name, self, other)),
        (f"__r{sign}__", lambda self, other: infix(name, other, self)),
        (f"__i{sign}__", lambda self, other: getattr(self, f"{name}_")(other)),
    ]


def _in_place(name: str, overwrite: Callable[..., Any]) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return overwrite(self, name)

    return _named(name, method)


def _in_place_by(name: str, overwrite: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return overwrite(self, name, other)

    return _named(name, method)


def _named(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"Write what `{name}` gives into the array itself, whose shape and dtype stay."
    return method
