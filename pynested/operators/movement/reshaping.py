"""Reshaping of every component: `reshape`, `view`, `reshape_as` and `expand`; and further views of dense arrays.

A ``shape`` begins with the number of components, or -1. Behind the first size, -1 keeps the size that the dimension has
in each component of a nested array; no size is computed from the other sizes. An irregular dimension takes -1, or its
ragged size, which is an entry of ``self.shape``. For a dense array, one size can be -1, and is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import (
    broadcast_shape,
    canonical_dim,
    canonical_int,
    canonical_ints,
    canonical_shape,
    is_sequence,
    resolved_shape,
)
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends.errors import IndexOutOfRange, ShapeError
from pynested.nested.component_views import apply_view, expand_axes
from pynested.nested.layout_conversion import elements, from_elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, Dense, Operand
from pynested.nested.shape_comparison import component_text, first_difference, shape_text
from pynested.structure import IndexedStructure, Ints, Jagged, component_numels
from pynested.structure.extents import make_readonly
from pynested.structure.ragged_size import RaggedSize
from pynested.structure.validation import check_size_limits

_FLATTEN_HINT = (
    " The batch stays a dimension: x.flatten(1) flattens every component, x.values() has the elements of all."
)


def _integer_shape(name: str, x: NestedArray, shape: Any) -> tuple[int, ...]:
    """Return ``shape`` with -1 for each ragged size; raise unless ``x`` has that ragged size in the same dimension."""
    sizes = tuple(shape) if is_sequence(shape) else (shape,)
    for dim, size in enumerate(sizes):
        problem = _ragged_size_problem(x, dim, size) if isinstance(size, RaggedSize) else ""
        if problem:
            raise ShapeError(f"{name}: size {dim} of {sizes} is a ragged size, and {problem}")
    return canonical_shape(name, ([-1 if isinstance(size, RaggedSize) else size for size in sizes],))


def _ragged_size_problem(x: NestedArray, dim: int, size: RaggedSize) -> str:
    """Return the reason why ``dim`` cannot have this ragged size, and what to give instead; "" if it can."""
    if dim == 0:
        return f"the first size is the number of components. Give {len(x)} or -1."
    if dim >= x.ndim:
        return f"dimension {dim} is new. Give an integer: only the irregular dimensions of {x.shape} take ragged sizes."
    lengths, regular = x.lengths_along(dim), x.regular_sizes[dim - 1]
    # Without components all ragged sizes are equal. Then the dimension must also be irregular.
    if size == RaggedSize(lengths) and (len(x) or regular is None):
        return ""
    if regular is not None:
        return f"dimension {dim} has size {regular} in every component. Give an integer."
    remedy = f"Give -1 or x.shape[{dim}], which keep the size of each component."
    if len(size.lengths) != len(x):
        return f"its number of components is {len(size.lengths)} instead of {len(x)}. {remedy}"
    i = int(np.flatnonzero(size.lengths != lengths)[0])
    return f"its length of component {i} is {size.lengths[i]} instead of {lengths[i]}. {remedy}"


def _target_extents(name: str, x: NestedArray, shape: tuple[int, ...]) -> Ints:
    """Return the extents of the components in the new ``shape``, which must fit the elements of each component."""
    if not shape or shape[0] not in (-1, len(x)):
        raise ShapeError(f"{name}: the first size of {shape} must be the number of components, {len(x)}, or -1.")
    extents, regular = x.extents, x.regular_sizes
    target = np.empty((len(extents), len(shape) - 1), np.int64)
    for dim, size in enumerate(shape[1:], 1):
        if size < -1:
            raise ShapeError(f"{name}: invalid size {size} in shape {shape}.")
        if size == -1 and dim >= x.ndim:
            raise ShapeError(
                f"{name}: -1 keeps the size that a dimension has, and dimension {dim} is new; give its size in {shape}."
            )
        if size != -1 and dim < x.ndim and regular[dim - 1] is None:
            raise ShapeError(f"{name}: dimension {dim} is irregular, so its only valid size is -1, not {size}.")
        target[:, dim - 1] = extents[:, dim - 1] if size == -1 else size
    check_size_limits(name, target)
    # An unknown size of an empty batch, -1, is a factor of both products. It changes only their signs.
    old_numels, new_numels = np.abs(extents.prod(axis=1)), np.abs(target.prod(axis=1))
    if not np.array_equal(old_numels, new_numels):
        i = int(np.flatnonzero(old_numels != new_numels)[0])
        raise ShapeError(
            f"{name}: {component_text(i, len(x))} has shape {shape_text(extents[i])} and {old_numels[i]} elements; "
            f"shape {shape} would give it shape {shape_text(target[i])}.{_FLATTEN_HINT * (len(shape) == 1)}"
        )
    return make_readonly(target)


@operator
def reshape(self: ArrayT, shape: Sequence[int]) -> ArrayT:
    """Reshape every component, in C order: ``(B, *, D1 * D2) -> (B, *, D1, D2)``.

    The result is a view if the memory allows it, else a copy. An empty component is reshaped like every other: (0, 4)
    with ``(B, -1, 2, 2)`` becomes (0, 2, 2). As a method also ``nt.reshape(2, -1, 3)``.

    ShapeError for a first size that is not the number of components; for an integer at an irregular dimension; for a
    ragged size at a dimension of different lengths; for -1 at a dimension that ``self`` does not have; and for sizes
    whose product is not the number of elements of every component. Gradient: the cotangent, reshaped back. Clauses:
    RESHAPE-1 to RESHAPE-9. After `torch.reshape`.

    >>> nt = pn.nested_array([[[1, 2, 3, 4]], [[5, 6, 7, 8]] * 2], layout=pn.jagged)
    >>> [component.shape for component in pn.reshape(nt, (2, -1, 2, 2))]
    [(1, 2, 2), (2, 2, 2)]
    """
    if not isinstance(self, NestedArray):
        return _reshape_dense("reshape", as_array("reshape", self), shape, True)
    return _reshape_nested("reshape", self, _integer_shape("reshape", self, shape), True)


@operator
def view(self: ArrayT, shape: Sequence[int]) -> ArrayT:
    """Reshape every component without a copy: ``(B, *, D1 * D2) -> (B, *, D1, D2)``.

    ``shape`` is as in `reshape`. As a method also ``nt.view(2, -1, 3)``. ShapeError if `reshape` raises it, and if the
    result would need a copy. Components that are not in C order can need a copy. A jagged array needs a copy if
    elements would move across the ragged dimension, unless only one component has elements. Gradient: the cotangent,
    reshaped back. Clauses: VIEW-1 to VIEW-5. After `torch.Tensor.view`.

    >>> nt = pn.nested_array([[[1, 2]], [[3, 4], [5, 6]]], layout=pn.jagged)
    >>> pn.view(nt, (2, -1, 1, 2))[0].fill_(0)
    array([[[0, 0]]])
    >>> nt[0]
    array([[0, 0]])
    """
    if not isinstance(self, NestedArray):
        return _reshape_dense("view", as_array("view", self), shape, False)
    return _reshape_nested("view", self, _integer_shape("view", self, shape), False)


@overload
def reshape_as(self: Dense, other: Dense) -> Array: ...
@overload
def reshape_as(self: NestedArray, other: NestedArray) -> NestedArray: ...
@operator
def reshape_as(self: Operand, other: Operand) -> NestedArray | Array:
    """Reshape each component to the shape of the same component of ``other``: ``(B, *), (B, *, D) -> (B, *, D)``.

    The result has the layout of ``other``, whose elements are not used. Elements keep their C order. ShapeError for
    different numbers of components, and for a component with a different number of elements; the message names it and
    both shapes. Gradient: the cotangent, reshaped back; ``other`` has no gradient. Clauses: RESHAPE_AS-1 to
    RESHAPE_AS-3. After `torch.Tensor.reshape_as`.

    >>> flat = pn.nested_array([[1, 2, 3, 4], [5, 6]])
    >>> rows = pn.nested_array([[[0, 0], [0, 0]], [[0, 0]]], layout=pn.jagged)
    >>> pn.reshape_as(flat, rows).unbind()
    (array([[1, 2],
           [3, 4]]), array([[5, 6]]))
    """
    if type(self) is not NestedArray and type(other) is not NestedArray:
        return _reshape_dense("reshape_as", as_array("reshape_as", self), as_array("reshape_as", other).shape, True)
    if type(self) is not NestedArray or type(other) is not NestedArray or len(self) != len(other):
        raise ShapeError("reshape_as: both arrays must be nested and have equally many components.")
    extents = other.extents
    difference = first_difference(component_numels(extents)[:, None], component_numels(self.extents)[:, None])
    if difference:
        i = difference[0]
        raise ShapeError(
            f"reshape_as: {component_text(i, len(self))} of shape {shape_text(self.extents[i])} does not fill "
            f"{shape_text(extents[i])}."
        )
    return from_elements(elements(self), extents, len(self), other.structure.ragged_dim)


def expand(x: ArrayT, shape: Any) -> ArrayT:
    """Broadcast regular dimensions of size 1 to ``shape``, as a view; -1 keeps the size of a dimension."""
    if not isinstance(x, NestedArray):
        return broadcast_to(x, shape, "expand")
    sizes, old_sizes = _integer_shape("expand", x, shape), (len(x), *x.regular_sizes)
    if len(sizes) != x.ndim:
        raise ShapeError(f"expand: shape {sizes} has {len(sizes)} sizes and the array has {x.ndim} dimensions.")
    for dim, (size, old_size) in enumerate(zip(sizes, old_sizes, strict=True)):
        if size < -1 or (size not in (-1, old_size) and (not dim or old_size != 1)):
            what = "is irregular" if old_size is None else f"has size {old_size}"
            raise ShapeError(
                f"expand: dimension {dim} {what} and cannot have size {size}; only regular dimensions of size 1, not "
                "the batch, are repeated. Use -1 to keep a size."
            )
    return expand_axes(x, {dim - 1: size for dim, size in enumerate(sizes) if size not in (-1, old_sizes[dim])})


def _reshape_nested(name: str, x: NestedArray, shape: tuple[int, ...], may_copy: bool) -> NestedArray:
    """Reshape the components: as a view if the memory allows it, else as a copy if ``may_copy``."""
    target = _target_extents(name, x, shape)
    if isinstance(x.structure, Jagged):
        result = _reshape_jagged(name, x, x.structure, shape, may_copy)
    else:
        structure = x.structure.reshaped(target)
        result = None if structure is None else apply_view(x, IndexedStructure(structure))
    if result is not None:
        return result
    if not may_copy:
        raise ShapeError(
            f"{name}: the elements of the components do not lie in the order that a view of shape {shape} needs. Use "
            "reshape, which copies."
        )
    return from_elements(elements(x), target, len(x), x.structure.ragged_dim)


def _reshape_jagged(
    name: str, x: NestedArray, structure: Jagged, shape: tuple[int, ...], may_copy: bool
) -> NestedArray | None:
    """Reshape the values; return None if elements of several components would move across the ragged dimension."""
    ragged_dim = structure.ragged_dim
    axis = ragged_dim - 1
    if len(shape) <= ragged_dim:
        raise ShapeError(f"{name}: shape {shape} has no size for the ragged dimension {ragged_dim}; give -1.")
    data, old_shape = x.data, x.data.shape
    new_shape = [old_shape[k] if size == -1 else size for k, size in enumerate(shape[1:])]
    # The products of the sizes before and behind the ragged dimension. Arrays without elements have no order to keep.
    old_products = prod(old_shape[:axis]), prod(old_shape[axis + 1 :])
    new_products = prod(new_shape[:axis]), prod(new_shape[axis + 1 :])
    if old_products != new_products and any(0 not in products for products in (old_products, new_products)):
        lengths = structure.component_lengths
        nonempty = np.flatnonzero(lengths)
        if len(nonempty) > 1:
            return None
        start = int(structure.offsets[nonempty].sum())  # the offset of the only component with rows, or 0
        rows = slice(start, start + int(lengths.sum()))
        data, structure = movement.slice_(data, (slice(None),) * axis + (rows,)), structure.packed
    values_shape = (*new_shape[:axis], data.shape[axis], *new_shape[axis + 1 :])
    return NestedArray(_reshape_dense(name, data, values_shape, may_copy), structure)


def _reshape_dense(name: str, x: Array, shape: Any, may_copy: bool) -> Array:
    """Reshape a dense array; one size can be -1. Raise ShapeError if a copy is needed and ``may_copy`` is False."""
    target = resolved_shape(name, canonical_shape(name, (shape,)), x.shape)
    result = movement.reshape(x, target)
    if not may_copy and result.storage is not x.storage and x.numel():
        raise ShapeError(
            f"view: an array of shape {x.shape} and strides {x.stride()} has no view of shape {target}. Use reshape, "
            "which copies if needed."
        )
    return result


# ---- views of dense arrays, for methods that only dense arrays have -------------------------------------------------


def narrowed(x: Array, dim: int, start: int, length: int) -> Array:
    """View ``length`` entries along ``dim``, beginning at ``start``."""
    dim = canonical_dim("narrow", dim, x.ndim)
    size = x.shape[dim]
    first_index, count = canonical_int("narrow", "start", start), canonical_int("narrow", "length", length)
    first_index = first_index + size if first_index < 0 else first_index
    if count < 0 or first_index < 0 or first_index + count > size:
        raise IndexOutOfRange(f"narrow: start {start} and length {length} do not fit dimension {dim} of size {size}.")
    return movement.slice_(x, (*[slice(None)] * dim, slice(first_index, first_index + count)))


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0) -> Array:
    """View a contiguous array with new sizes and strides, in elements. If elements repeat, the view is read-only."""
    sizes, strides = canonical_shape("as_strided", (size,)), canonical_ints("as_strided", "a stride", (stride,))
    offset = canonical_int("as_strided", "storage_offset", storage_offset)
    if len(sizes) != len(strides) or min((*sizes, *strides, offset), default=0) < 0:
        raise ShapeError(
            f"as_strided: sizes {sizes}, strides {strides} and offset {offset} must be >= 0, a stride for each size."
        )
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if 0 not in sizes and last >= x.numel():
        raise ShapeError(f"as_strided: the view reaches element {last} of an array of {x.numel()} elements.")
    if not x.is_contiguous():
        raise ShapeError("as_strided: the array is not contiguous; call contiguous() first.")
    used_strides = tuple(s if n > 1 and 0 not in sizes else 0 for n, s in zip(sizes, strides, strict=True))
    placement = (sizes, used_strides, offset if 0 not in sizes else 0)
    return movement.strided(x, *[np.array([part], np.int64) for part in placement])  # the only component is the view


def broadcast_to(x: Array, shape: Sequence[int], name: str = "broadcast_to") -> Array:
    """View an array broadcast to ``shape``, read-only; -1 keeps a size. Error messages begin with ``name``."""
    target = canonical_shape(name, (shape,))
    x_sizes = (*[-1] * (len(target) - x.ndim), *x.shape)  # aligned at the right
    if len(x_sizes) == len(target):
        target = tuple(x_size if size == -1 else size for size, x_size in zip(target, x_sizes, strict=True))
    if min(target, default=0) < 0:
        raise ShapeError(f"{name}: shape {target} has a size below 0; -1 keeps a size that the array has.")
    if broadcast_shape(name, x.shape, target) != target:
        raise ShapeError(f"{name}: an array of shape {x.shape} does not broadcast to {target}.")
    return x if x.shape == target else movement.broadcast_to(x, target)
