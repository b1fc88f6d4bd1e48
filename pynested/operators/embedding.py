"""Embedding: rows of a table selected by integers; and the check that integers select existing rows or classes."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_arrays_on_one_device
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import movement
from pynested.autograd.primitives.binary import where
from pynested.backends.errors import DTypeError, IndexOutOfRange, ShapeError
from pynested.lifting.along_dim import map_last_dims
from pynested.nested.layout_conversion import contiguous, elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, DenseLike, Operand


@overload
def embedding(indices: DenseLike, weight: Dense, padding_idx: int | None = None) -> Array: ...
@overload
def embedding(indices: NestedArray, weight: Dense, padding_idx: int | None = None) -> NestedArray: ...
@operator
def embedding(indices: Operand, weight: Dense, padding_idx: int | None = None) -> NestedArray | Array:
    """Replace each index by that row of ``weight``: ``(B, *), (V, E) -> (B, *, E)``.

    ``indices`` holds integers from 0 to V - 1. The result has the layout of ``indices`` and the dtype of ``weight``. An
    empty component gets the shape (0, E), even if V is 0. Gradient: a row of ``weight`` gets the sum of the cotangents
    of all indices that select the row. A row without indices, and the row ``padding_idx``, get +0. ``indices`` have no
    gradient. Clauses: EMBEDDING-1 to EMBEDDING-6, EMBEDDING-8 to EMBEDDING-12. After `torch.nn.functional.embedding`.

    Parameters
    ----------
    padding_idx : int or None
        The row of ``weight`` that gets no gradient, from -V to V - 1; a negative number counts from the end.

    Raises
    ------
    IndexOutOfRange
        For an index outside 0 to V - 1, naming the component and the position in it; for a ``padding_idx`` outside -V
        to V - 1.
    ArgumentError
        For a ``padding_idx`` that is not an integer.
    DTypeError
        For indices that are not integers, also for bools.
    ShapeError
        For a ``weight`` that is not a matrix.

    Examples
    --------
    >>> tokens = pn.nested_array([[2, 0], [1]], layout=pn.jagged)
    >>> pn.embedding(tokens, pn.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])).unbind()
    (array([[2. , 2.5],
           [0. , 0.5]]), array([[1. , 1.5]]))
    """
    if type(indices) is not NestedArray:
        x, table = as_arrays_on_one_device("embedding", indices, weight)
        return _take_table_rows(x, x, table, _padding_row(padding_idx, table))
    _, table = as_arrays_on_one_device("embedding", indices.data, weight)
    padding = _padding_row(padding_idx, table)
    nested = contiguous(indices)
    return map_last_dims(nested, (), lambda values: _take_table_rows(nested, values, table, padding))


def _padding_row(padding_idx: int | None, table: Array) -> int | None:
    """Return ``padding_idx`` as the number of a row, counted from the first; raise unless the table has the row."""
    if table.ndim != 2:
        raise ShapeError(f"embedding: weight must have shape (V, E), not {table.shape}.")
    if padding_idx is None:
        return None
    row, count = canonical_int("embedding", "padding_idx", padding_idx), table.shape[0]
    if not -count <= row < count:
        limits = f"an integer from {-count} to {count - 1}, or None" if count else "None"
        raise IndexOutOfRange(f"embedding: padding_idx {row} is not one of the {count} rows of weight. Give {limits}.")
    return row % count


def _take_table_rows(x: NestedArray | Array, values: Array, table: Array, padding: int | None) -> Array:
    """Select the rows of a table at ``values``, the values of ``x``: ``(...), (V, E) -> (..., E)``.

    No gradient flows to the row ``padding``. An error names the position of an index in ``x``.
    """
    if values.dtype.kind not in "iu":
        raise DTypeError(f"embedding: indices must be integers, not {values.dtype}.")
    flat, is_outside = flat_indices(values, table.shape[0])
    if is_outside.any():
        raise IndexOutOfRange(
            f"embedding: index {first_out_of_range(x, table.shape[0])} is not one of the {table.shape[0]} rows of the "
            "table."
        )
    rows: Array = movement.take_rows(table, flat)
    if padding is not None and rows.requires_grad:
        rows = where(rows, rows.detach(), (flat != padding)[:, None])
    return movement.reshape(rows, (*values.shape, table.shape[1]))


def flat_indices(indices: Array, count: int, ignored: int | None = None) -> tuple[Any, Any]:
    """Return integers as a flat raw int64 copy, and a mask of those that are outside 0 to ``count`` - 1.

    The integer ``ignored`` is never outside.
    """
    flat = indices.data.reshape(-1).astype(np.int64)
    is_outside = (flat < 0) | (flat >= count)
    return flat, is_outside if ignored is None else is_outside & (flat != ignored)


def first_out_of_range(x: NestedArray | Array, count: int, ignored: int | None = None) -> str:
    """Return the first element that is out of range, as in `flat_indices`, and its position, for an error message."""
    flat, is_outside = flat_indices(elements(x) if isinstance(x, NestedArray) else x, count, ignored)
    flat_position = int(np.flatnonzero(is_outside)[0])
    if not isinstance(x, NestedArray):
        return f"{flat[flat_position]} at flat position {flat_position}"
    sizes = x.component_sizes()
    ends = np.cumsum(sizes.prod(axis=1))
    i = int(np.searchsorted(ends, flat_position, "right"))
    position = np.unravel_index(flat_position - (int(ends[i - 1]) if i else 0), sizes[i])
    return f"{flat[flat_position]} at component {i}, position {tuple(int(k) for k in position)},"
