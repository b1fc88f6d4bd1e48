"""Components, slices and pieces, as views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array
from pynested.autograd.arguments.shapes import canonical_dim, canonical_index, canonical_int, several
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import DimensionError, IndexOutOfRange, ShapeError
from pynested.nested.component_views import (
    apply_view,
    component_view,
    select_components,
    slice_dim,
    unbind_components,
)
from pynested.nested.layout_conversion import axis_first
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, Dense, Operand
from pynested.structure import Ints

from .pieces import pieces, sections


@overload
def select(self: Dense, dim: int, index: int) -> Array: ...
@overload
def select(self: Operand, dim: int, index: int) -> NestedArray | Array: ...
@operator
def select(self: Operand, dim: int, index: int) -> NestedArray | Array:
    """The slice at ``index`` along ``dim``, without that dimension: ``(B, *, D) -> (B, D)`` along the ragged dimension.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype.
    dim : int
        0 gives component ``index``, as a dense view.
    index : int
        A negative one counts from the end of each component: -1 is the last element of each.

    Raises
    ------
    IndexOutOfRange
        For an index outside the batch, or outside some component: all such are named. An empty component has no index.
        Without components, for one outside the size that they would have.
    DimensionError
        For a dimension out of range.

    Notes
    -----
    Along the ragged dimension of a jagged array the result is dense, with a row for each component; otherwise, but for
    ``dim`` 0, it is nested in the same layout. That dense result is a copy, so that a method which writes in place
    leaves ``self`` alone (``self[:, index] = value`` writes into it); all others are views. Gradient: the cotangent
    goes to the selected elements, all others get +0.

    Clauses: SELECT-1 to SELECT-6. After `torch.select`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.select(nt, 1, -1)
    array([[3, 4],
           [5, 6]])
    """
    if not isinstance(self, NestedArray):
        x = as_array("select", self)
        at = canonical_dim("select", dim, x.ndim)
        return moves.slice_(x, (*[slice(None)] * at, canonical_index("select", index, x.shape[at], at)))
    at = canonical_dim("select", dim, self.ndim)
    if not at:
        return component_view(self, canonical_index("select", index, len(self), 0))
    given = canonical_int("select", "an index", index)
    sizes = _sizes_beyond(self, at, given)
    if at != self.structure.ragged_dim:
        return apply_view(self, self.structure.select_index(at - 1, given))
    # One row of each component: the result is dense.
    rows = self.structure.offsets[: len(self)] + (sizes + given if given < 0 else given)
    return moves.take_rows(moves.transpose(self.data, axis_first(at - 1, self.data.ndim)), rows)


def _sizes_beyond(x: NestedArray, dim: int, index: int) -> Ints:
    """The size of each component along ``dim``; all of them must have an entry at ``index``."""
    size, sizes = x.regular_size(dim), x.lengths_along(dim)
    if not len(x) and size is not None and not -size <= index < size:
        raise IndexOutOfRange(
            f"select: index {index} is out of bounds along dimension {dim}, which has size {size} although there are "
            "no components. Slice, [:, a:b], where it may be too short."
        )
    wrong = np.flatnonzero((sizes <= index) if index >= 0 else (sizes < -index))
    if wrong.size:
        shown = [f"{i} (length {sizes[i]})" for i in wrong[:5].tolist()] + ["…"] * (wrong.size > 5)
        raise IndexOutOfRange(
            f"select: index {index} is out of bounds along dimension {dim} of component{'s' * (wrong.size > 1)} "
            f"{', '.join(shown)}. Slice, [:, a:b], where a component may be too short."
        )
    return sizes


@operator
def chunk(self: ArrayT, chunks: int, dim: int = 0) -> tuple[ArrayT, ...]:
    """Consecutive pieces along ``dim``, as views: ``(B, *, D) -> (B, *, ceil(D / chunks)), ...``.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; each piece has its layout and rank.
    chunks : int
        The n entries are cut into pieces of ``ceil(n / chunks)``; the last one may be smaller, and there are fewer
        pieces where fewer hold all entries.
    dim : int
        0 gives nested arrays of consecutive components; else a regular dimension.

    Raises
    ------
    DimensionError
        For an irregular dimension.
    ArgumentError
        For ``chunks`` below 1, and for more than 2**20 pieces of nothing.

    Notes
    -----
    Of nothing (size 0, no components) there are ``chunks`` empty pieces. Gradient: the cotangents joined again.

    Clauses: CHUNK-1 to CHUNK-8. After `torch.chunk`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3], [4, 5]], layout=pn.jagged)
    >>> [len(piece) for piece in pn.chunk(nt, 2)]
    [2, 1]
    """
    if not isinstance(self, NestedArray):
        x = as_array("chunk", self)
        at = canonical_dim("chunk", dim, x.ndim)
        return _cut_dense(x, at, pieces("chunk", chunks, x.shape[at]))
    at = canonical_dim("chunk", dim, self.ndim)
    size = self.regular_size(at)
    if size is None:
        raise DimensionError(
            f"chunk: dimension {at} is irregular; pieces of one size exist only along the batch or a regular dimension."
        )
    return _cut(self, at, pieces("chunk", chunks, size))


@operator
def split(self: ArrayT, sizes: int | Sequence[int], dim: int = 0) -> tuple[ArrayT, ...]:
    """Consecutive pieces along ``dim``, of given sizes, as views: ``(B, *, D) -> (B, *, D1), (B, *, D2), ...``.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype; each piece has its layout and rank.
    sizes : int or sequence of int
        The size of every piece, of which the last may be smaller; or one size for each piece, which add up.
    dim : int
        0 gives nested arrays of consecutive components; else a regular dimension. With a sequence of sizes also an
        irregular one, along which every component has the sum of them as its length.

    Raises
    ------
    DimensionError
        For one size along an irregular dimension, where components would have different numbers of pieces.
    ShapeError
        For sizes that do not add up to the size of the dimension, in every component.
    ArgumentError
        For one size below 1, for sizes below 0, and for none.

    Notes
    -----
    Of nothing (size 0, no components) one size makes one empty piece. Gradient: the cotangents joined again.

    Clauses: SPLIT-1 to SPLIT-9. After `torch.split`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2, 3]], [[4, 5, 6], [7, 8, 9]]], layout=pn.jagged)
    >>> first, rest = pn.split(nt, (1, 2), 2)
    >>> rest.unbind()
    (array([[2, 3]]), array([[5, 6],
           [8, 9]]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("split", self)
        at = canonical_dim("split", dim, x.ndim)
        parts = sections("split", sizes, x.shape[at], x.numel())
        _check_total(parts, np.array([x.shape[at]]), f"dimension {at}")
        return _cut_dense(x, at, parts)
    at = canonical_dim("split", dim, self.ndim)
    size = self.regular_size(at)
    if size is None and not several(sizes):
        raise DimensionError(
            f"split: dimension {at} is irregular; pieces of one size exist only along the batch or a regular "
            "dimension. Give the sizes of the pieces, which add up to the length of every component, or slice: "
            "x[:, a:b]."
        )
    parts = sections("split", sizes, size or 0, self.numel())
    lengths = self.extents[:, at - 1] if at else np.array([len(self)])
    _check_total(parts, lengths, f"dimension {at}" + " of component {}" * (size is None))
    return _cut(self, at, parts)


def _check_total(parts: Sequence[tuple[int, int]], sizes: Ints, where: str) -> None:
    """The pieces hold all entries of each of ``sizes`` (-1 for one that is unknown)."""
    total = parts[-1][0] + parts[-1][1]
    wrong = np.flatnonzero((sizes != total) & (sizes >= 0))
    if wrong.size:
        raise ShapeError(
            f"split: the sizes {[n for _, n in parts]} add up to {total}, and {where.format(wrong[0])} has size "
            f"{sizes[wrong[0]]}."
        )


def _cut_dense(x: Array, dim: int, parts: Sequence[tuple[int, int]]) -> tuple[Array, ...]:
    before = (slice(None),) * dim
    return tuple(moves.slice_(x, (*before, slice(start, start + length))) for start, length in parts)


def _cut(x: NestedArray, dim: int, parts: Sequence[tuple[int, int]]) -> tuple[NestedArray, ...]:
    """The pieces of these starts and lengths along ``dim``."""
    slices = [slice(start, start + length) for start, length in parts]
    return tuple(slice_dim(x, dim, part) if dim else select_components(x, part) for part in slices)


@operator
def unbind(self: Operand, dim: int = 0) -> tuple[Array, ...]:
    """The components, in their order, as a tuple of dense views: ``(B, *, D) -> (*, D), ...``.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype.
    dim : int
        0 for a nested array.

    Raises
    ------
    DimensionError
        For another dimension of a nested array, however it is written.

    Notes
    -----
    An empty component is an empty array, and a batch of no components an empty tuple. The views share the memory: a
    write into one is seen in ``self``. Gradient: each component gets the cotangent of its own view, and nothing of the
    others.

    Clauses: UNBIND-1 to UNBIND-4. After `torch.unbind`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=pn.jagged)
    >>> pn.unbind(nt)
    (array([1., 2.]), array([]), array([3.]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("unbind", self)
        at = canonical_dim("unbind", dim, x.ndim)
        return moves.unbind(x, at) if x.shape[at] else ()
    at = canonical_dim("unbind", dim, self.ndim)
    if at:
        raise DimensionError(f"unbind: a nested array can only be unbound along dimension 0, not {at}.")
    return unbind_components(self)
