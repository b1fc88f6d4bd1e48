"""Which queries meet which keys: operands of attention, checked, as heads that lie in flat buffers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as movement_rules
from pynested.backends import Heads
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.attention_matrices import (
    AttentionOperand,
    as_attention_operand,
    as_mask_operand,
    check_equal_sizes,
    head_placement,
    leading_extents,
    with_leading_extents,
)
from pynested.lifting.result_layout import (
    ragged_dim_of_attention,
    ragged_dim_of_scores,
    wrap_attention,
    wrap_elements,
)
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints

NAMES = "query", "key", "value"


class Met(NamedTuple):
    """Buffers of query, key, value and mask, what they mean, and what the result and the scores are."""

    buffers: tuple[Any, ...]
    heads: Heads
    extents: Ints
    components: int
    ragged: Any
    shape: tuple[int, ...] | None  # of a dense result of dense operands
    scores: Ints  # their sizes in each component
    ragged_scores: Any
    query: Any

    def wrapped(self, flat: Array) -> NestedArray | Array:
        """The result around its values."""
        if self.shape is not None:
            return movement_rules.reshape(flat, self.shape)
        return wrap_attention(flat, self.extents, self.components, self.ragged, self.query)

    def wrapped_scores(self, flat: Array) -> NestedArray | Array:
        """What there is one of for each score, around its values."""
        if self.shape is not None:
            return movement_rules.reshape(flat, (*self.shape[:-1], int(self.scores[0, -1])))
        return wrap_elements(flat, self.scores, self.components, self.ragged_scores)

    def of_width(self, width: int) -> Met:
        """The same with so many elements in a row of the result."""
        extents = np.concatenate([self.extents[:, :-1], np.full((len(self.extents), 1), width)], axis=1)
        made = _made(self.heads.sizes, width, rows_first=self.ragged == extents.shape[1] - 1)
        shape = None if self.shape is None else (*self.shape[:-1], width)
        return self._replace(heads=replace(self.heads, made=made, value_width=width), extents=extents, shape=shape)


def meeting(
    op: str, arrays: list[Any], mask: Any, causal: bool, scale: float | None, grouped: bool, batched: bool = False
) -> Met:
    """Query, key and value of floats, and a mask or None.

    If all are dense they are a batch of one, or, with ``batched``, one as large as the first of four dimensions says.
    """
    nested = [x for x in (*arrays, mask) if type(x) is NestedArray]
    if nested:
        sides, own = _of_nested(op, arrays, mask, nested)
        return _met(sides, own, causal, scale, grouped, arrays, None)
    for name, x in zip(NAMES, arrays, strict=True):
        if x.ndim < 2:
            raise ShapeError(f"{op}: {name} has shape {x.shape}; it must be a matrix at least.")
    sides, own, outer = _of_dense(op, arrays, mask, batched)
    return _met(sides, own, causal, scale, grouped, arrays, outer)


def _of_nested(
    op: str, arrays: list[Any], mask: Any, nested: list[NestedArray]
) -> tuple[list[AttentionOperand], AttentionOperand | None]:
    first = nested[0]
    named = [(name, x) for name, x in zip((*NAMES, "attn_mask"), (*arrays, mask), strict=True) if x is not None]
    for name, x in named:
        if type(x) is NestedArray:
            _check_nested(op, name, x, first)
        elif x.ndim > first.ndim or (x.ndim < 2 and name in NAMES):
            raise ShapeError(
                f"{op}: {name} has shape {x.shape}; a dense operand has from 2 to {first.ndim} "
                "dimensions here, as the nested one has."
            )
        elif x.ndim == first.ndim and x.shape[0] not in (1, len(first)):
            raise ShapeError(
                f"{op}: {name} has shape {x.shape}, and there are {len(first)} components; its "
                "first size must be that, or 1."
            )
    sides = [as_attention_operand(op, name, x, len(first), first.ndim - 1, separate=name in NAMES) for name, x in named]
    return sides[:3], sides[3] if mask is not None else None


def _check_nested(op: str, name: str, x: NestedArray, first: NestedArray) -> None:
    """A nested operand has matrices, their last sizes equal, and as many components and dimensions as the others."""
    problem = None
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
    if problem:
        raise StructureError(f"{op}: {problem}")


def _of_dense(
    op: str, arrays: list[Array], mask: Array | None, batched: bool
) -> tuple[list[AttentionOperand], AttentionOperand | None, int | None]:
    """Dense operands as one component of many heads; as many as the outermost size where that goes with a mask."""
    rank = max(x.ndim for x in arrays)
    outer = {x.shape[0] for x in (*arrays, mask) if x is not None and x.ndim == rank} - {1}
    if batched and rank > 3 and len(outer) > 1:
        raise ShapeError(
            f"{op}: the first sizes are {' and '.join(map(str, sorted(outer)))}; they must be equal, or 1."
        )
    alike = rank > 3 and mask is not None and len(outer) == 1 and all(x.ndim == rank for x in arrays)
    alike |= batched and rank > 3
    count = outer.pop() if alike and outer else 1
    if mask is not None and mask.ndim > rank:
        raise ShapeError(f"{op}: attn_mask has shape {mask.shape}, more dimensions than the scores have.")
    dims = rank - 1 if alike else rank
    sides = [as_attention_operand(op, name, x, count, dims) for name, x in zip(NAMES, arrays, strict=True)]
    own = None if mask is None else as_attention_operand(op, "attn_mask", mask, count, dims, separate=False)
    return sides, own, count if alike else None


def _met(
    sides: list[AttentionOperand],
    mask: AttentionOperand | None,
    causal: bool,
    scale: float | None,
    grouped: bool,
    arrays: list[Any],
    outer: int | None,
) -> Met:
    query, key, value = sides
    check_equal_sizes("elements in a row", query, key, -1)
    check_equal_sizes("rows", key, value, -2)
    lead, group = leading_extents(sides, grouped)
    count, width, value_width = query.structure.count, *[max(int(x.extents[0, -1]), 0) for x in (query, value)]
    scores = np.concatenate([lead, query.extents[:, -2:-1], key.extents[:, -2:-1]], axis=1)
    shared = np.concatenate([lead[:, :-1], key.leading[:, -1:]], axis=1) if grouped else lead
    placed = [with_leading_extents(query, lead), with_leading_extents(key, shared), with_leading_extents(value, shared)]
    own = None if mask is None else as_mask_operand(mask, scores)
    extents = np.concatenate([scores[:, :-1], value.extents[:, -1:]], axis=1)
    ragged = ragged_dim_of_attention(arrays)
    sizes = np.stack([placed[1].extents[:count, 0], group[:count], scores[:count, -2], scores[:count, -1]], axis=1)
    query_at, key_at, value_at = (head_placement(one)[:, :3] for one in placed)
    heads = Heads(
        sizes,
        query_at,
        key_at,
        value_at,
        _made(sizes, value_width, rows_first=ragged == lead.shape[1] + 1),
        None if own is None else head_placement(own),
        width,
        value_width,
        scale if scale is not None else 1 / np.sqrt(width).item() if width else 1.0,
        bool(causal),
    )
    shape = None
    if not any(one.nested for one in (*sides, *([] if mask is None else [mask]))):
        shape = tuple(extents[0].tolist()) if outer is None else (outer, *extents[0].tolist())
    buffers = *[one.flat for one in placed], None if own is None else own.flat
    return Met(buffers, heads, extents, count, ragged, shape, scores, ragged_dim_of_scores(arrays), arrays[0])


def _made(sizes: Ints, width: int, rows_first: bool) -> Ints:
    """Where the results go: head by head in each component, or, where rows are first, row by row of all components."""
    heads, rows = sizes[:, 0] * sizes[:, 1], sizes[:, 2]
    numels = heads * rows * width
    steps = (np.full_like(rows, width), heads * width) if rows_first else (rows * width, np.full_like(rows, width))
    return np.stack([np.cumsum(numels) - numels, *steps], axis=1)
