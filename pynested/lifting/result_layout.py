"""Layouts of results: which layout and ragged dimension a result has, and its values wrapped in that layout.

Elementwise results have the layout of the first nested operand. Results of mapped components are jagged if they can be.
Attention and its scores are jagged if the operands have one ragged dimension in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.backends.dtypes import promoted
from pynested.nested.layout_conversion import axis_first, from_elements, inverse_permutation, nest, to_jagged
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints, Jagged, Strided, regular_sizes
from pynested.structure.layout import Layout, jagged, strided

# ---- elementwise operators ------------------------------------------------------------------------------------------


def like_first_operand(result: NestedArray, operands: Sequence[Any]) -> NestedArray:
    """Return a strided result in the layout of the first nested operand.

    It stays strided if jagged operands have different ragged dimensions, or if another dimension is irregular.
    """
    structures = [x.structure for x in operands if isinstance(x, NestedArray)]
    ragged_dims = {structure.ragged_dim for structure in structures if isinstance(structure, Jagged)}
    if isinstance(structures[0], Strided) or len(ragged_dims) > 1:
        return result
    (ragged,) = ragged_dims
    other_sizes = (*result.regular[: ragged - 1], *result.regular[ragged:])
    return result if None in other_sizes else to_jagged(result, ragged)


# ---- mapped components ----------------------------------------------------------------------------------------------


def nest_results(results: Sequence[Array], first: NestedArray, layout: Layout) -> NestedArray | Array:
    """Return the results for the components of ``first``, in ``layout``, or strided if jagged cannot express them.

    Results without dimensions are stacked to a dense array.
    """
    if not results[0].ndim:
        dtype = promoted(*[result.dtype for result in results])
        return moves.stacked([moves.to_dtype(result, dtype) for result in results])
    sizes = np.array([result.shape for result in results], np.int64)
    ragged = ragged_dim_of_results(regular_sizes(sizes), first) if layout is jagged else None
    return nest(results, strided if ragged is None else jagged, ragged)


def ragged_dim_of_results(regular: Sequence[int | None], first: NestedArray) -> int | None:
    """Return the irregular dimension of results of these regular sizes, None for several.

    If no dimension is irregular, it is the ragged dimension of ``first``, or the last one if there are fewer.
    """
    irregular = [dim for dim, size in enumerate(regular, 1) if size is None]
    if len(irregular) > 1:
        return None
    return irregular[0] if irregular else min(first.structure.ragged_dim or 1, len(regular))


# ---- attention ------------------------------------------------------------------------------------------------------


def ragged_dim_of_attention(arrays: list[Any]) -> int | str | None:
    """Return the ragged dimension of the attention of query, key and value.

    It is "dense" for a dense result, and None for a strided one. The result has the rows of the query, at dimension
    -2. Attention sums over the rows of key and value.
    """
    return _common_ragged_dim(zip(arrays, (-2, None, None), strict=True))


def ragged_dim_of_scores(arrays: list[Any]) -> int | str | None:
    """Return the ragged dimension of the scores, like `ragged_dim_of_attention`; the rows of the key are columns."""
    return _common_ragged_dim(zip(arrays[:2], (-2, -1), strict=True))


def _common_ragged_dim(operands: Iterable[tuple[Any, int | None]]) -> int | str | None:
    """Return the ragged dimension of a result, from each operand and the dimension that its rows have in the result.

    A result without ragged dimension is dense, one with several is strided.
    """
    ragged_dims = set()
    for x, rows_dim in operands:
        if type(x) is not NestedArray:
            continue
        ragged = x.structure.ragged_dim
        if ragged is None:
            return None
        if ragged != x.ndim - 2:
            ragged_dims.add(ragged)
        elif rows_dim is not None:
            ragged_dims.add(x.ndim + rows_dim)
    if len(ragged_dims) > 1:
        return None
    return ragged_dims.pop() if ragged_dims else "dense"


def wrap_scores(flat: Array, extents: Ints, count: int, ragged: Any) -> NestedArray | Array:
    """Return scores, flat and component by component, in the layout that `ragged_dim_of_scores` names."""
    if ragged == "dense":
        return moves.reshape(flat, (count, *np.maximum(extents[0], 0).tolist()))
    return from_elements(flat, extents, count, ragged)


def wrap_attention(flat: Array, extents: Ints, count: int, ragged: Any, query: Any) -> NestedArray | Array:
    """Return the result of attention, a flat array, in the layout that `ragged_dim_of_attention` names.

    If its rows are ragged, the flat array holds row after row, with all heads of a row; the result has the structure of
    the nested query, and is contiguous if the query is. Otherwise the flat array holds component after component.
    """
    sizes = tuple(np.maximum(extents[0], 0).tolist())
    if ragged == "dense":
        return moves.reshape(flat, (count, *sizes))
    rows_axis = len(sizes) - 2
    if ragged != rows_axis + 1:
        return from_elements(flat, extents, count, ragged)
    structure: Jagged = query.structure.packed
    values = moves.reshape(flat, (structure.rows, *sizes[:rows_axis], sizes[-1]))
    if not rows_axis:
        return NestedArray(values, structure)
    behind_heads = moves.transpose(values, inverse_permutation(axis_first(rows_axis, len(sizes))))
    return NestedArray(behind_heads.contiguous() if query.is_contiguous() else behind_heads, structure)
