"""A check of pictures: the golden file, the width of the page, and texts that do not overlap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from pynested.pictures import Picture
from pynested.pictures.svg import Box, Sheet


def overlap(one: Box, other: Box) -> bool:
    """Return whether two texts share more than a hair's breadth."""
    beside = one.right <= other.left + 0.5 or other.right <= one.left + 0.5
    return not (beside or one.bottom <= other.top + 0.5 or other.bottom <= one.top + 0.5)


def golden_sheet(draw: Callable[[], Picture], golden: Path, monkeypatch: pytest.MonkeyPatch) -> Sheet:
    """Return the only sheet that is drawn; it must equal the golden file and fit the page, and no texts may overlap."""
    sheets: list[Sheet] = []
    finish = Sheet.finish
    monkeypatch.setattr(Sheet, "finish", lambda sheet: sheets.append(sheet) or finish(sheet))
    assert draw().svg == golden.read_text(encoding="utf-8")
    (sheet,) = sheets
    assert sheet.width < 1000
    assert not [(a.text, b.text) for a, b in combinations(sheet.boxes, 2) if overlap(a, b)]
    return sheet
