"""Pictures of arrays: colours, names, files, notebooks, devices, and refusals; `test_golden.py` has what is drawn."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, MissingDependency
from pynested.pictures import beside, picture
from pynested.pictures.svg import CELL_INK, FILLS, LINES, PAGE_INK, tint_color

from .drawings import PICTURES, ragged, texts_of

DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16")
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


def test_a_notebook_gets_an_image_and_a_file_the_document(tmp_path: Path) -> None:
    shown = PICTURES["jagged_packed"]()
    html = ElementTree.fromstring(shown._repr_html_())[1]
    assert html.tag == "img" and html.get("alt") == shown.alt
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
        texts = texts_of(picture(pn.nested_array([[1.0, 2], [], [3]], layout=layout), name="z.grad"))
        assert "z.grad[2]" in texts and not [text for text in texts if "x[" in text]


REFUSED: list[tuple[Any, str]] = [
    (lambda: beside({"x": pn.array([1.0])}), "none of the arrays is nested"),
    (lambda: beside({"x": ragged(), "y": ragged()[:2]}), "y has 2 components, the first nested array 4"),
    (lambda: beside({"x": ragged(), "y": pn.zeros((3, 2))}), r"y is \(3, 2\), which has not one row for each"),
    (lambda: beside({"x": ragged(), "y": [1, 2]}), "y is list"),  # type: ignore[dict-item]
    (lambda: beside([ragged()]), "takes arrays by their names .*, not a list"),  # type: ignore[arg-type]
    (lambda: beside({1: ragged()}), "not a dict with other keys"),  # type: ignore[dict-item]
    (lambda: beside({"x": ragged()}, padded=["y"]), "no 'y' among the arrays, which are x"),
    (lambda: beside({"x": ragged()}, padded="x"), "padded and stretched take several names"),
    (lambda: beside({"x": ragged()}, padded=3), "stretched take several names"),  # type: ignore[arg-type]
    (lambda: beside({"x": ragged()}, stretched="x"), "several names, as in padded="),
    (lambda: picture([1.0]), "are drawn, not list"),  # type: ignore[arg-type]
    (lambda: picture(ragged(), name=3), "name is text, not an int"),  # type: ignore[arg-type]
    (lambda: picture(ragged(), color="red"), "there is no argument 'color'"),  # type: ignore[call-arg]
]


@pytest.mark.parametrize(("call", "text"), REFUSED, ids=[text for _, text in REFUSED])
def test_other_arguments_are_refused(call: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        call()


SHOWN: dict[str, Any] = {
    "jagged": ragged, "strided": lambda: pn.nested_array([[[1.0]], [[2.0, 3.0]]]),
    "dense": lambda: pn.array([1.0, 2.0]),
    "tape": lambda: pn.tape(pn.array(1.0, requires_grad=True) * 2),
    "mask": lambda: pn.create_block_mask(lambda b, h, i, j: i >= j, None, None, 4, 4, BLOCK_SIZE=2),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_gets_the_text_and_folded_away_the_picture(name: str) -> None:
    shown = SHOWN[name]()
    html = ElementTree.fromstring(shown._repr_html_())
    assert html.findtext("pre") == repr(shown)
    folded = html.find("details")
    assert folded is not None and folded.get("open") is None and folded.findtext("summary") == "picture"
    image = folded.find("div/img")
    assert image is not None and base64.b64decode(image.get("src", "").split(",")[1]).decode() == picture(shown).svg
    assert {element.tag for element in html.iter()} == {"div", "pre", "details", "summary", "style", "img"}


def test_text_is_escaped_in_a_notebook() -> None:
    x = pn.array(1.0, requires_grad=True)
    shown = pn.tape(x * 2, **{"<script>": x})
    assert "<script>" in repr(shown)
    for text in (shown._repr_html_(), picture(shown).svg):
        ElementTree.fromstring(text)
        assert "<script>" not in text


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=["jagged", "strided"])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_arrays_of_every_dtype_are_drawn_on_every_device(device: str, layout: pn.Layout) -> None:
    array = pn.nested_array([[1, 0, 1], [], [1]], layout=layout, device=device)
    for dtype in DTYPES[: -1 if device == "cpu" else None]:
        one, none = ("True", "False") if dtype == "bool" else ("1", "0")
        texts = texts_of(picture(array.to(dtype=dtype)))
        assert texts[texts.index("x[0]") + 1 :][:3] == [one, none, one]
