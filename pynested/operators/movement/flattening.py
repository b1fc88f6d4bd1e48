"""Dimensions of components merged into one (`flatten`), or one dimension divided into several (`unflatten`).

``start_dim`` and ``end_dim`` are the first and the last of the dimensions to merge. ``sizes`` are the sizes of the new
dimensions, whose product is the size of the divided dimension; one of them can be -1, and is computed from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import (
    canonical_dim,
    canonical_shape,
    check_possible_ndim,
    check_possible_shape,
    resolved_shape,
)
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends.errors import DimensionError
from pynested.nested.component_views import with_structure
from pynested.nested.layout_conversion import elements, from_elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, canonical_component_dim
from pynested.structure import Jagged, Structure, merge_axes


@operator
def flatten(self: ArrayT, start_dim: int = 0, end_dim: int = -1) -> ArrayT:
    """Merge the dimensions from ``start_dim`` to ``end_dim`` of every component: ``(B, *, D, E) -> (B, *, D * E)``.

    The result is a view if the memory allows it, else a copy. Elements keep their C order. An empty component stays
    empty. If an irregular dimension is merged, the new dimension is irregular: ``(B, *, D) -> (B, *)``. The default
    ``start_dim`` is for dense arrays: DimensionError for dimension 0 of a nested array, for a ``start_dim`` after
    ``end_dim``, and for a dimension out of range. Gradient: the cotangent in the shape of ``self``. Clauses: FLATTEN-1
    to FLATTEN-6. After `torch.flatten`.

    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.flatten(nt, 1).unbind()
    (array([1, 2, 3, 4]), array([5, 6]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("flatten", self)
        return _merge_axes_of_array(x, *_merged_dims(start_dim, end_dim, max(x.ndim, 1)))
    first, last = _merged_dims(start_dim, end_dim, self.ndim)
    if not first:
        raise DimensionError(
            "flatten: dimension 0 is the batch dimension of a nested array, which stays. Flatten the components, "
            "x.flatten(1), or take the elements of all of them: pn.cat(x.flatten(1).unbind())."
        )
    axes = first - 1, last - 1
    new_structure: Structure | None  # None if the result must be a copy
    if isinstance(self.structure, Jagged):
        ragged_dim, new_structure = first, self.structure.flattened(*axes, prod(self.data.shape[first:last]))
    else:
        ragged_dim, new_structure = None, self.structure.flattened(*axes)
    if new_structure is None:
        return from_elements(elements(self), merge_axes(self.extents, *axes), len(self), ragged_dim)
    return with_structure(self, new_structure, _merge_axes_of_array, *axes)


def _merge_axes_of_array(x: Array, first: int, last: int) -> Array:
    return movement.reshape(x, (*x.shape[:first], prod(x.shape[first : last + 1]), *x.shape[last + 1 :]))


def _merged_dims(start_dim: Any, end_dim: Any, ndim: int) -> tuple[int, int]:
    """Return the first and the last of the dimensions to merge."""
    first, last = canonical_dim("flatten", start_dim, ndim), canonical_dim("flatten", end_dim, ndim)
    if first > last:
        raise DimensionError(f"flatten: start_dim {first} comes after end_dim {last}; swap them.")
    return first, last


@operator
def unflatten(self: ArrayT, dim: int, sizes: Sequence[int]) -> ArrayT:
    """Divide a regular dimension into several, in C order, as a view: ``(B, *, D1 * D2) -> (B, *, D1, D2)``.

    An empty component gets the dimensions, too. DimensionError for dimension 0 of a nested array, and for an irregular
    dimension. ShapeError for sizes whose product is not the size of the dimension, and for more than one -1. Gradient:
    the cotangent, flattened back. Clauses: UNFLATTEN-1 to UNFLATTEN-5. After `torch.unflatten`.

    >>> nt = pn.nested_array([[[1, 2, 3, 4]], np.zeros((0, 4), int)], layout=pn.jagged)
    >>> [component.shape for component in pn.unflatten(nt, 2, (2, -1))]
    [(1, 2, 2), (0, 2, 2)]
    """
    if not isinstance(self, NestedArray):
        x = as_array("unflatten", self)
        dim = canonical_dim("unflatten", dim, x.ndim)
        return _divide_axis(x, dim, _factors(sizes, x.shape[dim], dim))
    dim = canonical_component_dim("unflatten", dim, self.ndim)
    size = self.regular_size(dim)
    if size is None:
        raise DimensionError(f"unflatten: dimension {dim} is irregular; only a regular dimension can be divided.")
    factors = _factors(sizes, size, dim)
    check_possible_ndim("unflatten", self.ndim - 1 + len(factors))
    return with_structure(self, self.structure.unflattened(dim - 1, factors), _divide_axis, dim - 1, factors)


def _factors(sizes: Any, size: int, dim: int) -> tuple[int, ...]:
    """Return ``sizes`` with the missing size instead of -1; raise unless their product is ``size``."""
    return resolved_shape("unflatten", canonical_shape("unflatten", (sizes,)), (size,), f"dimension {dim}")


def _divide_axis(x: Array, axis: int, factors: tuple[int, ...]) -> Array:
    return movement.reshape(x, check_possible_shape("unflatten", (*x.shape[:axis], *factors, *x.shape[axis + 1 :])))
