"""Every picture is held byte for byte; after a change that is meant, running this file as a program draws them anew."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, MissingDependency
from pynested.pictures import Picture, draw_jagged, draw_strided, picture
from pynested.pictures.palette import CELL_INK, FILLS, LINES, PAGE_INK, contrast, tint
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


SVG = "{http://www.w3.org/2000/svg}"
WIDEST = 1000  # pixels; a notebook shows wider ones smaller, until their text cannot be read
PAGES = {"light": "#ffffff", "dark": "#111111"}
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
    "ends_left_out": (np.arange(30.0), packed([5] * 6)),
    "rows_of_three": (np.arange(36.0).reshape(12, 3) / 7 - 2, packed([2, 5, 1, 4])),
    "large_numbers": (np.array([-1e5, -8.12e5, -2e4, 25252, 0.5, 4e5, 0]), packed([2, 5])),
    "long_overlap": (np.arange(100), ints(0, 20, 40, 0), ints(60, 60, 60)),
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
    "three_dimensions_in_full": (np.arange(36), *grids([(2, 3, 4), (2, 2, 3)])),
    "many_small_matrices": (np.ones(18), *grids([(2, 1, 1)] * 9)),
    "four_dimensions": (np.arange(4000) - 2000, *grids([(5, 4, 10, 9), (5, 4, 10, 11)])),
    "broadcast": (np.arange(3), ints((2, 3)), ints((0, 1)), ints(0)),
    "scalars": (np.arange(5) / 7, np.zeros((3, 0), np.int64), np.zeros((3, 0), np.int64), ints(0, 1, 4)),
    "no_components": (np.zeros(0), NO_SIZES, NO_SIZES, ints()),
}
NAMES = [f"jagged_{name}" for name in JAGGED] + [f"strided_{name}" for name in STRIDED]


def texts_of(shown: Picture) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(shown.svg).iter(f"{SVG}text")]


@cache
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
def test_any_structure_fits_the_page_and_no_text_lies_on_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, longest, rows = int(rng.integers(0, 20)), int(rng.choice([2, 5, 60])), int(rng.choice([80, 10**6]))
    lengths = rng.integers(0, longest, count)
    offsets = np.append(rng.integers(0, rows - longest, count), 0)
    values = np.resize([0.0, 1.5, -1e300, -1 / 3, 0.5], (rows, int(rng.integers(1, 5))))
    sheet = draw_jagged(values, offsets, lengths)
    rank = int(rng.integers(1, 5))
    sizes, strides = rng.integers(0, longest, (count, rank)), rng.integers(0, 9, (count, rank))
    other = draw_strided(np.resize([7, -123456789, 0], rows + 3000), sizes, strides, offsets[:-1])
    collisions = [(a, b) for page in (sheet, other) for a, b in combinations(page.boxes, 2) if a.overlaps(b)]
    assert collisions == []
    assert max(box.right for page in (sheet, other) for box in page.boxes) < WIDEST


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_of_a_size_that_can_be_looked_at(name: str) -> None:
    root = ElementTree.fromstring(draw(name).finish())
    assert float(root.get("width", "inf")) < WIDEST
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
    assert min(contrast(line, page) for line in LINES for page in PAGES.values()) > 3.5
    assert min(contrast(CELL_INK, tint(k)) for k in range(7)) > 4.5
    assert min(contrast(PAGE_INK[theme], PAGES[theme]) for theme in PAGES) > 6


def test_ink_can_be_read_where_a_page_is_not_of_the_theme_of_the_system() -> None:
    assert contrast(PAGE_INK["light"], PAGES["dark"]) > 2.5 < contrast(PAGE_INK["dark"], PAGES["light"])


def test_boxes_that_collide_are_found() -> None:
    sheet = Sheet("two words on one spot")
    sheet.text(0, 20, "word")
    sheet.text(10, 24, "other")
    first, second = sheet.boxes
    assert first.overlaps(second)


def test_pieces_tell_holes_from_what_is_left_out() -> None:

    def users(start: int, _: int) -> tuple[int, ...] | None:
        return (0,) if start < 5 else () if start < 8 else None

    cut = pieces({0: (0,), 1: (0,), 8: (0,), 20: (1,)}, 30, [0, 5, 9], users, hidden=4)
    assert [(piece.start, piece.stop, piece.kind, piece.owners) for piece in cut] == [
        (0, 2, "cells", (0,)),
        (2, 5, "cells", (0,)),
        (5, 8, "cells", ()),
        (8, 9, "cells", (0,)),
        (9, 20, "hole", ()),
        (20, 21, "cells", (1,)),
        (21, 30, "hole", ()),
    ]
    assert [piece.kind for piece in pieces({0: (0,)}, 4, [], users, hidden=3)] == ["cells", "more"]


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
    html = ElementTree.fromstring(shown._repr_html_())[1]
    assert html.tag == "img"
    assert html.get("alt") == shown.alt
    assert html.get("src", "").startswith("data:image/svg+xml;base64,")
    shown.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == shown.svg
    for name in ("picture.pdf", "picture"):
        with pytest.raises(ArgumentError, match=r"ends neither in \.svg nor in \.png"):
            shown.save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


def test_a_png_is_twice_as_large_and_white_where_nothing_is_drawn(tmp_path: Path) -> None:
    cairosvg = pytest.importorskip("cairosvg")
    assert cairosvg
    shown = Picture(draw("jagged_packed"))
    shown.save(tmp_path / "picture.PNG")
    data = (tmp_path / "picture.PNG").read_bytes()
    width = ElementTree.fromstring(shown.svg).get("width", "")
    assert data.startswith(b"\x89PNG") and int.from_bytes(data[16:20]) == round(2 * float(width))


def test_without_the_library_a_png_is_refused_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(MissingDependency, match=r"pip install cairosvg.*Or save a \.svg"):
        Picture(draw("jagged_packed")).save(tmp_path / "picture.png")
    assert not [*tmp_path.iterdir()]


def test_a_picture_says_what_the_array_is_called() -> None:
    for layout in (pn.jagged, pn.strided):
        array = pn.nested_array([[1.0, 2], [], [3]], layout=layout)
        texts = texts_of(picture(array, name="z.grad"))
        assert "z.grad[2]" in texts and not [text for text in texts if "x[" in text]


if __name__ == "__main__":
    for each in NAMES:
        (GOLDEN / f"{each}.svg").write_text(draw(each).finish(), encoding="utf-8", newline="\n")
