"""Rows of a table by number, on nested and dense arrays."""

from __future__ import annotations

from typing import overload

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import DTypeError, IndexOutOfRange, ShapeError
from pynested.components.packing import contiguous
from pynested.components.runs import over_last
from pynested.nested.array import NestedArray
from pynested.nested.operands import Dense, Operand, Plain

from .rows import numbers, outside


@overload
def embedding(indices: Plain, weight: Dense) -> Array: ...
@overload
def embedding(indices: NestedArray, weight: Dense) -> NestedArray: ...
def embedding(indices: Operand, weight: Dense) -> NestedArray | Array:
    """Each index is replaced by that row of ``weight``: ``(B, *), (V, E) -> (B, *, E)``.

    Parameters
    ----------
    indices : NestedArray or Array
        Integers from 0 to V - 1; the result has their layout and one more dimension.
    weight : Array
        ``(V, E)``; the result has its dtype.

    Raises
    ------
    IndexOutOfRange
        For an index below 0 or not below V, naming the component and the position in it.
    DTypeError
        For indices that are not integers, bools included.
    ShapeError
        For a ``weight`` that is not a matrix.

    Notes
    -----
    An empty component becomes one of shape (0, E), also where V is 0. Gradient: a row gets the sum of the cotangents of
    every place that names it, +0 where none does; ``indices`` have none.

    Clauses: EMBEDDING-1 to EMBEDDING-7. After `torch.nn.functional.embedding`.

    Examples
    --------
    >>> tokens = pn.nested_array([[2, 0], [1]], layout=pn.jagged)
    >>> pn.embedding(tokens, pn.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])).unbind()
    (array([[2. , 2.5],
           [0. , 0.5]]), array([[1. , 1.5]]))
    """
    if type(indices) is not NestedArray:
        return _rows_at(*together("embedding", indices, weight, needed=2))
    _, table = together("embedding", indices.data, weight, needed=2)
    x = contiguous(indices)
    try:
        return over_last(x, (), lambda values: _rows_at(values, table))
    except IndexOutOfRange:
        raise IndexOutOfRange(
            f"embedding: index {outside(x, table.shape[0])} is not one of the {table.shape[0]} rows of the table."
        ) from None


def _rows_at(index: Array, table: Array) -> Array:
    """(...), (V, E) -> (..., E)."""
    if table.ndim != 2:
        raise ShapeError(f"embedding: weight must have shape (V, E), not {table.shape}.")
    if index.dtype.kind not in "iu":
        raise DTypeError(f"embedding: indices must be integers, these are {index.dtype}.")
    flat, wrong = numbers(index, table.shape[0])
    if wrong.size:
        raise IndexOutOfRange(
            f"embedding: index {flat[wrong[0]]} at flat position {wrong[0]} is outside the table's "
            f"0..{table.shape[0] - 1}."
        )
    rows: Array = moves.take_rows(table, flat)
    return moves.reshape(rows, (*index.shape, table.shape[1]))
