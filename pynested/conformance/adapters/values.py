"""What adapters in Python do with the values of calls: send them, compare them, keep them from being written to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from pynested.spec.components import is_several, of_parts, parts_of
from pynested.spec.encoding import WIDTHS, Components, Index, encode, encode_value

from ..messages import Message
from ..placements import Array

Plain = Components | Array
Laid = TypeVar("Laid")


@dataclass(frozen=True)
class Operand:
    """One operand as the target sees it, and how to read the gradient that was left on it."""

    value: Any
    gradient: Callable[[], Plain | None]


@dataclass(frozen=True)
class Described:
    """A result that the words of the specification cannot express, in words."""

    text: str


@dataclass(frozen=True)
class Place:
    """How an operand of a call is to be stored.

    ``shared`` holds what its nested operands have in common, ``laid`` what was laid out for the same call before.
    """

    layout: str
    placement: str
    shared: dict[Any, Any] = field(default_factory=dict)
    laid: dict[Any, Any] = field(default_factory=dict)

    def once(self, lay: Callable[[Components, str], Laid], value: Components) -> Laid:
        """Return how ``lay`` lays a value out here; a call that is made again finds what was laid out for it."""
        asked = lay, self.placement, id(value)
        if asked not in self.laid:
            self.laid[asked] = lay(value, self.placement), value  # so that no other value has its id
        return self.laid[asked][0]  # type: ignore[no-any-return]


def encode_result(result: Any) -> Any:
    """Return the JSON form of a result; an array of a dtype that the specification lacks is only described."""
    if isinstance(result, (Components, np.ndarray)):
        return _encode_array(result)
    if isinstance(result, (list, tuple)):
        return {"list": [encode_result(one) for one in result]}
    if isinstance(result, Described):
        return {"other": result.text, "dtype": ""}
    if isinstance(result, (bool, int, float, str)):
        return {"python": encode_value(result)}
    return {"other": f"a {type(result).__name__}", "dtype": ""}


def in_brackets(index: Index) -> Any:
    """Return what a person writes between the brackets: a tuple only where there are several entries.

    >>> in_brackets(Index((2,))), in_brackets(Index((0, slice(None))))
    (2, (0, slice(None, None, None)))
    """
    return index.items[0] if len(index.items) == 1 else index.items


def encode_gradient(gradient: Any) -> Any:
    """Return the JSON form of what came to an operand, or to each in a list or a mapping; nothing is null."""
    if is_several(gradient):
        parts = of_parts(gradient, map(encode_gradient, parts_of(gradient)))
        return {"mapping" if isinstance(gradient, dict) else "list": parts}
    return None if gradient is None else encode_result(gradient)


_name_of = functools.cache(lambda dtype: dtype.name)  # which takes NumPy longer than all else here


def _encode_array(array: Plain) -> Message:
    name, shape = _name_of(array.dtype), list(array.shape)
    if name not in WIDTHS:
        return {"other": f"{name} of shape {tuple(shape)}", "dtype": name}
    if not isinstance(array, Components):
        return {"dense": {"dtype": name, "shape": shape, "bits": encode(array)}}
    shapes, bits = [list(one.shape) for one in array], [encode(one) for one in array]
    return {"nested": {"dtype": name, "shape": shape, "shapes": shapes, "bits": bits}}


def each_array(function: Callable[[Any], Any], value: Any) -> Any:
    """Return what a function makes of every array in a value; nothing stays nothing."""
    if isinstance(value, Components):
        return Components((function(one) for one in value), value.shape, value.dtype)
    if is_several(value):
        return of_parts(value, [each_array(function, one) for one in parts_of(value)])
    return None if value is None else function(value)


def left_on(built: Any) -> Any:
    """Return a copy of the gradients that are left on an operand, or on each in a list or a mapping."""
    if is_several(built):
        return of_parts(built, map(left_on, parts_of(built)))
    return each_array(np.array, built.gradient())


def doubled(gradient: Any) -> Any:
    """Return twice a gradient, which is exact."""
    with np.errstate(all="ignore"):
        return each_array(lambda one: one + one, gradient)


def same(found: Any, wanted: Any) -> bool:
    """Return whether two values hold the same numbers, of whatever layout they are; the sign of a zero is not asked."""
    if isinstance(wanted, dict):
        return all(map(same, found.values(), wanted.values()))
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if wanted is None or found is None:
        return found is wanted
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    return found.tobytes() == wanted.tobytes() or np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")


def is_read_as(found: Any, value: Plain) -> bool:
    """Return whether what was read of an operand is its value; of no components, every size that both know is equal."""
    if not isinstance(found, (Components, np.ndarray)) or found.dtype != value.dtype:
        return False
    if not isinstance(value, Components):
        return same(found, value)
    sizes_agree = all(None in pair or pair[0] == pair[1] for pair in zip(found.shape, value.shape, strict=False))
    return same(list(found), list(value)) and len(found.shape) == len(value.shape) and sizes_agree


def freeze(value: Any) -> None:
    """Let nobody write into the arrays in a value, for they are used again."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            freeze(one)
