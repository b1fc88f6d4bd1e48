"""The path of `flex_attention` if a function changes the scores, or results beside the output are requested.

A strip is a range of queries of one component, in all heads, with the range of keys from the first to the last block
that is active for some of them: a `PairBlock`. A batch is a list of strips with at most `MOST_SCORES` scores together.
It is computed inside a `checkpoint`: the backward pass computes it again, with the functions of the user. Only the
scores of one batch are in memory at a time, and there are derivatives of every order.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, checkpoint
from pynested.autograd.array import raw
from pynested.autograd.primitives import movement
from pynested.autograd.primitives.attention import active_scores, pair_products, stacked_heads, weighted_rows
from pynested.autograd.primitives.binary import where
from pynested.autograd.primitives.reduction import amax
from pynested.autograd.primitives.segment import softmax_last
from pynested.backends import HeadLayout, get_backend

from ..block_masks.active_pairs import active_keys, active_pairs
from ..block_masks.block_mask import BlockMask
from ..block_masks.mask_functions import PairBlock, ScoreMod, apply_score_mod
from ..reduction import logsumexp

NAME = "flex_attention"
MOST_SCORES = 1 << 20  # of a batch of several strips, and of a strip of several queries
Results = tuple[Array | None, ...]  # the output, log-sums and greatest scores; None for each that is not requested


def attend_by_strips(
    score_mod: ScoreMod | None, block_mask: BlockMask | None, requests: tuple[bool, bool],
    q: Array, k: Array, v: Array, layout: HeadLayout,
) -> Results:  # fmt: skip
    """Take flat buffers, and return flat results: the output, and for each query its log-sum and greatest score."""
    sizes = np.stack([layout.num_query_heads, layout.num_queries, layout.num_keys], axis=1).tolist()
    sizes = sizes or [[0, 0, 0]]  # the results of no components are those of an empty one
    ends = accumulate(heads for heads, _, _ in sizes)
    heads = [np.arange(end - count, end) for end, (count, _, _) in zip(ends, sizes, strict=True)]
    queries = stacked_heads(q, layout.query_matrices, heads, layout.scale)
    keys, values = stacked_heads(k, layout.key_matrices, heads), stacked_heads(v, layout.value_matrices, heads)
    strips = [strip for component, size in enumerate(sizes) for strip in _strips(block_mask, component, *size)]
    parts: list[list[Results]] = [[] for _ in sizes]  # of each component
    for batch in _batches(strips):
        operands = []
        for strip in batch:
            component_arrays = queries[strip.component], keys[strip.component], values[strip.component]
            rows = zip(component_arrays, (strip.queries, strip.keys, strip.keys), strict=True)
            operands.append([_rows(x, indices) for x, indices in rows])
        compute = StripBatch(score_mod, block_mask, requests, batch).flex_attention
        for strip, results in zip(batch, checkpoint(compute, operands), strict=True):
            parts[strip.component].append(results)
    components = [_concatenated(of_component, axis=1) for of_component in parts]
    flat = [tuple([x if x is None else movement.reshape(x, (x.numel(),)) for x in results]) for results in components]
    output, *aux = _concatenated(flat, axis=0)
    output = movement.to_dtype(output, q.dtype)
    return movement.scatter(output, *layout.result_matrices, layout.result_numel), *aux


def _strips(mask: BlockMask | None, component: int, heads: int, queries: int, keys: int) -> list[PairBlock]:
    """Return the strips of a component, with the keys that are computed; one strip if there are no pairs."""
    whole = PairBlock(component, heads, range(queries), range(keys))
    if not whole.numel:
        return [whole]
    if mask is None:
        return [*whole.strips(queries, MOST_SCORES)]
    strips = whole.strips(mask.BLOCK_SIZE[0], MOST_SCORES)
    return [strip._replace(keys=active_keys(mask, strip)) for strip in strips]


def _batches(strips: list[PairBlock]) -> list[list[PairBlock]]:
    """Group adjacent strips to batches; a batch of several strips has at most `MOST_SCORES` scores."""
    batches: list[list[PairBlock]] = [[]]
    total = 0
    for strip in strips:
        if batches[-1] and total + strip.numel > MOST_SCORES:
            batches.append([])
            total = 0
        batches[-1].append(strip)
        total += strip.numel
    return batches


def _rows(x: Array, rows: range) -> Array:
    """Return some rows of all heads."""
    return x if len(rows) == x.shape[1] else movement.slice_(x, (slice(None), slice(rows.start, rows.stop)))


def _concatenated(parts: list[Results], axis: int) -> Any:
    """Return the parts of each result as one array."""
    if len(parts) == 1:
        return parts[0]
    return tuple([None if x[0] is None else movement.concatenate(x, axis) for x in zip(*parts, strict=True)])


# ---- attention of a batch -------------------------------------------------------------------------------------------


class StripBatch(NamedTuple):
    """Strips that are computed together. Scores and active pairs have the shape (heads, queries, keys)."""

    score_mod: ScoreMod | None
    block_mask: BlockMask | None
    requests: tuple[bool, bool]  # whether log-sums and greatest scores are requested
    strips: list[PairBlock]

    def flex_attention(self, operands: list[list[Array]]) -> list[Results]:
        """Return the results of each strip, from its queries, keys and values. Errors of `checkpoint` have its name."""
        return [self.attend(strip, *arrays) for strip, arrays in zip(self.strips, operands, strict=True)]

    def attend(self, strip: PairBlock, q: Array, k: Array, v: Array) -> Results:
        """Return the results of the queries of a strip."""
        scores, active = self.modified_scores(strip, q, k, self.pairs_of_mask(strip, q.device))
        masked = active_scores(scores, active)
        output = weighted_rows(softmax_last(masked), v, active)
        wants_log_sums, wants_maxima = self.requests
        log_sums = logsumexp(masked, 2) if wants_log_sums else None
        aux = [log_sums, amax(masked.detach(), (2,)) if wants_maxima else None]
        if active is not None:
            lowest, has_keys = scores.dtype.type(-np.inf), active.any(axis=2)
            aux = [x if x is None else where(x, lowest, has_keys) for x in aux]
        return output, *aux

    def pairs_of_mask(self, strip: PairBlock, device: str) -> Any:
        """Return the active pairs by the block mask, as raw bools, or None if all are active."""
        if self.block_mask is None or not strip.numel:
            return None
        active = active_pairs(NAME, self.block_mask, strip, device)
        return None if active.all() else get_backend(device).xp.broadcast_to(active, strip.shape)

    def modified_scores(self, strip: PairBlock, q: Array, k: Array, active: Any) -> tuple[Array, Any]:
        """Return the scores as the function leaves them, and which of them are active.

        The function makes pairs inactive by -inf. If no pair of a query is left, those whose scores were -inf before
        the function stay active: their softmax is NaN, as that of infinite scores is without a function.
        """
        scores = pair_products(q, k, active)
        if self.score_mod is None or not strip.numel:
            return scores, active
        modified = apply_score_mod(NAME, self.score_mod, scores, strip)
        was_active = True if active is None else active
        is_left = (raw(modified) != -np.inf) & was_active
        if (is_left == was_active).all():
            return modified, active
        still_active = is_left | (raw(scores) == -np.inf) & was_active & ~is_left.any(axis=2, keepdims=True)
        isfinite = get_backend(scores.device).xp.isfinite
        is_finite = isfinite(raw(q)).all() and isfinite(raw(k)).all()
        if is_finite or (still_active == was_active).all():
            return modified, still_active
        # The gradient would be NaN: 0 times the NaN of a pair that the function made inactive. Without such pairs:
        return self.modified_scores(strip, q, k, still_active)
