"""Layouts of results: the choice of the layout and the ragged dimension, and values wrapped in the chosen layout.

Elementwise results have the layout of the first nested operand, except for jagged operands of different ragged
dimensions. Results of mapped components are jagged if they have one irregular dimension at most. Matrix products,
attention and its scores are jagged if their operands bring one ragged dimension into the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.primitives import movement
from pynested.nested.layout_conversion import from_elements, in_promoted_dtype, nest, to_jagged
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints, Jagged, Strided, regular_sizes
from pynested.structure.layout import Layout, jagged, strided

# ---- elementwise operators ------------------------------------------------------------------------------------------


def like_first_operand(result: NestedArray, operands: Sequence[Any]) -> NestedArray:
    """Return a strided result in the layout of the first nested operand.

    The result stays strided if jagged operands have different ragged dimensions, or if two dimensions are irregular.
    """
    structures = [x.structure for x in operands if isinstance(x, NestedArray)]
    ragged_dims = {structure.ragged_dim for structure in structures if isinstance(structure, Jagged)}
    if isinstance(structures[0], Strided) or len(ragged_dims) > 1:
        return result
    (ragged,) = ragged_dims
    other_sizes = (*result.regular_sizes[: ragged - 1], *result.regular_sizes[ragged:])
    return result if None in other_sizes else to_jagged(result, ragged)


# ---- mapped components ----------------------------------------------------------------------------------------------


def nest_results(results: Sequence[Array], template: NestedArray, layout: Layout) -> NestedArray | Array:
    """Nest the results for the components of ``template``: in ``layout`` if possible, else in the strided layout.

    Results without dimensions are stacked to a dense array.
    """
    if not results[0].ndim:
        return movement.stacked(in_promoted_dtype(*results))
    sizes = np.array([result.shape for result in results], np.int64)
    ragged = ragged_dim_of_results(regular_sizes(sizes), template) if layout is jagged else None
    return nest("map_components", results, strided if ragged is None else jagged, ragged)


def ragged_dim_of_results(regular: Sequence[int | None], template: NestedArray) -> int | None:
    """Return the ragged dimension for results of these regular sizes, or None if several dimensions are irregular.

    A size of None is an irregular dimension. If all dimensions are regular, return the ragged dimension of
    ``template``, or the last dimension of results that have fewer dimensions.
    """
    irregular = [dim for dim, size in enumerate(regular, 1) if size is None]
    if len(irregular) > 1:
        return None
    return irregular[0] if irregular else min(template.structure.ragged_dim or 1, len(regular))


# ---- products and attention -----------------------------------------------------------------------------------------


def common_ragged_dim(ragged_dims: Iterable[int | None]) -> int | str | None:
    """Return the ragged dimension of a result, from the dimensions that nested operands make ragged in the result.

    If there is no such dimension, return "dense". Return None for a strided result: if the dimensions differ, or if a
    dimension is None, because an operand is strided.
    """
    distinct_dims = set(ragged_dims)
    if not distinct_dims:
        return "dense"
    return distinct_dims.pop() if len(distinct_dims) == 1 else None


def wrap_elements(flat: Array, extents: Ints, count: int, ragged_dim: int | str | None) -> NestedArray | Array:
    """Return the array with the elements ``flat``: jagged along ``ragged_dim``, dense for "dense", strided for None."""
    if isinstance(ragged_dim, str):
        return movement.reshape(flat, (count, *np.maximum(extents[0], 0).tolist()))
    return from_elements(flat, extents, count, ragged_dim)
