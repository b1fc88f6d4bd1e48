"""The operator `getitem`, which indexes nested arrays and dense arrays.

Integers, slices, lists and masks can index a nested array. Dense arrays are indexed as in NumPy.

The first entry of the index of a nested array selects components; each other entry applies to every component. Lists
and arrays select from the batch only. A nested mask selects elements.
"""

from __future__ import annotations

from math import prod
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends import strided_index
from pynested.backends.errors import ArgumentError, DimensionError, IndexOutOfRange, StructureError
from pynested.backends.host import to_host
from pynested.nested.component_views import select_components, slice_dim
from pynested.nested.layout_conversion import as_strided_parts, gather_elements, repacked, to_jagged, to_strided
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import Dense, Index, Operand, check_devices
from pynested.nested.shape_comparison import component_text, first_difference, shape_text
from pynested.operators.movement import select, unsqueeze
from pynested.operators.movement.splitting import select_nested
from pynested.structure import Strided

from .index_parsing import (
    check_num_indexed,
    checked_entries,
    expand_ellipsis,
    first_entry,
    flat_positions,
    has_arrays,
    index_entries,
    is_array_entry,
    is_parsed_array,
    is_scalar_entry,
    is_scalar_mask,
    num_indexed_dims,
    positions,
    read_array,
)


@overload
def getitem(self: Dense, index: Index) -> Array: ...
@overload
def getitem(self: NestedArray, index: Index) -> NestedArray | Array: ...
@operator
def getitem(self: Operand, index: Index) -> NestedArray | Array:
    """Return ``self[index]``; the first entry selects components, the rest index each one: ``(B, *, D) -> (B, *)``.

    A nested result has the layout of ``self``. There are two exceptions. An integer along the ragged dimension of a
    jagged array gives a dense array, as `select` does. A mask that does not reach the ragged dimension gives a strided
    array. An empty slice gives empty components.

    A dense array, and the component that an integer selects, can be indexed by lists and arrays at any entry. The lists
    and arrays of integers broadcast and select together, as in NumPy: ``x[rows, :, columns]``. A mask must be the only
    list or array. An index raises ArgumentError if NumPy and PyTorch order the dimensions of its result differently. A
    mask without dimensions, as the first entry, makes a first dimension of size 1 or 0.

    The result is a view in most cases, so that a write into the result changes ``self``. It is a copy in three cases:
    for a list, array or mask; for an integer, or a slice whose step is not 1, along the ragged dimension of a jagged
    array; and for a slice of negative step behind the batch of a strided array. Assignment, ``self[index] = value``,
    always writes into ``self``. Gradient: the cotangent for the selected elements, added up for an element that is
    selected twice, +0 for all other elements. Clauses: GETITEM-1 to GETITEM-19. After `torch.Tensor.__getitem__`.

    Parameters
    ----------
    index : int, slice, ``...``, None, a list or an array, or a tuple of them; or a nested mask
        The first entry selects from the batch. An integer gives one component as a dense array. A slice, a list or
        vector of integers, or a vector of one bool for each component gives the selected components. The other entries
        index each component as NumPy does. A slice, of any step but 0, is clamped to each component. None, after the
        first entry, adds a dimension of size 1; ``...`` stands for full slices. A nested mask gives
        ``component[mask]``.

    Raises
    ------
    IndexOutOfRange
        For an integer outside the batch, or outside a component, which the error names. For a vector of bools whose
        size is not that of the batch or the dimension.
    DimensionError
        For more entries than dimensions, for a second ``...``, and for None in front of the batch.
    StructureError
        For a nested mask whose component shapes are not the first sizes of the component shapes of ``self``.
    ArgumentError
        For an entry of another kind, such as a bool or a float; for a slice of step 0; for a mask beside another list
        or array; and for a list that is not the first entry, unless the first entry is an integer.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2, 3], [4]], layout=pn.jagged)
    >>> nt[:, -2:].unbind()
    (array([2, 3]), array([4]))
    >>> nt[:, 0]
    array([1, 4])
    >>> nt[[1, 0, 0]].unbind()
    (array([4]), array([1, 2, 3]), array([1, 2, 3]))
    >>> nt[nt > 1].unbind()
    (array([2, 3]), array([4]))
    """
    if type(self) is not NestedArray:
        if type(index) is int and type(self) is Array and self.ndim and -len(self) <= index < len(self):
            return select(self, 0, index)  # the most frequent index, x[i], needs no parsing
        return getitem_dense(as_array("index", self), index)
    leading_entry = first_entry(index)
    if not is_array_entry(leading_entry):
        if type(index) is tuple and is_scalar_entry(leading_entry) and has_arrays(index[1:]):
            component: Any = select_nested("index", self, 0, leading_entry)
            return getitem_dense(component, index[1:])
        return _getitem_nested(self, index)
    if type(leading_entry) is NestedArray:
        if type(index) is tuple:
            raise ArgumentError("index: a nested mask stands alone; index its result: x[mask][:, 1:].")
        return _select_by_mask(self, leading_entry)
    entries = (slice(None), *index[1:]) if isinstance(index, tuple) else ()
    later_entries = tuple(expand_ellipsis(checked_entries(entries), self.ndim))
    selected = positions("a batch of components", read_array(leading_entry, self.data), len(self))
    result = repacked(wrap_unchecked(self.data, self.structure.select_components(selected).structure))
    return _getitem_nested(result, later_entries) if later_entries else result


# ---- nested arrays --------------------------------------------------------------------------------------------------


def _getitem_nested(x: NestedArray, index: Any) -> NestedArray | Array:
    """Apply the entries of an index without arrays, in their order."""
    result: NestedArray | Array = x
    dim = 0
    for entry in expand_ellipsis(checked_entries(index), x.ndim):
        if isinstance(result, Array):  # an earlier integer has removed the batch or the ragged dimension
            result = getitem_dense(result, (*[slice(None)] * dim, entry))
            dim += entry is None or isinstance(entry, slice)
        elif entry is None:
            if not dim:
                raise DimensionError(
                    "index: None before the batch dimension would make the batch a component. Put None behind it: "
                    "x[:, None]."
                )
            result, dim = unsqueeze(result, dim), dim + 1
        elif isinstance(entry, slice):
            result = slice_dim(result, dim, entry) if dim else select_components(result, entry)
            dim += 1
        else:
            result = select_nested("index", result, dim, entry)
    return result


def _select_by_mask(x: NestedArray, mask: NestedArray) -> NestedArray:
    """Return ``component[mask]`` of each component: the selected elements in C order, along one dimension."""
    _check_mask(x, mask)
    masked_dims = mask.ndim - 1
    is_selected = to_host(gather_elements(to_strided(mask.detach())).data)
    sizes = x.extents[: len(x)]  # an empty batch has one row of extents
    # An entry of the mask selects all elements along the dimensions that the mask does not have.
    mask_numels, numels_per_entry = sizes[:, :masked_dims].prod(axis=1), sizes[:, masked_dims:].prod(axis=1)
    buffer, structure = as_strided_parts(x)
    element_positions = strided_index(sizes, structure.strides, structure.offsets)
    values = movement.take_rows(
        buffer, element_positions[np.repeat(is_selected, np.repeat(numels_per_entry, mask_numels))]
    )
    selected_before = np.append(0, np.cumsum(is_selected))[np.append(0, np.cumsum(mask_numels))]
    counts = np.diff(selected_before) if len(x) else np.array([-1])
    extents = np.column_stack([counts, x.extents[:, masked_dims:]])
    result = NestedArray(values, Strided.from_extents(extents, len(x)))
    ragged_dim = x.structure.ragged_dim
    return result if ragged_dim is None or ragged_dim > masked_dims else to_jagged(result, 1)


def _check_mask(x: NestedArray, mask: NestedArray) -> None:
    """Raise an error unless ``mask`` holds bools, and each of its components has the first sizes of that of ``x``."""
    check_devices("index", (x, mask))
    masked_dims = mask.ndim - 1
    if mask.dtype != np.bool_:
        raise ArgumentError(f"index: a nested array in an index is a mask of bools, not of {mask.dtype}.")
    least = min(2, x.ndim)  # a mask of 1 dimension selects only from components without dimensions
    if not least <= mask.ndim <= x.ndim or len(mask) != len(x):
        raise StructureError(
            f"index: a mask of {mask.ndim} dimensions and {len(mask)} components cannot select from {x.ndim} "
            f"dimensions and {len(x)} components. It must have {len(x)} components and {least} to {x.ndim} dimensions."
        )
    extents = x.extents
    difference = first_difference(mask.extents, extents[:, :masked_dims])
    if difference:
        i = difference[0]
        raise StructureError(
            f"index: the mask has shape {shape_text(mask.extents[i])} at {component_text(i, len(x))} of shape "
            f"{shape_text(extents[i])}. It must have the first {masked_dims} sizes of every component."
        )


# ---- dense arrays ---------------------------------------------------------------------------------------------------


def getitem_dense(x: Array, index: Any) -> Array:
    """Return ``x[index]`` as NumPy does: a view if the index has no arrays, else a copy."""
    x, index = without_scalar_mask(x, index)
    if has_arrays(index):
        entries = [
            read_array(entry, x) if is_array_entry(entry) else checked_entries(entry)[0]
            for entry in index_entries(index)
        ]
        return _select_by_arrays(x, entries)
    entries = checked_entries(index)
    try:
        return movement.slice_(x, tuple(entries))
    except IndexError as error:
        problem = str(error).replace("axis", "dimension")
    check_num_indexed(entries, x.ndim)
    raise IndexOutOfRange(f"index: {problem}.")


def without_scalar_mask(x: Array, index: Any) -> tuple[Array, Any]:
    """Replace a leading mask without dimensions by one of shape ``(1,)``, for a new first dimension of the array."""
    if not is_scalar_mask(first_entry(index)):
        return x, index
    mask, *later_entries = index_entries(index)
    return movement.slice_(x, (None,)), (read_array(mask, x).reshape(1), *later_entries)


def _select_by_arrays(x: Array, entries: list[Any]) -> Array:
    """Apply an index with parsed arrays: first all other entries, as a view, then the arrays together.

    The arrays select along several dimensions at once. If these are adjacent, the dimensions of the selection replace
    them; otherwise the dimensions of the selection come first.
    """
    full_entries = expand_ellipsis(entries, x.ndim)
    view, dims = _apply_other_entries(x, full_entries)
    are_adjacent = dims == [*range(dims[0], dims[-1] + 1)]
    target_dim = dims[0] if are_adjacent else 0
    selecting = [i for i, entry in enumerate(entries) if is_parsed_array(entry) or is_scalar_entry(entry)]
    if target_dim and len(selecting) <= selecting[-1] - selecting[0]:  # another entry stands between two of them
        raise ArgumentError(
            "index: a slice, None or ... separates the integers, lists and arrays. NumPy and PyTorch order the result "
            "differently. Index by integers first, x[0][:, [1, 2]], and leave out a ... that stands for no dimensions."
        )
    arrays = {i: entry for i, entry in enumerate(full_entries) if is_parsed_array(entry)}
    names = [f"dimension {sum(map(num_indexed_dims, full_entries[:i]))} of an array" for i in arrays]
    selected, num_selection_dims = _take_along_dims(view, dims, [*arrays.values()], names)
    if not target_dim:
        return selected
    before = range(num_selection_dims, num_selection_dims + target_dim)
    after = range(num_selection_dims + target_dim, selected.ndim)
    return movement.transpose(selected, (*before, *range(num_selection_dims), *after))


def _apply_other_entries(x: Array, entries: list[Any]) -> tuple[Array, list[int]]:
    """Return the view that the entries without arrays select, and its dimensions that the arrays index."""
    other_entries: list[Any] = []
    dims: list[int] = []
    dim = 0
    for entry in entries:
        if is_parsed_array(entry):
            dims += range(dim, dim + num_indexed_dims(entry))
            other_entries += [slice(None)] * num_indexed_dims(entry)
            dim += num_indexed_dims(entry)
        else:
            other_entries.append(entry)
            dim += not is_scalar_entry(entry)
    keeps_all = all(entry == slice(None) for entry in other_entries)
    return x if keeps_all else getitem_dense(x, tuple(other_entries)), dims


def _take_along_dims(
    view: Array, dims: list[int], indices: list[NDArray[Any]], dim_names: list[str]
) -> tuple[Array, int]:
    """Return the elements that arrays select along ``dims``, and the number of dimensions of the selection.

    The dimensions of the selection come first in the result. Errors name the dimensions as in ``dim_names``.
    """
    other_dims = [dim for dim in range(view.ndim) if dim not in dims]
    sizes, other_sizes = (tuple(view.shape[dim] for dim in some_dims) for some_dims in (dims, other_dims))
    row_numbers = flat_positions(indices, sizes, dim_names)
    front = view if dims[-1] == len(dims) - 1 else movement.transpose(view, (*dims, *other_dims))
    rows = front if len(dims) == 1 else movement.reshape(front, (prod(sizes), *other_sizes))
    selected: Array = movement.take_rows(rows, row_numbers.reshape(-1))
    if row_numbers.ndim != 1:
        selected = movement.reshape(selected, (*row_numbers.shape, *other_sizes))
    return selected, row_numbers.ndim
