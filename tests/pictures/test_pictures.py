"""Pictures of arrays: colours, names, and the files that hold them; `test_golden.py` has what is drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, MissingDependency
from pynested.pictures import picture
from pynested.pictures.svg import CELL_INK, FILLS, LINES, PAGE_INK, tint_color

from .drawings import PICTURES, texts_of

PAGES = {"light": "#ffffff", "dark": "#111111"}


def luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb``, from 0 for black to 1 for white, as WCAG 2 defines it."""
    channels = (int(color[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(color: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21; text wants 4.5, lines and large text 3."""
    dark, light = sorted((luminance(color), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_can_be_read() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert min(contrast(CELL_INK, fill) for fill in FILLS) > 4.5
    assert min(contrast(line, page) for line in LINES for page in PAGES.values()) > 3.5
    assert min(contrast(CELL_INK, tint_color(k)) for k in range(7)) > 4.5
    assert min(contrast(PAGE_INK[theme], PAGES[theme]) for theme in PAGES) > 6
    # A page can have another theme than the system.
    assert contrast(PAGE_INK["light"], PAGES["dark"]) > 2.5 < contrast(PAGE_INK["dark"], PAGES["light"])


def test_picture_of_a_jagged_array() -> None:
    array = pn.nested_array([[1.5, 2], [], [7, 0.5, 4, 3], [9], [8.25, 6]], layout=pn.jagged, requires_grad=True)
    assert picture(array).svg == PICTURES["jagged_packed"]().svg


def test_a_notebook_gets_an_image_and_a_file_the_document(tmp_path: Path) -> None:
    shown = PICTURES["jagged_packed"]()
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
    pytest.importorskip("cairosvg")
    shown = PICTURES["jagged_packed"]()
    shown.save(tmp_path / "picture.PNG")
    data = (tmp_path / "picture.PNG").read_bytes()
    width = ElementTree.fromstring(shown.svg).get("width", "")
    assert data.startswith(b"\x89PNG") and int.from_bytes(data[16:20]) == round(2 * float(width))


def test_without_the_library_a_png_is_refused_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(MissingDependency, match=r"pip install cairosvg.*Or save a \.svg"):
        PICTURES["jagged_packed"]().save(tmp_path / "picture.png")
    assert not [*tmp_path.iterdir()]


def test_a_picture_says_what_the_array_is_called() -> None:
    for layout in (pn.jagged, pn.strided):
        array = pn.nested_array([[1.0, 2], [], [3]], layout=layout)
        texts = texts_of(picture(array, name="z.grad"))
        assert "z.grad[2]" in texts and not [text for text in texts if "x[" in text]
