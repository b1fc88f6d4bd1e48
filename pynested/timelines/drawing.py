"""A timeline as a picture: rows as in the text, the life of each storage as a lane beside them, times as bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from pynested.pictures.palette import line
from pynested.pictures.picture import Picture
from pynested.pictures.strip import lanes
from pynested.pictures.svg import Sheet, text_width

from .events import Event
from .listing import broken, sentence

ROW, TEXT, LANE, INDENT = 19.0, 11.5, 13.0, 14.0  # pixels: height of a row, size of a text, width of a lane and a level
LONGEST = 88  # characters of a row, its indent included; what is longer goes on in the next one
BARS = 190.0  # pixels that the whole time takes
SHOWN = 120  # rows; of a longer timeline the first and the last
_COLORS = {"call": 0, "chain": 0, "backend": 5, "lineup": 1, "rule": 2, "verb": 3, "kernel": 3, "pull": 4, "grad": 4}


def drawn(events: Sequence[Event]) -> Picture:
    """The picture of all events, or of the first and the last."""
    chosen = list(range(len(events)))
    if len(chosen) > SHOWN:
        chosen = chosen[: SHOWN // 2] + chosen[-SHOWN // 2 :]
    calls = sum(event.kind == "call" and not event.depth for event in events)
    sheet = Sheet(f"A timeline: {calls} calls, {len(events)} events")
    texts = [_lines(events[index]) for index in chosen]
    starts = [*accumulate(map(len, texts), initial=0)]
    rows = dict(zip(chosen, starts, strict=False))
    left = 16 + LANE * _lanes(sheet, events, rows, starts[-1])
    widths = [
        INDENT * (events[index].depth + bool(more)) + text_width(text, TEXT)
        for index, lines in zip(chosen, texts, strict=True)
        for more, text in enumerate(lines)
    ]
    right = left + max(widths, default=0) + 24
    sheet.heading(left, 16, "what happened")
    sheet.heading(right, 16, "when, and for how long")
    for index, lines in zip(chosen, texts, strict=True):
        event, look = events[index], 1 if events[index].took is not None else 0.72
        for more, text in enumerate(lines):
            x, y = left + INDENT * (event.depth + bool(more)), _y(rows[index] + more) + 4
            sheet.text(x, y, text, size=TEXT, anchor="start", bold=event.kind == "call", opacity=look)
    _bars(sheet, events, rows, right)
    if len(chosen) < len(events):
        middle = _y(rows[chosen[SHOWN // 2]]) - ROW / 2
        sheet.path(f"M{left:g} {middle:g}H{right + BARS:g}", opacity=0.4, dash="2 4")
        sheet.text(right + BARS, middle - 3, f"{len(events) - len(chosen)} more", size=10, opacity=0.72)
    return Picture(sheet)


def _y(row: int) -> float:
    return 34 + ROW * row


def _lines(event: Event) -> list[str]:
    return list(broken(sentence(event, measured=False), LONGEST - 2 * event.depth))


def _bars(sheet: Sheet, events: Sequence[Event], rows: dict[int, int], x: float) -> None:
    """A bar from the beginning of each event to its end, and how long that is; the first event begins at the left."""
    first = events[0].at if events else 0
    whole = max([event.at - first + (event.took or 0) for event in events], default=0) or 1
    scale = BARS / whole
    for index, row in rows.items():
        event, y = events[index], _y(row)
        if event.took is None:
            sheet.path(f"M{x + (event.at - first) * scale:g} {y - 3:g}V{y + 3:g}", opacity=0.45)
            continue
        color = line(_COLORS[event.kind])
        sheet.rect(x + (event.at - first) * scale, y - 5, max(1.5, event.took * scale), 10, color, round=1.5)
        sheet.text(x + BARS + 14, y + 4, _duration(event.took), size=10.5, anchor="start", opacity=0.72)


def _duration(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> _duration(0.000012), _duration(0.0123)
    ('12.0 us', '12.30 ms')
    """
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.2f} ms"


def _lanes(sheet: Sheet, events: Sequence[Event], rows: dict[int, int], below: int) -> int:
    """A line from where each storage begins to where it dies, those of one time side by side; how many lanes."""
    lives = list(_lives(events))
    spans = [
        (_row_at(birth, rows, below), below if death is None else _row_at(death, rows, below)) for birth, death in lives
    ]
    places = lanes(spans, apart=1)
    for number, ((birth, death), (top, bottom), lane) in enumerate(zip(lives, spans, places, strict=True)):
        x, color = 16 + LANE * lane, line(number)
        end = _y(bottom) - (ROW / 2 if death is None else 0)
        sheet.path(f"M{x:g} {_y(top):g}V{end:g}", stroke=color, width=2)
        if birth in rows:
            sheet.rect(x - 3.5, _y(top) - 3.5, 7, 7, color, round=3.5)
        if death in rows:
            sheet.path(f"M{x - 3.5:g} {end - 3.5:g}l7 7m0 -7l-7 7", stroke=color, width=2)
        elif death is None:
            sheet.head(x, end, stroke=color)
    return max(places, default=-1) + 1


def _lives(events: Sequence[Event]) -> Iterator[tuple[int, int | None]]:
    """Where each storage begins and where it dies, None if it is alive at the end."""
    deaths = {event.name: index for index, event in enumerate(events) if event.kind == "dies"}
    for index, event in enumerate(events):
        if event.kind == "new":
            yield index, deaths.get(event.name)


def _row_at(index: int, rows: dict[int, int], below: int) -> int:
    """The row of an event, or of the first one after it that is shown; ``below`` all where there is none."""
    return next((row for shown, row in rows.items() if shown >= index), below)
