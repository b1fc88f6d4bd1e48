"""Values as a person would type them: numbers, arrays and indices as Python text, and calls in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec.encoding import Components, Index, decode_value
from pynested.spec.table import Operator

from .placements import LAYOUTS, Array

_MOST_SHAPES = 5


def number(value: Any) -> str:
    """Return the shortest text that reads back as this number; NaN and infinity are the names `nan` and `inf`."""
    if isinstance(value, (float, np.floating)):
        text = str(value)
        return text if "e" in text or "." in text or not math.isfinite(value) else text + ".0"
    return str(value)


def nested_list(array: Array) -> str:
    """Return an array as nested lists."""
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(nested_list(row) for row in array) + "]"


def index(items: Sequence[Any]) -> str:
    """Return what stands between the brackets of an index."""

    def one(item: Any) -> str:
        if isinstance(item, slice):
            parts = ["" if bound is None else str(bound) for bound in (item.start, item.stop)]
            return ":".join([*parts, str(item.step)] if item.step is not None else parts)
        return "..." if item is Ellipsis else str(item)

    return ", ".join(one(item) for item in items)


def plain(value: Any, array: Callable[[Any], str], name: Callable[[str], str]) -> str:
    """Return any argument as text; ``array`` names or writes out arrays, ``name`` spells dtypes and layouts."""
    if isinstance(value, (Components, np.ndarray)):
        return array(value)
    if isinstance(value, list):
        return "[" + ", ".join(plain(one, array, name) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {plain(one, array, name)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple):
        inner = ", ".join(plain(one, array, name) for one in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, np.dtype):
        return name(value.name)
    if value in LAYOUTS:
        return name(value)
    return number(value) if isinstance(value, float) else repr(value)


class Names:
    """Gives the arrays of a call the names x, y, z, ... in the order in which they are met."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Any]] = []

    def __call__(self, value: Any) -> str:
        """Return the name of the next array."""
        number = len(self.found)
        name = "xyzuvw"[number] if number < 6 else f"x{number}"
        self.found.append((name, value))
        return name


def arguments(
    request: Mapping[str, Any], names: Names, spell: Callable[[str], str], labels: Sequence[str] = ()
) -> list[str]:
    """Return the arguments of a call as text; with ``labels``, numbers given by position are named by them."""
    texts: list[str] = []
    for place, value in enumerate(request["args"]):
        decoded = decode_value(value)
        text = plain(decoded, names, spell)
        named = 0 < place < len(labels) and not isinstance(decoded, (Components, np.ndarray, list, dict, np.dtype))
        texts.append(f"{labels[place]}={text}" if named else text)
    keywords = ((name, decode_value(value)) for name, value in request["kwargs"].items())
    return [*texts, *(f"{name}={plain(value, names, spell)}" for name, value in keywords)]


def call_in_words(request: Mapping[str, Any], operator: Operator) -> str:
    """Return a call on one line: the call with names, then what the names stand for."""
    names = Names()
    if request["op"] == "getitem":
        array, where = map(decode_value, request["args"])
        inside = index(where.items) if isinstance(where, Index) else repr(where)
        text = f"{names(array)}[{inside}]"
    else:
        text = f"{request['op']}({', '.join(arguments(request, names, str, list(operator.call.parameters)))})"
    return "; ".join([text, *(f"{name}: {in_words(value)}" for name, value in names.found)])


def in_words(value: Any) -> str:
    """Return what an array is: nested or dense, its dtype, its shapes."""
    if isinstance(value, Components):
        shapes = [str(one.shape).replace(",)", ")") for one in value[:_MOST_SHAPES]]
        more = f" and {len(value) - _MOST_SHAPES} more" if len(value) > _MOST_SHAPES else ""
        nothing = f"no components, ({', '.join('*' if size is None else str(size) for size in value.shape)})"
        return f"nested {value.dtype.name}, {' '.join(shapes) or nothing}{more}"
    return f"dense {value.dtype.name} {value.shape}" if value.ndim else f"{value.dtype.name} {number(value[()])}"
