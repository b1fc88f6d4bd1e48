"""Several dimensions of components made one, and one made several."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from pynested.autograd import dense
from pynested.autograd.dense.movement import merged_dims
from pynested.autograd.dense.shapes import canonical_shape, possible_ndim, resolved_shape
from pynested.backends.errors import DimensionError
from pynested.components.packing import gathered, to_jagged, to_strided
from pynested.nested.array import NestedArray
from pynested.nested.operands import Kind
from pynested.structure import Ints, Jagged, Strided, packed_strides
from pynested.structure.metadata import check_possible

from .axes import component_dim, restructured


def flatten(self: Kind, start_dim: int = 0, end_dim: int = -1) -> Kind:
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
        return dense.flatten(self, start_dim, end_dim)
    first, last = merged_dims(start_dim, end_dim, self.ndim)
    if not first:
        raise DimensionError(
            "flatten: dimension 0 is the batch dimension of a nested array, which stays. Flatten the components, "
            "x.flatten(1), or take the elements of all of them: pn.cat(x.flatten(1).unbind())."
        )
    outline = self.outline
    target = np.delete(outline, slice(first, last), axis=1)
    target[:, first - 1] = _products(outline[:, first - 1 : last])
    if isinstance(self.structure, Jagged):
        return _flattened_jagged(self, self.structure, first, last, target)
    structure = self.structure
    sizes, strides = structure.sizes[:, first - 1 : last], structure.strides[:, first - 1 : last]
    in_steps = (strides == packed_strides(sizes) * strides[:, -1:]) | (sizes == 1)
    if bool((in_steps.all(axis=1) | (structure.numels == 0)).all()):
        steps = np.delete(structure.strides, slice(first - 1, last - 1), axis=1)
        return restructured(self, target, steps, structure.offsets)
    return NestedArray(gathered(self), Strided.of_packed(target, len(self)))


def _products(sizes: Ints) -> Ints:
    """The product of the sizes of each row; -1 where one is unknown and no other one is 0."""
    return np.where((sizes < 0).any(axis=1) & (sizes != 0).all(axis=1), -1, abs(sizes).prod(axis=1))


def _flattened_jagged(x: NestedArray, structure: Jagged, first: int, last: int, target: Ints) -> NestedArray:
    r = structure.ragged_dim
    if first < r <= last:  # entries of other components lie between those of one
        return to_jagged(NestedArray(gathered(to_strided(x)), Strided.of_packed(target, len(x))), first)
    values = dense.flatten(x.data, first - 1, last - 1)
    if r != first:
        return NestedArray(values, structure.with_ragged_dim(r if r < first else r - (last - first)))
    width = prod(x.data.shape[first:last])
    lengths = None if structure.lengths is None else structure.lengths * width
    return NestedArray(values, Jagged.derived(structure.offsets * width, lengths, r))


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
