"""Every picture is held byte for byte; after a change that is meant, running this file as a program draws them anew."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.pictures import Picture, draw_jagged, draw_strided, picture
from pynested.pictures.palette import CELL_INK, FILLS, LINES, contrast
from pynested.pictures.strip import lanes, pieces
from pynested.pictures.svg import Sheet

GOLDEN = Path(__file__).parent / "golden"


def ints(*numbers: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(numbers, dtype=np.int64)


def packed(lengths: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.concatenate([ints(0), np.cumsum(ints(*lengths))])


def grids(sizes: list[tuple[int, ...]]) -> tuple[Any, Any, Any]:
    """Return sizes, strides and offsets of row-major components that follow one another."""
    strides = [[int(np.prod(size[k + 1 :])) for k in range(len(size))] for size in sizes]
    return ints(*sizes), ints(*strides), packed([int(np.prod(size)) for size in sizes])[:-1]


NINE = np.array([1.5, 2, 7, 0.5, 4, 3, 9, 8.25, 6])
NO_SIZES = np.zeros((0, 2), np.int64)

JAGGED: dict[str, tuple[Any, ...]] = {
    "packed": (NINE, packed([2, 0, 4, 1, 2])),
    "holes": (np.arange(12) / 3, ints(8, 1, 3, 3, 0), ints(3, 4, 0, 2)),
    "overlap": (np.arange(5), ints(0, 1, 1, 9), ints(4, 2, 3)),
    "rows_of_two": (np.arange(14.0).reshape(7, 2) - 3, packed([3, 0, 4])),
    "rows_of_ten": (np.arange(60.0).reshape(6, 10) / 3, packed([2, 4])),
    "long": (np.arange(20000.0) * 1.37, packed([i % 40 for i in range(1000)])),
    "one_long_component": (np.arange(3000.0), packed([3000])),
    "many_components": (np.arange(60), packed([k % 6 for k in range(24)])),
    "empty_components": (np.zeros((0, 3)), ints(0, 0, 0)),
    "no_components": (np.zeros(0), ints(0)),
    "bool": (np.array([True, False, True]), packed([1, 2])),
    "not_finite": (np.array([np.nan, -np.inf, -0.0, -1e-300], np.float64), packed([3, 1])),
}
STRIDED: dict[str, tuple[Any, ...]] = {
    "three_ways": (np.arange(10, 34), ints((2, 3), (3, 2), (2, 2)), ints((3, 1), (1, 3), (5, 1)), ints(0, 6, 14)),
    "overlap": (np.arange(12) / 4, ints((2, 2), (2, 3), (1, 0)), ints((2, 1), (3, -1), (1, 1)), ints(0, 4, 5)),
    "one_dimension": (np.arange(9), ints((2,), (0,), (4,)), ints((1,), (1,), (-2,)), ints(0, 3, 8)),
    "three_dimensions": (np.arange(40), *grids([(2, 2, 3), (3, 1, 4)])),
    "long": (np.arange(119000.0), *grids([(10 + i, 20) for i in range(100)])),
    "long_in_three": (
        np.arange(6000),
        ints((20, 10, 10), (40, 10, 10)),
        ints((100, 10, 1), (100, 1, 10)),
        ints(0, 2000),
    ),
    "many_components": (np.arange(60.0), *grids([(1 + i % 3, 2) for i in range(15)])),
    "far_positions": (np.zeros(10**6), ints((2, 3), (4, 4)), ints((3, 1), (1, 9)), ints(123450, 999900)),
    "broadcast": (np.arange(3), ints((2, 3)), ints((0, 1)), ints(0)),
    "scalars": (np.arange(5) / 7, np.zeros((3, 0), np.int64), np.zeros((3, 0), np.int64), ints(0, 1, 4)),
    "no_components": (np.zeros(0), NO_SIZES, NO_SIZES, ints()),
}
NAMES = [f"jagged_{name}" for name in JAGGED] + [f"strided_{name}" for name in STRIDED]


def draw(name: str) -> Sheet:
    layout, _, case = name.partition("_")
    return draw_jagged(*JAGGED[case]) if layout == "jagged" else draw_strided(*STRIDED[case])


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_the_golden_one(name: str) -> None:
    assert draw(name).finish() == (GOLDEN / f"{name}.svg").read_text(encoding="utf-8")


def test_there_are_no_golden_pictures_of_nothing() -> None:
    assert sorted(file.stem for file in GOLDEN.glob("*")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_well_formed(name: str) -> None:
    root = ElementTree.fromstring(draw(name).finish())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label")
    assert not [element for element in root.iter() if element.get("id")], "ids would collide on a page of pictures"


@pytest.mark.parametrize("name", NAMES)
def test_no_text_lies_on_another(name: str) -> None:
    collisions = [(a.text, b.text) for a, b in combinations(draw(name).boxes, 2) if a.overlaps(b)]
    assert collisions == []


@pytest.mark.parametrize("seed", range(25))
def test_no_text_lies_on_another_in_any_structure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, longest, rows = int(rng.integers(0, 20)), int(rng.choice([2, 5, 60])), int(rng.choice([80, 10**6]))
    lengths = rng.integers(0, longest, count)
    offsets = np.append(rng.integers(0, rows - longest, count), 0)
    sheet = draw_jagged(np.zeros((rows, int(rng.integers(1, 5)))), offsets, lengths)
    sizes, strides = rng.integers(0, longest, (count, 2)), rng.integers(0, 9, (count, 2))
    other = draw_strided(np.zeros(rows + 2000), sizes, strides, offsets[:-1])
    collisions = [(a, b) for page in (sheet, other) for a, b in combinations(page.boxes, 2) if a.overlaps(b)]
    assert collisions == []


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_of_a_size_that_can_be_looked_at(name: str) -> None:
    root = ElementTree.fromstring(draw(name).finish())
    assert float(root.get("width", "inf")) < 2000
    assert float(root.get("height", "inf")) < 800


def test_a_picture_of_a_long_array_is_short() -> None:
    assert len(draw("jagged_long").finish()) < 40_000


def test_text_is_escaped() -> None:
    sheet = Sheet('"<&>"')
    sheet.text(0, 0, "<b>", title="<script>")
    ElementTree.fromstring(sheet.finish())
    assert "<script>" not in sheet.finish()


def test_colours_can_be_read() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert min(contrast(CELL_INK, fill) for fill in FILLS) > 4.5
    assert min(contrast(line, page) for line in LINES for page in ("#ffffff", "#111111")) > 3.5


def test_boxes_that_collide_are_found() -> None:
    sheet = Sheet("two words on one spot")
    sheet.text(0, 20, "word")
    sheet.text(10, 24, "other")
    first, second = sheet.boxes
    assert first.overlaps(second)


def test_pieces_tell_holes_from_what_is_left_out() -> None:
    cut = pieces({0: (0,), 1: (0,), 8: (0,), 20: (1,)}, 30, lambda start, stop: start < 8)
    assert [(piece.start, piece.stop, piece.kind, piece.owners) for piece in cut] == [
        (0, 2, "cells", (0,)),
        (2, 8, "more", (0,)),
        (8, 9, "cells", (0,)),
        (9, 20, "hole", ()),
        (20, 21, "cells", (1,)),
        (21, 30, "hole", ()),
    ]


def test_lanes_keep_captions_apart() -> None:
    assert lanes([(0, 10), (5, 15), (12, 20), (18, 30)]) == [0, 1, 2, 0]


def test_picture_of_a_jagged_array() -> None:
    array = pn.nested_array([[1.5, 2], [], [7, 0.5, 4, 3], [9], [8.25, 6]], layout=pn.jagged, requires_grad=True)
    assert picture(array).svg == draw("jagged_packed").finish()


def test_picture_of_a_jagged_array_whose_last_dimension_is_ragged() -> None:
    array = pn.nested_array([np.ones((2, 3)), np.ones((2, 1))], layout=pn.jagged)
    assert picture(array).alt.startswith("A jagged array: 2 components of lengths 3, 1 in one buffer of 4 values")


def test_picture_of_a_view_shows_the_holes() -> None:
    array = pn.narrow(np.arange(12.0).reshape(3, 4), 1, np.array([1, 0, 2]), np.array([2, 0, 2]), layout=pn.jagged)
    assert "offsets 1, 4, 10" in picture(array).alt


def test_picture_of_a_strided_array() -> None:
    array = pn.nested_array([np.ones((2, 3)), np.zeros((1, 2))]).transpose(1, 2)
    assert (
        picture(array).alt
        == "A strided array: 2 components in one buffer of 8 values; sizes 3 × 2; 2 × 1; offsets 0, 6"
    )


def test_a_notebook_gets_an_image_and_a_file_the_document(tmp_path: Path) -> None:
    shown = Picture(draw("jagged_packed"))
    html = ElementTree.fromstring(shown._repr_html_())
    assert html.tag == "img"
    assert html.get("alt") == shown.alt
    assert html.get("src", "").startswith("data:image/svg+xml;base64,")
    shown.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == shown.svg
    for name in ("picture.png", "picture"):
        with pytest.raises(ArgumentError, match=r"does not end in \.svg"):
            shown.save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


if __name__ == "__main__":
    for each in NAMES:
        (GOLDEN / f"{each}.svg").write_text(draw(each).finish(), encoding="utf-8", newline="\n")
