"""The picture of a block mask: which blocks of queries and keys attention computes, masks, or leaves out."""

from __future__ import annotations

from pynested.operators.block_masks.block_mask import BlockMask
from pynested.operators.block_masks.block_mask_lists import EMPTY, FULL, States, coarse_states

from .svg import PAGE, Sheet, fill_color, tint_color

_SIDE, _MOST, _GRIDS = 15, 24, 4  # pixels of a block; blocks along a side; grids
_LEFT, _TOP, _APART = 18, 48, 28
_MEANING = ((FULL, "full: every pair meets"), (1, "partial: the mask is asked"), (EMPTY, "empty: not computed"))


def draw_block_mask(mask: BlockMask, name: str = "mask") -> Sheet:
    """Draw a grid for each head of each component, queries downwards, keys to the right; large ones coarser."""
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
        _draw_grid(sheet, states, x, y)
        x, bottom = x + width + _APART, max(bottom, y + states.shape[0] * _SIDE)
    if len(heads) > _GRIDS:
        sheet.note(x, y + 14, f"and {len(heads) - _GRIDS} more")
    _draw_meaning(sheet, bottom + 16)
    return sheet


def _draw_grid(sheet: Sheet, states: States, x: float, y: float) -> None:
    for state, _ in _MEANING:
        rows, columns = (states == state).nonzero()
        places = [(x + column * _SIDE, y + row * _SIDE) for row, column in zip(rows, columns, strict=True)]
        if places:
            _draw_blocks(sheet, places, state)


def _draw_blocks(sheet: Sheet, places: list[tuple[float, float]], state: int) -> None:
    if state == EMPTY:
        sheet.squares(places, _SIDE - 1, "currentColor", 0.13)
        return
    sheet.squares(places, _SIDE - 1, fill_color(0) if state == FULL else tint_color(0))
    if state != FULL:
        strokes = "".join(f"M{x + 3:g} {y + _SIDE - 4:g}L{x + _SIDE - 4:g} {y + 3:g}" for x, y in places)
        sheet.path(strokes, stroke=fill_color(0), width=1.6)


def _draw_meaning(sheet: Sheet, y: float) -> None:
    for k, (state, text) in enumerate(_MEANING):
        x = _LEFT + k * 210.0
        _draw_blocks(sheet, [(x, y)], state)
        sheet.text(x + _SIDE + 6, y + 11, text, size=11, anchor="start", sans=True)
