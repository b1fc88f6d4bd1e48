"""A graph as a picture: a line for each call, from top to bottom, and for each value an arrow to those that read it.

The colour of an arrow, and of the bar before a line, is that of the ragged structure: equal lengths, equal colours.
Dense values are grey.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pynested.pictures import palette
from pynested.pictures.memory import PAGE
from pynested.pictures.picture import Picture
from pynested.pictures.strip import lanes
from pynested.pictures.svg import Sheet, text_width

from .forms import Value, values_in
from .nodes import Recording
from .text import Names, line, text

_STEP, _SIZE, _LANE, _BAR = 30.0, 13.0, 11.0, 5.0
_GREY = "currentColor"
_LEAST = 24  # characters of a call that are shown, however many arrows there are


def picture_of(function: Callable[..., Any], recording: Recording) -> Picture:
    """Draw what goes in, each call, and what comes out."""
    names = Names(function, recording)
    rows = _rows(recording, names)
    sheet = Sheet(f"A graph of {len(recording.nodes)} calls: {'; '.join(said for said, _, _ in rows)}")
    arrows = _arrows(rows)
    places = lanes([(start, end) for _, start, end in arrows], apart=0.5)
    left = 20 + _LANE * (max(places, default=0) + 1)
    for i, (said, made, _) in enumerate(rows):
        colour = _colour(made, recording.shown)
        y = 20 + i * _STEP
        sheet.rect(left, y - 12, _BAR, 18, colour, round=2, opacity="0.35" if colour == _GREY else "1")
        call, _, about = said.partition("  # ")
        about = f"   {about}" if about else ""
        short = _cut(call, PAGE - left - 14 - text_width(about, _SIZE))
        sheet.text(left + 14, y, short, size=_SIZE, anchor="start", title=call)
        if about:
            after = left + 14 + text_width(f"{short}   ", _SIZE)
            sheet.text(after, y, about.strip(), size=_SIZE, anchor="start", opacity=0.62)
    for (value, start, end), lane in zip(arrows, places, strict=True):
        _draw(sheet, left - 4, lane, 16 + start * _STEP, 16 + end * _STEP, _colour([value], recording.shown))
    return Picture(sheet)


Row = tuple[str, list[Value], list[Value]]  # what it says, the values that it makes, and those that it reads


def _rows(recording: Recording, names: Names) -> list[Row]:
    """The lines of the picture."""
    given = [*values_in(recording.inputs), *(one.value for one in recording.captured)]
    rows: list[Row] = [(f"{names[value]}  # {recording.shown[value.number]}", [value], []) for value in given]
    for node in recording.nodes:
        rows.append((line(node, names, recording.shown), list(node.makes), list(node.reads)))
    rows.append((f"return {text(recording.outputs, names)}", [], list(values_in(recording.outputs))))
    return rows


def _cut(call: str, room: float) -> str:
    """As much of a call as there is room for."""
    longest = max(_LEAST, int(room / text_width("m", _SIZE)))
    return call if len(call) <= longest else f"{call[: longest - 1]}…"


def _arrows(rows: Iterable[Row]) -> list[tuple[Value, int, int]]:
    """From the line that makes a value to each that reads it."""
    maker: dict[Value, int] = {}
    found: list[tuple[Value, int, int]] = []
    for i, (_, made, read) in enumerate(rows):
        found += [(value, maker[value], i) for value in dict.fromkeys(read)]
        for value in made:
            maker.setdefault(value, i)
    return found


def _colour(values: Iterable[Value], shown: Mapping[int, str]) -> str:
    """The colour of a ragged structure, by its number in the names ``j1``, ``j2``."""
    for value in values:
        ragged = re.search(r"\bj(\d+)", shown[value.number])
        if ragged:
            return palette.line(int(ragged[1]) - 1)
    return _GREY


def _draw(sheet: Sheet, right: float, lane: int, start: float, end: float, colour: str) -> None:
    """An arrow that leaves a line at its left, goes down, and comes back."""
    x, bend = right - _LANE * (lane + 1), 5.0
    opacity = 0.45 if colour == _GREY else 0.9
    d = f"M{right:g} {start:g}H{x + bend:g}Q{x:g} {start:g} {x:g} {start + bend:g}V{end - bend:g}"
    sheet.path(f"{d}Q{x:g} {end:g} {x + bend:g} {end:g}H{right:g}", stroke=colour, opacity=opacity)
    sheet.path(
        f"M{right - 4:g} {end - 3.5:g}L{right:g} {end:g}L{right - 4:g} {end + 3.5:g}", stroke=colour, opacity=opacity
    )
