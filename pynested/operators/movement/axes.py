"""Dimensions exchanged, added and left out: views, whose structure moves while the values stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array
from pynested.autograd.arguments.shapes import canonical_dim, canonical_dims, canonical_order, possible_ndim
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import DimensionError, ShapeError
from pynested.nested.component_views import with_structure
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, Dims
from pynested.nested.shape_comparison import other_dims_hint


def component_dim(name: str, dim: Any, ndim: int) -> int:
    """``dim`` counted from the front; the batch dimension is refused."""
    at = canonical_dim(name, dim, ndim)
    if not at:
        raise DimensionError(
            f"{name}: dimension 0 is the batch dimension of a nested array, which cannot take part. "
            f"{other_dims_hint(ndim)}"
        )
    return at


@operator
def transpose(self: ArrayT, dim0: int, dim1: int) -> ArrayT:
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
        x = as_array("transpose", self)
        a, b = canonical_dim("transpose", dim0, x.ndim), canonical_dim("transpose", dim1, x.ndim)
        return moves.transpose(x, _exchanged(x.ndim, a, b))
    ndim = self.ndim
    a, b = component_dim("transpose", dim0, ndim), component_dim("transpose", dim1, ndim)
    axes = _exchanged(ndim - 1, a - 1, b - 1)
    return with_structure(self, self.structure.with_axes(axes), moves.transpose, axes)


def _exchanged(ndim: int, a: int, b: int) -> tuple[int, ...]:
    axes = list(range(ndim))
    axes[a], axes[b] = b, a
    return tuple(axes)


@operator
def permute(self: ArrayT, dims: Sequence[int]) -> ArrayT:
    """The dimensions of every component in another order: ``(B, *, D, E) -> (B, E, *, D)``, a view.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the layout stays, and a ragged dimension may move.
    dims : sequence of int
        Every dimension once, the batch among them, which stays the first: ``(0, 3, 1, 2)``.

    Raises
    ------
    DimensionError
        For a nested array where another dimension than 0 comes first; for one out of range, named twice, or not at all.

    Notes
    -----
    An empty component of shape (0, D) becomes one of shape (D, 0). Gradient: the cotangent in the order that it came
    from. As a method also ``nt.permute(0, 2, 1)``.

    Clauses: PERMUTE-1 to PERMUTE-6. After `torch.permute`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.permute(nt, (0, 2, 1)).unbind()
    (array([[1, 3],
           [2, 4]]), array([[5],
           [6]]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("permute", self)
        return moves.transpose(x, canonical_order("permute", dims, x.ndim))
    order = canonical_order("permute", dims, self.ndim)
    if order[0]:
        raise DimensionError(
            f"permute: the batch dimension of a nested array stays the first; dims={order} would make {order[0]} the "
            "batch. Begin with 0, and name the others in the order that components take."
        )
    axes = tuple(dim - 1 for dim in order[1:])
    return with_structure(self, self.structure.with_axes(axes), moves.transpose, axes)


@operator
def unsqueeze(self: ArrayT, dim: int) -> ArrayT:
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
        x = as_array("unsqueeze", self)
        return _with_one(x, canonical_dim("unsqueeze", dim, x.ndim + 1))
    at = component_dim("unsqueeze", dim, self.ndim + 1)
    possible_ndim("unsqueeze", self.ndim + 1)
    return with_structure(self, self.structure.with_new_axis(at - 1), _with_one, at - 1)


def _with_one(x: Array, at: int) -> Array:
    possible_ndim("unsqueeze", x.ndim + 1)
    return moves.reshape(x, (*x.shape[:at], 1, *x.shape[at:]))


@operator
def squeeze(self: ArrayT, dim: Dims = None) -> ArrayT:
    """Every component without the dimensions ``dim``, which have size 1: ``(B, 1, *, D) -> (B, *, D)``, a view.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; the layout stays.
    dim : int or tuple of int
        Regular dimensions of size 1. Of a dense array None, the default, means all that have size 1; of a nested one
        that would depend on lengths, so it is refused.

    Raises
    ------
    DimensionError
        For dimension 0 of a nested array, for an irregular one, and where a nested array is given no ``dim``.
    ShapeError
        For a dimension of another size.

    Notes
    -----
    An empty component loses the dimension like every other. An irregular dimension stays, also where every component
    has the length 1. Gradient: the cotangent with the dimension of size 1 again.

    Clauses: SQUEEZE-1 to SQUEEZE-6. After `torch.squeeze`, but for what `numpy.squeeze` refuses.

    Examples
    --------
    >>> nt = pn.nested_array([[[1], [2]], [[3]]], layout=pn.jagged)
    >>> pn.squeeze(nt, 2).unbind()
    (array([1, 2]), array([3]))
    """
    if not isinstance(self, NestedArray):
        return _without_ones(as_array("squeeze", self), dim)
    if dim is None:
        raise DimensionError(
            "squeeze: which dimensions of a nested array have size 1 may depend on lengths; name them: x.squeeze(2)."
        )
    regular: tuple[int | None, ...] = self.regular
    named = [component_dim("squeeze", one, self.ndim) for one in canonical_dims("squeeze", dim, self.ndim)]
    for at in named:
        if regular[at - 1] is None:
            raise DimensionError(f"squeeze: dimension {at} is irregular, and stays whatever the lengths are.")
    _check_ones(named, (len(self), *regular))
    kept = [k for k in range(self.ndim - 1) if k + 1 not in named]
    return with_structure(self, self.structure.with_axes(kept), _without_ones, tuple(at - 1 for at in named))


def _without_ones(x: Array, dim: Dims) -> Array:
    named = canonical_dims("squeeze", dim, x.ndim)
    if dim is not None:
        _check_ones(named, x.shape)
    return moves.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in named or n != 1))


def _check_ones(dims: Sequence[int], shape: Sequence[int | None]) -> None:
    """Refuse dimensions of another size than 1."""
    for at in dims:
        if shape[at] != 1:
            raise ShapeError(
                f"squeeze: dimension {at} has size {shape[at]}; only one of size 1 can be left out. Use select(dim, "
                "index) for an entry of a larger one."
            )
