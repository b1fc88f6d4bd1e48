"""Views and copies of nested and dense arrays: the structure moves, the values stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array, dense
from pynested.autograd.dense.canonical import canonical_dim, canonical_int, canonical_shape, resolved_shape
from pynested.autograd.dense.movement import canonical_index, pieces
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import views
from pynested.backends.errors import DimensionError, IndexOutOfRange, ShapeError, StructureError
from pynested.nested_array import NestedArray
from pynested.operators.slicing import batch_slice, slice_dim
from pynested.packing import describe, gathered, lead, packed, to_jagged, to_strided, unbound
from pynested.structure import Ints, Jagged, Strided, frozen, packed_strides


def component_dim(name: str, dim: Any, ndim: int) -> int:
    """``dim`` counted from the front; the batch dimension is refused."""
    at = canonical_dim(name, dim, ndim)
    if not at:
        raise DimensionError(
            f"{name}: dimension 0 is the batch dimension of a nested array, which cannot take part. Name one of 1..{ndim - 1}."
        )
    return at


def restructured(x: NestedArray, sizes: Ints, strides: Ints, offsets: Ints) -> NestedArray:
    """A view of the buffer of a strided array with another structure."""
    size = x.data.numel()
    return NestedArray(moves.alias(x.data), Strided(frozen(sizes), frozen(strides), frozen(offsets), size))


def transpose(self: Any, dim0: int, dim1: int) -> Any:
    """A view with two dimensions exchanged."""
    if type(self) is not NestedArray:
        return dense.transpose(self, dim0, dim1)
    a, b = component_dim("transpose", dim0, self.ndim), component_dim("transpose", dim1, self.ndim)
    structure = self.structure
    if isinstance(structure, Jagged):
        r = {a: b, b: a}.get(structure.ragged_dim, structure.ragged_dim)
        return NestedArray(dense.transpose(self.data, a - 1, b - 1), structure.with_ragged_dim(r))
    order = list(range(self.ndim - 1))
    order[a - 1], order[b - 1] = order[b - 1], order[a - 1]
    return restructured(self, structure.sizes[:, order], structure.strides[:, order], structure.offsets)


def unsqueeze(self: Any, dim: int) -> Any:
    """A view with a dimension of size 1 before ``dim``."""
    if type(self) is not NestedArray:
        return dense.unsqueeze(self, dim)
    at = component_dim("unsqueeze", dim, self.ndim + 1)
    structure = self.structure
    if isinstance(structure, Jagged):
        r = structure.ragged_dim + (at <= structure.ragged_dim)
        return NestedArray(dense.unsqueeze(self.data, at - 1), structure.with_ragged_dim(r))
    sizes = np.insert(structure.sizes, at - 1, 1, axis=1)
    return restructured(self, sizes, np.insert(structure.strides, at - 1, 1, axis=1), structure.offsets)


def unflatten(self: Any, dim: int, sizes: Sequence[int]) -> Any:
    """Dimension ``dim``, a regular one, as several."""
    if type(self) is not NestedArray:
        return dense.unflatten(self, dim, sizes)
    at = component_dim("unflatten", dim, self.ndim)
    size = self.regular_size(at)
    if size is None:
        raise DimensionError(f"unflatten: dimension {at} is irregular; only a regular dimension has one size to divide.")
    structure = self.structure
    parts = canonical_shape("unflatten", (sizes,))
    if len(self) or isinstance(structure, Jagged):
        parts = resolved_shape("unflatten", parts, size, (size,))
    else:  # no component has a size yet
        parts = tuple(max(part, 0) for part in parts)
    if isinstance(structure, Jagged):
        r = structure.ragged_dim + (len(parts) - 1 if at < structure.ragged_dim else 0)
        return NestedArray(dense.unflatten(self.data, at - 1, parts), structure.with_ragged_dim(r))
    steps = packed_strides(np.array([parts], np.int64).reshape(1, len(parts)))
    k = at - 1
    new_sizes = np.concatenate(
        [structure.sizes[:, :k], np.tile(np.array(parts, np.int64), (len(self), 1)), structure.sizes[:, k + 1 :]], axis=1
    )
    new_strides = np.concatenate(
        [structure.strides[:, :k], structure.strides[:, k : k + 1] * steps, structure.strides[:, k + 1 :]], axis=1
    )
    return restructured(self, new_sizes, new_strides, structure.offsets)


def _target_sizes(name: str, x: NestedArray, shape: tuple[int, ...]) -> Ints:
    """The sizes of components after a reshape to ``shape``; -1 keeps the size that the dimension has."""
    if not shape or shape[0] not in (-1, len(x)):
        raise ShapeError(
            f"{name}: the first size of {shape} is the number of components, {len(x)} (or -1); a reshape keeps it."
        )
    sizes = np.empty((len(x), len(shape) - 1), np.int64)
    for dim, size in enumerate(shape[1:], 1):
        if size < -1:
            raise ShapeError(f"{name}: invalid size {size} in shape {shape}.")
        if size == -1 and dim >= x.ndim:
            raise ShapeError(
                f"{name}: -1 keeps the size that a dimension has, and dimension {dim} is new; give its size in {shape}."
            )
        if size != -1 and dim < x.ndim and x.regular_size(dim) is None:
            raise ShapeError(f"{name}: dimension {dim} is irregular, so its only valid size is -1, not {size}.")
        sizes[:, dim - 1] = x.lengths_along(dim) if size == -1 else size
    before, after = x.component_sizes().prod(axis=1), sizes.prod(axis=1)
    if not np.array_equal(before, after):
        i = int(np.flatnonzero(before != after)[0])
        raise ShapeError(
            f"{name}: component {i} has shape {describe(x.component_shape(i))}, {before[i]} elements, which do not fill "
            f"{describe(sizes[i].tolist())} of shape {shape}."
        )
    return sizes


def reshape(self: Any, *shape: Any) -> Any:
    """The same elements in another shape, of as many components; -1 keeps the size that a dimension has."""
    if type(self) is not NestedArray:
        return dense.reshape(self, *shape)
    return _reshaped("reshape", self, canonical_shape("reshape", shape), True)


def view(self: Any, *shape: Any) -> Any:
    """`reshape` without a copy; an error where only a copy would do."""
    if type(self) is not NestedArray:
        return dense.view(self, *shape)
    return _reshaped("view", self, canonical_shape("view", shape), False)


def reshape_as(self: Any, other: Any) -> Any:
    """`reshape` to the shape of ``other``."""
    if type(self) is not NestedArray and type(other) is not NestedArray:
        return dense.reshape_as(self, other)
    if type(self) is not NestedArray or type(other) is not NestedArray or len(self) != len(other):
        raise ShapeError("reshape_as: both arrays must be nested and have as many components.")
    sizes = other.component_sizes()
    if not np.array_equal(sizes.prod(axis=1), self.component_sizes().prod(axis=1)):
        i = int(np.flatnonzero(sizes.prod(axis=1) != self.component_sizes().prod(axis=1))[0])
        raise ShapeError(
            f"reshape_as: component {i} of shape {describe(self.component_shape(i))} does not fill "
            f"{describe(other.component_shape(i))}."
        )
    flat = NestedArray(gathered(to_strided(self)), Strided.of_packed(sizes))
    return to_jagged(flat, other.structure.ragged_dim) if isinstance(other.structure, Jagged) else flat


def _reshaped(name: str, x: NestedArray, shape: tuple[int, ...], may_copy: bool) -> NestedArray:
    sizes = _target_sizes(name, x, shape)
    if isinstance(x.structure, Jagged):
        return _reshaped_jagged(name, x, x.structure, shape, sizes, may_copy)
    structure = x.structure
    rows = (structure.strides == packed_strides(structure.sizes)) | (structure.sizes == 1)
    if bool((rows.all(axis=1) | (structure.numels == 0)).all()):
        return restructured(x, sizes, packed_strides(sizes), structure.offsets)
    if not may_copy:
        raise ShapeError(f"{name}: the components are not row-major, so shape {shape} is no view. Use reshape, which copies.")
    return NestedArray(gathered(x), Strided.of_packed(sizes))


def _reshaped_jagged(
    name: str, x: NestedArray, structure: Jagged, shape: tuple[int, ...], sizes: Ints, may_copy: bool
) -> NestedArray:
    """Where the ragged dim keeps its place among equal products, the values take the shape; else by the strided way."""
    r = structure.ragged_dim
    old, new = x.data.shape, [int(n) if len(sizes) else max(k, 0) for n, k in zip(sizes[:1].reshape(-1), shape[1:], strict=False)]
    if len(shape) <= r:
        raise ShapeError(f"{name}: shape {shape} has no place for the ragged dimension {r}, whose size is -1.")
    new = [x.data.shape[k] if size == -1 else size for k, size in enumerate(shape[1:])] if not new else new
    if int(np.prod(new[: r - 1])) == int(np.prod(old[: r - 1])):
        values_shape = (*new[: r - 1], old[r - 1], *new[r:])
        values = dense.reshape(x.data, values_shape) if may_copy else dense.view(x.data, values_shape)
        return NestedArray(values, structure)
    if not may_copy:
        raise ShapeError(f"{name}: shape {shape} moves elements across the ragged dimension, so it is no view. Use reshape.")
    return to_jagged(NestedArray(gathered(to_strided(x)), Strided.of_packed(sizes)), r)


def component(x: NestedArray, i: int) -> Array:
    """Component ``i`` (canonical), as a view."""
    structure = x.structure
    if isinstance(structure, Jagged):
        start, length = int(structure.offsets[i]), int(structure.component_lengths[i])
        before = (slice(None),) * (structure.ragged_dim - 1)
        return moves.slice_(x.data, (*before, slice(start, start + length)))  # type: ignore[no-any-return]
    one = slice(i, i + 1)
    return views.components(x.data, structure.sizes[one], structure.strides[one], structure.offsets[one])[0]  # type: ignore[no-any-return]


def component_data(x: NestedArray, i: int) -> Any:
    """The values of component ``i``, as the array module sees them."""
    return component(NestedArray(x.data.detach(), x.structure), i).data


def select(self: Any, dim: int, index: int) -> Any:
    """``self`` without dimension ``dim``, at ``index`` of it."""
    if type(self) is not NestedArray:
        return dense.select(self, dim, index)
    at = canonical_dim("select", dim, self.ndim)
    if not at:
        return component(self, canonical_index("select", index, len(self), 0))
    where = _index_in_each(self, at, canonical_int("select", "an index", index))
    structure = self.structure
    if isinstance(structure, Strided):
        kept = [k for k in range(self.ndim - 1) if k != at - 1]
        offsets = structure.offsets + where * structure.strides[:, at - 1]
        sizes, strides = structure.sizes[:, kept], structure.strides[:, kept]
        return restructured(self, sizes, strides, np.where(sizes.prod(axis=1) > 0, offsets, 0))
    r = structure.ragged_dim
    if at == r:
        rows = structure.offsets[:-1] + where
        return moves.take_rows(moves.transpose(self.data, lead(r - 1, self.data.ndim)), rows)
    size = self.data.shape[at - 1]
    values = dense.select(self.data, at - 1, index if -size <= index < size else 0) if size else None
    if values is None:
        values = Array(np.zeros(self.data.shape[: at - 1] + self.data.shape[at:], self.dtype), self.device)
    return NestedArray(values, structure.with_ragged_dim(r - (at < r)))


def _index_in_each(x: NestedArray, dim: int, index: int) -> Ints:
    """``index`` along ``dim`` of each component, counted from its own front; all components must have it."""
    sizes = x.lengths_along(dim)
    where = sizes + index if index < 0 else np.full(len(x), index, np.int64)
    wrong = np.flatnonzero((where < 0) | (where >= sizes))
    if wrong.size:
        shown = ", ".join(map(str, wrong[:5].tolist())) + (", …" if wrong.size > 5 else "")
        raise IndexOutOfRange(
            f"select: index {index} is out of bounds for dimension {dim} of component{'s' if wrong.size > 1 else ''} "
            f"{shown}: component {wrong[0]} has length {sizes[wrong[0]]} there."
        )
    return where


def chunk(self: Any, chunks: int, dim: int = 0) -> Any:
    """Views of ``chunks`` pieces along ``dim``: of the batch or of a regular dimension."""
    if type(self) is not NestedArray:
        return dense.chunk(self, chunks, dim)
    at = canonical_dim("chunk", dim, self.ndim)
    size = self.regular_size(at)
    if size is None:
        raise DimensionError(
            f"chunk: dimension {at} is irregular; pieces of one size exist only along the batch or a regular dimension."
        )
    parts = [slice(start, start + length) for start, length in pieces("chunk", chunks, size)]
    return tuple(batch_slice(self, part) if not at else slice_dim(self, at, part) for part in parts)


def unbind(self: Any, dim: int = 0) -> tuple[Array, ...]:
    """The components, as views."""
    if type(self) is not NestedArray:
        return dense.unbind(self, dim)
    at = canonical_dim("unbind", dim, self.ndim)
    if at:
        raise DimensionError(f"unbind: a nested array can only be unbound along dimension 0, not {at}.")
    return unbound(self)


def clone(self: Any) -> Any:
    """A copy in memory of its own; gradients flow through."""
    if type(self) is not NestedArray:
        return dense.clone(self)
    tight = packed(self)
    return NestedArray(dense.clone(tight.data), tight.structure)


def detach(self: Any) -> Any:
    """The same values without history."""
    return NestedArray(self.data.detach(), self.structure) if type(self) is NestedArray else self.detach()
