"""Conversion of nested arrays between layouts and placements: packed, contiguous, strided, jagged, dense.

Every function is differentiable. Values are *packed* if each of their elements belongs to exactly one component. A
dimension is *regular* if all components have the same size along it, else *irregular*. The *extents* are the table of
all component sizes (see `pynested/structure/extents.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import check_possible_shape
from pynested.autograd.primitives import movement
from pynested.backends import Matrices, packed_strides
from pynested.backends.dtypes import promoted
from pynested.backends.errors import ArgumentError, GradientError, LayoutError, StructureError
from pynested.structure import Ints, Jagged, Strided, regular_sizes
from pynested.structure.layout import Layout, jagged, strided

from .nested_array import NestedArray, wrap_unchecked
from .operands import ArrayT
from .shape_comparison import check_same_shape, shape_text

# ---- orders of axes -------------------------------------------------------------------------------------------------


def axis_first(axis: int, ndim: int) -> tuple[int, ...]:
    """Return the order of ``ndim`` axes that moves ``axis`` to the front."""
    return (axis, *[i for i in range(ndim) if i != axis])


def exchanged_axes(ndim: int, a: int, b: int) -> tuple[int, ...]:
    """Return the order of ``ndim`` axes that exchanges two axes."""
    order = list(range(ndim))
    order[a], order[b] = b, a
    return tuple(order)


def axis_to_front(x: Array, axis: int) -> Array:
    """Return ``x`` with ``axis`` as its first axis; the other axes keep their order."""
    return movement.transpose(x, axis_first(axis, x.ndim)) if axis else x


def front_to_axis(x: Array, axis: int) -> Array:
    """Return ``x`` with its first axis as ``axis``; the inverse of `axis_to_front`."""
    return movement.transpose(x, (*range(1, axis + 1), 0, *range(axis + 1, x.ndim))) if axis else x


def take_along(values: Array, axis: int, index: Ints) -> Array:
    """Return the entries of ``values`` at ``index`` along ``axis``, as a copy."""
    rows = movement.take_rows(axis_to_front(values, axis), index)
    return front_to_axis(rows, axis).contiguous() if axis else rows


# ---- packed and contiguous ------------------------------------------------------------------------------------------


def packed(x: NestedArray) -> NestedArray:
    """Return ``x`` itself if its values are packed, else a packed copy."""
    return x if x.structure.is_packed else repacked(x)


def repacked(x: NestedArray) -> NestedArray:
    """Return a copy of ``x`` that holds component after component, even if ``x`` is packed."""
    structure = x.structure
    if isinstance(structure, Strided):
        values = movement.gather(x.data, structure.sizes, structure.strides, structure.offsets)
    else:
        values = take_along(x.data, structure.ragged_dim - 1, structure.row_index)
    return wrap_unchecked(values, structure.repacked)


def contiguous(x: NestedArray) -> NestedArray:
    """Return ``x`` packed and in C order: ``x`` itself, a view without the gaps at both ends, or a copy."""
    structure = x.structure
    if structure.span is not None and x.is_contiguous():
        if structure.packed is structure:
            return x
        axes_before = (slice(None),) * ((structure.ragged_dim or 1) - 1)
        return wrap_unchecked(movement.slice_(x.data, (*axes_before, structure.span)), structure.repacked)
    if isinstance(structure, Strided):
        return NestedArray(gather_elements(x), structure.packed)
    packed_x = packed(x)
    return NestedArray(packed_x.data.contiguous(), packed_x.structure)


# ---- all elements in one flat array ---------------------------------------------------------------------------------


def gather_elements(x: NestedArray, order: Sequence[int] | None = None) -> Array:
    """Return the elements of a strided array as a flat array: each component row-major, with its axes in ``order``."""
    structure = x.structure
    assert isinstance(structure, Strided)
    ordered = structure if order is None else structure.with_axes(order)
    return x.data if ordered.is_contiguous else movement.gather(x.data, ordered.sizes, ordered.strides, ordered.offsets)


def elements(x: NestedArray) -> Array:
    """Return the elements of ``x`` as a flat array: component after component, each row-major."""
    if x.structure.ragged_dim != 1:
        return gather_elements(to_strided(x))
    rows = packed(x).data
    return movement.reshape(rows, (rows.numel(),))


def from_elements(flat: Array, extents: Ints, count: int, ragged_dim: int | None) -> NestedArray:
    """Return the nested array whose `elements` are ``flat``: jagged along ``ragged_dim``, or strided if it is None."""
    flat = flat if flat.is_contiguous() else flat.contiguous()
    x = wrap_unchecked(flat, Strided.from_extents(extents, count))
    return x if ragged_dim is None else to_jagged(x, ragged_dim)


def as_matrices(x: NestedArray) -> tuple[Matrices, Array]:
    """Return the matrices of all components, and the values in which they lie; ``x`` has 3 dimensions or more."""
    packed_x = packed(x)
    structure, values = packed_x.structure, packed_x.data
    if isinstance(structure, Jagged):
        if structure.ragged_dim == 1:
            return structure.matrices(values.shape), values
        if values.ndim == 2:
            return structure.matrices(values.shape), movement.transpose(values, (1, 0))
    flat, strided_structure = as_strided_parts(packed_x)
    return strided_structure.matrices, gather_elements(wrap_unchecked(flat, strided_structure))


def with_dtype(x: ArrayT, dtype: np.dtype[Any]) -> ArrayT:
    """Return an array, nested or dense, in ``dtype``: ``x`` itself if it has this dtype."""
    if isinstance(x, NestedArray):
        return x if x.dtype == dtype else wrap_unchecked(movement.to_dtype(x.data, dtype), x.structure)
    return movement.to_dtype(x, dtype)


def in_promoted_dtype(*arrays: Any) -> list[Any]:
    """Return arrays, nested or dense, in the dtype to which their dtypes promote."""
    dtype = promoted(*{x.dtype for x in arrays})
    return [with_dtype(x, dtype) for x in arrays]


# ---- strided and jagged ---------------------------------------------------------------------------------------------


def to_strided(x: NestedArray) -> NestedArray:
    """Return ``x`` in the strided layout: a view if its values are contiguous in some order of axes, else a copy."""
    return x if isinstance(x.structure, Strided) else NestedArray(*as_strided_parts(x))


def as_strided_parts(x: NestedArray) -> tuple[Array, Strided]:
    """Return the flat buffer and the structure that ``x`` has in the strided layout."""
    values, structure = contiguous_parts(x)
    return values if isinstance(x.structure, Strided) else movement.reshape(values, (values.numel(),)), structure


def contiguous_parts(x: NestedArray) -> tuple[Array, Strided]:
    """Return contiguous values, not flat yet, and the structure that ``x`` has in the strided layout."""
    structure, values = x.structure, x.data
    if isinstance(structure, Strided):
        return values, structure
    order, ordered = tuple(range(values.ndim)), values
    if not values.is_contiguous():
        value_strides = values.data.strides
        order = tuple(sorted(order, key=lambda i: -value_strides[i]))
        ordered = movement.transpose(values, order)
        if not ordered.is_contiguous():
            order, ordered = tuple(range(values.ndim)), values.contiguous()
    shape, axis = values.shape, structure.ragged_dim - 1

    def compute() -> Strided:
        sizes = np.array([ordered.shape], np.int64)
        # Computed from the shape, as NumPy gives arbitrary strides to dimensions of size 0 and 1.
        strides = packed_strides(sizes)[0, np.argsort(order)]
        all_strides = np.broadcast_to(strides, (structure.count, values.ndim))
        return Strided.from_validated(x.extents, all_strides, structure.offsets[:-1] * strides[axis], values.numel())

    # Arrays with the same segments share the result. With gaps it also depends on the offsets, so it is not cached.
    key = "as_strided_parts", axis, order, shape[:axis], shape[axis + 1 :]
    strided_structure = structure.segments.cached(key, compute) if structure.is_packed else compute()
    return ordered, strided_structure


def to_jagged(x: NestedArray, ragged_dim: int) -> NestedArray:
    """Return ``x`` in the jagged layout, a strided array along ``ragged_dim``."""
    if isinstance(x.structure, Jagged):
        return x
    order = axis_first(ragged_dim - 1, x.ndim - 1)
    flat = gather_elements(x, order)
    structure = Jagged.from_lengths(x.structure.sizes[:, ragged_dim - 1], ragged_dim)
    values = movement.reshape(flat, (structure.rows, *[x.regular_sizes[i] or 0 for i in order[1:]]))
    return NestedArray(front_to_axis(values, ragged_dim - 1).contiguous() if ragged_dim > 1 else values, structure)


def to_layout(name: str, x: NestedArray, layout: Layout) -> NestedArray:
    """Return ``x`` in ``layout``; jagged along its irregular dimension, or along 1 if all are regular."""
    if layout is strided:
        return to_strided(x)
    return x if isinstance(x.structure, Jagged) else to_jagged(x, irregular_dim(name, x.regular_sizes))


def irregular_dim(name: str, regular: Sequence[int | None]) -> int:
    """Return the only irregular dimension, or dimension 1 if all are regular; raise an error for several."""
    if not regular:
        raise StructureError(
            f"{name}: components without dimensions cannot have a ragged dimension. Use layout=pn.strided."
        )
    irregular = [dim for dim, size in enumerate(regular, 1) if size is None]
    if len(irregular) > 1:
        raise LayoutError(
            f"{name}: dimensions {' and '.join(map(str, irregular))} are irregular, and only one can be in the jagged "
            "layout, (B, *, D). Use layout=pn.strided."
        )
    return irregular[0] if irregular else 1


def as_jagged_view(x: NestedArray) -> NestedArray | None:
    """Return a strided array as a jagged view; None unless it is contiguous, and regular except in dimension 1."""
    if isinstance(x.structure, Jagged) or x.structure.jagged_view is None:
        return None
    jagged_structure, row_shape = x.structure.jagged_view
    values = movement.reshape(x.data, (jagged_structure.segments.rows, *row_shape))
    return NestedArray(values, jagged_structure)


def rows_to_strided(values: Array, structure: Strided) -> NestedArray:
    """Return values (N, ...), computed from the N rows of `as_jagged_view`, as a strided array."""
    flat = movement.reshape(values, (values.numel(),))
    if structure.jagged_view is not None and structure.jagged_view[1] == values.shape[1:]:
        return NestedArray(flat, structure.packed)
    row_sizes = np.tile(np.array(values.shape[1:], np.int64), (structure.count, 1))
    extents = np.concatenate([structure.sizes[:, :1], row_sizes], axis=1)
    return NestedArray(flat, Strided.from_extents(extents, structure.count))


# ---- the placement of another array ---------------------------------------------------------------------------------


def place_like(name: str, x: NestedArray, like: NestedArray) -> Array:
    """Return the elements of ``x`` placed like ``like``: zeros in gaps, sums in overlaps; shapes must be equal."""
    target = like.structure
    if target.is_packed and x.data.shape == like.data.shape and x.structure.same_placement(target):
        return x.data
    check_same_shape(name, like, x)
    if isinstance(target, Jagged):
        values = packed(x if isinstance(x.structure, Jagged) else to_jagged(x, target.ragged_dim)).data
        if target.lengths is None:
            return values
        axis = target.ragged_dim - 1
        rows = movement.add_rows(axis_to_front(values, axis), target.row_index, like.data.shape[axis])
        return front_to_axis(rows, axis)
    flat = gather_elements(to_strided(x))
    if target.is_contiguous:
        return flat
    return movement.scatter(flat, target.sizes, target.strides, target.offsets, target.buffer_size)


def as_gradient(name: str, value: Any, like: NestedArray) -> Array:
    """Return the nested gradient ``value`` as values that lie like those of ``like``; raise unless it fits."""
    if not isinstance(value, NestedArray):
        raise GradientError(f"{name}: the gradient of a nested array must be nested, not {type(value).__name__}.")
    return place_like(name, value, like)


# ---- dense arrays ---------------------------------------------------------------------------------------------------


def nest(name: str, components: Sequence[Array], layout: Layout, ragged_dim: int | None = None) -> NestedArray:
    """Return dense components of equal rank, one or more, as a nested array of their promoted dtype.

    Errors begin with ``name``, the public function.
    """
    arrays = in_promoted_dtype(*components)
    sizes = np.array([array.shape for array in arrays], np.int64)
    if layout is jagged:
        dim = irregular_dim(name, regular_sizes(sizes)) if ragged_dim is None else ragged_dim
        return NestedArray(movement.concatenate(arrays, dim - 1), Jagged.from_lengths(sizes[:, dim - 1], dim))
    flat = movement.concatenate([movement.reshape(array, (array.numel(),)) for array in arrays], 0)
    return NestedArray(flat, Strided.from_extents(sizes, len(arrays)))


def slices_as_components(x: Array, count: int) -> tuple[Array, Strided]:
    """Return the slices of ``x`` as flat values and a structure; if there is one slice, all components share it."""
    return movement.reshape(x, (x.numel(),)).contiguous(), structure_of_slices(x.shape, count)


def structure_of_slices(shape: tuple[int, ...], count: int) -> Strided:
    """Return the structure of the slices of a contiguous array; if there is one, all ``count`` components share it."""
    extents = np.empty((max(count, 1), len(shape) - 1), np.int64)
    extents[:] = shape[1:]
    if shape[0] == count:
        return Strided.from_extents(extents, count)
    strides = packed_strides(extents[:count])
    return Strided.from_validated(extents, strides, np.zeros(count, np.int64), prod(shape))


def as_dense(name: str, x: NestedArray) -> Array:
    """Return the components as one dense array (B, ...); raise unless their shapes are equal."""
    extents = x.extents
    if (extents != extents[0]).any():
        i = int(np.flatnonzero((extents != extents[0]).any(axis=1))[0])
        raise StructureError(
            f"{name}: component {i} has shape {shape_text(extents[i])} and component 0 has shape "
            f"{shape_text(extents[0])}; only components of equal shape make a dense array. Use "
            "pn.to_padded_array(nt, 0.0), or nt.values()."
        )
    shape = check_possible_shape(name, (len(x), *np.maximum(extents[0], 0).tolist()))
    return movement.reshape(gather_elements(to_strided(x)), shape)


def as_ndarray(x: NestedArray, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Return the components, whose shapes must be equal, as one NumPy array."""
    dense = as_dense("array", x)
    is_copied = dense.storage is not x.data.storage
    if copy is False and is_copied and dense.numel():
        raise ArgumentError("array: the components of this nested array need a copy to become one dense array.")
    return np.array(dense.numpy(), dtype=dtype, copy=None if is_copied else copy)
