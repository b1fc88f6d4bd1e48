"""The path of `flex_attention` if a function changes the scores, or results beside the output are requested.

A strip is a `PairRange`: a range of queries of one component, in all heads, and the smallest range of keys that
contains all blocks that are not empty for these queries. It has at most `MOST_SCORES` scores, or is a single query.
Each strip is computed inside a `checkpoint`: the backward pass computes it again, with the functions of the user. Only
the scores of one strip are in memory at a time, and there are derivatives of every order.
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

from ..block_masks.active_pairs import active_key_range, active_pairs
from ..block_masks.block_mask import BlockMask
from ..block_masks.mask_functions import PairRange, ScoreMod, apply_score_mod
from ..reduction import logsumexp

NAME = "flex_attention"
MOST_SCORES = 1 << 20
Results = tuple[Array | None, ...]  # the output, log-sums and greatest scores; None for each that is not requested


class FlexCall(NamedTuple):
    """The functions and requests of one `flex_attention` call. Scores and active pairs are (heads, queries, keys)."""

    score_mod: ScoreMod | None
    block_mask: BlockMask | None
    wants_log_sums: bool
    wants_maxima: bool

    def attend(self, q: Array, k: Array, v: Array, layout: HeadLayout) -> Results:
        """Take flat buffers, and return flat results: the output, and for each query its log-sum and greatest score."""
        sizes = np.stack([layout.num_query_heads, layout.num_queries, layout.num_keys], axis=1).tolist()
        sizes = sizes or [[0, 0, 0]]  # the results of no components are those of an empty one
        ends = accumulate(heads for heads, _, _ in sizes)
        heads = [np.arange(end - count, end) for end, (count, _, _) in zip(ends, sizes, strict=True)]
        queries = stacked_heads(q, layout.query_matrices, heads, layout.scale)
        keys, values = stacked_heads(k, layout.key_matrices, heads), stacked_heads(v, layout.value_matrices, heads)
        components = []
        for i, (num_heads, num_queries, num_keys) in enumerate(sizes):
            whole = PairRange(i, num_heads, range(num_queries), range(num_keys))
            parts = []
            for all_keys in whole.strips(MOST_SCORES):
                strip = all_keys
                if self.block_mask is not None and all_keys.num_pairs:
                    strip = all_keys._replace(keys=active_key_range(self.block_mask, all_keys))
                rows = (queries[i], strip.queries), (keys[i], strip.keys), (values[i], strip.keys)
                parts.append(checkpoint(self.flex_attention, strip, *[_rows(x, indices) for x, indices in rows]))
            joined = _concatenated(parts, axis=1)
            components.append([x if x is None else movement.reshape(x, (x.numel(),)) for x in joined])
        output, *aux = _concatenated(components, axis=0)
        output = movement.to_dtype(output, q.dtype)
        return movement.scatter(output, *layout.result_matrices, layout.result_numel), *aux

    def flex_attention(self, strip: PairRange, q: Array, k: Array, v: Array) -> Results:
        """Return the results of the queries of a strip. Errors of `checkpoint` contain the name of this method."""
        scores, active = self.modified_scores(strip, q, k, self.pairs_of_mask(strip, q.device))
        masked = active_scores(scores, active)
        output = weighted_rows(softmax_last(masked), v, active)
        log_sums = logsumexp(masked, 2) if self.wants_log_sums else None
        aux = [log_sums, amax(masked.detach(), (2,)) if self.wants_maxima else None]
        if active is not None:
            lowest, has_keys = scores.dtype.type(-np.inf), active.any(axis=2)
            aux = [x if x is None else where(x, lowest, has_keys) for x in aux]
        return output, *aux

    def pairs_of_mask(self, strip: PairRange, device: str) -> Any:
        """Return the active pairs by the block mask, as raw bools, or None if all are active."""
        if self.block_mask is None or not strip.num_pairs:
            return None
        active = active_pairs(NAME, self.block_mask, strip, device)
        return None if active.all() else get_backend(device).xp.broadcast_to(active, strip.shape)

    def modified_scores(self, strip: PairRange, q: Array, k: Array, active: Any) -> tuple[Array, Any]:
        """Return the scores as the function leaves them, and which of them are active.

        A score of -inf that the function returns makes its pair inactive. There is one exception: if a query is left
        without pairs, its pairs whose scores were already -inf before the function stay active. Their weights are NaN,
        as they would be without the function.
        """
        scores = pair_products(q, k, active)
        if self.score_mod is None or not strip.num_pairs:
            return scores, active
        modified = apply_score_mod(NAME, self.score_mod, scores, strip)
        was_active = True if active is None else active
        is_left = (raw(modified) != -np.inf) & was_active
        if (is_left == was_active).all():
            return modified, active
        still_active = is_left | (raw(scores) == -np.inf) & was_active & ~is_left.any(axis=2, keepdims=True)
        isfinite = get_backend(scores.device).xp.isfinite
        has_finite_operands = isfinite(raw(q)).all() and isfinite(raw(k)).all()
        if has_finite_operands or (still_active == was_active).all():
            return modified, still_active
        # The score of an inactive pair can be NaN, and 0 times NaN would enter the gradient. So begin without the pair.
        return self.modified_scores(strip, q, k, still_active)


def _rows(x: Array, rows: range) -> Array:
    """Return some rows of all heads."""
    return x if len(rows) == x.shape[1] else movement.slice_(x, (slice(None), slice(rows.start, rows.stop)))


def _concatenated(parts: list[Any], axis: int) -> Any:
    """Concatenate tuples of results, result by result; None stays None."""
    if len(parts) == 1:
        return parts[0]
    return tuple([None if x[0] is None else movement.concatenate(x, axis) for x in zip(*parts, strict=True)])
