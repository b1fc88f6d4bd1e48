"""Exchange, insertion and removal of dimensions. The results are views: only the structure changes.

``dim0`` and ``dim1`` of `transpose` are any dimensions but the batch. ``dims`` of `permute` names every dimension once,
first the batch: ``(0, 3, 1, 2)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import canonical_dim, canonical_dims, canonical_order, check_possible_ndim
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends.errors import DimensionError, ShapeError
from pynested.nested.component_views import with_structure
from pynested.nested.layout_conversion import exchanged_axes
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, Dims, canonical_component_dim


@operator
def transpose(self: ArrayT, dim0: int, dim1: int) -> ArrayT:
    """Exchange two dimensions of every component, as a view: ``(B, *, D) -> (B, D, *)``.

    The ragged dimension can move. An empty component of shape (0, D) gets the shape (D, 0). If both dimensions are
    equal, the result is equal to ``self``. DimensionError for dimension 0 of a nested array, even if both dimensions
    are 0, and for a dimension out of range. Gradient: the cotangent, transposed back. Clauses: TRANSPOSE-1 to
    TRANSPOSE-5. After `torch.transpose`.

    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.transpose(nt, 1, 2).unbind()
    (array([[1, 3],
           [2, 4]]), array([[5],
           [6]]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("transpose", self)
        a, b = canonical_dim("transpose", dim0, x.ndim), canonical_dim("transpose", dim1, x.ndim)
        return movement.transpose(x, exchanged_axes(x.ndim, a, b))
    ndim = self.ndim
    a, b = canonical_component_dim("transpose", dim0, ndim), canonical_component_dim("transpose", dim1, ndim)
    axes = exchanged_axes(ndim - 1, a - 1, b - 1)
    return with_structure(self, self.structure.with_axes(axes), movement.transpose, axes)


@operator
def permute(self: ArrayT, dims: Sequence[int]) -> ArrayT:
    """Reorder the dimensions of every component, as a view: ``(B, *, D, E) -> (B, E, *, D)``.

    The ragged dimension can move. An empty component of shape (0, D) gets the shape (D, 0). As a method also
    ``nt.permute(0, 2, 1)``. DimensionError for a nested array, if ``dims`` does not begin with 0; and for a dimension
    that is out of range, missing, or named twice. Gradient: the cotangent, permuted back. Clauses: PERMUTE-1 to
    PERMUTE-6. After `torch.permute`.

    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.permute(nt, (0, 2, 1)).unbind()
    (array([[1, 3],
           [2, 4]]), array([[5],
           [6]]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("permute", self)
        return movement.transpose(x, canonical_order("permute", dims, x.ndim))
    order = canonical_order("permute", dims, self.ndim)
    if order[0]:
        raise DimensionError(
            f"permute: the batch dimension of a nested array stays the first; dims={order} would make {order[0]} the "
            "batch. Begin with 0, and name the others in the order that components take."
        )
    axes = tuple(dim - 1 for dim in order[1:])
    return with_structure(self, self.structure.with_axes(axes), movement.transpose, axes)


@operator
def unsqueeze(self: ArrayT, dim: int) -> ArrayT:
    """Insert a dimension of size 1 before dimension ``dim``, as a view: ``(B, *, D) -> (B, 1, *, D)``.

    ``dim`` is the position of the new dimension in the shape of the result, from -(n + 1) to n for an array of n
    dimensions. An empty component gets the dimension too. DimensionError for ``dim`` 0 or -(n + 1) of a nested array.
    Gradient: the cotangent without the dimension. Clauses: UNSQUEEZE-1 to UNSQUEEZE-4. After `torch.unsqueeze`.

    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.unsqueeze(nt, -1).unbind()
    (array([[1],
           [2]]), array([[3]]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("unsqueeze", self)
        return _insert_axis(x, canonical_dim("unsqueeze", dim, x.ndim + 1))
    dim = canonical_component_dim("unsqueeze", dim, self.ndim + 1)
    check_possible_ndim("unsqueeze", self.ndim + 1)
    return with_structure(self, self.structure.with_new_axis(dim - 1), _insert_axis, dim - 1)


def _insert_axis(x: Array, axis: int) -> Array:
    check_possible_ndim("unsqueeze", x.ndim + 1)
    return movement.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


@operator
def squeeze(self: ArrayT, dim: Dims = None) -> ArrayT:
    """Remove dimensions of size 1 from every component, as a view: ``(B, 1, *, D) -> (B, *, D)``.

    ``dim`` names one or several regular dimensions. For a dense array, None means all dimensions of size 1. An empty
    component loses the dimension, too. DimensionError for dimension 0 of a nested array; for an irregular dimension,
    even if every length is 1; and for None and a nested array, as the result would depend on lengths. ShapeError for a
    named dimension whose size is not 1. Gradient: the cotangent with the dimension inserted again. Clauses: SQUEEZE-1
    to SQUEEZE-6. After `torch.squeeze`; sizes other than 1 raise as in `numpy.squeeze`.

    >>> nt = pn.nested_array([[[1], [2]], [[3]]], layout=pn.jagged)
    >>> pn.squeeze(nt, 2).unbind()
    (array([1, 2]), array([3]))
    """
    if not isinstance(self, NestedArray):
        return _remove_axes(as_array("squeeze", self), dim)
    if dim is None:
        raise DimensionError(
            "squeeze: the result of a nested array would depend on lengths, so dimensions must be named: x.squeeze(2)."
        )
    regular_sizes: tuple[int | None, ...] = self.regular_sizes
    removed = [canonical_component_dim("squeeze", d, self.ndim) for d in canonical_dims("squeeze", dim, self.ndim)]
    for removed_dim in removed:
        if regular_sizes[removed_dim - 1] is None:
            raise DimensionError(
                f"squeeze: dimension {removed_dim} is irregular; only a regular dimension of size 1 can be removed."
            )
    _check_size_one(removed, (len(self), *regular_sizes))
    kept_axes = [axis for axis in range(self.ndim - 1) if axis + 1 not in removed]
    removed_axes = tuple(removed_dim - 1 for removed_dim in removed)
    return with_structure(self, self.structure.with_axes(kept_axes), _remove_axes, removed_axes)


def _remove_axes(x: Array, dim: Dims) -> Array:
    removed = canonical_dims("squeeze", dim, x.ndim)
    if dim is not None:
        _check_size_one(removed, x.shape)
    return movement.reshape(x, tuple(size for axis, size in enumerate(x.shape) if axis not in removed or size != 1))


def _check_size_one(dims: Sequence[int], shape: Sequence[int | None]) -> None:
    """Raise ShapeError unless all ``dims`` have size 1."""
    for dim in dims:
        if shape[dim] != 1:
            raise ShapeError(
                f"squeeze: dimension {dim} has size {shape[dim]}; only a dimension of size 1 can be removed. Use "
                "select(dim, index) for one entry of a larger dimension."
            )
