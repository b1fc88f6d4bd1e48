"""The right half of a jagged picture: lengths and offsets, and the values that they cut into components."""

from __future__ import annotations

from collections.abc import Callable

from .elide import Gap
from .memory import Jagged
from .palette import line
from .strip import Strip, lanes
from .svg import Sheet, text_width

CAPTION = 62
_ENTRY, _ENTRY_HEIGHT = 36, 26
_CELL_HEIGHT = 32
_ARROW_ROOM = 58
_APART = 15  # between arrows that end at the same boundary
_LANE = 32


def draw_memory(sheet: Sheet, array: Jagged, x: float, y: float) -> None:
    """Draw the half, its upper left corner at (x, y)."""
    strip = Strip(array.pieces, x + CAPTION, array.cell)
    entries = len(array.rows) + (array.end is not None)
    left = max(x + CAPTION, (x + CAPTION + strip.right - entries * _ENTRY) / 2)
    if array.end is None:
        _draw_entries(sheet, array, x, left, y, "lengths", array.lengths.item)
        y += _ENTRY_HEIGHT + 8
    _draw_entries(sheet, array, x, left, y, "offsets", array.starts.item)
    top = y + _ENTRY_HEIGHT + _ARROW_ROOM
    _draw_arrows(sheet, array, strip, left, y + _ENTRY_HEIGHT + 3, top - 7)
    sheet.text(x, top + _CELL_HEIGHT / 2 + 4.5, "values", size=12, anchor="start", sans=True)
    strip.draw(sheet, top, _CELL_HEIGHT, array.label)
    _draw_brackets(sheet, array, strip, top)


def _draw_entries(
    sheet: Sheet, array: Jagged, x: float, left: float, y: float, name: str, entry: Callable[[int], int]
) -> None:
    """Draw one integer a component; the last offset ends and does not start, so it is grey."""
    rows: list[int | Gap | None] = list(array.rows)
    if name == "offsets" and array.end is not None:
        rows.append(None)
    sheet.text(x, y + _ENTRY_HEIGHT / 2 + 4.5, name, size=12, anchor="start", sans=True)
    sheet.rect(left, y, max(len(rows), 1) * _ENTRY, _ENTRY_HEIGHT, "currentColor", round=5, opacity="0.15")
    for k, row in enumerate(rows):
        centre, baseline = left + (k + 0.5) * _ENTRY, y + _ENTRY_HEIGHT / 2 + 4.6
        if k:
            sheet.path(f"M{left + k * _ENTRY:g} {y + 4:g}v{_ENTRY_HEIGHT - 8}", opacity=0.25, width=1)
        if isinstance(row, Gap):
            sheet.text(centre, baseline, "⋯", opacity=0.9)
        elif row is None:
            _draw_entry(sheet, centre, baseline, str(array.end), "currentColor")
        else:
            _draw_entry(sheet, centre, baseline, str(entry(row)), line(row))


def _draw_entry(sheet: Sheet, centre: float, baseline: float, text: str, color: str) -> None:
    size = min(13.0, 13 * (_ENTRY - 4) / text_width(text, 13))
    sheet.text(centre, baseline, text, size=round(size, 1), bold=True, fill=color)


def _draw_arrows(sheet: Sheet, array: Jagged, strip: Strip, left: float, y: float, tip: float) -> None:
    """Draw an arrow from each offset to the boundary it names; several to one boundary stand side by side."""
    ends: list[tuple[int, int, str]] = []  # entry, offset, colour
    for k, row in enumerate(array.rows):
        if not isinstance(row, Gap):
            ends.append((k, int(array.starts[row]), line(row)))
    if array.end is not None:
        ends.append((len(array.rows), array.end, "currentColor"))
    for entry, offset, color in ends:
        together = [other for other, at, _ in ends if at == offset]
        x = left + (entry + 0.5) * _ENTRY
        to = strip.left_of(offset) + (together.index(entry) - (len(together) - 1) / 2) * _APART
        middle = (y + tip) / 2
        faint = color == "currentColor"
        curve = f"M{x:g} {y:g}C{x:g} {middle + 6:g} {to:g} {middle - 6:g} {to:g} {tip:g}"
        sheet.path(curve, stroke=color, width=1.6, opacity=0.75 if faint else 1, dash="3 3" if faint else "")
        sheet.head(to, tip, stroke=color, opacity=0.75 if faint else 1)


def _draw_brackets(sheet: Sheet, array: Jagged, strip: Strip, top: float) -> None:
    """Name every component under its cells; what is empty is a seam, and named below the others."""
    y = top + _CELL_HEIGHT + 20
    full = [i for i in array.shown if array.lengths[i]]
    spans = [_bracket(array, strip, i) for i in full]
    captions = [_around((a + b) / 2, text_width(array.called(i), 11)) for i, (a, b) in zip(full, spans, strict=True)]
    rows = lanes([(min(a, c), max(b, d)) for (a, b), (c, d) in zip(spans, captions, strict=True)])
    for i, (a, b), row in zip(full, spans, rows, strict=True):
        sheet.path(f"M{a:g} {y + row * _LANE:g}v5H{b:g}v-5", stroke=line(i))
        sheet.text((a + b) / 2, y + row * _LANE + 19, array.called(i), size=11, bold=True, fill=line(i))
    _draw_seams(sheet, array, strip, top - 3, y + (max(rows, default=-1) + 1) * _LANE)


def _draw_seams(sheet: Sheet, array: Jagged, strip: Strip, top: float, y: float) -> None:
    seams: dict[int, list[int]] = {}
    for i in array.shown:
        if not array.lengths[i]:
            seams.setdefault(int(array.starts[i]), []).append(i)
    texts = [f"{', '.join(map(array.called, empty))} empty" for empty in seams.values()]
    rows = lanes([_around(strip.left_of(at), text_width(text, 11)) for at, text in zip(seams, texts, strict=True)])
    for (at, empty), text, row in zip(seams.items(), texts, rows, strict=True):
        x, color, below = strip.left_of(at), line(empty[0]), y + row * 16 - 4
        crosses = any(box.left < x < box.right and top < box.top < below for box in sheet.boxes)
        sheet.path(
            f"M{x:g} {top:g}V{top + _CELL_HEIGHT + 6 if crosses else below:g}", stroke=color, width=1.5, dash="2.5 3"
        )
        sheet.text(x, y + row * 16 + 8, text, size=11, bold=True, fill=color)


def _bracket(array: Jagged, strip: Strip, component: int) -> tuple[float, float]:
    start = int(array.starts[component])
    last = start + int(array.lengths[component]) - 1
    return strip.left_of(start) + 4, strip.right_of(last) - 4


def _around(centre: float, width: float) -> tuple[float, float]:
    return centre - width / 2, centre + width / 2
