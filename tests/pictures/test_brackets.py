"""The bracket under a component begins and ends where its cells do, also if the end of the buffer is left out."""

from __future__ import annotations

import re
from itertools import pairwise, product
from xml.etree import ElementTree

import numpy as np
import pytest

from pynested.pictures.jagged_picture import draw_jagged
from pynested.pictures.svg import Sheet

from .drawings import SVG

BRACKET = re.compile(r"^M([\d.]+) ([\d.]+)v5H([\d.]+)v-5$")


def brackets(sheet: Sheet) -> list[tuple[float, float]]:
    """Return the ends of the brackets, from left to right."""
    paths = [mark.get("d", "") for mark in ElementTree.fromstring(sheet.finish()).iter(f"{SVG}path")]
    return sorted((float(match[1]), float(match[3])) for match in map(BRACKET.match, paths) if match)


def strip(sheet: Sheet) -> tuple[float, float]:
    """Return the ends of the buffer, whose marks lie on the line of the first position, 0."""
    rectangles = ElementTree.fromstring(sheet.finish()).iter(f"{SVG}rect")
    marks = [mark for mark in rectangles if mark.get("height") == "32"]
    lefts = [float(mark.get("x", "")) for mark in marks]
    return min(lefts), max(left + float(mark.get("width", "")) for left, mark in zip(lefts, marks, strict=True))


@pytest.mark.parametrize("row", [(), (3,)])
@pytest.mark.parametrize("count", range(1, 9))
def test_brackets_of_packed_components_follow_one_another_and_end_with_the_buffer(
    count: int, row: tuple[int, ...]
) -> None:
    for length in (1, 2, 3, 4, 5, 6, 7, 9, 24, 25, 200):
        values = np.arange(float(count * length * int(np.prod(row)))).reshape(count * length, *row)
        sheet = draw_jagged(values, np.arange(count + 1) * length)
        spans, (left, right) = brackets(sheet), strip(sheet)
        assert left < spans[0][0] < left + 8
        assert right - 8 < spans[-1][1] < right or len(spans) < count  # where the last is left out
        assert all(start < end for start, end in spans)
        assert all(end < start for (_, end), (start, _) in pairwise(spans))


def test_brackets_of_components_that_overlap_end_where_their_cells_do() -> None:
    """Offsets 0, 3, 6 and lengths 6: the second begins in the middle of the first, and ends in that of the third."""
    spans = brackets(draw_jagged(np.arange(12.0), np.array([0, 3, 6, 0]), np.array([6, 6, 6])))
    cell = (spans[0][1] - spans[0][0] + 8) / 6
    expected = [(start * cell, (start + 6) * cell) for start in (0, 3, 6)]
    assert np.allclose(np.array(spans) - spans[0][0], np.add(expected, (0, -8)))


@pytest.mark.parametrize(("count", "length"), [*product((3, 8, 30), (1, 5, 60))])
def test_brackets_stay_on_the_buffer_if_there_are_gaps(count: int, length: int) -> None:
    offsets = np.arange(count + 1) * (length + 7) + 5
    sheet = draw_jagged(np.zeros(int(offsets[-1]) + length), offsets, np.full(count, length))
    spans, (left, right) = brackets(sheet), strip(sheet)
    assert left < spans[0][0] and spans[-1][1] < right
    assert all(end < start for (_, end), (start, _) in pairwise(spans))
