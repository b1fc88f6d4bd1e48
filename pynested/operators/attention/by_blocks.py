"""Attention by blocks: some queries of some heads at a time, with the keys that their mask leaves.

Small components that are alike are computed together; functions of users see them one by one.

Each block is a few tracked operations inside a `checkpoint`: for the gradient it is computed again, function of the
user included, so that no more than the scores of one block are ever there, and derivatives of every order follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, checkpoint
from pynested.autograd.array import raw
from pynested.autograd.rules import attention as of_heads
from pynested.autograd.rules import movement as movement_rules
from pynested.autograd.rules.movement import to_dtype
from pynested.autograd.rules.views import pieces
from pynested.backends import Heads, Matrices, Segments, get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.backends.heads import Placed
from pynested.structure import Ints

from .besides import AuxRequest
from .block_mask import BlockMask
from .lists import PARTIAL
from .mods import Block, ScoreMod, modified

MOST_SCORES = 1 << 20  # of a block, unless a single query has more


class Call(NamedTuple):
    """What is the same for all blocks of a call."""

    op: str
    mod: ScoreMod | None
    mask: BlockMask | None
    scale: float
    asked: AuxRequest


def by_blocks(call: Call, q: Array, k: Array, v: Array, heads: Heads) -> tuple[list[Array], Ints]:
    """Flat buffers -> the result of each head, one after the other, and what there is of each query that is asked for.

    The components come in the order that is the second: those that are computed together follow each other.
    """
    groups = _together(call, heads)
    order = np.array([i for group in groups for i in group], np.int64)
    heads = heads.of(order)
    alone = heads.sizes.copy()
    alone[:, 1] = 1
    own = replace(heads, sizes=alone)  # each head of keys once
    last = np.cumsum([len(group) for group in groups], dtype=np.int64) - 1
    alike = zip(groups, heads.sizes[last].tolist(), strict=True)
    shapes = [(len(group) * count, shared, *pair) for group, (count, shared, *pair) in alike]
    queries = _components(q, heads.queries, [(n * g, rows, heads.width) for n, g, rows, _ in shapes])
    keys = _components(k, own.keys, [(n, size, heads.width) for n, _, _, size in shapes])
    values = _components(v, own.values, [(n, size, heads.value_width) for n, _, _, size in shapes])
    found = [[_nothing(q, k, v)]]
    found += [[to_dtype(_nothing(q, k), computing_dtype(q.dtype))] for one in call.asked if one]
    for group, *operands in zip(groups, queries, keys, values, strict=True):
        for of_heads_together in _of_group(call, group, *operands):
            made = zip(*of_heads_together, strict=True)
            for total, parts in zip(found, made, strict=True):
                total.append(movement_rules.reshape(movement_rules.concatenate(parts, 1), (-1,)))
    return [movement_rules.concatenate(total, 0) for total in found], order


def _together(call: Call, heads: Heads) -> list[list[int]]:
    """The components in groups: of equal sizes and blocks, and with no more scores than a block may have."""
    found: dict[Any, list[list[int]]] = {}
    for i, sizes in enumerate(heads.sizes.tolist()):
        states = None if call.mask is None else call.mask.of(i, 0).tobytes() if call.mask.of_all_heads(i) else i
        same = found.setdefault((*sizes, states), [])
        if same and (len(same[-1]) + 1) * prod(sizes) <= MOST_SCORES:
            same[-1].append(i)
        else:
            same.append([i])
    return [group for same in found.values() for group in same]


def _nothing(*arrays: Array) -> Array:
    """No elements, which depend on the arrays, as a result without any does."""
    return movement_rules.concatenate([movement_rules.slice_(x, (slice(0, 0),)) for x in arrays], 0)  # type: ignore[no-any-return]


def _components(x: Array, placed: Placed, shapes: list[tuple[int, int, int]]) -> list[Array]:
    """An array (heads, rows, width) for each group of components."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes]).tolist()
    parts = _cut(movement_rules.gather(x, *placed), 0, [range(a, b) for a, b in zip([0, *ends], ends, strict=False)])
    return [movement_rules.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]


def _cut(x: Array, axis: int, parts: list[range]) -> list[Array]:
    """Pieces along an axis, which may overlap."""
    if not parts or parts == [range(x.shape[axis])]:
        return [x] * len(parts)
    starts, lengths = tuple(part.start for part in parts), tuple(map(len, parts))
    return pieces(x, axis, starts, lengths)  # type: ignore[no-any-return]


def _cuts(size: int, step: int) -> list[range]:
    """Parts of so many; of nothing one that is empty."""
    return [range(first, min(first + step, size)) for first in range(0, size, step)] or [range(0)]


def _of_group(call: Call, components: list[int], q: Array, k: Array, v: Array) -> Iterator[list[tuple[Array, ...]]]:
    """For a few heads at a time, those of several components at once, the results of all their blocks of queries."""
    (heads, rows, _), (own, size, _), i = q.shape, k.shape, components[0]
    if not heads or not rows:
        return
    q_size, kv_size = (rows, max(1, size)) if call.mask is None else call.mask.BLOCK_SIZE
    most = size if call.mask is None else min(size, kv_size * call.mask.most_met(i))  # keys of a query
    group, together = heads // own, max(1, MOST_SCORES // max(1, min(q_size, rows) * most))
    alike = call.mask is None or call.mask.of_all_heads(i)
    chunks = _cuts(heads, (together // group * group or 1) if alike else 1)
    shared = [range(one.start // group, (one.stop - 1) // group + 1) for one in chunks]
    step = max(1, MOST_SCORES // max(1, most * len(chunks[0])))
    queries = [part for block in _cuts(rows, q_size) for part in _shifted(_cuts(len(block), step), block.start)]
    blocks = _cuts(size, kv_size)
    for chunk, qs, ks, vs in zip(chunks, _cut(q, 0, chunks), _cut(k, 0, shared), _cut(v, 0, shared), strict=True):
        keys, values = _cut(ks, 1, blocks), _cut(vs, 1, blocks)
        found = []
        for part, own_queries in zip(queries, _cut(qs, 1, queries), strict=True):
            states = None if call.mask is None else call.mask.of(i, chunk.start)[part.start // q_size]
            keys_met, met, partial = _met(blocks, states)
            each = range(heads // len(components)) if len(components) > 1 else chunk
            run = _attending(call, [Block(one, each, part, keys_met) for one in components], partial)
            found.append(checkpoint(run, own_queries, *_those(keys, met), *_those(values, met)))
        yield found


def _shifted(parts: list[range], by: int) -> list[range]:
    return [range(part.start + by, part.stop + by) for part in parts]


def _met(blocks: list[range], states: Any) -> tuple[Ints, list[int], list[range]]:
    """The keys that are met, the numbers of their blocks, and where among them the partial ones are."""
    met = list(range(len(blocks))) if states is None else np.flatnonzero(states).tolist()
    keys = np.concatenate([np.zeros(0, np.int64), *[np.arange(blocks[j].start, blocks[j].stop) for j in met]])
    ends = np.cumsum([len(blocks[j]) for j in met]).tolist()
    partial = [] if states is None else [
        range(end - len(blocks[j]), end) for j, end in zip(met, ends, strict=True) if states[j] == PARTIAL
    ]  # fmt: skip
    return keys, met, partial


def _those(blocks: list[Array], met: list[int]) -> list[Array]:
    """Blocks of rows by number; without any, no rows of the first."""
    return [blocks[j] for j in met] or [movement_rules.slice_(blocks[0], (slice(None), slice(0, 0)))]


def _attending(call: Call, each: list[Block], partial: list[range]) -> Callable[..., tuple[Array, ...]]:
    def flex_attention(q: Array, *blocks: Array) -> tuple[Array, ...]:  # a checkpoint says its name
        half = len(blocks) // 2
        keys, values = (movement_rules.concatenate(some, 1) for some in (blocks[:half], blocks[half:]))
        seen = _seen(call, each, partial, q.device)
        if call.mod is None and not any(call.asked):
            return (_plain(call, q, keys, values, seen),)
        return _scored(call, each, q, keys, values, seen)

    return flex_attention


def _seen(call: Call, each: list[Block], partial: list[range], device: str) -> Any:
    """Which pairs of blocks meet, bare, of one head if all are alike; None if all do. Full blocks ask nobody."""
    if not partial or call.mask is None:
        return None
    found = [_answered(call, call.mask, block, partial, device) for block in each]
    if len(found) == 1:
        return found[0]
    xp = get_backend(device).xp
    return xp.concatenate([xp.broadcast_to(one, each[0].shape) for one in found])


def _answered(call: Call, mask: BlockMask, block: Block, partial: list[range], device: str) -> Any:
    xp = get_backend(device).xp
    answer = mask.seen(call.op, block._replace(keys=np.concatenate([block.keys[p] for p in partial])), device)
    count, (_, rows, size) = len(answer), block.shape
    width = sum(map(len, partial))
    answer = xp.broadcast_to(answer, (count, rows, width))
    if width == size:
        return answer
    whole, start = xp.ones((count, rows, size), np.bool_), 0
    for part in partial:
        whole[:, :, part.start : part.stop] = answer[:, :, start : start + len(part)]
        start += len(part)
    return whole


def _plain(call: Call, q: Array, k: Array, v: Array, seen: Any) -> Array:
    """Without a function of scores: the rule of all attention, of this block alone."""
    (heads, rows, width), (own, size, _), value_width = q.shape, k.shape, v.shape[2]
    sizes = np.array([[own, heads // own, rows, size]])
    at = ((rows, width), (size, width), (size, value_width), (rows, value_width))
    queries, keys, values, made = (np.array([[0, count * step, step]]) for count, step in at)
    mask, steps = None, None
    if seen is not None:
        xp = get_backend(q.device).xp
        mask = Array(xp.ascontiguousarray(seen).reshape(-1), q.device)
        steps = np.array([[0, rows * size if len(seen) > 1 else 0, size, 1]])
    block = Heads(sizes, queries, keys, values, made, steps, width, value_width, call.scale, False)
    a, b, c = (movement_rules.reshape(x, (-1,)) for x in (q, k, v))
    found: Array = movement_rules.reshape(of_heads.attended(a, b, c, mask, block), (heads, rows, value_width))
    return found


def _scored(call: Call, each: list[Block], q: Array, k: Array, v: Array, seen: Any) -> tuple[Array, ...]:
    """Results, and what is asked for besides, of scores that a function has looked at."""
    (heads, rows, _), (own, size, _), dtype = q.shape, k.shape, computing_dtype(q.dtype)
    if seen is not None:
        seen = get_backend(q.device).xp.broadcast_to(seen, (heads, rows, size)).reshape(-1)
    queries, keys, values = (to_dtype(x, dtype) for x in (q, k, v))
    scores, seen = _modified(call, each, queries, keys, seen)
    runs = Segments.from_lengths(np.full(heads * rows, size))
    weights = of_heads.softmax_of_seen(scores, seen, runs)
    of_keys = np.full(own, size)
    made = of_heads.mixed(
        weights,
        movement_rules.reshape(values, (-1,)),
        Matrices.of_sizes(np.full(own, heads // own * rows), of_keys),
        Matrices.of_sizes(of_keys, np.full(own, v.shape[2])),
        seen,
    )
    found = movement_rules.reshape(to_dtype(made, q.dtype), (heads, rows, v.shape[2]))
    besides = (of_heads.log_sums_of_seen, of_heads.greatest_of_seen)
    each_asked = [of for of, asked in zip(besides, call.asked, strict=True) if asked]
    return found, *[movement_rules.reshape(of(scores, seen, runs), (heads, rows)) for of in each_asked]


def _modified(call: Call, each: list[Block], q: Array, k: Array, seen: Any) -> tuple[Array, Any]:
    """The scores, flat, as the function leaves them, and which of them count."""
    (own, size, width), shape = k.shape, (*q.shape[:2], k.shape[1])
    rows = Matrices.of_sizes(np.full(own, q.shape[0] // own * q.shape[1]), np.full(own, width))
    keys = Matrices.of_sizes(np.full(own, size), np.full(own, width))
    scaled = movement_rules.reshape(q, (-1,)) * call.scale
    scores = of_heads.meeting(scaled, movement_rules.reshape(k, (-1,)), rows, keys, seen)
    if call.mod is None or not scores.numel():
        return scores, seen
    every = _cut(movement_rules.reshape(scores, shape), 0, _cuts(shape[0], shape[0] // len(each)))
    changed = [modified(call.op, call.mod, one, block) for one, block in zip(every, each, strict=True)]
    found = movement_rules.reshape(movement_rules.concatenate(changed, 0), (-1,))
    narrower = _counting(raw(scores), raw(found), seen, shape)
    if (narrower if seen is None else narrower == seen).all():
        return found, seen
    isfinite = get_backend(q.device).xp.isfinite
    if isfinite(raw(scaled)).all() and isfinite(raw(k)).all():
        return found, narrower
    return _modified(call, each, q, k, narrower)  # again, as its adjoint multiplies what is left out by 0


def _counting(before: Any, after: Any, seen: Any, shape: tuple[int, ...]) -> Any:
    """Which pairs the function leaves; where it leaves none of a query, those that were -inf before, to become NaN."""
    counts = after != -np.inf
    counts = counts if seen is None else counts & seen
    some = counts.reshape(shape).any(axis=2, keepdims=True)
    low = (before == -np.inf).reshape(shape) & ~some
    low = low.reshape(-1) if seen is None else low.reshape(-1) & seen
    return counts | low
