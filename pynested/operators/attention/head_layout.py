"""Memory layout of attention: the places of the heads of each component in the flat buffers of its operands."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array
from pynested.autograd.primitives import movement
from pynested.backends import Heads
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.result_layout import (
    ragged_dim_of_attention,
    ragged_dim_of_scores,
    wrap_attention,
    wrap_elements,
)
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints, Strided

from .attention_matrices import (
    AttentionOperand,
    as_attention_operand,
    check_equal_sizes,
    check_mask_sizes,
    head_placement,
    leading_extents,
    merge_heads,
)

NAMES = "query", "key", "value"


class AlignedHeads(NamedTuple):
    """Flat operands of attention, the places of their heads, and the shapes of the result and of the scores.

    Attributes
    ----------
    buffers : tuple of Array
        Query, key, value and mask; the mask can be None.
    heads : Heads
        The places of all heads in the buffers and in the flat result.
    arrays : list
        Query, key and value as they were passed; their layouts determine those of the results.
    extents, score_extents : int64 (max(B, 1), d)
        The shape of each component of the result, and of the scores.
    dense_shape : tuple of int, or None
        The shape of the result if no operand is nested.
    """

    buffers: tuple[Any, ...]
    heads: Heads
    arrays: list[Any]
    extents: Ints
    score_extents: Ints
    dense_shape: tuple[int, ...] | None

    def wrap(self, flat: Array) -> NestedArray | Array:
        """Return the result of attention from its elements."""
        if self.dense_shape is not None:
            return movement.reshape(flat, self.dense_shape)
        ragged = ragged_dim_of_attention(self.arrays)
        return wrap_attention(flat, self.extents, len(self.heads.sizes), ragged, self.arrays[0])

    def wrap_scores(self, flat: Array) -> NestedArray | Array:
        """Return an array of one element for each score."""
        if self.dense_shape is not None:
            return movement.reshape(flat, (*self.dense_shape[:-1], self.score_extents.item(0, -1)))
        return wrap_elements(flat, self.score_extents, len(self.heads.sizes), ragged_dim_of_scores(self.arrays))

    def with_width(self, width: int) -> AlignedHeads:
        """Return the layout of a result with this number of elements in a row."""
        extents = np.concatenate([self.extents[:, :-1], np.full((len(self.extents), 1), width)], axis=1)
        made = packed_placement(self.heads.counts, self.heads.sizes[:, 2], width, _is_by_rows(self.arrays))
        heads = replace(self.heads, made=made, value_width=width)
        dense_shape = None if self.dense_shape is None else (*self.dense_shape[:-1], width)
        return self._replace(heads=heads, extents=extents, dense_shape=dense_shape)


def align_heads(
    op: str, arrays: list[Any], mask: Any, causal: bool, scale: float | None, grouped: bool
) -> AlignedHeads:
    """Return the layout of query, key and value of floats, and a mask or None.

    Of dense operands with four dimensions or more, the first counts components; others are one component.
    """
    named = [(name, x) for name, x in zip((*NAMES, "attn_mask"), (*arrays, mask), strict=True) if x is not None]
    first = next((x for _, x in named if type(x) is NestedArray), None)
    batch: tuple[int, ...] = ()
    if first is not None:
        for name, x in named:
            _check_beside_nested(op, name, x, first)
        count, dims = len(first), first.ndim - 1
    else:
        batch = _dense_batch(op, named)
        count, dims = (*batch, 1)[0], max(x.ndim for x in arrays) - len(batch)
    pairs = [as_attention_operand(op, name, x, count, dims, separate=name in NAMES) for name, x in named]
    operands = tuple([operand for _, operand in pairs])
    heads, copies, extents, score_extents = _place_heads(operands, causal, scale, grouped, _is_by_rows(arrays))
    buffers = [
        flat if copied is None else movement.gather(flat, copied.sizes, copied.strides, copied.offsets)
        for (flat, _), copied in zip(pairs, copies, strict=True)
    ]
    dense_shape = None if first is not None else (*batch, *extents[0].tolist())
    return AlignedHeads((*buffers, None)[:4], heads, arrays, extents, score_extents, dense_shape)


def _check_beside_nested(op: str, name: str, x: Any, first: NestedArray) -> None:
    """Raise unless an operand has the dimensions that it needs beside the first nested one, and as many components."""
    if type(x) is not NestedArray:
        if x.ndim > first.ndim or (x.ndim < 2 and name in NAMES):
            raise ShapeError(
                f"{op}: {name} has shape {x.shape}; a dense operand has from 2 to {first.ndim} "
                "dimensions here, as the nested one has."
            )
        if x.ndim == first.ndim and x.shape[0] not in (1, len(first)):
            raise ShapeError(
                f"{op}: {name} has shape {x.shape}, and there are {len(first)} components; its "
                "first size must be that, or 1."
            )
        return
    if x.ndim < 3:
        problem = (
            f"the components of {name} have {x.ndim - 1} dimensions; they must be matrices at least. Use unsqueeze."
        )
    elif x.ndim != first.ndim:
        problem = f"nested operands have {first.ndim} and {x.ndim} dimensions; they must have as many."
    elif len(x) != len(first):
        problem = f"nested operands have {len(first)} and {len(x)} components; they must have as many."
    elif name in NAMES and x.regular_size(x.ndim - 1) is None:
        problem = f"dimension {x.ndim - 1} of {name}, the last one, is irregular; it must be regular."
    else:
        return
    raise StructureError(f"{op}: {problem}")


def _dense_batch(op: str, named: list[tuple[str, Array]]) -> tuple[int, ...]:
    """Return the number of components of dense operands; nothing for operands that are one component."""
    for name, x in named:
        if x.ndim < 2 and name in NAMES:
            raise ShapeError(f"{op}: {name} has shape {x.shape}; it must be a matrix at least.")
    rank = max(x.ndim for name, x in named if name in NAMES)
    if named[-1][1].ndim > rank:
        raise ShapeError(f"{op}: attn_mask has shape {named[-1][1].shape}, more dimensions than the scores have.")
    if rank <= 3:
        return ()
    sizes = {x.shape[0] for _, x in named if x.ndim == rank} - {1}
    if len(sizes) > 1:
        raise ShapeError(
            f"{op}: the first sizes are {' and '.join(map(str, sorted(sizes)))}; they must be equal, or 1."
        )
    return ((sizes or {1}).pop(),)


@lru_cache(maxsize=32)  # the layers of a model attend over arrays of the same structures
def _place_heads(
    operands: tuple[AttentionOperand, ...], causal: bool, scale: float | None, grouped: bool, by_rows: bool
) -> tuple[Heads, list[Strided | None], Ints, Ints]:
    """Return the places of heads, what is copied of each operand, and the extents of the result and of the scores."""
    query, key, value = operands[:3]
    check_equal_sizes("elements in a row", query, key, -1)
    check_equal_sizes("rows", key, value, -2)
    leading = leading_extents(operands[:3], grouped)
    shared = np.concatenate([leading[:, :-1], key.leading[:, -1:]], axis=1) if grouped else leading
    score_extents = np.concatenate([leading, query.extents[:, -2:-1], key.extents[:, -2:-1]], axis=1)
    merged = [
        merge_heads(operand.structure, np.concatenate([extents, operand.extents[:, -2:]], axis=1))
        for operand, extents in zip(operands, (leading, shared, shared), strict=False)
    ]
    for mask in operands[3:]:
        check_mask_sizes(mask, score_extents)
        merged.append(merge_heads(mask.structure, score_extents, may_overlap=True))
    copies, (q, k, v, *masks) = [copied for copied, _ in merged], [structure for _, structure in merged]
    (query_heads, queries, _), (key_heads, keys, _) = q.extents[: q.count].T, k.extents[: k.count].T
    width, value_width = (max(x.extents.item(0, -1), 0) for x in (q, v))
    heads = Heads(
        np.stack([key_heads, query_heads // np.maximum(key_heads, 1), queries, keys], axis=1),
        head_placement(q)[:, :3],
        head_placement(k)[:, :3],
        head_placement(v)[:, :3],
        packed_placement(query_heads, queries, value_width, by_rows),
        head_placement(masks[0]) if masks else None,
        width,
        value_width,
        scale if scale is not None else 1 / np.sqrt(width).item() if width else 1.0,
        causal,
    )
    return heads, copies, np.concatenate([score_extents[:, :-1], value.extents[:, -1:]], axis=1), score_extents


def _is_by_rows(arrays: list[Any]) -> bool:
    """Return whether the flat result holds row by row, all heads of a row side by side: if its rows are ragged."""
    return bool(ragged_dim_of_attention(arrays) == max(x.ndim for x in arrays) - 2)


def packed_placement(heads: Ints, rows: Ints, width: int, by_rows: bool = False) -> Ints:
    """Return the places of matrices that follow each other, or row by row of all heads of a component: int64 (B, 3)."""
    numels = heads * rows * width
    steps = (np.full_like(rows, width), heads * width) if by_rows else (rows * width, np.full_like(rows, width))
    return np.stack([np.cumsum(numels) - numels, *steps], axis=1)
