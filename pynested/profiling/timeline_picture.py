"""A timeline as a picture: the text of each event, and a bar from its beginning to its end."""

from __future__ import annotations

from collections.abc import Sequence

from pynested.pictures.picture import Picture
from pynested.pictures.svg import Sheet, line_color, text_width

from .event_recorder import Event
from .event_text import describe_event

ROW_HEIGHT, TEXT_SIZE, INDENT, BARS_WIDTH = 19.0, 11.5, 14.0, 190.0  # pixels
MOST_CHARACTERS = 84  # of a row
MOST_ROWS = 120
_COLOR_BY_KIND = {"call": 0, "primitive": 2, "kernel": 3, "launch": 3, "vjp": 4}


def draw_timeline(events: Sequence[Event]) -> Picture:
    """Return a picture of the first events."""
    shown = events[:MOST_ROWS]
    sheet = Sheet(f"A timeline: {len(events)} events")
    start = min((event.at for event in shown), default=0)
    scale = BARS_WIDTH / (max((event.at + (event.took or 0) - start for event in shown), default=0) or 1)
    texts = [_shorten(describe_event(event)) for event in shown]
    indents = [16 + INDENT * event.depth for event in shown]
    left = max((x + text_width(text, TEXT_SIZE) for x, text in zip(indents, texts, strict=True)), default=0) + 24
    for row, (event, x, text) in enumerate(zip(shown, indents, texts, strict=True)):
        y = 20 + ROW_HEIGHT * row
        opacity = 0.72 if event.took is None else 1
        sheet.text(x, y, text, size=TEXT_SIZE, anchor="start", bold=event.kind == "call", opacity=opacity)
        at = left + scale * (event.at - start)
        if event.took is None:
            sheet.path(f"M{at:g} {y - 7:g}v6", opacity=0.45)
        else:
            color = line_color(_COLOR_BY_KIND.get(event.kind, 5))
            sheet.rect(at, y - 9, max(1.5, scale * event.took), 10, color, round=1.5)
            duration = f"{1e6 * event.took:,.0f} us"
            sheet.text(left + BARS_WIDTH + 14, y, duration, size=10.5, anchor="start", opacity=0.72)
    if len(events) > len(shown):
        more = f"{len(events) - len(shown)} more events"
        sheet.text(16, 20 + ROW_HEIGHT * len(shown), more, size=TEXT_SIZE, anchor="start", opacity=0.72)
    return Picture(sheet)


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
