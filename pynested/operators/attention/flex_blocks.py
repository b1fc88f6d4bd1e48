"""Evaluation of `flex_attention` by strips of pairs, for functions of scores and for results beside the output.

A strip has some queries of a component, of all its heads, and the keys from the first to the last that is active for
some of them. Strips of about a million scores are computed together inside a `checkpoint`: the gradient computes them
again, with the functions of the user, so that few scores are in memory, and derivatives of every order follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, checkpoint
from pynested.autograd.array import raw
from pynested.autograd.primitives import attention as attention_primitives
from pynested.autograd.primitives import movement
from pynested.autograd.primitives.movement import gather, pieces, to_dtype
from pynested.backends import Heads, get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.structure import Ints

from ..block_masks.block_mask import BlockMask
from ..block_masks.mask_functions import PairBlock, ScoreMod, apply_score_mod
from .head_layout import packed_placement

MOST_SCORES = 1 << 20  # that are computed together, unless a single query has more


class FlexCall(NamedTuple):
    """The arguments that are the same for all strips of a call."""

    op: str
    mod: ScoreMod | None
    mask: BlockMask | None
    lse: bool
    max_scores: bool


def by_strips(call: FlexCall, q: Array, k: Array, v: Array, heads: Heads) -> tuple[list[Array], list[PairBlock]]:
    """Flat buffers -> the output, then log-sums and maxima as requested, each strip after strip; and the strips."""
    sizes = heads.sizes.copy()
    sizes[:, 1] = 1
    shared = replace(heads, sizes=sizes)  # each head of keys once
    packed = gather(q, *heads.queries), gather(k, *shared.keys), gather(v, *shared.values)
    strips = [strip for component in range(len(heads.sizes)) for strip in _strips(call.mask, component, heads)]
    batches = list(_batches(strips))
    nothing = movement.concatenate([movement.slice_(x, (slice(0, 0),)) for x in packed], 0)  # but recorded
    wide = to_dtype(nothing, computing_dtype(q.dtype))
    totals = [[nothing], *[[wide]] * call.lse, *[[wide.detach()]] * call.max_scores]
    for batch, *operands in zip(batches, *_operands_of_batches(packed, _packed_heads(heads), batches), strict=True):
        first, last = batch[0].component, batch[-1].component
        places = place_strips(_packed_heads(heads.of(np.arange(first, last + 1))), batch, first)
        for total, result in zip(totals, checkpoint(_batch_function(call, batch, places), *operands), strict=True):
            total.append(result)
    return [movement.concatenate(total, 0) for total in totals], strips


def place_strips(heads: Heads, strips: list[PairBlock], first: int = 0) -> Heads:
    """Return the places of strips, each as a component; ``first`` is the number of the first component of ``heads``."""
    components = np.array([strip.component - first for strip in strips], np.int64)
    starts = np.array([(strip.queries.start, strip.keys.start) for strip in strips], np.int64).reshape(-1, 2)
    lengths = np.array([strip.shape[1:] for strip in strips], np.int64).reshape(-1, 2)

    def shifted(table: Ints, start: Ints) -> Ints:
        offsets, head_steps, row_steps = table[components].T
        return np.stack([offsets + start * row_steps, head_steps, row_steps], axis=1)

    query_start, key_start = starts.T
    return replace(
        heads,
        sizes=np.concatenate([heads.sizes[components, :2], lengths], axis=1),
        query=shifted(heads.query, query_start),
        key=shifted(heads.key, key_start),
        value=shifted(heads.value, key_start),
        made=shifted(heads.made, query_start),
    )


def _packed_heads(heads: Heads) -> Heads:
    """Return the same heads in operands that hold nothing else, one head after the other."""
    key_heads, group, rows, keys = heads.sizes.T
    return replace(
        heads,
        query=packed_placement(key_heads * group, rows, heads.width),
        key=packed_placement(key_heads, keys, heads.width),
        value=packed_placement(key_heads, keys, heads.value_width),
    )


# ---- strips ---------------------------------------------------------------------------------------------------------


def _strips(mask: BlockMask | None, component: int, heads: Heads) -> Iterator[PairBlock]:
    """Yield the strips of a component, with the keys that are computed."""
    _, _, queries, keys = heads.sizes[component].tolist()
    whole = PairBlock(component, heads.counts.item(component), range(queries), range(keys))
    for strip in whole.strips(max(1, queries) if mask is None else mask.BLOCK_SIZE[0], MOST_SCORES):
        yield strip if mask is None else strip._replace(keys=mask.active_keys(component, strip.queries))


def _batches(strips: list[PairBlock]) -> Iterator[list[PairBlock]]:
    """Yield strips that are computed together: neighbours of `MOST_SCORES` scores at most, or a single one."""
    batch: list[PairBlock] = []
    total = 0
    for strip in strips:
        count = prod(strip.shape)
        if batch and total + count > MOST_SCORES:
            yield batch
            batch, total = [], 0
        batch.append(strip)
        total += count
    if batch:
        yield batch


def _operands_of_batches(packed: tuple[Array, ...], heads: Heads, batches: list[list[PairBlock]]) -> list[list[Array]]:
    """Return queries, keys and values of the components of each batch; batches of one component share them."""
    spans = [(batch[0].component, batch[-1].component + 1) for batch in batches]
    distinct = list(dict.fromkeys(spans))
    operands = []
    for x, table in zip(packed, (heads.query, heads.key, heads.value), strict=True):
        starts = [*table[:, 0].tolist(), x.numel()]
        lengths = tuple([starts[stop] - starts[first] for first, stop in distinct])
        parts = pieces(x, 0, tuple([starts[first] for first, _ in distinct]), lengths)
        part_of_span = dict(zip(distinct, parts, strict=True))
        operands.append([part_of_span[span] for span in spans])
    return operands


# ---- attention of some strips ---------------------------------------------------------------------------------------


def _batch_function(call: FlexCall, strips: list[PairBlock], heads: Heads) -> Callable[..., tuple[Array, ...]]:
    """Return the function of flat queries, keys and values that computes some strips."""

    def flex_attention(q: Array, k: Array, v: Array) -> tuple[Array, ...]:  # a checkpoint says its name
        operands = attention_primitives.packed_operands(q, k, v, None, heads)
        scores, active = _scores(call, strips, heads, operands, _active_pairs(call, strips, q.device))
        segments = attention_primitives.segments_of_queries(heads)
        weights = attention_primitives.softmax_of_active(scores, active, segments)
        results = [to_dtype(attention_primitives.mixed_values(weights, operands, heads, active), q.dtype)]
        if call.lse:
            results.append(attention_primitives.log_sums_of_active(scores, active, segments))
        if call.max_scores:
            results.append(attention_primitives.greatest_of_active(scores, active, segments))
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


def _scores(call: FlexCall, strips: list[PairBlock], heads: Heads, operands: Any, active: Any) -> tuple[Array, Any]:
    """Return the flat scores as the function leaves them, and which of them are active."""
    scores = attention_primitives.packed_scores(operands, heads, active)
    if call.mod is None:
        return scores, active
    ends = np.cumsum([0, *[prod(strip.shape) for strip in strips]]).tolist()
    parts = pieces(scores, 0, tuple(ends[:-1]), tuple(np.diff(ends).tolist()))
    modified = movement.concatenate([_modified(call, *pair) for pair in zip(strips, parts, strict=True)], 0)
    still_active = _still_active(scores, modified, active, heads)
    if (still_active if active is None else still_active == active).all():
        return modified, active
    isfinite = get_backend(scores.device).xp.isfinite
    if isfinite(raw(operands.queries)).all() and isfinite(raw(operands.keys)).all():
        return modified, still_active
    # The adjoint would multiply a NaN of a pair that the function leaves out by 0: leave it out from the beginning.
    return _scores(call, strips, heads, operands, still_active)


def _modified(call: FlexCall, strip: PairBlock, scores: Array) -> Array:
    """Return the flat scores of a strip as the function leaves them."""
    if call.mod is None or not scores.numel():
        return scores
    return movement.reshape(
        apply_score_mod(call.op, call.mod, movement.reshape(scores, strip.shape), strip), (scores.numel(),)
    )


def _still_active(before: Array, after: Array, active: Any, heads: Heads) -> Any:
    """Return which pairs a function of scores leaves active: those that it does not make -inf.

    If it leaves none of a query, pairs whose scores were -inf before stay active: their softmax is NaN.
    """
    finite, low = raw(after) != -np.inf, raw(before) == -np.inf
    if active is not None:
        finite, low = finite & active, low & active
    kernels, segments = get_backend(before.device), attention_primitives.segments_of_queries(heads)
    return finite | low & ~kernels.spread(kernels.segment_max(finite, segments), segments)
