"""Views of nested arrays, from views of their structure; and their components as dense arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.primitives import movement
from pynested.structure import FULL_SLICE, IndexedStructure, Jagged, Strided, Structure

from .layout_conversion import take_along
from .nested_array import NestedArray, wrap_unchecked

# ---- views of all components ----------------------------------------------------------------------------------------


def with_structure(x: NestedArray, structure: Structure, view: Callable[..., Array], *args: Any) -> NestedArray:
    """Return a view with a new structure: of the buffer of ``x`` if it is strided, else of ``view(values, *args)``."""
    return wrap_unchecked(movement.alias(x.data) if isinstance(structure, Strided) else view(x.data, *args), structure)


def apply_view(x: NestedArray, indexed: IndexedStructure) -> NestedArray:
    """Apply the result of a method that indexes the structure of ``x``: a copy for an index array, else a view."""
    structure, axis, index = indexed
    if isinstance(index, np.ndarray):
        return wrap_unchecked(take_along(x.data, axis, index), structure)
    if index is FULL_SLICE:
        return wrap_unchecked(movement.alias(x.data), structure)
    return wrap_unchecked(movement.slice_(x.data, (FULL_SLICE,) * axis + (index,)), structure)


def select_components(x: NestedArray, index: slice) -> NestedArray:
    """Return the components in a slice of the batch, as a nested view."""
    return apply_view(x, x.structure.select_components(index))


def slice_dim(x: NestedArray, dim: int, index: slice) -> NestedArray:
    """Return the slice ``index`` of each component along ``dim``, which is 1 or more."""
    return x if index == FULL_SLICE else apply_view(x, x.structure.slice_axis(dim - 1, index))


def expand_axes(x: NestedArray, sizes: Mapping[int, Any]) -> NestedArray:
    """Return a view in which axes of size 1 are repeated.

    ``sizes`` maps each repeated axis to its new size. In the strided layout that can be a size for each component.
    """
    structure = x.structure
    if isinstance(structure, Jagged):
        shape = tuple(sizes.get(axis, size) for axis, size in enumerate(x.data.shape))
        return wrap_unchecked(movement.broadcast_to(x.data, shape), structure)
    extents, strides = structure.extents.copy(), structure.strides.copy()
    for axis, size in sizes.items():
        extents[:, axis], strides[:, axis] = size, 0
    return apply_view(x, IndexedStructure(structure.with_placement(extents, strides, structure.offsets)))


# ---- components -----------------------------------------------------------------------------------------------------


def component_view(x: NestedArray, i: int) -> Array:
    """Return component ``i`` as a dense view; ``i`` is counted from the front."""
    structure = x.structure
    if isinstance(structure, Jagged):
        start, length = int(structure.offsets[i]), int(structure.component_lengths[i])
        before = (FULL_SLICE,) * (structure.ragged_dim - 1)
        return movement.slice_(x.data, (*before, slice(start, start + length)))
    row = slice(i, i + 1)
    return movement.components(x.data, structure.sizes[row], structure.strides[row], structure.offsets[row])[0]  # type: ignore[no-any-return]


def component_ndarray(x: NestedArray, i: int) -> Any:
    """Return component ``i`` as an ndarray of the device, without gradient."""
    return component_view(NestedArray(x.data.detach(), x.structure), i).data


def unbind_components(x: NestedArray) -> tuple[Array, ...]:
    """Return all components as dense views."""
    structure = x.structure
    if not structure.count:
        return ()
    if isinstance(structure, Jagged):
        starts, lengths = structure.offsets[:-1].tolist(), structure.component_lengths.tolist()
        return movement.pieces(x.data, structure.ragged_dim - 1, tuple(starts), tuple(lengths))  # type: ignore[no-any-return]
    return movement.components(x.data, structure.sizes, structure.strides, structure.offsets)  # type: ignore[no-any-return]
