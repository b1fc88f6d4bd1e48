"""Views of dense arrays, for methods that only dense arrays have."""

from __future__ import annotations

from collections.abc import Sequence

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import (
    broadcast_shape,
    canonical_dim,
    canonical_int,
    canonical_ints,
    canonical_shape,
)
from pynested.autograd.primitives import movement
from pynested.backends.errors import IndexOutOfRange, ShapeError


def narrowed(x: Array, dim: int, start: int, length: int) -> Array:
    """View ``length`` entries along ``dim``, from ``start`` on."""
    dim = canonical_dim("narrow", dim, x.ndim)
    size = x.shape[dim]
    first_index, count = canonical_int("narrow", "start", start), canonical_int("narrow", "length", length)
    first_index = first_index + size if first_index < 0 else first_index
    if count < 0 or first_index < 0 or first_index + count > size:
        raise IndexOutOfRange(f"narrow: start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return movement.slice_(x, (*[slice(None)] * dim, slice(first_index, first_index + count)))


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0) -> Array:
    """View a contiguous array with new sizes and strides, in elements. If elements repeat, the view is read-only."""
    sizes, strides = canonical_shape("as_strided", (size,)), canonical_ints("as_strided", "a stride", (stride,))
    offset = canonical_int("as_strided", "storage_offset", storage_offset)
    if len(sizes) != len(strides) or min((*sizes, *strides, offset), default=0) < 0:
        raise ShapeError(
            f"as_strided: sizes {sizes} and strides {strides} must be equally many, and all 0 or more, as the offset."
        )
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if 0 not in sizes and last >= x.numel():
        raise ShapeError(f"as_strided: the view reaches element {last} of an array of {x.numel()} elements.")
    if not x.is_contiguous():
        raise ShapeError("as_strided: the array is not contiguous; call contiguous() first.")
    used_strides = tuple(s if n > 1 and 0 not in sizes else 0 for n, s in zip(sizes, strides, strict=True))
    return movement.strided(x, sizes, used_strides, offset if 0 not in sizes else 0)


def broadcast_to(x: Array, shape: Sequence[int]) -> Array:
    """View an array broadcast to ``shape``, read-only; -1 keeps the size of a dimension."""
    target = canonical_shape("broadcast_to", (shape,))
    x_sizes = (*[-1] * (len(target) - x.ndim), *x.shape)  # aligned at the right
    if len(x_sizes) == len(target):
        target = tuple(x_size if size == -1 else size for size, x_size in zip(target, x_sizes, strict=True))
    if min(target, default=0) < 0:
        raise ShapeError(f"broadcast_to: shape {target} has a size below 0; -1 keeps a size that the array has.")
    if broadcast_shape("broadcast_to", x.shape, target) != target:
        raise ShapeError(f"broadcast_to: an array of shape {x.shape} does not broadcast to {target}.")
    return x if x.shape == target else movement.broadcast_to(x, target)
