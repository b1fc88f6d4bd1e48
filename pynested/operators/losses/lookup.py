"""Rows of a table by number, on nested and dense arrays."""

from __future__ import annotations

from typing import overload

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.elementwise import where
from pynested.backends.errors import DTypeError, IndexOutOfRange, ShapeError
from pynested.lifting.along_dim import map_last_dims
from pynested.nested.layout_conversion import contiguous
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, DenseLike, Operand

from .rows import numbers, outside


@overload
def embedding(indices: DenseLike, weight: Dense, padding_idx: int | None = None) -> Array: ...
@overload
def embedding(indices: NestedArray, weight: Dense, padding_idx: int | None = None) -> NestedArray: ...
@operator
def embedding(indices: Operand, weight: Dense, padding_idx: int | None = None) -> NestedArray | Array:
    """Each index is replaced by that row of ``weight``: ``(B, *), (V, E) -> (B, *, E)``.

    Parameters
    ----------
    indices : NestedArray or Array
        Integers from 0 to V - 1; the result has their layout and one more dimension.
    weight : Array
        ``(V, E)``; the result has its dtype.
    padding_idx : int or None
        The row of ``weight`` that receives no gradient, from -V to V - 1; a negative number counts from the end.

    Raises
    ------
    IndexOutOfRange
        For an index below 0 or not below V, naming the component and the position in it; for a ``padding_idx`` below
        -V or not below V.
    ArgumentError
        For a ``padding_idx`` that is not an integer.
    DTypeError
        For indices that are not integers, bools included.
    ShapeError
        For a ``weight`` that is not a matrix.

    Notes
    -----
    An empty component becomes one of shape (0, E), also where V is 0. Gradient: a row gets the sum of the cotangents of
    every place that names it, +0 where none does and where ``padding_idx`` names the row; ``indices`` have none.

    Clauses: EMBEDDING-1 to EMBEDDING-6, EMBEDDING-8 to EMBEDDING-12. After `torch.nn.functional.embedding`.

    Examples
    --------
    >>> tokens = pn.nested_array([[2, 0], [1]], layout=pn.jagged)
    >>> pn.embedding(tokens, pn.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])).unbind()
    (array([[2. , 2.5],
           [0. , 0.5]]), array([[1. , 1.5]]))
    """
    if type(indices) is not NestedArray:
        index, table = together("embedding", indices, weight)
        return _rows_at(index, table, _padding_row(padding_idx, table))
    _, table = together("embedding", indices.data, weight)
    padding = _padding_row(padding_idx, table)
    x = contiguous(indices)
    try:
        return map_last_dims(x, (), lambda values: _rows_at(values, table, padding))
    except IndexOutOfRange:
        raise IndexOutOfRange(
            f"embedding: index {outside(x, table.shape[0])} is not one of the {table.shape[0]} rows of the table."
        ) from None


def _padding_row(padding_idx: int | None, table: Array) -> int | None:
    """``padding_idx`` counted from the front."""
    if table.ndim != 2:
        raise ShapeError(f"embedding: weight must have shape (V, E), not {table.shape}.")
    if padding_idx is None:
        return None
    row, count = canonical_int("embedding", "padding_idx", padding_idx), table.shape[0]
    if not -count <= row < count:
        limits = f"an integer from {-count} to {count - 1}, or None" if count else "None"
        raise IndexOutOfRange(f"embedding: padding_idx {row} is not one of the {count} rows of weight. Give {limits}.")
    return row % count


def _rows_at(index: Array, table: Array, padding: int | None) -> Array:
    """(...), (V, E) -> (..., E); nothing flows back to the row ``padding``."""
    if index.dtype.kind not in "iu":
        raise DTypeError(f"embedding: indices must be integers, these are {index.dtype}.")
    flat, wrong = numbers(index, table.shape[0])
    if wrong.size:
        raise IndexOutOfRange(
            f"embedding: index {flat[wrong[0]]} at flat position {wrong[0]} is outside the table's "
            f"0..{table.shape[0] - 1}."
        )
    rows: Array = moves.take_rows(table, flat)
    if padding is not None and rows.requires_grad:
        rows = where(rows, rows.detach(), (flat != padding)[:, None])
    return moves.reshape(rows, (*index.shape, table.shape[1]))
