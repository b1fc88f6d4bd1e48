"""Alignment of the operands of attention: the places of the heads of each component in flat buffers.

The last two axes of a component are the rows and columns of its matrices. The axes before them are the *leading* axes:
they broadcast, and are merged to one axis of heads. An operand keeps its memory if offsets and strides can describe
its heads; otherwise it is copied. An axis is *regular* if all components have the same size along it. The *extents* of
an operand are the table of its component sizes (see `pynested/structure/extents.py`).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.primitives import movement
from pynested.backends import HeadLayout
from pynested.backends.dtypes import is_float, promoted
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.result_layout import (
    ragged_dim_of_attention,
    ragged_dim_of_scores,
    wrap_attention,
    wrap_elements,
)
from pynested.nested.layout_conversion import as_strided_parts, contiguous, packed, slices_as_components
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import broadcast_extents, first_difference, shape_text
from pynested.structure import Ints, Strided

from .attention_operands import MASK, NAMES, check_dims, checked_operands, checked_scale, component_count


class AlignedHeads(NamedTuple):
    """Flat operands of attention, the layout of their heads, and the shapes of results.

    ``ragged_dim`` is that of the result, see `ragged_dim_of_attention`. The first dimension of the result counts
    components if ``has_batch``; otherwise all operands are dense, and the result is one component.
    """

    buffers: tuple[Any, Any, Any, Any]  # query, key, value, and mask or None
    layout: HeadLayout
    arrays: list[Any]  # query, key and value as they were passed
    ragged_dim: int | str | None
    extents: Ints
    score_extents: Ints
    has_batch: bool

    @property
    def is_nested(self) -> bool:
        """Whether query, key or value is nested."""
        return any(type(x) is NestedArray for x in self.arrays)

    def wrap_result(self, flat: Array) -> NestedArray | Array:
        """Return the result of attention, (B, H, *, V), from its elements."""
        count = len(self.layout.sizes)
        return self._without_batch(wrap_attention(flat, self.extents, count, self.ragged_dim, self.arrays[0]))

    def wrap_queries(self, flat: Array) -> NestedArray | Array:
        """Return an array with an element for each query, (B, H, *), from its elements."""
        return self._without_batch(wrap_elements(flat, self.extents[:, :-1], len(self.layout.sizes), self.ragged_dim))

    def wrap_scores(self, flat: Array) -> NestedArray | Array:
        """Return an array with an element for each score, (B, H, *, *), from its elements."""
        ragged_dim = ragged_dim_of_scores(self.arrays)
        return self._without_batch(wrap_elements(flat, self.score_extents, len(self.layout.sizes), ragged_dim))

    def _without_batch(self, x: NestedArray | Array) -> NestedArray | Array:
        """Return ``x``, or its only component if there is no batch dimension."""
        return x if self.has_batch else movement.reshape(x, x.shape[1:])


def align_heads(
    op: str, query: Any, key: Any, value: Any, mask: Any = None, *,
    is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> AlignedHeads:  # fmt: skip
    """Return query, key, value and mask in their promoted dtype, with the layout of their heads.

    If all operands are dense and one has four dimensions or more, the first dimension counts components. Dense operands
    of fewer dimensions are one component.
    """
    named = checked_operands(op, query, key, value, mask)
    arrays = [named[name] for name in NAMES[:3]]
    nested = next((x for x in named.values() if type(x) is NestedArray), None)
    rank = max(x.ndim for x in arrays) if nested is None else nested.ndim
    check_dims(op, named, rank)
    has_batch = nested is not None or rank > 3
    count, dims = (component_count(op, named, rank), rank - 1) if has_batch else (1, rank)
    flat_arrays, operands = zip(*[_as_operand(op, name, x, count, dims) for name, x in named.items()], strict=True)
    ragged_dim = ragged_dim_of_attention(arrays)
    outermost = "components"
    if ragged_dim == dims - 1:  # then the result has the structure of the query
        outermost = "heads" if arrays[0].is_contiguous() else "rows"
    layout, copied_structures, extents, score_extents = _place_heads(
        operands, bool(is_causal), checked_scale(op, scale), bool(enable_gqa), outermost
    )
    dtype = promoted(*[x.dtype for x in named.values() if is_float(x.dtype)])
    buffers: list[Any] = []
    for flat, copied in zip(flat_arrays, copied_structures, strict=True):
        buffer = flat if copied is None else movement.gather(flat, copied.sizes, copied.strides, copied.offsets)
        buffers.append(movement.to_dtype(buffer, dtype) if is_float(buffer.dtype) else buffer)
    q, k, v, flat_mask = buffers if mask is not None else [*buffers, None]
    return AlignedHeads((q, k, v, flat_mask), layout, arrays, ragged_dim, extents, score_extents, has_batch)


# ---- operands -------------------------------------------------------------------------------------------------------


class AttentionOperand(NamedTuple):
    """The components of an operand, nested or dense: leading axes, then rows and columns of matrices.

    ``regular`` has the size of all components along each axis, None for an irregular axis. ``op``, ``name`` and
    ``is_nested`` are for error messages: the names of the operator and of the argument, and whether it was nested.
    """

    op: str
    name: str
    structure: Strided
    regular: tuple[int | None, ...]
    is_nested: bool

    @property
    def extents(self) -> Ints:
        """The shape of each component."""
        return self.structure.extents

    @property
    def broadcasts(self) -> NDArray[np.bool_]:
        """Whether each axis can broadcast, because it is regular and has size 1."""
        return np.array([size == 1 for size in self.regular], np.bool_)


def _as_operand(op: str, name: str, x: Any, count: int, dims: int) -> tuple[Array, AttentionOperand]:
    """Return the flat buffer of an argument, and the argument as an operand of ``count`` components with ``dims`` axes.

    A dense argument with a batch dimension has a slice for each component. A dense argument of fewer dimensions is the
    same for all components. Components do not overlap and elements of a row are adjacent, unless it is a mask.
    """
    if isinstance(x, NestedArray):
        x = x if name == MASK else packed(x)
        flat, structure = as_strided_parts(x)
        if name != MASK and not structure.has_contiguous_rows:
            flat, structure = as_strided_parts(contiguous(x))
        return flat, AttentionOperand(op, name, structure, x.regular, True)
    shape = (1,) * (dims + 1 - x.ndim) + x.shape
    batch = movement.reshape(x, shape)
    if name != MASK and shape[0] != count:
        batch = movement.broadcast_to(batch, (count, *shape[1:]))
    flat, structure = slices_as_components(batch, count)
    return flat, AttentionOperand(op, name, structure, shape[1:], False)


# ---- sizes ----------------------------------------------------------------------------------------------------------


def _misfit_error(text: str, component: int, *operands: AttentionOperand) -> StructureError | ShapeError:
    """Return the error for operands that do not fit in a component: a ShapeError if any of them is dense."""
    error_class = StructureError if all(operand.is_nested for operand in operands) else ShapeError
    has_components = any(operand.is_nested and operand.structure.count for operand in operands)
    return error_class(f"{operands[0].op}: {f'at component {component}, ' if has_components else ''}{text}.")


def _check_sizes(a: AttentionOperand, b: AttentionOperand, axes: slice, rule: str, broadcast: bool = False) -> None:
    """Raise unless two operands have equal sizes along some axes; with ``broadcast``, a regular size of 1 fits, too."""
    sizes = np.where(a.broadcasts | b.broadcasts, -1, a.extents) if broadcast else a.extents
    difference = first_difference(sizes[:, axes], b.extents[:, axes])
    if difference:
        i = difference[0]
        shapes = f"{a.name} has shape {shape_text(a.extents[i])} and {b.name} {shape_text(b.extents[i])}"
        raise _misfit_error(f"{shapes}; {rule}", i, a, b)


def _check_groups(query: AttentionOperand, key: AttentionOperand, value: AttentionOperand) -> None:
    """Raise unless keys and values have equal numbers of heads, and queries a multiple of it, in each component."""
    if len(query.regular) < 3:
        raise StructureError(f"{query.op}: enable_gqa=True needs a dimension of heads before the matrices.")
    _check_sizes(key, value, slice(-3, -2), "they must have as many heads")
    heads, key_heads = query.extents[:, -3], key.extents[:, -3]
    is_multiple = heads // np.maximum(key_heads, 1) * key_heads == heads
    is_unknown = np.minimum(heads, key_heads) < 0  # in an empty batch
    wrong = np.flatnonzero(~(is_multiple | is_unknown))
    if wrong.size:
        i = int(wrong[0])
        text = f"the {heads[i]} heads of query must be a multiple of the {key_heads[i]} heads of key"
        raise _misfit_error(text, i, query, key)


def _leading_extents(operands: tuple[AttentionOperand, ...], grouped: bool) -> Ints:
    """Return the leading extents of the result of query, key and value.

    If ``grouped``, the last leading axis is the axis of heads, and a group of query heads shares one head of keys and
    values.
    """
    last = -3 if grouped else -2
    if grouped:
        _check_groups(*operands)
    rule = "sizes before the matrices must be equal, or regular and 1. Heads in groups need enable_gqa=True"
    for a, b in combinations(operands, 2):
        _check_sizes(a, b, slice(last), rule, broadcast=True)
    extents, _ = broadcast_extents([(x.extents[:, :last], x.broadcasts[:last]) for x in operands])
    return np.concatenate([extents, operands[0].extents[:, last:-2]], axis=1)


# ---- places ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)  # the layers of a model attend over arrays of the same structures
def _place_heads(
    operands: tuple[AttentionOperand, ...], causal: bool, scale: float | None, grouped: bool, outermost: str
) -> tuple[HeadLayout, list[Strided | None], Ints, Ints]:
    """Return the layout of heads, the structure to copy for each operand, and the extents of result and scores.

    The structure is None for an operand that keeps its memory. See `packed_places` for ``outermost``, the order of
    the result.
    """
    query, key, value = operands[:3]
    _check_sizes(query, key, slice(-1, None), "their rows must have as many elements")
    _check_sizes(key, value, slice(-2, -1), "they must have as many rows")
    leading = shared = _leading_extents(operands[:3], grouped)
    if grouped:
        shared = np.concatenate([leading[:, :-1], key.extents[:, -3:-2]], axis=1)
    score_extents = np.concatenate([leading, query.extents[:, -2:-1], key.extents[:, -2:-1]], axis=1)
    merged = [
        _merge_heads(operand.structure, np.concatenate([extents, operand.extents[:, -2:]], axis=1))
        for operand, extents in zip(operands, (leading, shared, shared), strict=False)
    ]
    for mask in operands[3:]:
        scores = Strided.from_extents(score_extents, query.structure.count)
        score_operand = mask._replace(name="the scores", structure=scores, regular=(None,) * score_extents.shape[1])
        rule = "sizes of the mask must be equal, or regular and 1"
        _check_sizes(mask, score_operand, slice(None), rule, broadcast=True)
        merged.append(_merge_heads(mask.structure, score_extents, may_overlap=True))
    copied, (q, k, v, *masks) = [copied for copied, _ in merged], [structure for _, structure in merged]
    (query_heads, queries, _), (key_heads, keys, _) = q.extents[: q.count].T, k.extents[: k.count].T
    width, value_width = (max(x.extents.item(0, -1), 0) for x in (q, v))
    if scale is None:
        scale = 1 / np.sqrt(width).item() if width else 1.0
    layout = HeadLayout(
        sizes=np.stack([key_heads, query_heads // np.maximum(key_heads, 1), queries, keys], axis=1),
        query_places=_places(q)[:, :3],
        key_places=_places(k)[:, :3],
        value_places=_places(v)[:, :3],
        result_places=packed_places(query_heads, queries, value_width, outermost),
        mask_places=_places(masks[0]) if masks else None,
        width=width,
        value_width=value_width,
        scale=scale,
        causal=causal,
    )
    return layout, copied, np.concatenate([score_extents[:, :-1], value.extents[:, -1:]], axis=1), score_extents


def _merge_heads(structure: Strided, extents: Ints, may_overlap: bool = False) -> tuple[Strided | None, Strided]:
    """Return the structure of components broadcast to ``extents``, with their leading axes merged to an axis of heads.

    The elements must be copied if no strides can describe this structure, or if heads would overlap and must not. Then
    the first result is the structure of the elements to copy, and the second result lies in the copy.
    """
    if may_overlap or np.array_equal(structure.extents, extents):
        merged = _merge_leading_axes(_broadcast(structure, extents))
        if merged is not None:
            return None, merged
    # Only leading axes are repeated in the copy, so that the matrices of a mask stay small.
    copied = _broadcast(structure, np.concatenate([extents[:, :-2], structure.extents[:, -2:]], axis=1))
    merged = _merge_leading_axes(_broadcast(copied.repacked, extents))
    assert merged is not None
    return copied, merged


def _broadcast(structure: Strided, extents: Ints) -> Strided:
    """Return the structure broadcast to ``extents``, with stride 0 along repeated axes."""
    if np.array_equal(structure.extents, extents):
        return structure
    strides = np.where((structure.extents != extents)[: structure.count], 0, structure.strides)
    return Strided.from_validated(extents, strides, structure.offsets, structure.buffer_size)


def _merge_leading_axes(structure: Strided) -> Strided | None:
    """Return the structure with one leading axis, or None if no stride can describe it."""
    count = structure.extents.shape[1] - 2
    if count == 0:
        return structure.with_new_axis(0)
    return structure if count == 1 else structure.flattened(0, count - 1)


def _places(structure: Strided) -> Ints:
    """Return the offset of each component, and its strides between heads, rows and columns: int64 (B, 4)."""
    return np.concatenate([structure.offsets[:, None], structure.strides], axis=1)


def packed_places(heads: Ints, rows: Ints, width: int, outermost: str = "components") -> Ints:
    """Return a table of places of packed matrices, int64 (B, 3), in an order that begins with ``outermost``.

    The orders are components with heads with rows; rows of all components with heads; and heads with rows of all
    components.
    """
    row_steps = np.full_like(rows, width)
    if outermost == "heads":
        return np.stack([(np.cumsum(rows) - rows) * width, np.full_like(rows, rows.sum() * width), row_steps], axis=1)
    steps = (row_steps, heads * width) if outermost == "rows" else (rows * width, row_steps)
    numels = heads * rows * width
    return np.stack([np.cumsum(numels) - numels, *steps], axis=1)
