"""Pictures that are held to a file, to the page, and to texts that can be read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from pynested.pictures import Picture
from pynested.pictures.svg import Sheet


def golden_sheet(draw: Callable[[], Picture], golden: Path, monkeypatch: pytest.MonkeyPatch) -> Sheet:
    """Return the one sheet that is drawn: it is the golden one, fits the page, and no text lies on another."""
    sheets: list[Sheet] = []
    finish = Sheet.finish
    monkeypatch.setattr(Sheet, "finish", lambda sheet: sheets.append(sheet) or finish(sheet))
    assert draw().svg == golden.read_text(encoding="utf-8")
    (sheet,) = sheets
    assert sheet.width < 1000
    assert not [(a.text, b.text) for a, b in combinations(sheet.boxes, 2) if a.overlaps(b)]
    return sheet
