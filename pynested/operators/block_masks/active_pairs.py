"""The check that a block mask fits operands of attention, and the active pairs of a mask, whole or in part."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import HeadLayout, get_backend
from pynested.backends.errors import ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.structure import Ints

from .block_mask import BlockMask
from .block_mask_lists import EMPTY, FULL, PARTIAL, States
from .mask_functions import MOST_PAIRS_OF_CALL, PairBlock, evaluate_mask


def check_operands(op: str, mask: BlockMask, layout: HeadLayout, is_nested: bool) -> None:
    """Raise unless a mask fits operands. A dense mask of one component serves any number of components."""
    error_class, count, mask_count = StructureError if is_nested else ShapeError, len(layout.sizes), len(mask.blocks)
    if mask_count != count and (mask_count != 1 or mask.is_nested):
        raise error_class(
            f"{op}: block_mask is for {mask_count} components, and there are {count}. Make a mask for these operands."
        )
    for i, (queries, keys, heads) in enumerate(zip(*layout.sizes.T[2:], layout.num_query_heads, strict=True)):
        component = _component_of_mask(mask, i)
        (_, mask_queries, mask_keys), mask_heads = mask.extents[component].tolist(), len(mask.blocks[component])
        if (queries, keys) != (mask_queries, mask_keys) or mask_heads not in (1, heads):
            raise error_class(
                f"{op}: block_mask is for {mask_queries} queries, {mask_keys} keys and "
                f"{'all' if mask_heads == 1 else mask_heads} heads in component {i}, which has {queries}, {keys} and "
                f"{heads}. Make a mask for these operands."
            )


def _component_of_mask(mask: BlockMask, component: int) -> int:
    """Return the component of the mask for a component of the operands: 0 for all if the mask has only one."""
    return component if len(mask.blocks) > 1 else 0


def _states(mask: BlockMask, block: PairBlock) -> States:
    """Return the states of the mask's row of blocks in which the queries of a block of pairs lie: (H or 1, columns)."""
    states = mask.blocks[_component_of_mask(mask, block.component)]
    return np.asarray(states[:, block.queries.start // mask.BLOCK_SIZE[0]])


def active_keys(mask: BlockMask, block: PairBlock) -> range:
    """Return the keys from the first to the last block that is not empty, for queries of one row of blocks."""
    columns = np.flatnonzero((_states(mask, block) != EMPTY).any(axis=0))
    size = mask.BLOCK_SIZE[1]
    return block.keys[columns[0] * size : (columns[-1] + 1) * size] if columns.size else range(0)


def active_pairs(op: str, mask: BlockMask, block: PairBlock, device: str) -> Any:
    """Return the active pairs of queries of one row of blocks: a raw array of bools (H or 1, queries, keys).

    The function of the mask is called only for the keys from the first to the last partial block.
    """
    states = np.repeat(_states(mask, block), min(mask.BLOCK_SIZE[1], block.keys.stop), axis=1)
    states = states[:, None, block.keys.start : block.keys.stop]
    is_full, is_partial = (from_host(states == state, device) for state in (FULL, PARTIAL))
    shape, xp = block.shape[1:], get_backend(device).xp
    columns = np.flatnonzero((states == PARTIAL).any(axis=(0, 1)))
    if not columns.size:
        return xp.broadcast_to(is_full, (len(states), *shape))
    inner, component = slice(columns[0], columns[-1] + 1), _component_of_mask(mask, block.component)
    num_heads = 1 if mask.extents[component, 0] == 1 else block.num_heads
    pairs = PairBlock(component, num_heads, block.queries, block.keys[inner])
    by_function = evaluate_mask(op, mask.mask_mod, pairs, device)
    active = xp.broadcast_to(is_full, (max(len(states), len(by_function)), *shape)).copy()
    active[..., inner] |= is_partial[..., inner] & by_function
    return active


def dense_masks(op: str, mask: BlockMask, layout: HeadLayout, device: str) -> tuple[Any, Ints]:
    """Return the active pairs of all components, flat raw bools, and their `HeadLayout.mask_places`."""
    xp, masks, num_heads = get_backend(device).xp, [], layout.num_query_heads.tolist()
    if len(mask.blocks) == 1:  # it serves all components, also the one with the most heads
        num_heads = sorted(num_heads)[-1:]
    for component, heads in enumerate(num_heads):
        _, queries, keys = mask.extents[component].tolist()
        whole = PairBlock(component, heads, range(queries), range(keys))
        strips = whole.strips(mask.BLOCK_SIZE[0], MOST_PAIRS_OF_CALL)
        parts = [active_pairs(op, mask, strip, device) for strip in strips]
        mask_heads = max(map(len, parts), default=1)
        parts = [xp.broadcast_to(part, (mask_heads, *part.shape[1:])) for part in parts]
        masks.append(xp.concatenate([xp.zeros((mask_heads, 0, keys), np.bool_), *parts], axis=1))
    all_heads, rows, columns = np.array([dense.shape for dense in masks], np.int64).reshape(-1, 3).T
    numels = all_heads * rows * columns
    places = np.cumsum(numels) - numels, np.where(all_heads == 1, 0, rows * columns), columns, np.ones_like(columns)
    flat = xp.concatenate([xp.zeros(0, np.bool_), *[dense.reshape(-1) for dense in masks]])
    return flat, np.broadcast_to(np.stack(places, axis=1), (len(layout.sizes), 4))
