"""Anything that holds arrays, as a list of them and a way back.

Arrays are themselves; tuples, lists and dicts are opened; other classes register a pair of functions with
`register_container`. This is how the functions of `pynested.autograd.api` take nested arrays without knowing them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pynested.backends.errors import ArgumentError

from .array import Array

Rebuild = Callable[[Sequence[Any]], Any]
Open = Callable[[Any], tuple[list[Array], Rebuild]]
Match = Callable[[str, Any, Any], Sequence[Array]]
_registered: dict[type, Open] = {}
_matches: dict[type, Match] = {}


def register_container(kind: type, opened: Open, match: Match | None = None) -> None:
    """Let ``opened(x) -> (arrays, rebuild)`` open objects of class ``kind``; ``rebuild(arrays)`` makes one again.

    ``match(name, x, given)`` returns the arrays of ``given``, laid out as those of ``x`` are, or raises an error that
    begins with ``name``; without it ``given`` must be of the same class and open to as many arrays.
    """
    _registered[kind] = opened
    if match is not None:
        _matches[kind] = match


def flatten(value: Any) -> tuple[list[Array], Rebuild]:
    """The arrays in ``value``, and a function that puts others in their places."""
    if type(value) is Array:
        return [value], lambda arrays: arrays[0]
    if type(value) in _registered:
        return _registered[type(value)](value)
    if isinstance(value, dict):
        arrays, rebuild = flatten(list(value.values()))
        keys = list(value)
        return arrays, lambda arrays: dict(zip(keys, rebuild(arrays), strict=True))
    if isinstance(value, tuple | list):
        return _flatten_sequence(value)
    return [], lambda arrays: value


def _flatten_sequence(values: tuple[Any, ...] | list[Any]) -> tuple[list[Array], Rebuild]:
    opened = [flatten(value) for value in values]
    parts = [(len(arrays), inner) for arrays, inner in opened]  # the arrays themselves are not to be kept alive
    kind: Any = type(values)

    def rebuild(arrays: Sequence[Any]) -> Any:
        items, start = [], 0
        for count, inner in parts:
            items.append(inner(arrays[start : start + count]))
            start += count
        return kind(*items) if hasattr(kind, "_fields") else kind(items)

    return [array for arrays, _ in opened for array in arrays], rebuild


def matched(name: str, value: Any, given: Any) -> list[Array | None]:
    """The arrays of ``given``, one for each array in ``value`` and in the same order; None stands for a whole part."""
    if given is None:
        return [None] * len(flatten(value)[0])
    if type(value) is Array:
        return [_as_array(name, given)]
    if type(value) in _matches:
        return list(_matches[type(value)](name, value, given))
    if isinstance(value, dict) and isinstance(given, dict) and value.keys() == given.keys():
        return [one for key in value for one in matched(name, value[key], given[key])]
    if isinstance(value, tuple | list) and isinstance(given, tuple | list) and len(value) == len(given):
        return [one for inner, other in zip(value, given, strict=True) for one in matched(name, inner, other)]
    expected, found = flatten(value)[0], flatten(given)[0]
    if type(value) in _registered and type(given) is type(value) and len(expected) == len(found):
        return list(found)
    if not expected and not found:
        return []
    raise ArgumentError(f"{name}: {_described(given)} does not have the form of {_described(value)}.")


def _as_array(name: str, given: Any) -> Array:
    from .dense.canonical import as_array

    return as_array(name, given)


def _described(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, dict):
        return f"a {kind} with the keys {list(value)}"
    return f"a {kind} of {len(value)}" if isinstance(value, tuple | list) else f"a {kind}"
