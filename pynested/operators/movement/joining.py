"""Joining of nested or dense arrays along an existing dimension (`cat`) or along a new dimension (`stack`).

The *extents* of an array are the table of its component sizes (see `pynested/structure/extents.py`). A dimension is
*regular* if all components have the same size along it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_arrays_on_one_device
from pynested.autograd.arguments.shapes import canonical_dim, check_possible_ndim, check_possible_shape
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends import strided_index
from pynested.backends.errors import ArgumentError, DimensionError, ShapeError, StructureError
from pynested.nested.layout_conversion import (
    as_jagged_view,
    gather_elements,
    in_promoted_dtype,
    packed,
    take_along,
    to_strided,
)
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import Dense, check_devices
from pynested.nested.shape_comparison import check_same_shape, component_text, first_difference, same_shape, shape_text
from pynested.structure import Jagged, Strided

from .axes import unsqueeze


def _array_list(name: str, arrays: Any) -> list[Any]:
    """Return the arrays to join as a list, which must not be empty."""
    if isinstance(arrays, NestedArray | Array | np.ndarray):
        raise ArgumentError(f"{name}: takes a list of arrays, not one array: pn.{name}([a, b]).")
    if not isinstance(arrays, Iterable):
        raise ArgumentError(f"{name}: takes a list of arrays, not {type(arrays).__name__}: pn.{name}([a, b]).")
    array_list = list(arrays)
    if not array_list:
        raise StructureError(f"{name}: the list is empty; give at least one array.")
    return array_list


def _promoted_nested(name: str, arrays: list[Any]) -> list[NestedArray]:
    """Return the arrays in their promoted dtype. They must be nested, of equal rank and on the same device."""
    for i, x in enumerate(arrays):
        if type(x) is not NestedArray:
            raise StructureError(
                f"{name}: array {i} is {type(x).__name__} and other arrays are nested. Nest its components first: "
                "pn.as_nested_array(x)."
            )
        if x.ndim != arrays[0].ndim:
            raise StructureError(f"{name}: array {i} has {x.ndim} dimensions and array 0 has {arrays[0].ndim}.")
    check_devices(name, arrays)
    return in_promoted_dtype(*arrays)


@overload
def cat(arrays: Sequence[NestedArray], dim: int = 0) -> NestedArray: ...
@overload
def cat(arrays: Sequence[Dense], dim: int = 0) -> Array: ...
@operator
def cat(arrays: Sequence[Any], dim: int = 0) -> NestedArray | Array:
    """Concatenate arrays along ``dim``: ``(B1, *, D), (B2, *, D) -> (B1 + B2, *, D)`` along the batch.

    Dimension 0 concatenates the batches. Along another dimension, component ``i`` of the result is the concatenation
    of component ``i`` of all arrays; lengths along an irregular dimension add up. All arrays are nested or all are
    dense, and all have equal rank. The result has the promoted dtype. It is jagged if all arrays are jagged with the
    same ragged dimension (and, for ``dim`` 0, equal regular sizes), else strided.

    StructureError for an empty sequence, for dense arrays among nested arrays, and for nested arrays of different rank.
    If ``dim`` is not 0, also for different numbers of components, and for sizes that differ along a dimension other
    than ``dim``; the message names the array and both sizes, or both numbers. ShapeError for dense arrays whose shapes
    do not fit. Gradient: each array gets its piece of the cotangent. Clauses: CAT-1 to CAT-8. After `torch.cat`.

    >>> a, b = pn.nested_array([[1, 2], [3]], layout=pn.jagged), pn.nested_array([[4], [5, 6]], layout=pn.jagged)
    >>> pn.cat([a, b], 1).unbind()
    (array([1, 2, 4]), array([3, 5, 6]))
    """
    array_list = _array_list("cat", arrays)
    if not any(type(x) is NestedArray for x in array_list):
        return _cat_dense(in_promoted_dtype(*as_arrays_on_one_device("cat", *array_list)), dim)
    nested = _promoted_nested("cat", array_list)
    dim = canonical_dim("cat", dim, nested[0].ndim)
    ragged_dim = nested[0].structure.ragged_dim
    if ragged_dim is None or any(x.structure.ragged_dim != ragged_dim for x in nested):
        packed_arrays = [packed(to_strided(x)) for x in nested]
        jagged_views = [view for view in map(as_jagged_view, packed_arrays) if view is not None]
        if len(jagged_views) == len(packed_arrays):
            return to_strided(cat(jagged_views, dim))
        return _cat_strided(packed_arrays, dim) if dim else _cat_batch_strided(packed_arrays)
    if not dim:
        return _cat_batch_jagged(nested, ragged_dim)
    _check_other_sizes(nested, dim)
    packed_arrays = [packed(x) for x in nested]
    if dim == ragged_dim:
        return _cat_ragged(packed_arrays, dim)
    return wrap_unchecked(movement.concatenate([x.data for x in packed_arrays], dim - 1), packed_arrays[0].structure)


def _cat_dense(arrays: list[Array], dim: int) -> Array:
    dim = canonical_dim("cat", dim, arrays[0].ndim)
    shape = arrays[0].shape
    before, behind = shape[:dim], shape[dim + 1 :]
    for i, array in enumerate(arrays):
        if array.ndim != len(shape) or array.shape[:dim] + array.shape[dim + 1 :] != before + behind:
            raise ShapeError(
                f"cat: array {i} has shape {array.shape} and array 0 has shape {shape}; they may differ only along "
                f"dimension {dim}."
            )
    check_possible_shape("cat", (*before, sum(array.shape[dim] for array in arrays), *behind))
    return movement.concatenate(arrays, dim)


def _check_other_sizes(arrays: Sequence[NestedArray], dim: int) -> None:
    """Raise StructureError unless corresponding components have equal sizes along all dimensions but ``dim``."""
    array_0 = arrays[0]
    if len(array_0) and all(same_shape(x, array_0, dim) for x in arrays):
        return
    other_axes = [axis for axis in range(array_0.ndim - 1) if axis != dim - 1]
    expected = array_0.extents
    for i, x in enumerate(arrays[1:], 1):
        if len(x) != len(array_0):
            raise StructureError(f"cat: array {i} has {len(x)} components and array 0 has {len(array_0)}.")
        difference = first_difference(x.extents[:, other_axes], expected[:, other_axes])
        if difference:
            component = difference[0]
            raise StructureError(
                f"cat: {component_text(component, len(x))} has shape {shape_text(x.extents[component])} in array {i} "
                f"and {shape_text(expected[component])} in array 0; they may differ only along dimension {dim}."
            )
        # An empty batch has sizes of -1, which are unknown; another array can have the size.
        expected = np.maximum(expected, x.extents)


def _cat_batch_jagged(arrays: Sequence[NestedArray], ragged_dim: int) -> NestedArray:
    """Concatenate batches. The result is strided if regular sizes differ, as then two dimensions are irregular."""
    packed_arrays = [packed(x) for x in arrays]
    if any(x.regular_sizes != packed_arrays[0].regular_sizes for x in packed_arrays):
        return _cat_batch_strided([to_strided(x) for x in arrays])
    lengths = np.concatenate([x.structure.component_lengths for x in packed_arrays])  # type: ignore[union-attr]
    values = movement.concatenate([x.data for x in packed_arrays], ragged_dim - 1)
    return NestedArray(values, Jagged.from_lengths(lengths, ragged_dim))


def _cat_ragged(arrays: Sequence[NestedArray], dim: int) -> NestedArray:
    """Concatenate the values of all arrays, and reorder the rows by components of the result."""
    lengths_by_array = [x.structure.component_lengths for x in arrays]  # type: ignore[union-attr]
    first_rows = np.cumsum([0, *[x.data.shape[dim - 1] for x in arrays[:-1]]])
    starts = np.stack([x.structure.offsets[:-1] + row for x, row in zip(arrays, first_rows, strict=True)], axis=1)
    lengths = np.stack(lengths_by_array, axis=1).reshape(-1)
    rows = strided_index(lengths[:, None], np.ones((lengths.size, 1), np.int64), starts.reshape(-1))
    values = movement.concatenate([x.data for x in arrays], dim - 1)
    return NestedArray(take_along(values, dim - 1, rows), Jagged.from_lengths(np.sum(lengths_by_array, axis=0), dim))


def _cat_batch_strided(arrays: Sequence[NestedArray]) -> NestedArray:
    count = sum(len(x) for x in arrays)
    extents = np.concatenate([x.extents for x in arrays if len(x) or not count])
    if not count:  # a size that is different in two empty batches is unknown
        extents = np.where((extents == extents[0]).all(axis=0), extents[:1], -1)
    flat = movement.concatenate([gather_elements(x) for x in arrays], 0)
    return NestedArray(flat, Strided.from_extents(extents, count))


def _cat_strided(arrays: Sequence[NestedArray], dim: int) -> NestedArray:
    """Concatenate the elements of all arrays, and move each to its position in the result."""
    _check_other_sizes(arrays, dim)
    axis = dim - 1
    all_extents = [x.extents for x in arrays]
    joined_sizes = [x_extents[:, axis] for x_extents in all_extents]
    extents = np.max(all_extents, axis=0)
    extents[:, axis] = np.where(np.min(joined_sizes, axis=0) < 0, -1, np.sum(joined_sizes, axis=0))
    structure = Strided.from_extents(extents, len(arrays[0]))
    strides = structure.strides
    positions, lengths_before = [], np.zeros(structure.count, np.int64)
    for x in arrays:
        sizes = x.component_sizes()
        positions.append(strided_index(sizes, strides, structure.offsets + lengths_before * strides[:, axis]))
        lengths_before = lengths_before + sizes[:, axis]
    element_index = np.empty(structure.buffer_size, np.int64)  # the inverse of the positions
    element_index[np.concatenate(positions)] = np.arange(structure.buffer_size)
    elements = movement.concatenate([gather_elements(x) for x in arrays], 0)
    return NestedArray(movement.take_rows(elements, element_index), structure)


@overload
def stack(arrays: Sequence[NestedArray], dim: int = 0) -> NestedArray: ...
@overload
def stack(arrays: Sequence[Dense], dim: int = 0) -> Array: ...
@operator
def stack(arrays: Sequence[Any], dim: int = 0) -> NestedArray | Array:
    """Join arrays of equal shape along a new dimension ``dim``: ``(B, *, D), (B, *, D) -> (B, *, 2, D)``.

    All arrays are nested or all are dense, and corresponding components have equal shapes. The result has the promoted
    dtype. It is jagged if all arrays are jagged with the same ragged dimension, else strided. A new dimension before
    the ragged dimension moves it by 1. StructureError for an empty sequence, and for components whose shapes differ;
    the message names the component and both sizes. ShapeError for dense arrays whose shapes differ. DimensionError for
    ``dim`` 0 of nested arrays, which have one batch dimension. Gradient: each array gets its slice of the cotangent.
    Clauses: STACK-1 to STACK-6. After `torch.stack`.

    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.stack([nt, nt * 10], 2).unbind()
    (array([[ 1, 10],
           [ 2, 20]]), array([[ 3, 30]]))
    """
    array_list = _array_list("stack", arrays)
    if not any(type(x) is NestedArray for x in array_list):
        return _stack_dense(in_promoted_dtype(*as_arrays_on_one_device("stack", *array_list)), dim)
    nested = _promoted_nested("stack", array_list)
    dim = canonical_dim("stack", dim, nested[0].ndim + 1)
    if not dim:
        raise DimensionError(
            "stack: a new dimension before the batch would nest nested arrays. To join batches, use pn.cat(arrays, 0)."
        )
    check_possible_ndim("stack", nested[0].ndim + 1)
    for x in nested[1:]:
        check_same_shape("stack", nested[0], x)
    return cat([unsqueeze(x, dim) for x in nested], dim)


def _stack_dense(arrays: list[Array], dim: int) -> Array:
    dim = canonical_dim("stack", dim, arrays[0].ndim + 1)
    for i, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise ShapeError(f"stack: array {i} has shape {array.shape} and array 0 has shape {arrays[0].shape}.")
    check_possible_shape("stack", (len(arrays), *arrays[0].shape))
    return movement.stacked(arrays, dim)
