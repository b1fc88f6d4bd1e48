"""The picture of a block mask: which blocks of queries and keys attention computes, masks, or leaves out."""

from __future__ import annotations

from pynested.operators.block_masks.block_mask import BlockMask, coarse_states
from pynested.operators.block_masks.block_mask_lists import EMPTY, FULL, PARTIAL

from .cells import Cell, draw_cells
from .svg import PAGE, Sheet

_SIDE, _MOST, _GRIDS = 15, 24, 4  # pixels of a block; blocks along a side; grids
_LEFT, _TOP, _APART = 18, 48, 28
_BLOCKS = {
    FULL: Cell("", _SIDE, (0,), "number"),
    PARTIAL: Cell("", _SIDE, (0,), "hidden"),
    EMPTY: Cell("", _SIDE, (), "unused"),
}
_MEANING = {FULL: "full: every pair meets", PARTIAL: "partial: the function decides", EMPTY: "empty: not computed"}


def draw_block_mask(mask: BlockMask, name: str = "mask") -> Sheet:
    """Draw a grid for each head of each component, queries downwards, keys to the right; large grids are coarser."""
    empty, partial, full = mask.counts()
    sheet = Sheet(f"A block mask: {full} full, {partial} partial and {empty} empty blocks of {mask.BLOCK_SIZE}")
    heads = [(i, head) for i, blocks in enumerate(mask.blocks) for head in range(len(blocks))]
    sheet.heading(_LEFT, 22, f"queries ↓  keys →  blocks of {mask.BLOCK_SIZE[0]} × {mask.BLOCK_SIZE[1]}")
    x, y, bottom = float(_LEFT), float(_TOP), float(_TOP)
    for i, head in heads[:_GRIDS]:
        states = coarse_states(mask.blocks[i][head], _MOST, _MOST)
        width = max(states.shape[1] * _SIDE, 90)
        if x > _LEFT and x + width > PAGE:
            x, y = _LEFT, bottom + _APART
        sheet.text(x, y - 6, f"{name}[{i}, {head}]", size=12, anchor="start", bold=True)
        for k, row in enumerate(states.tolist()):
            draw_cells(sheet, x, y + k * _SIDE, _SIDE - 1.2, [_BLOCKS[state] for state in row])
        x, bottom = x + width + _APART, max(bottom, y + states.shape[0] * _SIDE)
    if len(heads) > _GRIDS:
        sheet.note(x, y + 14, f"and {len(heads) - _GRIDS} more")
    for k, (state, text) in enumerate(_MEANING.items()):
        right = draw_cells(sheet, _LEFT + k * 210, bottom + 16, _SIDE - 1.2, [_BLOCKS[state]])
        sheet.text(right + 6, bottom + 27, text, size=11, anchor="start", sans=True)
    return sheet
