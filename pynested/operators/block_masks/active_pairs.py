"""The check that a block mask fits operands of attention, and the active pairs of a mask, whole or in part."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import HeadLayout, get_backend
from pynested.backends.errors import ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.structure import Ints

from .block_mask import BlockMask
from .block_mask_lists import EMPTY, FULL
from .mask_functions import MASK_PARAMETERS, PairRange, check_mod, evaluate_mask


def check_operands(op: str, mask: BlockMask, layout: HeadLayout, is_nested: bool) -> None:
    """Raise unless a mask fits operands. A dense mask of one component serves any number of components."""
    check_mod(op, "mask_mod", mask.mask_mod, MASK_PARAMETERS)  # users can replace it
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


def active_key_range(mask: BlockMask, pairs: PairRange) -> range:
    """Return the range of all keys in blocks that are not empty for some of the queries; ``pairs`` has all keys."""
    component, (q_size, kv_size) = _component_of_mask(mask, pairs.component), mask.BLOCK_SIZE
    rows = mask.blocks[component][:, pairs.queries.start // q_size : -(-pairs.queries.stop // q_size)]
    columns = np.flatnonzero((rows != EMPTY).any(axis=(0, 1)))
    return pairs.keys[columns[0] * kv_size : (columns[-1] + 1) * kv_size] if columns.size else range(0)


def active_pairs(op: str, mask: BlockMask, pairs: PairRange, device: str) -> Any:
    """Return which pairs are active: a raw array of bools (H or 1, queries, keys).

    The function of the mask is called for all pairs, and decides about those of partial blocks.
    """
    component = _component_of_mask(mask, pairs.component)
    num_heads = 1 if mask.extents[component, 0] == 1 else pairs.num_heads
    indices = zip((pairs.queries, pairs.keys), mask.BLOCK_SIZE, strict=True)
    rows, columns = (np.arange(axis.start, axis.stop) // size for axis, size in indices)
    states = from_host(mask.blocks[component][:, rows[:, None], columns], device)  # of the block of each pair
    by_function = evaluate_mask(op, mask.mask_mod, pairs._replace(component=component, num_heads=num_heads), device)
    return by_function & (states != EMPTY) | (states == FULL)


def dense_masks(op: str, mask: BlockMask, layout: HeadLayout, device: str) -> tuple[Any, Ints]:
    """Return the active pairs of all components, flat raw bools, and the table `mask_places` for their `HeadLayout`."""
    num_heads = layout.num_query_heads.tolist()
    if len(mask.blocks) == 1:  # it serves all components, also the one with the most heads
        num_heads = sorted(num_heads)[-1:]
    masks = []
    for component, heads in enumerate(num_heads):
        _, queries, keys = mask.extents[component].tolist()
        masks.append(active_pairs(op, mask, PairRange(component, heads, range(queries), range(keys)), device))
    all_heads, rows, columns = np.array([dense.shape for dense in masks], np.int64).reshape(-1, 3).T
    numels, xp = all_heads * rows * columns, get_backend(device).xp
    places = np.cumsum(numels) - numels, np.where(all_heads == 1, 0, rows * columns), columns, np.ones_like(columns)
    flat = xp.concatenate([xp.zeros(0, np.bool_), *[dense.reshape(-1) for dense in masks]])
    return flat, np.broadcast_to(np.stack(places, axis=1), (len(layout.sizes), 4))
