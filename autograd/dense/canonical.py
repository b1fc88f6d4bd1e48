"""Arguments in the form in which rules take them, or a clear error."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from pynested.backends.dtypes import bfloat16, is_bfloat16
from pynested.backends.errors import ArgumentError, DimensionError, DTypeError, IndexOutOfRange, ShapeError
from pynested.backends.host import as_bare, from_host, refuse_masked
from pynested.backends.limits import MOST_DIMENSIONS, MOST_ELEMENTS
from pynested.backends.memory import with_room

from ..array import Array
from ..numbers import canonical_number, dtype_of, in_words, scalar
from ..rules.kinds import same_device
from ..tape import state

DTYPES = tuple(
    np.dtype(name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
)
_KNOWN = frozenset(DTYPES)
_NAMES = ", ".join(map(str, DTYPES))
_SLICE_ENDS = frozenset((int, type(None)))
_AS_THEY_ARE = frozenset((Array, int, float, bool))
_PLAIN = frozenset((int, float, bool))
_MOST_BITS = 128  # of an integer that is read in a message; no size and no place has more than half as many


def canonical_dtype(dtype: Any, device: str = "cpu") -> np.dtype[Any]:
    """``dtype`` as a NumPy dtype, if it is one of those that pynested has on ``device``."""
    try:
        found: np.dtype[Any] = bfloat16() if isinstance(dtype, str) and dtype == "bfloat16" else np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        raise DTypeError(f"{dtype!r} is not a dtype. Use one of {_names(device)}.") from None
    if found in _KNOWN or (device != "cpu" and is_bfloat16(found)):
        return found
    if is_bfloat16(found):
        raise DTypeError(
            "bfloat16 is computed on the devices 'cuda' and 'emulated': give device= where an array is made, or "
            "convert to float32 first: x.to(dtype=pn.float32)."
        )
    raise DTypeError(f"dtype {found} is not supported. Convert to one of {_names(device)}.")


def _names(device: str) -> str:
    return _NAMES if device == "cpu" else f"{_NAMES}, bfloat16"


def own_class(name: str, value: np.ndarray[Any, Any], device: str = "cpu") -> np.ndarray[Any, Any]:
    """``value``, of whatever class, as one of NumPy's own, in the same memory, that can be an array of ``device``."""
    if type(value) is not np.ndarray:
        value = as_bare(name, value)
    canonical_dtype(value.dtype, device)
    if not 0 < value.size <= MOST_ELEMENTS:
        possible_shape(name, value.shape)
    return value


def numpy_array(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Anything that NumPy makes an array of, a list say, as one of its own arrays; the dtype may be none of ours.

    What NumPy would drop, or round, on the way is refused: masks, and integers beyond int64.
    """
    if type(value) is np.ndarray:
        return value
    kinds = set(map(type, value)) if type(value) in (list, tuple) else {type(value)}
    if not kinds <= _PLAIN:
        kinds = _kinds_in(name, value)
    made = np.asarray(value)
    if made.size and made.dtype.kind not in "bi" and kinds <= {int, bool}:
        raise OverflowError(f"{name}: there are integers beyond the range of int64, the widest dtype of integers.")
    return made


def _kinds_in(name: str, value: Any) -> set[type]:
    """The types of all numbers and arrays in lists of lists, each looked at once, as a list may hold itself."""
    kinds: set[type] = set()
    seen: set[int] = set()
    waiting: list[Any] = [[value]]
    while waiting:
        listed = waiting.pop()
        if id(listed) in seen:
            continue
        seen.add(id(listed))
        found = set(map(type, listed))
        kinds |= found
        for one in () if found <= _PLAIN else listed:
            if isinstance(one, list | tuple):
                waiting.append(one)
            else:
                refuse_masked(name, one)
    return kinds - {list, tuple}


def operand(name: str, value: Any, device: str = "cpu") -> Any:
    """``value`` as an operand: an Array, or a Python number, which promotes weakly.

    A NumPy scalar belongs to no device, so it is moved to ``device``, that of the other operands; a NumPy array lies on
    the CPU.
    """
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, np.generic):
        canonical_dtype(value.dtype, device)
        return Array(from_host(np.asarray(value), device), device)
    if isinstance(value, np.ndarray):
        return Array.over(own_class(name, value, device))
    if isinstance(value, int | float):
        return canonical_number(name, "an operand", value)
    if isinstance(value, complex):
        raise DTypeError(f"{name}: complex numbers are not supported; operate on real and imaginary parts separately.")
    if getattr(value, "is_nested", False):
        raise ArgumentError(
            f"{name}: a nested array is given where this argument must be dense. Give an Array, as nt.values() and "
            "pn.to_padded_array(nt, padding) are."
        )
    raise ArgumentError(
        f"{name}: {type(value).__name__} is neither an array nor a number. Make an array of it first: pn.array(value)."
    )


def operands(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands that meet: a NumPy scalar goes where the other one is."""
    if type(a) not in _AS_THEY_ARE:
        a = operand(name, a, device_of(b))
    if type(b) not in _AS_THEY_ARE:
        b = operand(name, b, device_of(a))
    return a, b


def device_of(*values: Any) -> str:
    """Where the first Array among ``values`` lies; without one, the CPU."""
    for value in values:
        if type(value) is Array:
            return value.storage.device
    return "cpu"


@with_room
def frozen(values: Any, *tracked: Any) -> Any:
    """Bare ``values`` as a line may keep them: a copy if one of ``tracked`` wants a gradient, else themselves.

    A write in place into them would otherwise change what a later gradient is computed with.
    """
    wanted = state.mode and any(type(other) is Array and other.requires_grad for other in tracked)
    return values.copy() if wanted else values


def as_array(name: str, value: Any, device: str = "cpu") -> Array:
    """``value`` as an Array; a number, also NumPy's, becomes one without dimensions on ``device``."""
    if type(value) is Array:
        return value
    given = operand(name, value, device)
    if type(given) is Array:
        return given
    return Array(from_host(np.asarray(scalar(name, given, dtype_of(given))), device), device)


def together(name: str, *values: Any) -> list[Any]:
    """``values`` as Arrays, all on one device: that of the first Array, which numbers go to; None stays None."""
    place = device_of(*values)
    given = [x if x is None or type(x) is Array else as_array(name, x, place) for x in values]
    for x in given:
        if x is not None and x.storage.device != place:
            same_device(name, given)
    return given


def canonical_int(name: str, what: str, value: Any) -> int:
    """``value`` as an int; a bool or a float is refused, and what is too long to be read in a message."""
    given = value if type(value) is int else _index(name, what, value)
    if given.bit_length() > _MOST_BITS:
        raise ArgumentError(f"{name}: {what} is {in_words(given)}, which is more than anything can be.")
    return given


def _index(name: str, what: str, value: Any) -> int:
    if isinstance(value, np.ndarray):
        value = own_class(name, value)
    if isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}: {what} must be an integer, not {value!r}.")
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}: {what} must be an integer, not {value!r}.") from None


def index_entry(value: Any) -> int:
    """``value``, an entry of an index, as an int; masks are none."""
    if getattr(value, "dtype", None) == np.bool_ and value.ndim:
        raise ArgumentError(
            "index: a mask is not an index. Use pn.where(mask, x, other) or pn.masked_fill(x, mask, value), which keep "
            "the shape, or, of dense arrays, pn.masked_select(x, mask)."
        )
    place = canonical_int("index", "an index", value)
    if not -(2**63) <= place < 2**63:
        raise IndexOutOfRange(f"index: {place} is beyond int64, and out of bounds for every dimension.")
    return place


def canonical_slice(part: slice) -> slice:
    """A slice of ints or None whose step is not 0."""
    ends = part.start, part.stop, part.step
    if {*map(type, ends)} <= _SLICE_ENDS and part.step != 0:
        return part
    start, stop, step = [None if end is None else canonical_int("index", "an end of a slice", end) for end in ends]
    if step == 0:
        raise ArgumentError("index: a slice cannot have step 0.")
    return slice(start, stop, step)


def canonical_dim(name: str, dim: Any, ndim: int) -> int:
    """``dim`` counted from the front, in ``0 .. ndim - 1``."""
    given = dim if type(dim) is int and -ndim <= dim < ndim else canonical_int(name, "dim", dim)
    if not -ndim <= given < ndim:
        span = f"expected to be in range of [{-ndim}, {ndim - 1}]" if ndim else "the array has no dimensions"
        raise DimensionError(f"{name}: Dimension out of range ({span}, but got {given}).")
    return given + ndim if given < 0 else given


def several(value: Any) -> bool:
    """Whether ``value`` holds numbers, and is not itself one, an array without dimensions say."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0 and not isinstance(value, str | bytes | dict)


def canonical_dims(name: str, dim: Any, ndim: int) -> tuple[int, ...]:
    """``dim`` (None, an int or several) as a sorted tuple without duplicates; None means every dimension."""
    if dim is None:
        return tuple(range(ndim))
    if type(dim) is int:
        return (canonical_dim(name, dim, ndim),)
    given = tuple(dim) if several(dim) else (dim,)
    dims = sorted(canonical_dim(name, one, ndim) for one in given)
    for one, following in pairwise(dims):
        if one == following:
            raise DimensionError(f"{name}: dimension {one} is named twice in dim={tuple(given)}.")
    return tuple(dims)


def canonical_ints(name: str, what: str, given: Any) -> tuple[int, ...]:
    """``given``, as ``((2, 3),)`` or as ``(2, 3)``, as a tuple of ints."""
    if len(given) == 1 and (type(given[0]) is tuple or several(given[0])):
        given = tuple(given[0])
    return tuple(canonical_int(name, what, one) for one in given)


def canonical_shape(name: str, shape: Any) -> tuple[int, ...]:
    """``shape``, given as ``(2, 3)`` or as ``2, 3``, as a tuple of sizes that an array can have, or -1."""
    return possible_shape(name, canonical_ints(name, "a size", shape))


def possible_ndim(name: str, ndim: int) -> None:
    """Refuse more dimensions than any array can have."""
    if ndim > MOST_DIMENSIONS:
        raise ShapeError(f"{name}: an array has at most {MOST_DIMENSIONS} dimensions, this one would have {ndim}.")


def possible_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """``shape``, unless no array can have so many dimensions or elements; sizes of 0 count as 1."""
    possible_ndim(name, len(shape))
    if not 0 < prod(shape) <= MOST_ELEMENTS and prod([size for size in shape if size > 0]) > MOST_ELEMENTS:
        raise ShapeError(f"{name}: shape {shape} has too many elements to be counted, also with 1 for sizes of 0.")
    return shape


def resolved_shape(name: str, shape: tuple[int, ...], numel: int, old: tuple[int, ...]) -> tuple[int, ...]:
    """``shape`` with its one -1, if any, worked out so that ``numel`` elements fit."""
    if any(size < -1 for size in shape) or shape.count(-1) > 1:
        raise ShapeError(f"{name}: shape {shape} may hold one -1 and otherwise sizes of 0 or more.")
    known = prod([size for size in shape if size != -1])
    if -1 in shape and known and numel % known == 0:
        return tuple(numel // known if size == -1 else size for size in shape)
    if -1 in shape or known != numel:
        raise ShapeError(f"{name}: an array of shape {old} has {numel} elements, which do not fill the shape {shape}.")
    return shape


def broadcast_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of ``shapes`` broadcast to."""
    if len(shapes) == 2 and shapes[0][len(shapes[0]) - len(shapes[1]) :] == shapes[1]:
        return shapes[0]  # as that of rows and a bias
    try:
        found = np.broadcast_shapes(*shapes)
    except ValueError:
        given = " and ".join(str(shape) for shape in shapes)
        raise ShapeError(
            f"{name}: shapes {given} do not broadcast; aligned at the right, sizes must be equal or 1, and the result "
            "an array that can exist."
        ) from None
    return found if 0 < prod(found) <= MOST_ELEMENTS else possible_shape(name, found)
