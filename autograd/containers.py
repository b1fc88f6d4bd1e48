"""Flatten containers of arrays into a list of arrays, and rebuild them: pytrees.

Tuples, lists and dicts (of any class, rebuilt as dict) are containers; other classes register functions with
`register_container`. Nested arrays do so, and therefore the functions of `pynested.autograd.functional` accept them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from pynested.backends.errors import ArgumentError, named_type

from .arguments.operands import as_array
from .array import Array

Rebuild = Callable[[Sequence[Any]], Any]
Flatten = Callable[[Any], tuple[list[Array], Rebuild]]
Fit = Callable[[str, Any, Any], Sequence[Array]]
DEEPEST = 100  # the greatest depth of containers
_BUILTIN_CONTAINERS = (tuple, list, dict)


class ContainerHandlers(NamedTuple):
    """The functions that flatten objects of one class; see `register_container`."""

    flatten: Flatten
    fit_cotangent: Fit | None
    fit_tangent: Fit | None


_registered: dict[type, ContainerHandlers] = {}


def register_container(
    kind: type, flatten: Flatten, fit_cotangent: Fit | None = None, fit_tangent: Fit | None = None
) -> None:
    """Register functions that flatten and rebuild objects of the class ``kind``.

    ``flatten(x)`` returns ``(arrays, rebuild)``; ``rebuild(arrays)`` returns an object like ``x`` with other arrays.

    ``fit_cotangent(name, x, cotangent)`` returns the arrays of a cotangent of ``x``, in the layout of the arrays of
    ``x``; it raises an error that begins with ``name`` if the cotangent does not fit. ``fit_tangent`` does so for a
    tangent. If one of these two functions is missing, the other one serves for both. If both are missing, cotangents
    and tangents must be of the class ``kind`` and have as many arrays as ``x``.
    """
    _registered[kind] = ContainerHandlers(flatten, fit_cotangent or fit_tangent, fit_tangent or fit_cotangent)


def flatten(value: Any, depth: int = 0) -> tuple[list[Array], Rebuild]:
    """Return the arrays in ``value``, and a function that puts other arrays in their places.

    ``depth`` is the number of containers around ``value``.
    """
    if type(value) is Array:
        return [value], itemgetter(0)
    handlers = _registered.get(type(value))
    if handlers is not None:
        return handlers.flatten(value)
    entries, with_entries = _entries_of(value, depth)
    if with_entries is None:
        return [], lambda arrays: value
    flattened = [flatten(entry, depth + 1) for entry in entries]
    parts = [(len(arrays), rebuild_entry) for arrays, rebuild_entry in flattened]  # without the arrays

    def rebuild(arrays: Sequence[Any]) -> Any:
        remaining = iter(arrays)
        return with_entries([rebuild_entry(list(islice(remaining, count))) for count, rebuild_entry in parts])

    return [array for arrays, _ in flattened for array in arrays], rebuild


def _entries_of(value: Any, depth: int) -> tuple[Iterable[Any], Callable[[list[Any]], Any] | None]:
    """Return the entries of a tuple, list or dict, and a function that makes such a container of other entries.

    The function is None for any other value. ArgumentError for containers nested deeper than `DEEPEST`, or endlessly.
    """
    if not isinstance(value, _BUILTIN_CONTAINERS):
        return (), None
    if depth >= DEEPEST:
        raise ArgumentError(
            f"containers: tuples, lists and dicts lie in one another more than {DEEPEST} deep, or one of them holds "
            "itself. Give the arrays in a list of their own."
        )
    if isinstance(value, dict):
        keys = list(value)
        return value.values(), lambda entries: dict(zip(keys, entries, strict=True))
    kind: Any = type(value)
    return value, (lambda entries: kind(*entries)) if hasattr(kind, "_fields") else kind


def map_values(function: Callable[[Any], Any], value: Any, depth: int = 0) -> Any:
    """Return ``value`` with ``function(x)`` in the place of each entry x that is not a tuple, list or dict."""
    entries, with_entries = _entries_of(value, depth)
    if with_entries is None:
        return function(value)
    return with_entries([map_values(function, entry, depth + 1) for entry in entries])


def without_constants(value: Any) -> Any:
    """Return ``value`` with None in the place of each entry that holds no array."""
    return map_values(lambda entry: entry if type(entry) is Array or flatten(entry)[0] else None, value)


def flatten_like(name: str, value: Any, cotangent: Any, is_tangent: bool = False) -> list[Array | None]:
    """Return the arrays of a cotangent, or a tangent, of ``value``: one for each array in ``value``.

    A None in the cotangent stands for a whole entry of ``value``: each array of this entry gets None.
    """
    if cotangent is None:
        return [None] * len(flatten(value)[0])
    if type(value) is Array:
        return [as_array(name, cotangent, value.device)]
    handlers = _registered.get(type(value))
    fit = handlers and (handlers.fit_tangent if is_tangent else handlers.fit_cotangent)
    if fit is not None:
        return list(fit(name, value, cotangent))
    if isinstance(value, dict) and isinstance(cotangent, dict) and value.keys() == cotangent.keys():
        value, cotangent = list(value.values()), [cotangent[key] for key in value]
    if isinstance(value, tuple | list) and isinstance(cotangent, tuple | list) and len(value) == len(cotangent):
        pairs = zip(value, cotangent, strict=True)
        return [array for entry, g in pairs for array in flatten_like(name, entry, g, is_tangent)]
    arrays = flatten(cotangent)[0]
    has_as_many = len(arrays) == len(flatten(value)[0])
    if has_as_many and (not arrays or (handlers is not None and type(cotangent) is type(value))):
        return list(arrays)
    raise ArgumentError(f"{name}: {_describe(cotangent)} does not have the form of {_describe(value)}.")


def _describe(value: Any) -> str:
    if isinstance(value, dict):
        return f"{named_type(value)} with the keys {list(value)}"
    return f"{named_type(value)} of {len(value)}" if isinstance(value, tuple | list) else named_type(value)
