"""Evaluation of `flex_attention`: at once with dense masks if that is possible, otherwise by blocks.

A block is a strip of queries, of all heads of a component, with the keys from the first to the last that is active for
some of them. Each block is computed inside a `checkpoint`: the gradient computes it again, with the functions of the
user, so that the scores of one block at a time are in memory, and derivatives of every order follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, checkpoint
from pynested.autograd.array import raw
from pynested.autograd.primitives import attention as attention_primitives
from pynested.autograd.primitives import movement
from pynested.autograd.primitives.movement import pieces, to_dtype
from pynested.backends import Heads, Matrices, Segments, get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.backends.heads import Placed

from ..block_masks.block_mask import BlockMask
from ..block_masks.mask_functions import PairBlock, ScoreMod, apply_score_mod

MOST_SCORES = 1 << 20  # of a block, unless a single query has more
MOST_MASK_PAIRS = 1 << 20  # of a component, so that its dense mask takes a kilobyte for a query of a thousand keys


class FlexCall(NamedTuple):
    """The arguments that are the same for all blocks of a call."""

    op: str
    mod: ScoreMod | None
    mask: BlockMask | None
    scale: float
    lse: bool
    max_scores: bool


# ---- all components at once -----------------------------------------------------------------------------------------


def can_use_dense_masks(call: FlexCall, heads: Heads) -> bool:
    """Return whether no function changes the scores, nothing but the result is requested, and components are small."""
    pairs = heads.sizes[:, 2] * heads.sizes[:, 3]
    return call.mod is None and not call.lse and not call.max_scores and pairs.max(initial=0) <= MOST_MASK_PAIRS


def with_dense_masks(call: FlexCall, mask: BlockMask, q: Array, k: Array, v: Array, heads: Heads) -> Array:
    """Flat buffers -> the result: attention with the active pairs of each component as a mask of bools."""
    masks = [mask.dense_mask(call.op, i, count, q.device) for i, count in enumerate(heads.counts.tolist())]
    sizes = np.array([x.shape for x in masks], np.int64).reshape(-1, 3)
    numels = sizes.prod(axis=1)
    head_steps = np.where(sizes[:, 0] == 1, 0, sizes[:, 1] * sizes[:, 2])
    placement = np.stack([np.cumsum(numels) - numels, head_steps, sizes[:, 2], np.ones_like(numels)], axis=1)
    xp = get_backend(q.device).xp
    flat = xp.concatenate([xp.zeros(0, np.bool_), *[x.reshape(-1) for x in masks]])
    return attention_primitives.attended(q, k, v, Array(flat, q.device), replace(heads, mask=placement))  # type: ignore[no-any-return]


# ---- block by block -------------------------------------------------------------------------------------------------


def by_blocks(call: FlexCall, q: Array, k: Array, v: Array, heads: Heads) -> list[Array]:
    """Flat buffers -> the results of each head, one after the other; then log-sums and maxima, as far as requested."""
    ungrouped = heads.sizes.copy()
    ungrouped[:, 1] = 1
    shared = replace(heads, sizes=ungrouped)  # each head of keys once
    shapes = [(own * group, own, rows, keys) for own, group, rows, keys in heads.sizes.tolist()]
    queries = _components(q, heads.queries, [(count, rows, heads.width) for count, _, rows, _ in shapes])
    keys = _components(k, shared.keys, [(own, size, heads.width) for _, own, _, size in shapes])
    values = _components(v, shared.values, [(own, size, heads.value_width) for _, own, _, size in shapes])
    totals = [[_no_elements(q, k, v)]]
    totals += [[to_dtype(_no_elements(q, k), computing_dtype(q.dtype))] for _ in range(call.lse + call.max_scores)]
    for i, operands in enumerate(zip(queries, keys, values, strict=True)):
        results = _component(call, i, *operands)
        for total, strips in zip(totals, zip(*results, strict=True), strict=False):
            total.append(movement.reshape(movement.concatenate(strips, 1), (-1,)))
    return [movement.concatenate(total, 0) for total in totals]


def _no_elements(*arrays: Array) -> Array:
    """Return no elements, but a node that depends on the arrays."""
    return movement.concatenate([movement.slice_(x, (slice(0, 0),)) for x in arrays], 0)


def _components(x: Array, placed: Placed, shapes: list[tuple[int, int, int]]) -> list[Array]:
    """Return the matrices of each component: (heads, rows, width)."""
    ends = np.cumsum([prod(shape) for shape in shapes]).tolist()
    ranges = [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    parts = _cut(movement.gather(x, *placed), 0, ranges)
    return [movement.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]


def _cut(x: Array, axis: int, ranges: list[range]) -> list[Array]:
    """Return pieces of an array along an axis, which can overlap."""
    if all(part == range(x.shape[axis]) for part in ranges):
        return [x] * len(ranges)
    return pieces(x, axis, tuple(part.start for part in ranges), tuple(map(len, ranges)))  # type: ignore[no-any-return]


def _component(call: FlexCall, component: int, q: Array, k: Array, v: Array) -> list[tuple[Array, ...]]:
    """Return what `_attend` returns for each block of a component: (heads, rows, ...)."""
    (num_heads, rows, _), size = q.shape, k.shape[1]
    if not num_heads or not rows:
        return []
    whole = PairBlock(component, num_heads, range(rows), range(size))
    strips = list(whole.strips(rows if call.mask is None else call.mask.BLOCK_SIZE[0], MOST_SCORES))
    if call.mask is not None:
        strips = [strip._replace(keys=call.mask.active_keys(component, strip.queries)) for strip in strips]
    key_ranges = [strip.keys for strip in strips]
    operands = _cut(q, 1, [strip.queries for strip in strips]), _cut(k, 1, key_ranges), _cut(v, 1, key_ranges)

    found = zip(strips, *operands, strict=True)
    return [checkpoint(_block_function(call, strip), *arrays) for strip, *arrays in found]


def _block_function(call: FlexCall, block: PairBlock) -> Callable[..., tuple[Array, ...]]:
    """Return the function of queries, keys and values (heads, rows, width) that computes a block."""

    def flex_attention(q: Array, k: Array, v: Array) -> tuple[Array, ...]:  # a checkpoint says its name
        active = None if call.mask is None else call.mask.active_pairs(call.op, block, q.device)
        if active is not None and active.all():
            active = None
        if call.mod is None and not call.lse and not call.max_scores:
            return (_fused(call, q, k, v, active),)
        return _composed(call, block, q, k, v, active)

    return flex_attention


def _fused(call: FlexCall, q: Array, k: Array, v: Array, active: Any) -> Array:
    """Return the result of a block whose scores no function changes: (heads, rows, width)."""
    (num_heads, rows, width), (key_heads, keys, value_width) = q.shape, v.shape
    at = (rows, width), (keys, width), (keys, value_width), (rows, value_width)
    query, key, value, out = (np.array([[0, count * step, step]]) for count, step in at)
    mask, mask_placement = None, None
    if active is not None:
        mask = Array(get_backend(q.device).xp.ascontiguousarray(active).reshape(-1), q.device)
        mask_placement = np.array([[0, rows * keys if len(active) > 1 else 0, keys, 1]])
    sizes = np.array([[key_heads, num_heads // key_heads, rows, keys]])
    heads = Heads(sizes, query, key, value, out, mask_placement, width, value_width, call.scale, False)
    result: Array = attention_primitives.attended(_flat(q), _flat(k), _flat(v), mask, heads)
    return movement.reshape(result, (num_heads, rows, value_width))


def _composed(call: FlexCall, block: PairBlock, q: Array, k: Array, v: Array, active: Any) -> tuple[Array, ...]:
    """Return the result of a block, and log-sums and maxima as requested, in tracked operations."""
    num_heads, rows, keys = block.shape
    if active is not None:
        active = get_backend(q.device).xp.broadcast_to(active, block.shape).reshape(-1)
    queries, keys_of_head, values = (to_dtype(x, computing_dtype(q.dtype)) for x in (q, k, v))
    scores, active = _scores(call, block, queries * call.scale, keys_of_head, active)
    segments = Segments.from_lengths(np.full(num_heads * rows, keys))
    weights = attention_primitives.softmax_of_seen(scores, active, segments)
    pairs, of_values = _matrices(len(k), num_heads // len(k) * rows, keys), _matrices(*v.shape)
    mixed = attention_primitives.mixed(weights, _flat(values), pairs, of_values, active)
    results = [movement.reshape(to_dtype(mixed, q.dtype), (num_heads, rows, v.shape[2]))]
    of_queries = (
        (attention_primitives.log_sums_of_seen, call.lse),
        (attention_primitives.greatest_of_seen, call.max_scores),
    )
    wanted = [function(scores, active, segments) for function, is_wanted in of_queries if is_wanted]
    return *results, *[movement.reshape(x, (num_heads, rows)) for x in wanted]


def _scores(call: FlexCall, block: PairBlock, q: Array, k: Array, active: Any) -> tuple[Array, Any]:
    """Return the flat scores of scaled queries, as the function leaves them, and which of them are active."""
    of_queries, of_keys = _matrices(len(k), len(q) // len(k) * q.shape[1], q.shape[2]), _matrices(*k.shape)
    scores = attention_primitives.meeting(_flat(q), _flat(k), of_queries, of_keys, active)
    if call.mod is None or not scores.numel():
        return scores, active
    modified = _flat(apply_score_mod(call.op, call.mod, movement.reshape(scores, block.shape), block))
    still_active = _still_active(raw(scores), raw(modified), active, block.shape)
    if (still_active if active is None else still_active == active).all():
        return modified, active
    isfinite = get_backend(q.device).xp.isfinite
    if isfinite(raw(q)).all() and isfinite(raw(k)).all():
        return modified, still_active
    # The adjoint would multiply a NaN of a pair that the function leaves out by 0: leave it out from the beginning.
    return _scores(call, block, q, k, still_active)


def _still_active(before: Any, after: Any, active: Any, shape: tuple[int, ...]) -> Any:
    """Return which pairs a function of scores leaves active: those that it does not make -inf.

    If it leaves none of a query, pairs whose scores were -inf before stay active: their softmax is NaN.
    """
    finite, low = (x.reshape(shape) for x in (after != -np.inf, before == -np.inf))
    if active is not None:
        finite, low = (x & active.reshape(shape) for x in (finite, low))
    return (finite | low & ~finite.any(axis=2, keepdims=True)).reshape(-1)


def _matrices(count: int, rows: int, columns: int) -> Matrices:
    """Return ``count`` matrices of one size, one after the other."""
    return Matrices.of_sizes(np.full(count, rows), np.full(count, columns))


def _flat(x: Array) -> Array:
    return movement.reshape(x, (-1,))
