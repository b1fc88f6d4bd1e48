"""Views, copies and joins of dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.backends.dtypes import is_bfloat16, promoted
from pynested.backends.errors import DimensionError, DTypeError, ShapeError, StructureError

from ..array import Array
from ..rules import movement as rules
from ..rules.devices import to_device
from ..rules.movement import to_dtype
from .canonical import as_array, canonical_dtype, together
from .shapes import (
    broadcast_shape,
    canonical_dim,
    canonical_dims,
    canonical_int,
    canonical_ints,
    canonical_order,
    canonical_shape,
    possible_ndim,
    possible_shape,
    resolved_shape,
)

__all__ = [
    "as_strided", "broadcast_to", "cat", "clone", "contiguous", "flatten", "permute", "reshape", "reshape_as",
    "squeeze", "stack", "to", "transpose", "unflatten", "unsqueeze", "view",
]  # fmt: skip


def transpose(self: Any, dim0: int, dim1: int) -> Array:
    """A view with two dimensions exchanged."""
    x = as_array("transpose", self)
    a, b = canonical_dim("transpose", dim0, x.ndim), canonical_dim("transpose", dim1, x.ndim)
    axes = list(range(x.ndim))
    axes[a], axes[b] = b, a
    return rules.transpose(x, tuple(axes))


def permute(self: Any, dims: Sequence[int]) -> Array:
    """A view with the dimensions in the order ``dims``."""
    x = as_array("permute", self)
    return rules.transpose(x, canonical_order("permute", dims, x.ndim))


def reshape(self: Any, *shape: Any) -> Array:
    """The same elements in another shape: a view where strides allow, else a copy; one size may be -1."""
    x = as_array("reshape", self)
    return rules.reshape(x, resolved_shape("reshape", canonical_shape("reshape", shape), x.numel(), x.shape))


def reshape_as(self: Any, other: Any) -> Array:
    """`reshape` to the shape of ``other``."""
    return reshape(self, as_array("reshape_as", other).shape)


def view(self: Any, *shape: Any) -> Array:
    """The same memory in another shape; an error where only a copy would do."""
    x = as_array("view", self)
    wanted = resolved_shape("view", canonical_shape("view", shape), x.numel(), x.shape)
    shown = rules.reshape(x, wanted)
    if shown.storage is not x.storage and x.numel():
        raise ShapeError(
            f"view: the memory of an array of shape {x.shape} and strides {x.stride()} cannot be seen in the shape "
            f"{wanted}. Use reshape, which copies where it must."
        )
    return shown


def broadcast_to(self: Any, shape: Sequence[int]) -> Array:
    """A read-only view repeated to ``shape``."""
    x = as_array("broadcast_to", self)
    wanted = canonical_shape("broadcast_to", (shape,))
    if broadcast_shape("broadcast_to", x.shape, wanted) != wanted:
        raise ShapeError(f"broadcast_to: an array of shape {x.shape} does not broadcast to {wanted}.")
    return x if x.shape == wanted else rules.broadcast_to(x, wanted)


def unsqueeze(self: Any, dim: int) -> Array:
    """A view with a dimension of size 1 before ``dim``."""
    x = as_array("unsqueeze", self)
    at = canonical_dim("unsqueeze", dim, x.ndim + 1)
    possible_ndim("unsqueeze", x.ndim + 1)
    return rules.reshape(x, (*x.shape[:at], 1, *x.shape[at:]))


def squeeze(self: Any, dim: Any = None) -> Array:
    """A view without the dimensions ``dim``, which have size 1; by default without all that have."""
    x = as_array("squeeze", self)
    named = canonical_dims("squeeze", dim, x.ndim)
    if dim is not None:
        check_ones("squeeze", named, x.shape)
    return rules.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in named or n != 1))


def check_ones(name: str, dims: Sequence[int], shape: Sequence[int | None]) -> None:
    """Refuse dimensions of another size than 1."""
    for at in dims:
        if shape[at] != 1:
            raise ShapeError(
                f"{name}: dimension {at} has size {shape[at]}; only one of size 1 can be left out. Use select(dim, "
                "index) for an entry of a larger one."
            )


def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Array:
    """The dimensions from ``start_dim`` to ``end_dim`` as one: a view where strides allow, else a copy."""
    x = as_array("flatten", self)
    first, last = merged_dims(start_dim, end_dim, max(x.ndim, 1))
    sizes = x.shape[first : last + 1]
    return rules.reshape(x, (*x.shape[:first], prod(sizes), *x.shape[last + 1 :]))


def merged_dims(start_dim: Any, end_dim: Any, ndim: int) -> tuple[int, int]:
    """The first and the last of the dimensions that become one."""
    first, last = canonical_dim("flatten", start_dim, ndim), canonical_dim("flatten", end_dim, ndim)
    if first > last:
        raise DimensionError(f"flatten: start_dim {first} comes after end_dim {last}; swap them.")
    return first, last


def unflatten(self: Any, dim: int, sizes: Sequence[int]) -> Array:
    """Dimension ``dim`` as several, of ``sizes``; one of them may be -1."""
    x = as_array("unflatten", self)
    at = canonical_dim("unflatten", dim, x.ndim)
    parts = resolved_shape("unflatten", canonical_shape("unflatten", (sizes,)), x.shape[at], x.shape[at : at + 1])
    return rules.reshape(x, possible_shape("unflatten", (*x.shape[:at], *parts, *x.shape[at + 1 :])))


def joined(name: str, arrays: Any) -> list[Array]:
    """``arrays`` as Arrays of one promoted dtype; there must be at least one."""
    given = together(name, *arrays)
    if not given:
        raise StructureError(f"{name}: there is nothing to join; give at least one array.")
    dtype = promoted(*[array.dtype for array in given])
    return [to_dtype(array, dtype) for array in given]


def cat(arrays: Sequence[Any], dim: int = 0) -> Array:
    """The arrays one after another along ``dim``; their other sizes are equal."""
    given = joined("cat", arrays)
    at = canonical_dim("cat", dim, given[0].ndim)
    first = given[0].shape
    for i, array in enumerate(given):
        if array.ndim != len(first) or array.shape[:at] + array.shape[at + 1 :] != first[:at] + first[at + 1 :]:
            raise ShapeError(
                f"cat: array {i} has shape {array.shape} and array 0 has shape {first}; they may differ only along "
                f"dimension {at}."
            )
    possible_shape("cat", (*first[:at], sum(array.shape[at] for array in given), *first[at + 1 :]))
    result: Array = rules.concatenate(given, at)
    return result


def stack(arrays: Sequence[Any], dim: int = 0) -> Array:
    """The arrays, all of one shape, along a new dimension ``dim``."""
    given = joined("stack", arrays)
    at = canonical_dim("stack", dim, given[0].ndim + 1)
    for i, array in enumerate(given):
        if array.shape != given[0].shape:
            raise ShapeError(f"stack: array {i} has shape {array.shape} and array 0 has shape {given[0].shape}.")
    possible_shape("stack", (len(given), *given[0].shape))
    result: Array = rules.concatenate([unsqueeze(array, at) for array in given], at)
    return result


def clone(self: Any) -> Array:
    """A copy of the values in memory of its own; gradients flow through."""
    return rules.copy(as_array("clone", self))


def contiguous(self: Any) -> Array:
    """The array itself if its elements lie in order, else a copy that does."""
    x = as_array("contiguous", self)
    return x if x.is_contiguous() else clone(x)


def as_strided(self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0) -> Array:
    """A view of a contiguous array with other sizes and strides, in elements; where places repeat, it is read-only."""
    x = as_array("as_strided", self)
    sizes, strides = canonical_shape("as_strided", (size,)), canonical_ints("as_strided", "a stride", (stride,))
    offset = canonical_int("as_strided", "storage_offset", storage_offset)
    if len(sizes) != len(strides) or min((*sizes, *strides, offset), default=0) < 0:
        raise ShapeError(f"as_strided: sizes {sizes} and strides {strides} must be as many, and none below 0.")
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if 0 not in sizes and last >= x.numel():
        raise ShapeError(f"as_strided: the view reaches element {last} of an array of {x.numel()} elements.")
    if not x.is_contiguous():
        raise ShapeError("as_strided: the array is not contiguous; call contiguous() first.")
    taken = tuple(step if n > 1 and 0 not in sizes else 0 for n, step in zip(sizes, strides, strict=True))
    return rules.strided(x, sizes, taken, offset if 0 not in sizes else 0)


def to(self: Any, *targets: Any, dtype: Any = None, device: str | None = None) -> Array:
    """The array in another dtype, on another device, or both; itself where nothing changes."""
    x = as_array("to", self)
    place, kind = x.device, None
    for target in (*targets, *[one for one in (device, dtype) if one is not None]):
        if isinstance(target, str) and target in ("cpu", "cuda", "emulated"):
            place = target
        elif target is None:
            raise DTypeError("to: None is neither a dtype nor a device.")
        else:
            kind = target
    return converted(x, place, canonical_dtype(x.dtype if kind is None else kind, place))


def converted(x: Array, device: str, dtype: np.dtype[Any]) -> Array:
    """``x`` in ``dtype`` on ``device``; itself where nothing changes."""
    if not is_bfloat16(dtype):  # which the device that x is moved to may have, and its own may lack
        x = to_dtype(x, dtype)
    moved = x if device == x.device else to_device(x, device, x.device)
    return to_dtype(moved, dtype)
