"""The lower half of a strided picture: the buffer, an arc for each dimension's step, and where components start."""

from __future__ import annotations

from dataclasses import dataclass

from .memory import Strided
from .palette import line
from .strip import Strip, lanes
from .svg import Sheet, text_width

_CELL_HEIGHT = 30
_CAPTION = 13  # a line of captions above the arcs
_START = 18  # and one below the strip


@dataclass(frozen=True)
class Arc:
    """One step along a dimension, from the first element of a component to the next."""

    component: int
    rank: int  # among the steps of its component: the longest leaps highest
    text: str
    left: float
    right: float

    @property
    def centre(self) -> float:
        """Where the caption goes."""
        return (self.left + self.right) / 2


def draw_memory(sheet: Sheet, array: Strided, x: float, y: float) -> None:
    """Draw the half, its upper left corner at (x, y)."""
    sheet.heading(x, y, "what is in memory")
    strip = Strip(array.pieces, x, array.cell)
    top = y + 16 + _draw_arcs(sheet, _arcs(array, strip), y + 16)
    strip.draw(sheet, top, _CELL_HEIGHT, array.label)
    _draw_starts(sheet, array, strip, top + _CELL_HEIGHT + 22)


def _arcs(array: Strided, strip: Strip) -> list[Arc]:
    """Return an arc for each dimension of each component that has a second element to step to."""
    arcs = []
    for component in array.shown.values():
        steps = [(abs(step), dim) for dim, step in enumerate(component.strides) if component.sizes[dim] > 1 and step]
        for rank, (_, dim) in enumerate(sorted(steps) if 0 not in component.sizes else ()):
            stride, longest = component.strides[dim], rank == len(steps) - 1
            start = strip.centre_of(component.offset) - (3 if rank else 0)
            text = f"dim {dim + array.first_dim}: {stride:+d}" if longest else f"{stride:+d}"
            arcs.append(Arc(component.number, rank, text, start, strip.centre_of(component.offset + stride)))
    return arcs


def _draw_arcs(sheet: Sheet, arcs: list[Arc], y: float) -> float:
    """Draw the arcs, the longest steps highest, and return how much room they take."""
    by_rank = [[arc for arc in arcs if arc.rank == rank] for rank in range(1 + max((a.rank for a in arcs), default=-1))]
    levels = [lanes([_span(arc) for arc in row]) for row in by_rank]
    heights = [16 + _CAPTION * (1 + max(level)) for level in levels]
    room = sum(heights) + 6
    lift = 0
    for row, level, height in zip(by_rank, levels, heights, strict=True):
        for arc, lane in zip(row, level, strict=True):
            _draw_arc(sheet, arc, y + room, lift + 14, lane)
        lift += height
    return room


def _draw_arc(sheet: Sheet, arc: Arc, strip: float, lift: float, lane: int) -> None:
    color, foot, top = line(arc.component), strip - 4, strip - 4 - lift * 4 / 3
    curve = f"M{arc.left:g} {foot:g}C{arc.left:g} {top:g} {arc.right:g} {top:g} {arc.right:g} {foot - 1:g}"
    sheet.path(curve, stroke=color, width=1.5)
    sheet.head(arc.right, foot, stroke=color, size=3.6)
    baseline = foot - lift - 4 - lane * _CAPTION
    sheet.text(arc.centre, baseline, arc.text, size=10, bold=True, sans=True, fill=color)


def _span(arc: Arc) -> tuple[float, float]:
    half = text_width(arc.text, 10) / 2
    return arc.centre - half, arc.centre + half


def _draw_starts(sheet: Sheet, array: Strided, strip: Strip, y: float) -> None:
    """Name under the strip where each component starts; the rightmost first, so that no arrow crosses a name."""
    starts = sorted(array.shown.values(), key=lambda component: -strip.left_of(component.offset))
    texts = [f"{array.called(component.number)} starts at {component.offset}" for component in starts]
    lefts = [strip.left_of(component.offset) + 5 for component in starts]
    rows: list[int] = []
    for x, text in zip(lefts, texts, strict=True):
        within = [row for other, row in zip(lefts, rows, strict=False) if other <= x + 12 + text_width(text, 11)]
        rows.append(1 + max(within, default=-1))
    for component, text, x, row in zip(starts, texts, lefts, rows, strict=True):
        color, baseline = line(component.number), y + 20 + row * _START
        sheet.path(f"M{x:g} {baseline + 1:g}V{y - 4:g}", stroke=color, width=1.6)
        sheet.head(x, y - 4, stroke=color, size=3.6, up=True)
        sheet.text(x + 6, baseline, text, size=11, anchor="start", bold=True, sans=True, fill=color)
