"""What a graph is made for: everything about the arguments of a call that may change which calls a function makes.

Not the ragged structure, nor any size: what a function asks of them is a check in its graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.nested.array import NestedArray
from pynested.structure import Jagged

from .forms import CONTAINERS, parts
from .places import Place

Key = tuple[Any, ...]


def key_of(thing: Any, arrays: list[Any]) -> Any:
    """The signature of an argument; the arrays in it are added to ``arrays``."""
    kind = type(thing)
    if kind is NestedArray:
        arrays.append(thing)
        structure, buffer = thing._structure, thing._buffer
        bare = buffer._bare
        if type(structure) is Jagged:
            rank: Any = (bare.ndim, structure.ragged_dim)
        else:
            rank = structure.sizes.shape[1]
        return rank, bare.dtype, buffer.storage.device, buffer.tracked
    if kind is Array:
        arrays.append(thing)
        bare = thing._bare
        return bare.ndim, bare.dtype, thing.storage.device, thing.tracked, Array
    if isinstance(thing, np.random.Generator):
        arrays.append(thing)
        return kind
    if isinstance(thing, CONTAINERS):
        names = tuple(thing) if isinstance(thing, dict) else None
        return (kind, names, *[key_of(one, arrays) for one in parts(thing)])
    return constant(thing)


def constant(thing: Any) -> Any:
    """The signature of what is no array: its value. 1, 1.0 and True are three, and so are 0.0 and -0.0."""
    if isinstance(thing, float):
        return type(thing), thing.hex()
    if isinstance(thing, np.ndarray):
        return np.ndarray, thing.dtype, thing.shape, thing.tobytes()
    try:
        hash(thing)
    except TypeError:  # what may change, and says nothing of it: it is the same only as it is now
        return _ById(thing)
    return type(thing), thing


def held_at(places: Iterable[Place]) -> Key:
    """The signature of what lies at some places now."""
    return tuple([constant(place.find()) for place in places])


class _ById:
    """An object by its identity, which it keeps as long as somebody knows the signature."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def in_words(key: Any) -> str:
    """A signature, for people."""
    if isinstance(key, tuple) and len(key) == 5 and key[-1] is Array:
        return f"dense of {key[0]} dimensions, {_marked(key[1:4])}"
    if isinstance(key, tuple) and len(key) == 4 and isinstance(key[1], np.dtype):
        if isinstance(key[0], tuple):
            return f"jagged of {key[0][0] + 1} dimensions, the ragged one {key[0][1]}, {_marked(key[1:])}"
        return f"strided of {key[0] + 1} dimensions, {_marked(key[1:])}"
    if isinstance(key, tuple) and len(key) == 2 and key[0] in (int, str, bool, type(None), FunctionType):
        return repr(key[1])
    if isinstance(key, tuple) and len(key) == 2 and key[0] is float:
        return str(float.fromhex(key[1]))
    if isinstance(key, tuple) and len(key) > 1 and isinstance(key[0], type):
        return f"{key[0].__name__} of ({'; '.join(map(in_words, key[2:]))})"
    return str(key)


def _marked(facts: Key) -> str:
    dtype, device, tracked = facts
    return f"{dtype} on {device}" + (", which requires grad" if tracked else "")
