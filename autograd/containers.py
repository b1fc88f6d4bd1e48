"""Containers of arrays, opened into a list of arrays and rebuilt from one.

Arrays are themselves; tuples, lists and dicts are opened; other classes register functions with
`register_container`. So the functions of `pynested.autograd.functional` take nested arrays without knowing them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from pynested.backends.errors import ArgumentError, named_type

from .arguments.operands import as_array
from .array import Array

Rebuild = Callable[[Sequence[Any]], Any]
Open = Callable[[Any], tuple[list[Array], Rebuild]]
Match = Callable[[str, Any, Any], Sequence[Array]]
Mask = np.ndarray[Any, Any] | None
DEEPEST = 100  # containers in one another


class Kind(NamedTuple):
    """The functions that open objects of one class; see `register_container`."""

    opened: Open
    cotangent: Match | None
    tangent: Match | None
    shown: Callable[[Any], list[Mask]] | None


_registered: dict[type, Kind] = {}


def register_container(
    kind: type,
    opened: Open,
    cotangent: Match | None = None,
    tangent: Match | None = None,
    shown: Callable[[Any], list[Mask]] | None = None,
) -> None:
    """Let ``opened(x) -> (arrays, rebuild)`` open objects of class ``kind``; ``rebuild(arrays)`` makes one again.

    ``cotangent(name, x, given)`` returns the arrays of ``given``, a cotangent of ``x``, laid out as those of ``x`` are,
    or raises an error that begins with ``name``; ``tangent`` does so for a tangent. Without the one the other is taken,
    and without both ``given`` must be of the same class and open to as many arrays.

    ``shown(x)`` returns for each array which of its elements belong to ``x``, as bools of its shape, or None for all of
    them; without it they all do.
    """
    _registered[kind] = Kind(opened, cotangent or tangent, tangent or cotangent, shown)


def flatten(value: Any, depth: int = 0) -> tuple[list[Array], Rebuild]:
    """The arrays in ``value``, ``depth`` containers deep, and a function that puts others in their places."""
    if type(value) is Array:
        return [value], itemgetter(0)
    kind = _registered.get(type(value))
    if kind is not None:
        return kind.opened(value)
    if isinstance(value, dict):
        arrays, rebuild = _flatten_sequence(list(value.values()), depth)
        keys = list(value)
        return arrays, lambda arrays: dict(zip(keys, rebuild(arrays), strict=True))
    if isinstance(value, tuple | list):
        return _flatten_sequence(value, depth)
    return [], lambda arrays: value


def _flatten_sequence(values: tuple[Any, ...] | list[Any], depth: int) -> tuple[list[Array], Rebuild]:
    kind: Any = type(values)
    deeper = _deeper(depth)
    found: list[Array] = []
    parts: list[tuple[int, Rebuild]] = []  # how many arrays; they themselves are not to be kept alive
    for value in values:
        arrays, inner = flatten(value, deeper)
        found += arrays
        parts.append((len(arrays), inner))

    def rebuild(arrays: Sequence[Any]) -> Any:
        items, start = [], 0
        for count, inner in parts:
            items.append(inner(arrays[start : start + count]))
            start += count
        return kind(*items) if hasattr(kind, "_fields") else kind(items)

    return found, rebuild


def shown_in(value: Any) -> list[Mask]:
    """Return for each array in ``value`` a mask of the elements that belong to it; None stands for all."""
    kind = _registered.get(type(value))
    if kind is not None and kind.shown is not None:
        return kind.shown(value)
    if isinstance(value, dict):
        return shown_in(list(value.values()))
    if isinstance(value, tuple | list):
        return [one for inner in value for one in shown_in(inner)]
    return [None] * len(flatten(value)[0])


def mapped(function: Callable[[Any], Any], value: Any, depth: int = 0) -> Any:
    """``value`` with ``function(x)`` in the place of every x in it that is no tuple, list or dict."""
    if isinstance(value, dict):
        return {key: mapped(function, one, _deeper(depth)) for key, one in value.items()}
    if not isinstance(value, tuple | list):
        return function(value)
    kind: Any = type(value)
    items = [mapped(function, one, _deeper(depth)) for one in value]
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def _deeper(depth: int) -> int:
    """Return ``depth + 1``; raise ArgumentError beyond `DEEPEST`, as for a container that holds itself."""
    if depth >= DEEPEST:
        raise ArgumentError(
            f"containers: tuples, lists and dicts lie in one another more than {DEEPEST} deep, or one of them holds "
            "itself. Give the arrays in a list of their own."
        )
    return depth + 1


def matched(name: str, value: Any, given: Any, along: bool = False) -> list[Array | None]:
    """The arrays of ``given``, one for each array in ``value`` and in the same order; None stands for a whole part.

    They are cotangents of ``value``, or, with ``along``, tangents.
    """
    if given is None:
        return [None] * len(flatten(value)[0])
    if type(value) is Array:
        return [as_array(name, given)]
    kind = _registered.get(type(value))
    match = kind and (kind.tangent if along else kind.cotangent)
    if match is not None:
        return list(match(name, value, given))
    if isinstance(value, dict) and isinstance(given, dict) and value.keys() == given.keys():
        return [one for key in value for one in matched(name, value[key], given[key], along)]
    if isinstance(value, tuple | list) and isinstance(given, tuple | list) and len(value) == len(given):
        return [one for inner, other in zip(value, given, strict=True) for one in matched(name, inner, other, along)]
    expected, found = flatten(value)[0], flatten(given)[0]
    if kind is not None and type(given) is type(value) and len(expected) == len(found):
        return list(found)
    if not expected and not found:
        return []
    raise ArgumentError(f"{name}: {_described(given)} does not have the form of {_described(value)}.")


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return f"{named_type(value)} with the keys {list(value)}"
    return f"{named_type(value)} of {len(value)}" if isinstance(value, tuple | list) else named_type(value)
