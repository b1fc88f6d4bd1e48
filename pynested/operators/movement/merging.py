"""Several dimensions of components made one, and one made several."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array
from pynested.autograd.arguments.shapes import (
    canonical_dim,
    canonical_shape,
    possible_ndim,
    possible_shape,
    resolved_shape,
)
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import DimensionError
from pynested.nested.component_views import with_structure
from pynested.nested.layout_conversion import elements, from_elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT
from pynested.structure import Jagged, Structure, merge_axes

from .axes import component_dim


@operator
def flatten(self: ArrayT, start_dim: int = 0, end_dim: int = -1) -> ArrayT:
    """The dimensions from ``start_dim`` to ``end_dim`` of every component as one: ``(B, *, D, E) -> (B, *, D * E)``.

    A view where the memory allows it, else a copy.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the layout stays.
    start_dim, end_dim : int
        Both belong to the range. Of a nested array it begins at 1 at the earliest; it may hold the irregular
        dimensions, and then the new one is irregular: ``(B, *, D) -> (B, *)``.

    Raises
    ------
    DimensionError
        For a range that holds dimension 0 of a nested array, as it does by default; one out of range; a start behind
        the end.

    Notes
    -----
    Elements stay in C order. An empty component stays empty. Gradient: the cotangent in the old shape.

    Clauses: FLATTEN-1 to FLATTEN-6. After `torch.flatten`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.flatten(nt, 1).unbind()
    (array([1, 2, 3, 4]), array([5, 6]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("flatten", self)
        return _merged(x, *_merged_dims(start_dim, end_dim, max(x.ndim, 1)))
    first, last = _merged_dims(start_dim, end_dim, self.ndim)
    if not first:
        raise DimensionError(
            "flatten: dimension 0 is the batch dimension of a nested array, which stays. Flatten the components, "
            "x.flatten(1), or take the elements of all of them: pn.cat(x.flatten(1).unbind())."
        )
    axes = first - 1, last - 1
    seen: Structure | None
    if isinstance(self.structure, Jagged):
        ragged, seen = first, self.structure.flattened(*axes, prod(self.data.shape[first:last]))
    else:
        ragged, seen = None, self.structure.flattened(*axes)
    if seen is None:
        return from_elements(elements(self), merge_axes(self.extents, *axes), len(self), ragged)
    return with_structure(self, seen, _merged, *axes)


def _merged(x: Array, first: int, last: int) -> Array:
    sizes = x.shape[first : last + 1]
    return moves.reshape(x, (*x.shape[:first], prod(sizes), *x.shape[last + 1 :]))


def _merged_dims(start_dim: Any, end_dim: Any, ndim: int) -> tuple[int, int]:
    """The first and the last of the dimensions that become one."""
    first, last = canonical_dim("flatten", start_dim, ndim), canonical_dim("flatten", end_dim, ndim)
    if first > last:
        raise DimensionError(f"flatten: start_dim {first} comes after end_dim {last}; swap them.")
    return first, last


@operator
def unflatten(self: ArrayT, dim: int, sizes: Sequence[int]) -> ArrayT:
    """One regular dimension becomes several, in C order: ``(B, *, D1 * D2) -> (B, *, D1, D2)``, a view.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the layout stays.
    dim : int
        Any regular dimension but the batch.
    sizes : sequence of int
        Their product is the size of the dimension; one of them may be -1, which is what the others leave.

    Raises
    ------
    DimensionError
        For dimension 0 of a nested array, and for an irregular one.
    ShapeError
        For sizes whose product differs, and more than one -1.

    Notes
    -----
    An empty component keeps its 0 and gains the dimensions. Gradient: the cotangent flattened back.

    Clauses: UNFLATTEN-1 to UNFLATTEN-5. After `torch.unflatten`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2, 3, 4]], np.zeros((0, 4), int)], layout=pn.jagged)
    >>> [component.shape for component in pn.unflatten(nt, 2, (2, -1))]
    [(1, 2, 2), (0, 2, 2)]
    """
    if not isinstance(self, NestedArray):
        x = as_array("unflatten", self)
        at = canonical_dim("unflatten", dim, x.ndim)
        return _divided(x, at, _sizes(sizes, x.shape[at]))
    at = component_dim("unflatten", dim, self.ndim)
    size = self.regular_size(at)
    if size is None:
        raise DimensionError(
            f"unflatten: dimension {at} is irregular; only a regular dimension has one size to divide."
        )
    parts = _sizes(sizes, size)
    possible_ndim("unflatten", self.ndim - 1 + len(parts))
    return with_structure(self, self.structure.unflattened(at - 1, parts), _divided, at - 1, parts)


def _sizes(sizes: Any, size: int) -> tuple[int, ...]:
    """``sizes``, of which one may be -1, that divide ``size``."""
    return resolved_shape("unflatten", canonical_shape("unflatten", (sizes,)), size, (size,))


def _divided(x: Array, at: int, parts: tuple[int, ...]) -> Array:
    return moves.reshape(x, possible_shape("unflatten", (*x.shape[:at], *parts, *x.shape[at + 1 :])))
