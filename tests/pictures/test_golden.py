"""Each picture is the golden one, fits the page, and can be read."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from pynested.pictures import draw_jagged, draw_strided
from pynested.pictures.svg import Box, Sheet

from .drawings import GOLDEN, PICTURES, SVG


def overlap(one: Box, other: Box) -> bool:
    """Return whether two texts share more than a hair's breadth."""
    beside = one.right <= other.left + 0.5 or other.right <= one.left + 0.5
    return not (beside or one.bottom <= other.top + 0.5 or other.bottom <= one.top + 0.5)


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_the_golden_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets: list[Sheet] = []
    finish = Sheet.finish
    monkeypatch.setattr(Sheet, "finish", lambda sheet: sheets.append(sheet) or finish(sheet))
    text = PICTURES[name]().svg
    assert text == (GOLDEN / f"{name}.svg").read_text(encoding="utf-8")
    assert sorted(file.stem for file in GOLDEN.glob("*")) == sorted(PICTURES)
    (sheet,) = sheets
    assert sheet.width < 1000
    assert not [(a.text, b.text) for a, b in combinations(sheet.boxes, 2) if overlap(a, b)]
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg" and root.get("aria-label")
    assert not [element for element in root.iter() if element.get("id")], "ids would collide on a page of pictures"
    assert not name.startswith(("jagged", "strided")) or float(root.get("height", "inf")) < 800


@pytest.mark.parametrize("seed", range(12))
def test_any_structure_fits_the_page_and_no_text_lies_on_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, longest, rows = int(rng.integers(0, 20)), int(rng.choice([2, 5, 60])), int(rng.choice([80, 10**6]))
    lengths = rng.integers(0, longest, count)
    offsets = np.append(rng.integers(0, rows - longest, count), 0)
    values = np.resize([0.0, 1.5, -1e300, -1 / 3, 0.5], (rows, int(rng.integers(1, 5))))
    rank = int(rng.integers(1, 5))
    sizes, strides = rng.integers(0, longest, (count, rank)), rng.integers(0, 9, (count, rank))
    numbers = np.resize([7, -123456789, 0], rows + 3000)
    for page in draw_jagged(values, offsets, lengths), draw_strided(numbers, sizes, strides, offsets[:-1]):
        assert [(a, b) for a, b in combinations(page.boxes, 2) if overlap(a, b)] == []
        assert max(box.right for box in page.boxes) < 1000


def test_boxes_that_collide_are_found() -> None:
    sheet = Sheet("two words on one spot")
    sheet.text(0, 20, "word")
    sheet.text(10, 24, "other")
    assert overlap(*sheet.boxes)
