"""Pictures of dense arrays, arrays side by side, block masks and tapes: what they show, and what is refused."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.pictures import picture
from pynested.pictures.side_by_side_picture import draw_side_by_side

from .drawings import PICTURES, SVG, ragged, texts_of


def test_memory_of_a_dense_view_is_shown_from_its_lowest_element_to_its_highest() -> None:
    """Rows 2 and 0 of three, the columns backwards: 8, 7, 6 and 2, 1, 0 of what lies there as 0 to 8."""
    view = pn.Array(np.arange(9).reshape(3, 3)[::-2, ::-1])
    shown = picture(view)
    assert shown.alt == "A dense array: shape (2, 3), strides (-6, -1), in 9 values of memory"
    texts = texts_of(shown)
    assert texts[2:8] == ["8", "7", "6", "2", "1", "0"] and "x starts at 8" in texts
    assert texts[texts.index("what is in memory") + 3 :][:3] == ["0", "1", "2"]


def test_padding_is_hatched_beyond_each_length() -> None:
    """Lengths 2, 0, 4 and 1 in rows of four: 2 + 4 + 0 + 3 cells are padding."""
    root = ElementTree.fromstring(PICTURES["beside_padded"]().svg)
    assert len([mark for mark in root.iter(f"{SVG}path") if mark.get("opacity") == "0.2"]) == 9


def test_what_is_stretched_is_drawn_as_often_as_it_is_met() -> None:
    """Lengths 2, 0, 4 and 1: beside the element itself 1, 0, 3 and 0 more."""
    root = ElementTree.fromstring(PICTURES["beside_stretched"]().svg)
    ghosts = [text.text for text in root.iter(f"{SVG}text") if text.get("opacity") == "0.7"]
    assert ghosts == ["1", "3", "3", "3"]


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "nothing nested": ({"x": pn.array([1.0])}, {}, "none of the arrays is nested"),
    "another batch": ({"x": ragged(), "y": ragged()[:2]}, {}, "y has 2 components, the first nested array 4"),
    "no row each": ({"x": ragged(), "y": pn.zeros((3, 2))}, {}, r"y is \(3, 2\), which has not one row for each"),
    "a list": ({"x": ragged(), "y": [1, 2]}, {}, "y is list"),
    "arrays without names": ([ragged()], {}, "takes arrays by their names .*, not a list"),  # type: ignore[dict-item]
    "names that are no text": ({1: ragged()}, {}, "not a dict with other keys"),  # type: ignore[dict-item]
    "no such name": ({"x": ragged()}, {"padded": ["y"]}, "no 'y' among the arrays, which are x"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_stand_side_by_side_is_refused(name: str) -> None:
    arrays, options, message = WRONG[name]
    with pytest.raises(ArgumentError, match=message):
        draw_side_by_side(arrays, **options)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ArgumentError, match="are drawn, not list"):
        picture([1.0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="name is text, not an int"):
        picture(ragged(), name=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="there is no argument 'color'"):
        picture(ragged(), color="red")  # type: ignore[call-arg]


def test_the_picture_of_a_tape_says_what_its_text_says() -> None:
    x = pn.array(2.0, requires_grad=True)
    tape = pn.tape(x * x + 1.0, **{"<x>": x})
    assert texts_of(picture(tape)) == [
        "#", "call", "output", "primitive", "<x>", "leaf", "float64 ()", "1", "mul(<x>, <x>)", "float64 ()", "2",
        "add(#1, 1.0)", "float64 ()",
    ]  # fmt: skip


def test_every_rail_of_a_tape_leads_from_what_was_read_to_what_read_it() -> None:
    """x is read by three lines, each of which is read by a sum: 3 + 4 rails, no two of those at one time on one x."""
    x = pn.array(2.0, requires_grad=True)
    root = ElementTree.fromstring(picture(pn.tape(x.sin() + x.cos() + x.tanh())).svg)
    rails = [mark.get("d", "") for mark in root.iter(f"{SVG}path")]
    assert len(rails) == 7
    assert sum(rail.startswith(rails[0].split("V")[0]) for rail in rails) == 3


SHOWN: dict[str, Callable[[], Any]] = {
    "jagged": ragged,
    "strided": lambda: pn.nested_array([[[1.0]], [[2.0, 3.0]]]),
    "dense": lambda: pn.array([1.0, 2.0]),
    "tape": lambda: pn.tape(pn.array(1.0, requires_grad=True) * 2),
    "mask": lambda: pn.create_block_mask(lambda b, h, i, j: i >= j, None, None, 4, 4, BLOCK_SIZE=2),
}


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
    assert "<script>" in repr(shown) and "<script>" not in shown._repr_html_()


DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16")


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=["jagged", "strided"])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_arrays_of_every_dtype_are_drawn_on_every_device(device: str, layout: pn.Layout) -> None:
    array = pn.nested_array([[1, 0, 1], [], [1]], layout=layout, device=device)
    for dtype in DTYPES[: -1 if device == "cpu" else None]:
        one, none = ("True", "False") if dtype == "bool" else ("1", "0")
        texts = texts_of(picture(array.to(dtype=dtype)))
        assert texts[texts.index("x[0]") + 1 :][:3] == [one, none, one]


def test_an_array_on_another_device_is_drawn_too() -> None:
    here, there = (ragged().to(device) for device in ("cpu", "emulated"))
    assert picture(there).svg == picture(here).svg
    assert picture(there.values()).svg == picture(here.values()).svg
