"""Evaluation of `flex_attention` by strips of pairs, for functions of scores and for results beside the output.

A strip has some queries of a component, of all its heads, and the keys from the first to the last that is active for
some of them. Strips of about a million scores are computed together inside a `checkpoint`: the gradient computes them
again, with the functions of the user, so that few scores are in memory, and derivatives of every order follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, checkpoint
from pynested.autograd.array import raw
from pynested.autograd.primitives import attention as attention_primitives
from pynested.autograd.primitives import movement
from pynested.autograd.primitives.movement import gather, pieces, to_dtype
from pynested.backends import HeadLayout, get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.structure import Ints

from ..block_masks.block_mask import BlockMask
from ..block_masks.mask_functions import PairBlock, ScoreMod, apply_score_mod
from .head_layout import AlignedHeads, packed_placement

MOST_SCORES = 1 << 20  # of a strip, unless a single query has more; about as many are computed together


class FlexCall(NamedTuple):
    """The arguments that are the same for all strips of a call."""

    op: str
    mod: ScoreMod | None
    mask: BlockMask | None
    lse: bool
    max_scores: bool


def by_strips(call: FlexCall, q: Array, k: Array, v: Array, aligned: AlignedHeads) -> list[Any]:
    """Return the output for flat buffers, then log-sums and maxima as requested, (B, H, *, 1)."""
    heads = aligned.heads
    sizes = heads.sizes.copy()
    sizes[:, 1] = 1
    shared = replace(heads, sizes=sizes)  # each head of keys once
    packed = gather(q, *heads.query_matrices), gather(k, *shared.key_matrices), gather(v, *shared.value_matrices)
    strips = [strip for component in range(len(heads.sizes)) for strip in _strips(call.mask, component, heads)]
    ends = np.cumsum([prod(strip.shape) for strip in strips])
    numbered = zip(((ends - 1) // MOST_SCORES).tolist(), strips, strict=True)
    batches = [[strip for _, strip in batch] for _, batch in groupby(numbered, key=lambda pair: pair[0])]
    nothing = movement.concatenate([movement.slice_(x, (slice(0, 0),)) for x in packed], 0)  # but recorded
    wide = to_dtype(nothing, computing_dtype(q.dtype))
    parts = [[nothing], *[[wide]] * call.lse, *[[wide.detach()]] * call.max_scores]
    for batch, *operands in zip(batches, *_operands_of_batches(packed, _packed_heads(heads), batches), strict=True):
        first, last = batch[0].component, batch[-1].component
        batch_heads = _place_strips(_packed_heads(heads.select(np.arange(first, last + 1))), batch, first)
        for part, result in zip(parts, checkpoint(_batch_function(call, batch, batch_heads), *operands), strict=True):
            part.append(result)
    results = []
    for part, layout in zip(parts, [aligned, *[aligned.with_width(1)] * (len(parts) - 1)], strict=True):
        places = _place_strips(layout.heads, strips)
        numel = heads.rows * places.value_width
        results.append(layout.wrap(movement.scatter(movement.concatenate(part, 0), *places.result_matrices, numel)))
    return results


# ---- strips ---------------------------------------------------------------------------------------------------------


def _strips(mask: BlockMask | None, component: int, heads: HeadLayout) -> Iterator[PairBlock]:
    """Yield the strips of a component, with the keys that are computed."""
    _, _, queries, keys = heads.sizes[component].tolist()
    whole = PairBlock(component, heads.query_heads.item(component), range(queries), range(keys))
    for strip in whole.strips(max(1, queries) if mask is None else mask.BLOCK_SIZE[0], MOST_SCORES):
        yield strip if mask is None else strip._replace(keys=mask.active_keys(component, strip.queries))


def _place_strips(heads: HeadLayout, strips: list[PairBlock], first: int = 0) -> HeadLayout:
    """Return the places of strips, each as a component; ``first`` is the number of the first component of ``heads``."""
    table = [(x.component - first, x.queries.start, x.keys.start, *x.shape[1:]) for x in strips]
    components, query_start, key_start, *lengths = np.array(table, np.int64).reshape(-1, 5).T

    def shifted(table: Ints, start: Ints) -> Ints:
        offsets, head_steps, row_steps = table[components].T
        return np.stack([offsets + start * row_steps, head_steps, row_steps], axis=1)

    return replace(
        heads,
        sizes=np.stack([*heads.sizes[components, :2].T, *lengths], axis=1),
        query_places=shifted(heads.query_places, query_start),
        key_places=shifted(heads.key_places, key_start),
        value_places=shifted(heads.value_places, key_start),
        result_places=shifted(heads.result_places, query_start),
    )


def _packed_heads(heads: HeadLayout) -> HeadLayout:
    """Return the same heads in operands that hold nothing else, one head after the other."""
    key_heads, group, rows, keys = heads.sizes.T
    return replace(
        heads,
        query_places=packed_placement(key_heads * group, rows, heads.width),
        key_places=packed_placement(key_heads, keys, heads.width),
        value_places=packed_placement(key_heads, keys, heads.value_width),
    )


def _operands_of_batches(
    packed: tuple[Array, ...], heads: HeadLayout, batches: list[list[PairBlock]]
) -> list[list[Array]]:
    """Return queries, keys and values of the components of each batch; batches of one component share them."""
    spans = [(batch[0].component, batch[-1].component + 1) for batch in batches]
    distinct = list(dict.fromkeys(spans))
    operands = []
    for x, table in zip(packed, (heads.query_places, heads.key_places, heads.value_places), strict=True):
        starts = [*table[:, 0].tolist(), x.numel()]
        lengths = tuple([starts[stop] - starts[first] for first, stop in distinct])
        parts = pieces(x, 0, tuple([starts[first] for first, _ in distinct]), lengths)
        part_of_span = dict(zip(distinct, parts, strict=True))
        operands.append([part_of_span[span] for span in spans])
    return operands


# ---- attention of some strips ---------------------------------------------------------------------------------------


def _batch_function(call: FlexCall, strips: list[PairBlock], heads: HeadLayout) -> Callable[..., tuple[Array, ...]]:
    """Return the function of flat queries, keys and values that computes some strips."""

    def flex_attention(q: Array, k: Array, v: Array) -> tuple[Array, ...]:  # a checkpoint says its name
        operands = attention_primitives.packed_operands(q, k, v, None, heads)
        scores, active = _scores(call, strips, heads, operands, _active_pairs(call, strips, q.device))
        segments = attention_primitives.segments_of_queries(heads)
        weights = attention_primitives.softmax_of_active(scores, active, segments)
        results = [to_dtype(attention_primitives.packed_results(weights, operands, heads, active), q.dtype)]
        if call.lse:
            results.append(attention_primitives.log_sums_of_active(scores, active, segments))
        if call.max_scores:
            results.append(attention_primitives.maxima_of_active(scores, active, segments))
        return tuple(results)

    return flex_attention


def _active_pairs(call: FlexCall, strips: list[PairBlock], device: str) -> Any:
    """Return the active pairs of strips by a block mask: flat raw bools, or None if all are active."""
    if call.mask is None:
        return None
    xp = get_backend(device).xp
    active = [xp.broadcast_to(call.mask.active_pairs(call.op, x, device), x.shape).reshape(-1) for x in strips]
    flat = xp.concatenate(active)
    return None if flat.all() else flat


def _scores(
    call: FlexCall, strips: list[PairBlock], heads: HeadLayout, operands: Any, active: Any
) -> tuple[Array, Any]:
    """Return the flat scores as the function leaves them, and which of them are active."""
    scores = attention_primitives.packed_scores(operands, heads, active)
    if call.mod is None:
        return scores, active
    numels = [prod(strip.shape) for strip in strips]
    starts = np.cumsum([0, *numels[:-1]]).tolist()
    parts = list(pieces(scores, 0, tuple(starts), tuple(numels)))
    for i, (strip, part) in enumerate(zip(strips, parts, strict=True)):
        if part.numel():
            block = apply_score_mod(call.op, call.mod, movement.reshape(part, strip.shape), strip)
            parts[i] = movement.reshape(block, part.shape)
    modified = movement.concatenate(parts, 0)
    still_active = _still_active(scores, modified, active, heads)
    if (still_active if active is None else still_active == active).all():
        return modified, active
    isfinite = get_backend(scores.device).xp.isfinite
    if isfinite(raw(operands.queries)).all() and isfinite(raw(operands.keys)).all():
        return modified, still_active
    # The adjoint would multiply a NaN of a pair that the function leaves out by 0: leave it out from the beginning.
    return _scores(call, strips, heads, operands, still_active)


def _still_active(before: Array, after: Array, active: Any, heads: HeadLayout) -> Any:
    """Return which pairs a function of scores leaves active: those that it does not make -inf.

    If it leaves none of a query, pairs whose scores were -inf before stay active: their softmax is NaN.
    """
    finite, low = raw(after) != -np.inf, raw(before) == -np.inf
    if active is not None:
        finite, low = finite & active, low & active
    kernels, segments = get_backend(before.device), attention_primitives.segments_of_queries(heads)
    return finite | low & ~kernels.spread(kernels.segment_max(finite, segments), segments)
