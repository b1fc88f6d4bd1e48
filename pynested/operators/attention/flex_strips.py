"""`flex_attention` by strips of pairs: if a function changes the scores, or results beside the output are requested.

A strip has some queries of a component, of all its heads, and the keys from the first to the last that is active for
some of them. A batch is one strip, or all strips of some small components. It has about a million scores, and is
computed inside a `checkpoint`: the backward pass computes it again, with the functions of the user. Only the scores of
one batch are in memory at a time, and there are derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, checkpoint
from pynested.autograd.array import raw
from pynested.autograd.primitives import attention as attention_primitives
from pynested.autograd.primitives import movement
from pynested.backends import HeadLayout, get_backend
from pynested.backends.head_layout import HeadMatrices
from pynested.structure import Ints

from ..block_masks.active_pairs import active_keys, active_pairs
from ..block_masks.block_mask import BlockMask
from ..block_masks.mask_functions import PairBlock, ScoreMod, apply_score_mod
from .head_alignment import packed_places

NAME = "flex_attention"
MOST_SCORES = 1 << 20  # in a batch, unless it is a single query


def attend_by_strips(
    score_mod: ScoreMod | None, block_mask: BlockMask | None, requests: tuple[bool, bool],
    q: Array, k: Array, v: Array, layout: HeadLayout,
) -> tuple[Array | None, ...]:  # fmt: skip
    """Return flat results for buffers: the output, and for each query its log-sum and its greatest score.

    ``requests`` says whether log-sums and greatest scores are computed; otherwise they are None.
    """
    heads, queries, keys = layout.num_query_heads, layout.num_queries, layout.num_keys
    packed_layout = replace(
        layout,
        sizes=np.stack([heads, np.ones_like(heads), queries, keys], axis=1),  # each head has its own keys and values
        query_places=packed_places(heads, queries, layout.width),
        key_places=packed_places(heads, keys, layout.width),
        value_places=packed_places(heads, keys, layout.value_width),
    )
    groups = _groups(layout.num_scores.tolist())
    parts = zip(
        _packed_parts(q, layout.query_matrices, packed_layout.query_places, groups),
        _packed_parts(k, layout.key_matrices, packed_layout.key_places, groups),
        _packed_parts(v, layout.value_matrices, packed_layout.value_places, groups),
        strict=True,
    )
    all_strips: list[PairBlock] = []
    results = []
    for group, operands in zip(groups, parts, strict=True):
        strips = [strip for component in group for strip in _strips(block_mask, component, layout)]
        is_small = sum(strip.numel for strip in strips) <= MOST_SCORES
        for batch in [strips] if is_small else [[strip] for strip in strips]:
            batch_layout = _strip_layout(packed_layout, batch, group.start)
            compute = StripBatch(score_mod, block_mask, requests, batch, batch_layout).flex_attention
            results.append(checkpoint(compute, *operands))
        all_strips += strips

    def scattered(batches: tuple[Any, ...], result_layout: HeadLayout) -> Array | None:
        if batches[0] is None:
            return None
        matrices = _strip_layout(result_layout, all_strips).result_matrices
        return movement.scatter(movement.concatenate(batches, 0), *matrices, result_layout.result_numel)

    number_layout = replace(layout, result_places=packed_places(heads, queries, 1), value_width=1)
    outputs, log_sums, maxima = zip(*results, strict=True)
    return scattered(outputs, layout), scattered(log_sums, number_layout), scattered(maxima, number_layout)


# ---- groups of components, and their strips -------------------------------------------------------------------------


def _groups(numels: list[int]) -> list[range]:
    """Return groups of adjacent components, of at most `MOST_SCORES` scores unless it is one; at least one group."""
    starts, total = [0], 0
    for component, numel in enumerate(numels):
        if total and total + numel > MOST_SCORES:
            starts.append(component)
            total = 0
        total += numel
    return [range(start, stop) for start, stop in pairwise([*starts, len(numels)])]


def _packed_parts(x: Array, matrices: HeadMatrices, places: Ints, groups: list[range]) -> list[Array]:
    """Return the matrices of the heads of each group, which lie at ``places`` when they are packed."""
    packed = movement.gather(movement.reshape(x, (x.numel(),)), *matrices)
    starts = [*places[:, 0].tolist(), packed.numel()]
    lengths = tuple([starts[group.stop] - starts[group.start] for group in groups])
    return list(movement.pieces(packed, 0, tuple([starts[group.start] for group in groups]), lengths))


def _strips(mask: BlockMask | None, component: int, layout: HeadLayout) -> Iterator[PairBlock]:
    """Yield the strips of a component, with the keys that are computed."""
    _, _, queries, keys = layout.sizes[component].tolist()
    whole = PairBlock(component, layout.num_query_heads.item(component), range(queries), range(keys))
    for strip in whole.strips(max(1, queries) if mask is None else mask.BLOCK_SIZE[0], MOST_SCORES):
        yield strip if mask is None else strip._replace(keys=active_keys(mask, strip))


def _strip_layout(layout: HeadLayout, strips: list[PairBlock], first: int = 0) -> HeadLayout:
    """Return a layout with a component for each strip. Component ``first`` is the first in the operands."""
    table = [(strip.component, strip.queries.start, strip.keys.start, *strip.shape[1:]) for strip in strips]
    components, query_starts, key_starts, *lengths = np.array(table, np.int64).reshape(-1, 5).T

    def shifted(places: Ints, row_starts: Ints) -> Ints:
        offsets, head_steps, row_steps = places[components].T
        offsets = offsets - places[first : first + 1, 0] + row_starts * row_steps
        return np.stack([offsets, head_steps, row_steps], axis=1)

    return replace(
        layout,
        sizes=np.stack([*layout.sizes[components, :2].T, *lengths], axis=1),
        query_places=shifted(layout.query_places, query_starts),
        key_places=shifted(layout.key_places, key_starts),
        value_places=shifted(layout.value_places, key_starts),
        result_places=shifted(layout.result_places, query_starts),
    )


# ---- attention of a batch -------------------------------------------------------------------------------------------


class StripBatch(NamedTuple):
    """Strips that are computed together; each is a component of the layout."""

    score_mod: ScoreMod | None
    block_mask: BlockMask | None
    requests: tuple[bool, bool]
    strips: list[PairBlock]
    layout: HeadLayout

    def flex_attention(self, q: Array, k: Array, v: Array) -> tuple[Array | None, ...]:
        """Return the results of all strips. Errors of a `checkpoint` name this method."""
        scores, active = self.modified_scores(q, k, self.active_pairs(q.device))
        segments = attention_primitives.segments_of_queries(self.layout)
        weights = attention_primitives.softmax_of_active(scores, active, segments)
        output = movement.to_dtype(attention_primitives.packed_results(weights, v, self.layout, active), q.dtype)
        lse, max_scores = self.requests
        log_sums = attention_primitives.log_sums_of_active(scores, active, segments) if lse else None
        maxima = attention_primitives.maxima_of_active(scores, active, segments) if max_scores else None
        return output, log_sums, maxima

    def active_pairs(self, device: str) -> Any:
        """Return the active pairs by the block mask: flat raw bools, or None if all are active."""
        mask, xp = self.block_mask, get_backend(device).xp
        if mask is None or not self.strips:
            return None
        pairs = [
            xp.broadcast_to(active_pairs(NAME, mask, strip, device), strip.shape).reshape(-1) for strip in self.strips
        ]
        active = xp.concatenate(pairs)
        return None if active.all() else active

    def modified_scores(self, q: Array, k: Array, active: Any) -> tuple[Array, Any]:
        """Return the flat scores as the function leaves them, and which of them are active."""
        scores, score_mod = attention_primitives.packed_scores(q, k, self.layout, active), self.score_mod
        if score_mod is None or not self.strips:
            return scores, active
        numels = [strip.numel for strip in self.strips]
        blocks = list(movement.pieces(scores, 0, tuple(np.cumsum([0, *numels[:-1]]).tolist()), tuple(numels)))
        for i, (strip, block) in enumerate(zip(self.strips, blocks, strict=True)):
            if block.numel():
                changed = apply_score_mod(NAME, score_mod, movement.reshape(block, strip.shape), strip)
                blocks[i] = movement.reshape(changed, block.shape)
        modified = movement.concatenate(blocks, 0)
        still_active = self.still_active(scores, modified, active)
        if (still_active if active is None else still_active == active).all():
            return modified, active
        isfinite = get_backend(scores.device).xp.isfinite
        if isfinite(raw(q)).all() and isfinite(raw(k)).all():
            return modified, still_active
        # A gradient would be NaN: 0 times the NaN of a pair that the function made inactive. So compute without them.
        return self.modified_scores(q, k, still_active)

    def still_active(self, before: Array, after: Array, active: Any) -> Any:
        """Return which pairs a function of scores leaves active: those that it does not make -inf.

        If no pair of a query is left, those whose scores were -inf before stay active: their softmax is NaN.
        """
        is_finite, was_infinite = raw(after) != -np.inf, raw(before) == -np.inf
        if active is not None:
            is_finite, was_infinite = is_finite & active, was_infinite & active
        kernels, segments = get_backend(before.device), attention_primitives.segments_of_queries(self.layout)
        return is_finite | was_infinite & ~kernels.spread(kernels.segment_max(is_finite, segments), segments)
