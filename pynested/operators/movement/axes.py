"""Dimensions exchanged, added and divided: views, whose structure moves while the values stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import dense
from pynested.autograd.dense.canonical import canonical_dim, canonical_shape, possible_ndim, resolved_shape
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import DimensionError
from pynested.metadata import check_possible
from pynested.nested_array import NestedArray, around
from pynested.operands import Kind
from pynested.shapes import named_instead
from pynested.structure import Ints, Jagged, Strided, packed_strides


def component_dim(name: str, dim: Any, ndim: int) -> int:
    """``dim`` counted from the front; the batch dimension is refused."""
    at = canonical_dim(name, dim, ndim)
    if not at:
        raise DimensionError(
            f"{name}: dimension 0 is the batch dimension of a nested array, which cannot take part. "
            f"{named_instead(ndim)}"
        )
    return at


def restructured(x: NestedArray, outline: Ints, strides: Ints, offsets: Ints) -> NestedArray:
    """A view of the buffer of a strided array with another structure."""
    return NestedArray(moves.alias(x.data), Strided.derived(outline, strides, offsets, x.data.numel()))


def transpose(self: Kind, dim0: int, dim1: int) -> Kind:
    """Two dimensions change places in every component: ``(B, *, D) -> (B, D, *)``, a view.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the layout stays, and a ragged dimension may move.
    dim0, dim1 : int
        Any but the batch; two equal ones leave the array as it is.

    Raises
    ------
    DimensionError
        For dimension 0 of a nested array, also against itself, and for one out of range.

    Notes
    -----
    An empty component of shape (0, D) becomes one of shape (D, 0). Gradient: the cotangent transposed back.

    Clauses: TRANSPOSE-1 to TRANSPOSE-5. After `torch.transpose`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.transpose(nt, 1, 2).unbind()
    (array([[1, 3],
           [2, 4]]), array([[5],
           [6]]))
    """
    if not isinstance(self, NestedArray):
        return dense.transpose(self, dim0, dim1)
    ndim, structure = self.ndim, self.structure
    a, b = component_dim("transpose", dim0, ndim), component_dim("transpose", dim1, ndim)
    order = list(range(ndim - 1))
    order[a - 1], order[b - 1] = b - 1, a - 1
    if isinstance(structure, Jagged):
        moved = structure.with_ragged_dim(order.index(structure.ragged_dim - 1) + 1)
        return around(moves.transpose(self.data, tuple(order)), moved)
    return restructured(self, structure.outline[:, order], structure.strides[:, order], structure.offsets)


def unsqueeze(self: Kind, dim: int) -> Kind:
    """A dimension of size 1 before dimension ``dim`` of every component: ``(B, *, D) -> (B, 1, *, D)``, a view.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the layout stays.
    dim : int
        Counted in the shape of the result, from -(n + 1) to n for an array of n dimensions; 0 is refused.

    Raises
    ------
    DimensionError
        For ``dim`` 0 of a nested array, also written -(n + 1), and for one out of range.

    Notes
    -----
    An empty component gains the dimension too. Gradient: the cotangent without the dimension.

    Clauses: UNSQUEEZE-1 to UNSQUEEZE-4. After `torch.unsqueeze`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.unsqueeze(nt, -1).unbind()
    (array([[1],
           [2]]), array([[3]]))
    """
    if not isinstance(self, NestedArray):
        return dense.unsqueeze(self, dim)
    at = component_dim("unsqueeze", dim, self.ndim + 1)
    possible_ndim("unsqueeze", self.ndim + 1)
    structure = self.structure
    if isinstance(structure, Jagged):
        r = structure.ragged_dim + (at <= structure.ragged_dim)
        return NestedArray(dense.unsqueeze(self.data, at - 1), structure.with_ragged_dim(r))
    outline = np.insert(structure.outline, at - 1, 1, axis=1)
    return restructured(self, outline, np.insert(structure.strides, at - 1, 1, axis=1), structure.offsets)


def unflatten(self: Kind, dim: int, sizes: Sequence[int]) -> Kind:
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
        return dense.unflatten(self, dim, sizes)
    at = component_dim("unflatten", dim, self.ndim)
    size = self.regular_size(at)
    if size is None:
        raise DimensionError(
            f"unflatten: dimension {at} is irregular; only a regular dimension has one size to divide."
        )
    structure = self.structure
    parts = resolved_shape("unflatten", canonical_shape("unflatten", (sizes,)), size, (size,))
    possible_ndim("unflatten", self.ndim - 1 + len(parts))
    if isinstance(structure, Jagged):
        r = structure.ragged_dim + (len(parts) - 1 if at < structure.ragged_dim else 0)
        return NestedArray(dense.unflatten(self.data, at - 1, parts), structure.with_ragged_dim(r))
    steps = packed_strides(np.array([parts], np.int64).reshape(1, len(parts)))
    k = at - 1
    outline = structure.outline
    whole = np.tile(np.array(parts, np.int64), (len(outline), 1))
    new_sizes = np.concatenate([outline[:, :k], whole, outline[:, k + 1 :]], axis=1)
    check_possible("unflatten", new_sizes)
    new_strides = np.concatenate(
        [structure.strides[:, :k], structure.strides[:, k : k + 1] * steps, structure.strides[:, k + 1 :]], axis=1
    )
    return restructured(self, new_sizes, new_strides, structure.offsets)
