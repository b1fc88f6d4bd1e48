"""Layouts of results: the choice of layout and ragged dimension, and the values of a result wrapped in that layout.

Elementwise results have the layout of the first nested operand, ``template``. Results of mapped components are jagged
if they have one irregular dimension at most. The results of attention and its scores are jagged if all ragged operands
have the same ragged dimension.

The dimensions of an operand of attention are (batch, heads..., rows, features), with any number of dimensions of heads.
The rows of the query are the rows of the scores and of the result; the rows of key and value are the columns of the
scores. Attention sums over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as movement_rules
from pynested.backends.dtypes import promoted
from pynested.nested.layout_conversion import axis_first, from_elements, inverse_permutation, nest, to_jagged
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints, Jagged, Strided, regular_sizes
from pynested.structure.layout import Layout, jagged, strided

# ---- elementwise operators ------------------------------------------------------------------------------------------


def like_first_operand(result: NestedArray, operands: Sequence[Any]) -> NestedArray:
    """Return a strided result in the layout of the first nested operand.

    It stays strided if jagged operands have different ragged dimensions, or if a second dimension is irregular.
    """
    structures = [x.structure for x in operands if isinstance(x, NestedArray)]
    ragged_dims = {structure.ragged_dim for structure in structures if isinstance(structure, Jagged)}
    if isinstance(structures[0], Strided) or len(ragged_dims) > 1:
        return result
    (ragged,) = ragged_dims
    other_sizes = (*result.regular[: ragged - 1], *result.regular[ragged:])
    return result if None in other_sizes else to_jagged(result, ragged)


# ---- mapped components ----------------------------------------------------------------------------------------------


def nest_results(results: Sequence[Array], template: NestedArray, layout: Layout) -> NestedArray | Array:
    """Nest the results for the components of ``template``, in ``layout`` if it is possible, else strided.

    Results without dimensions are stacked to a dense array.
    """
    if not results[0].ndim:
        dtype = promoted(*[result.dtype for result in results])
        return movement_rules.stacked([movement_rules.to_dtype(result, dtype) for result in results])
    sizes = np.array([result.shape for result in results], np.int64)
    ragged = ragged_dim_of_results(regular_sizes(sizes), template) if layout is jagged else None
    return nest(results, strided if ragged is None else jagged, ragged)


def ragged_dim_of_results(regular: Sequence[int | None], template: NestedArray) -> int | None:
    """Return the ragged dimension for results of these regular sizes, or None if several dimensions are irregular.

    A size of None is an irregular dimension. If there is none, use the ragged dimension of ``template``, or the last
    dimension of results that have fewer dimensions.
    """
    irregular = [dim for dim, size in enumerate(regular, 1) if size is None]
    if len(irregular) > 1:
        return None
    return irregular[0] if irregular else min(template.structure.ragged_dim or 1, len(regular))


# ---- attention ------------------------------------------------------------------------------------------------------


def ragged_dim_of_attention(arrays: list[Any]) -> int | str | None:
    """Return the ragged dimension of the result of attention, from query, key and value.

    "dense" means that the result is dense, None that it is strided.
    """
    return _common_ragged_dim(zip(arrays, (-2, None, None), strict=True))


def ragged_dim_of_scores(arrays: list[Any]) -> int | str | None:
    """Return the ragged dimension of the scores, "dense" or None, from query and key."""
    return _common_ragged_dim(zip(arrays[:2], (-2, -1), strict=True))


def _common_ragged_dim(operands: Iterable[tuple[Any, int | None]]) -> int | str | None:
    """Return the ragged dimension of a result, from each operand and the dimension of the result that its rows become.

    A ``rows_dim`` of None means that the rows are summed away. A result without a ragged dimension is "dense". A result
    with several ragged dimensions is strided, which None says.
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


def wrap_elements(flat: Array, extents: Ints, count: int, ragged_dim: int | str | None) -> NestedArray | Array:
    """Return the array with the elements ``flat``: jagged along ``ragged_dim``, dense for "dense", strided for None."""
    if isinstance(ragged_dim, str):
        return movement_rules.reshape(flat, (count, *np.maximum(extents[0], 0).tolist()))
    return from_elements(flat, extents, count, ragged_dim)


def wrap_attention(flat: Array, extents: Ints, count: int, ragged: Any, query: Any) -> NestedArray | Array:
    """Return the result of attention in the layout for ``ragged``, the result of `ragged_dim_of_attention`.

    If the rows are ragged, ``flat`` holds row after row, with all heads of a row. Then the result has the structure of
    the nested query, and is contiguous if the query is. Otherwise ``flat`` holds component after component.
    """
    sizes = tuple(np.maximum(extents[0], 0).tolist())
    rows_axis = len(sizes) - 2
    if ragged != rows_axis + 1:
        return wrap_elements(flat, extents, count, ragged)
    structure: Jagged = query.structure.packed
    values = movement_rules.reshape(flat, (structure.rows, *sizes[:rows_axis], sizes[-1]))
    if not rows_axis:
        return NestedArray(values, structure)
    behind_heads = movement_rules.transpose(values, inverse_permutation(axis_first(rows_axis, len(sizes))))
    return NestedArray(behind_heads.contiguous() if query.is_contiguous() else behind_heads, structure)
