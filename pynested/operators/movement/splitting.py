"""Selection of one slice, and splitting into pieces or components: views, but for one case of `select`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import (
    canonical_dim,
    canonical_index,
    canonical_int,
    canonical_ints,
    is_sequence,
)
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends.errors import ArgumentError, DimensionError, IndexOutOfRange, ShapeError
from pynested.nested.component_views import apply_view, component_view, select_components, slice_dim, unbind_components
from pynested.nested.layout_conversion import axis_to_front
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, Dense, Operand
from pynested.structure import Ints

MAX_EMPTY_PIECES = 2**20  # of one result; memory limits the numbers of components and of elements


@overload
def select(self: Dense, dim: int, index: int) -> Array: ...
@overload
def select(self: Operand, dim: int, index: int) -> NestedArray | Array: ...
@operator
def select(self: Operand, dim: int, index: int) -> NestedArray | Array:
    """Select the entry ``index`` along ``dim``: ``(B, *, D) -> (B, D)`` along the ragged dimension.

    Along the ragged dimension of a jagged array the result is a dense copy, with a row for each component. A write into
    the copy does not change ``self``; ``self[:, index] = value`` does. All other results are views. Dimension 0 gives
    component ``index``, a dense array; another dimension gives a nested array in the layout of ``self``. Gradient:
    the cotangent for the selected elements, +0 for all others. Clauses: SELECT-1 to SELECT-6. After `torch.select`.

    Parameters
    ----------
    index : int
        A negative index counts from the end of each component: -1 selects the last element of each.

    Raises
    ------
    IndexOutOfRange
        For an index outside the batch, or outside some component; the message names such components. If there are no
        components, the index must lie inside the regular size of the dimension.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.select(nt, 1, -1)
    array([[3, 4],
           [5, 6]])
    """
    if isinstance(self, NestedArray):
        return select_nested("select", self, canonical_dim("select", dim, self.ndim), index)
    x = as_array("select", self)
    dim = canonical_dim("select", dim, x.ndim)
    return movement.slice_(x, (*[slice(None)] * dim, canonical_index("select", index, x.shape[dim], dim)))


def select_nested(name: str, x: NestedArray, dim: int, index: Any) -> NestedArray | Array:
    """Select as `select` does, along ``dim`` counted from the front. Error messages begin with ``name``."""
    if not dim:
        return component_view(x, canonical_index(name, index, len(x), 0))
    index = canonical_int(name, "an index", index)
    sizes = _checked_sizes(name, index, x, dim)
    if dim != x.structure.ragged_dim:
        return apply_view(x, x.structure.select_index(dim - 1, index))
    # One row of each component makes a dense result.
    rows = x.structure.offsets[: len(x)] + (sizes + index if index < 0 else index)
    return movement.take_rows(axis_to_front(x.data, dim - 1), rows)


def _checked_sizes(name: str, index: int, x: NestedArray, dim: int) -> Ints:
    """Return the size of each component along ``dim``; raise IndexOutOfRange unless all sizes contain the index."""
    size, sizes = x.regular_size(dim), x.lengths_along(dim)
    if not len(x) and size is not None and not -size <= index < size:
        raise IndexOutOfRange(
            f"{name}: index {index} is out of bounds along dimension {dim}, which has size {size} although there are "
            "no components. A slice, [:, a:b], is clamped to the size."
        )
    wrong = np.flatnonzero((sizes <= index) if index >= 0 else (sizes < -index))
    if wrong.size:
        names = [f"{i} (length {sizes[i]})" for i in wrong[:5].tolist()] + ["…"] * (wrong.size > 5)
        raise IndexOutOfRange(
            f"{name}: index {index} is out of bounds along dimension {dim} of component{'s' * (wrong.size > 1)} "
            f"{', '.join(names)}. A slice, [:, a:b], is clamped to each component."
        )
    return sizes


@operator
def chunk(self: ArrayT, chunks: int, dim: int = 0) -> tuple[ArrayT, ...]:
    """Split into at most ``chunks`` equal pieces along ``dim``, as views: ``(B, *, D) -> (B, *, D / chunks), ...``.

    Dimension 0 gives nested arrays of consecutive components. Any other dimension must be regular, or DimensionError is
    raised. A dimension of size 0 is split into ``chunks`` empty pieces. Gradient: the concatenated cotangents. Clauses:
    CHUNK-1 to CHUNK-8. After `torch.chunk`.

    Parameters
    ----------
    chunks : int
        The n entries are split into pieces of ``ceil(n / chunks)`` entries; the last piece can be smaller. If fewer
        pieces contain all entries, there are fewer pieces.

    Raises
    ------
    ArgumentError
        For ``chunks`` below 1, and for more than 2**20 empty pieces, unless each is a batch of components.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3], [4, 5]], layout=pn.jagged)
    >>> [len(piece) for piece in pn.chunk(nt, 2)]
    [2, 1]
    """
    x, dim, size = _operand_and_size("chunk", self, dim)
    if size is None:
        raise DimensionError(
            f"chunk: dimension {dim} is irregular; pieces of one size exist only along the batch or a regular "
            "dimension."
        )
    return _slices(x, dim, _chunk_pieces(chunks, x, dim, size))


def _operand_and_size(name: str, self: Any, dim: int) -> tuple[Any, int, int | None]:
    """Return an operand, ``dim`` counted from the front, and the size along it; None if ``dim`` is irregular."""
    x: Any = self if isinstance(self, NestedArray) else as_array(name, self)
    dim = canonical_dim(name, dim, x.ndim)
    return x, dim, x.regular_size(dim) if isinstance(x, NestedArray) else x.shape[dim]


def _chunk_pieces(chunks: Any, x: Any, dim: int, size: int) -> list[slice]:
    """Divide ``size`` entries into at most ``chunks`` pieces, as slices."""
    count = canonical_int("chunk", "chunks", chunks)
    if count < 1:
        raise ArgumentError(f"chunk: chunks must be greater than 0, not {count}.")
    if size:
        return _equal_pieces("chunk", x, dim, size, -(-size // count))
    _check_num_pieces("chunk", x, dim, count)
    return [slice(0, 0)] * count


def _check_num_pieces(name: str, x: Any, dim: int, count: int) -> None:
    """Raise if an array would have too many pieces without elements. Memory limits the number of other pieces."""
    if count > MAX_EMPTY_PIECES and count > (len(x) if isinstance(x, NestedArray) and not dim else x.numel()):
        raise ArgumentError(f"{name}: {count} pieces without elements are too many; make at most {MAX_EMPTY_PIECES}.")


def _equal_pieces(name: str, x: Any, dim: int, size: int, piece_size: int) -> list[slice]:
    """Divide ``size`` entries into pieces of ``piece_size`` entries; the last piece can be smaller."""
    _check_num_pieces(name, x, dim, -(-size // piece_size))
    return [slice(start, min(start + piece_size, size)) for start in range(0, max(size, 1), piece_size)]


@operator
def split(self: ArrayT, sizes: int | Sequence[int], dim: int = 0) -> tuple[ArrayT, ...]:
    """Split into pieces of these sizes along ``dim``, as views: ``(B, *, D) -> (B, *, D1), (B, *, D2), ...``.

    Dimension 0 gives nested arrays of consecutive components. Any other dimension must be regular; a sequence of sizes
    also splits an irregular dimension if every component has their sum as its length. One size splits a dimension of
    size 0 into one empty piece. Gradient: the concatenated cotangents. Clauses: SPLIT-1 to SPLIT-9. After
    `torch.split`.

    Parameters
    ----------
    sizes : int or sequence of int
        One size for all pieces; the last piece can be smaller. Or a size for each piece; the sizes add up to the size
        of the dimension.

    Raises
    ------
    DimensionError
        For one size along an irregular dimension, as components would have different numbers of pieces.
    ShapeError
        For sizes that do not add up to the size of the dimension in every component.
    ArgumentError
        For one size below 1, for a sequence with a size below 0, and for an empty sequence. For one size that makes
        more than 2**20 empty pieces, unless each is a batch of components.

    Examples
    --------
    >>> nt = pn.nested_array([[[1, 2, 3]], [[4, 5, 6], [7, 8, 9]]], layout=pn.jagged)
    >>> first, rest = pn.split(nt, (1, 2), 2)
    >>> rest.unbind()
    (array([[2, 3]]), array([[5, 6],
           [8, 9]]))
    """
    x, dim, size = _operand_and_size("split", self, dim)
    if size is None and not is_sequence(sizes):
        raise DimensionError(
            f"split: dimension {dim} is irregular; pieces of one size exist only along the batch or a regular "
            "dimension. Give the sizes of the pieces, which add up to the length of every component, or slice: "
            "x[:, a:b]."
        )
    pieces = _split_pieces(sizes, x, dim, size or 0)
    lengths = x.extents[:, dim - 1] if size is None else np.array([size])
    wrong = np.flatnonzero((lengths != pieces[-1].stop) & (lengths >= 0))  # a length of -1 is unknown
    if wrong.size:
        component = f" of component {wrong[0]}" if size is None else ""
        raise ShapeError(
            f"split: the sizes {[piece.stop - piece.start for piece in pieces]} add up to {pieces[-1].stop}, and "
            f"dimension {dim}{component} has size {lengths[wrong[0]]}."
        )
    return _slices(x, dim, pieces)


def _split_pieces(sizes: Any, x: Any, dim: int, size: int) -> list[slice]:
    """Return pieces of the given sizes; if ``sizes`` is one number, as many pieces of this size as needed."""
    if not is_sequence(sizes):
        piece_size = canonical_int("split", "the size of a piece", sizes)
        if piece_size < 1:
            raise ArgumentError(f"split: a piece has at least 1 entry, not {piece_size}.")
        return _equal_pieces("split", x, dim, size, piece_size)
    lengths = canonical_ints("split", "the size of a piece", (sizes,))
    if not lengths or min(lengths) < 0:
        raise ArgumentError(f"split: there must be at least one size, and all must be 0 or more, not {lengths}.")
    return [slice(end - length, end) for end, length in zip(accumulate(lengths), lengths, strict=True)]


def _slices(x: Any, dim: int, pieces: list[slice]) -> tuple[Any, ...]:
    """Return the pieces of an array along ``dim``, as views."""
    if isinstance(x, Array):
        return tuple(movement.slice_(x, (*[slice(None)] * dim, piece)) for piece in pieces)
    return tuple(slice_dim(x, dim, piece) if dim else select_components(x, piece) for piece in pieces)


@operator
def unbind(self: Operand, dim: int = 0) -> tuple[Array, ...]:
    """Return the components as a tuple of dense views: ``(B, *, D) -> (*, D), ...``.

    An empty component is an empty array; a batch of no components gives an empty tuple. The views share the memory: a
    write into one is seen in ``self``. DimensionError for any dimension but 0 of a nested array. Gradient: each
    component gets the cotangent of its view. Clauses: UNBIND-1 to UNBIND-4. After `torch.unbind`.

    >>> nt = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=pn.jagged)
    >>> pn.unbind(nt)
    (array([1., 2.]), array([]), array([3.]))
    """
    if not isinstance(self, NestedArray):
        x = as_array("unbind", self)
        dim = canonical_dim("unbind", dim, x.ndim)
        return movement.unbind(x, dim) if x.shape[dim] else ()
    dim = canonical_dim("unbind", dim, self.ndim)
    if dim:
        raise DimensionError(f"unbind: a nested array can only be unbound along dimension 0, not {dim}.")
    return unbind_components(self)
