"""Alignment of the operands of attention: the places of the heads of each component in flat buffers.

The last two axes of a component are the rows and columns of its matrices. The axes before them are the *leading* axes:
they broadcast, and are merged to one axis of heads. The rows of the query are those of the scores and of the result.
The rows of key and value are the columns of the scores, over which attention sums.

A query, key or value is copied if its components overlap or leave gaps, if its heads are repeated, or if offsets and
strides cannot describe them; otherwise it keeps its memory. A mask is copied only in the last case.

An axis is *regular* if all components have the same size along it. The *extents* of an operand are the table of its
component sizes (see `pynested/structure/extents.py`).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.primitives import movement
from pynested.backends import HeadLayout, packed_offsets, packed_strides
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError
from pynested.lifting.result_layout import common_ragged_dim, wrap_elements
from pynested.nested.layout_conversion import contiguous, contiguous_parts, packed
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import check_devices
from pynested.nested.shape_comparison import broadcast_extents
from pynested.structure import Ints, Jagged, Strided

from .attention_operands import (
    MASK,
    NAMES,
    AttentionOperand,
    as_arrays,
    check_groups,
    check_sizes,
    checked_scale,
    common_dtype,
    with_components,
)

ResultShape: TypeAlias = tuple[Ints, int | str | None]  # extents, and a ragged dimension by `common_ragged_dim`


class AlignedHeads(NamedTuple):
    """Contiguous operands of attention, the layout of their heads, and the shapes of the result and of all scores.

    The first dimension of the result counts components if ``has_batch``; otherwise all operands are dense, and the
    result is one component.
    """

    buffers: tuple[Any, Any, Any, Any]  # query, key, value, and mask or None
    query: Any  # as it was passed
    layout: HeadLayout
    result_shape: ResultShape
    score_shape: ResultShape
    is_nested: bool  # whether query, key or value is nested
    has_batch: bool

    def wrap_result(self, flat: Array) -> NestedArray | Array:
        """Return the result, (B, H, *, V), from its elements; in the structure of the query if its rows are ragged."""
        extents, ragged_dim = self.result_shape
        if ragged_dim != extents.shape[1] - 1:
            return self._wrap(flat, extents, ragged_dim)
        *head_sizes, _, width = extents[0].tolist()
        structure: Jagged = self.query.structure.packed
        return wrap_unchecked(movement.reshape(flat, (*head_sizes, structure.rows, width)), structure)

    def wrap_query_numbers(self, flat: Array) -> NestedArray | Array:
        """Return an array with a number for each query, (B, H, *), from its elements."""
        extents, ragged_dim = self.result_shape
        return self._wrap(flat, extents[:, :-1], ragged_dim)

    def wrap_scores(self, flat: Array) -> NestedArray | Array:
        """Return an array with an element for each score, (B, H, *, *), from its elements."""
        return self._wrap(flat, *self.score_shape)

    def _wrap(self, flat: Array, extents: Ints, ragged_dim: int | str | None) -> NestedArray | Array:
        """Return an array from its elements: its only component if there is no batch dimension."""
        x = wrap_elements(flat, extents, len(self.layout.sizes), ragged_dim)
        return x if self.has_batch else movement.reshape(x, x.shape[1:])


def align_heads(
    op: str, query: Any, key: Any, value: Any, mask: Any = None, *,
    is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> AlignedHeads:  # fmt: skip
    """Return query, key, value and mask in their promoted dtype, with the layout of their heads.

    If all operands are dense and one has four dimensions or more, the first dimension counts components; an operand of
    fewer dimensions serves all of them. Operands that all have fewer dimensions are one component.
    """
    arrays = as_arrays(op, [query, key, value] if mask is None else [query, key, value, mask])
    values, operands = zip(*[_as_operand(op, name, x) for name, x in zip(NAMES, arrays, strict=False)], strict=True)
    check_devices(op, arrays)
    copies, *description = _align_structures(operands, bool(is_causal), checked_scale(op, scale), bool(enable_gqa))
    buffers: list[Any] = []
    for x, (structure, dtype) in zip(values, copies, strict=True):
        if structure is not None:
            flat = movement.reshape(x, (x.numel(),))
            x = movement.gather(flat, structure.sizes, structure.strides, structure.offsets)
        buffers.append(x if dtype is None else movement.to_dtype(x, dtype))
    q, k, v, mask_buffer = buffers if mask is not None else [*buffers, None]
    return AlignedHeads((q, k, v, mask_buffer), arrays[0], *description)


def _as_operand(op: str, name: str, x: Any) -> tuple[Array, AttentionOperand]:
    """Return the contiguous buffer of an argument, and its description.

    The components of query, key and value are copied if they overlap or leave gaps, or if the elements of a row are not
    adjacent.
    """
    if type(x) is Array:
        values = x if x.is_contiguous() else x.contiguous()
        return values, AttentionOperand(op, name, False, x.shape, x.dtype, None, None)
    if type(x) is not NestedArray:
        raise ArgumentError(f"{op}: {name} must be an array, not {value_text(x)}.")
    values, structure = contiguous_parts(x if name == MASK else packed(x))
    if name != MASK and not structure.has_contiguous_rows:
        values, structure = contiguous_parts(contiguous(x))
    sizes = (len(x), *x.regular_sizes)
    return values, AttentionOperand(op, name, True, sizes, x.dtype, x.structure.ragged_dim, structure)


@lru_cache(maxsize=32)  # the layers of a model attend over arrays of the same structures
def _align_structures(
    operands: tuple[AttentionOperand, ...], causal: bool, scale: float | None, grouped: bool
) -> tuple[Any, ...]:
    """Return a structure and a dtype for each operand, and the fields of `AlignedHeads` from ``layout`` on.

    An operand is copied in this structure and converted to this dtype, unless they are None.
    """
    dtype = common_dtype(operands)
    dtypes = [dtype if is_float(operand.dtype) and operand.dtype != dtype else None for operand in operands]
    (query, key, value, *masks), has_batch = with_components(operands)
    count, rank = query.structure.count, len(query.sizes)
    check_sizes(query, key, slice(-1, None), "their rows must have equal numbers of elements")
    check_sizes(key, value, slice(-2, -1), "their numbers of rows must be equal")
    all_extents = _broadcast_leading_axes((query, key, value), grouped)
    query_extents, key_extents, value_extents = all_extents
    score_extents = np.concatenate([query_extents[:, :-1], key_extents[:, -2:-1]], axis=1)
    for mask in masks:
        structure = Strided.from_extents(score_extents, count)
        scores = mask._replace(name="the scores", structure=structure, sizes=(None,) * rank)
        check_sizes(mask, scores, slice(None), "sizes of the mask must be equal, or regular and 1", broadcast=True)
        all_extents.append(score_extents)
    merged = map(_merge_heads, [query, key, value, *masks], all_extents)
    structures_to_copy, (q, k, v, *merged_masks) = zip(*merged, strict=True)
    (query_heads, queries, _), (key_heads, keys, _) = q.sizes.T, k.sizes.T
    width, value_width = query_extents.item(0, -1), value_extents.item(0, -1)
    # The result has no dimension for the rows of key and value. The last dimension of the scores is that of the keys.
    rows_dim, nested = rank - 2, [operand for operand in (query, key, value) if operand.is_nested]
    ragged_dim = common_ragged_dim([x.ragged_dim for x in nested if x is query or x.ragged_dim != rows_dim])
    score_ragged_dim = common_ragged_dim(
        [rank - 1 if x is key and x.ragged_dim == rows_dim else x.ragged_dim for x in nested if x is not value]
    )
    if scale is None:
        scale = 1 / np.sqrt(width).item() if width else 1.0
    layout = HeadLayout(
        sizes=np.stack([key_heads, query_heads // np.maximum(key_heads, 1), queries, keys], axis=1),
        query_places=_places(q),
        key_places=_places(k),
        value_places=_places(v),
        result_places=_result_places(query_heads, queries, value_width, heads_first=ragged_dim == rows_dim),
        mask_places=_places(merged_masks[0]) if masks else None,
        width=width,
        value_width=value_width,
        scale=scale,
        causal=causal,
    )
    result_extents = np.concatenate([query_extents[:, :-1], value_extents[:, -1:]], axis=1)
    shapes = (result_extents, ragged_dim), (score_extents, score_ragged_dim)
    return [*zip(structures_to_copy, dtypes, strict=True)], layout, *shapes, bool(nested), has_batch


def _broadcast_leading_axes(operands: tuple[AttentionOperand, ...], grouped: bool) -> list[Ints]:
    """Return the extents of query, key and value with their leading axes broadcast against each other.

    If ``grouped``, the last leading axis does not broadcast: a group of query heads shares a head of keys and values.
    """
    stop = -3 if grouped else -2
    if grouped:
        check_groups(*operands)
    rule = "sizes before the matrices must be equal, or regular and 1. Heads in groups need enable_gqa=True"
    for a, b in combinations(operands, 2):
        check_sizes(a, b, slice(stop), rule, broadcast=True)
    common, _ = broadcast_extents([(x.extents[:, :stop], x.broadcasts[:stop]) for x in operands])
    return [np.concatenate([common, x.extents[:, stop:]], axis=1) for x in operands]


# ---- places ---------------------------------------------------------------------------------------------------------


def _merge_heads(operand: AttentionOperand, extents: Ints) -> tuple[Strided | None, Strided]:
    """Return the structure of components broadcast to ``extents``, with their leading axes merged to an axis of heads.

    The elements must be copied if no strides can describe this structure. They must also be copied if components or
    heads would share memory, unless the operand is a mask. The first item is the structure of the elements to copy, or
    None, and the second item is the structure after the copy.
    """
    structure = operand.structure
    broadcast = _broadcast(structure, extents)
    is_repeated = broadcast is not structure or operand.sizes[0] != structure.count
    merged = None if is_repeated and operand.name != MASK else _merge_leading_axes(broadcast)
    if merged is not None:
        return None, merged
    # Rows and columns of a mask are not repeated in the copy, which stays small.
    to_copy = _broadcast(structure, np.concatenate([extents[:, :-2], structure.extents[:, -2:]], axis=1))
    merged = _merge_leading_axes(_broadcast(to_copy.repacked, extents))
    assert merged is not None
    return to_copy, merged


def _broadcast(structure: Strided, extents: Ints) -> Strided:
    """Return the structure broadcast to ``extents``, with stride 0 along repeated axes."""
    if np.array_equal(structure.extents, extents):
        return structure
    strides = np.where((structure.extents != extents)[: structure.count], 0, structure.strides)
    return Strided.from_validated(extents, strides, structure.offsets, structure.buffer_size)


def _merge_leading_axes(structure: Strided) -> Strided | None:
    """Return the structure with one leading axis, or None if no stride can describe it."""
    count = structure.extents.shape[1] - 2
    return structure.flattened(0, count - 1) if count else structure.with_new_axis(0)


def _places(structure: Strided) -> Ints:
    """Return the offset of each component, and its strides between heads, rows and columns: int64 (B, 4)."""
    return np.concatenate([structure.offsets[:, None], structure.strides], axis=1)


def _result_places(heads: Ints, rows: Ints, width: int, heads_first: bool) -> Ints:
    """Return the places of results, int64 (B, 4): component after component, each with all its heads.

    If ``heads_first``, it is head after head, each with the rows of all components.
    """
    sizes = np.stack([heads, rows, np.full_like(rows, width)], axis=1)
    offsets = packed_offsets(sizes)
    if heads_first:
        offsets, sizes[:, 1] = (np.cumsum(rows) - rows) * width, rows.sum()
    return np.concatenate([offsets[:, None], packed_strides(sizes)], axis=1)
