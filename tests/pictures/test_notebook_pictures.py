"""Pictures of everything that can be drawn, in notebooks and on devices; and refusals."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.pictures import picture
from pynested.pictures.side_by_side_picture import draw_side_by_side

from .drawings import ragged, texts_of

REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "nothing nested": ({"x": pn.array([1.0])}, {}, "none of the arrays is nested"),
    "another batch": ({"x": ragged(), "y": ragged()[:2]}, {}, "y has 2 components, the first nested array 4"),
    "no row each": ({"x": ragged(), "y": pn.zeros((3, 2))}, {}, r"y is \(3, 2\), which has not one row for each"),
    "a list": ({"x": ragged(), "y": [1, 2]}, {}, "y is list"),
    "arrays without names": ([ragged()], {}, "takes arrays by their names .*, not a list"),  # type: ignore[dict-item]
    "names that are no text": ({1: ragged()}, {}, "not a dict with other keys"),  # type: ignore[dict-item]
    "no such name": ({"x": ragged()}, {"padded": ["y"]}, "no 'y' among the arrays, which are x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arrays_that_do_not_fit_side_by_side_are_refused(name: str) -> None:
    arrays, options, message = REFUSED[name]
    with pytest.raises(ArgumentError, match=message):
        draw_side_by_side(arrays, **options)


def test_other_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match="are drawn, not list"):
        picture([1.0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="name is text, not an int"):
        picture(ragged(), name=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="there is no argument 'color'"):
        picture(ragged(), color="red")  # type: ignore[call-arg]


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
    assert "<script>" in repr(shown)
    for text in (shown._repr_html_(), picture(shown).svg):
        ElementTree.fromstring(text)
        assert "<script>" not in text


DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16")


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=["jagged", "strided"])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_arrays_of_every_dtype_are_drawn_on_every_device(device: str, layout: pn.Layout) -> None:
    array = pn.nested_array([[1, 0, 1], [], [1]], layout=layout, device=device)
    for dtype in DTYPES[: -1 if device == "cpu" else None]:
        one, none = ("True", "False") if dtype == "bool" else ("1", "0")
        texts = texts_of(picture(array.to(dtype=dtype)))
        assert texts[texts.index("x[0]") + 1 :][:3] == [one, none, one]
