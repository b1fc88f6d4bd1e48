"""Every kind of entry of an index is named, with what it comes to and the dimension at which it begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

DENSE: list[tuple[Any, list[str]]] = [
    (None, ["None -> unsqueeze at dimension 0"]),
    (..., ["... -> alias"]),
    (1, ["int -> select at dimension 0"]),
    (slice(1, None), ["slice -> slice at dimension 0"]),
    (
        (0, slice(None), None),
        ["int -> select at dimension 0", "slice -> slice at dimension 1", "None -> unsqueeze at dimension 2"],
    ),
    ((..., 0), ["... -> alias at dimension 0", "int -> select at dimension 2"]),
    ([2, 0], ["a list -> take_rows at dimension 0"]),
    (np.array([1]), ["an array -> take_rows at dimension 0"]),
    ([True, False, True], ["a mask -> take_rows of the places where it is true at dimension 0"]),
    (
        (np.ones((3, 4), bool), 1),
        ["a mask -> take_rows of the places where it is true at dimension 0", "int -> select at dimension 2"],
    ),
]  # fmt: skip
NESTED: list[tuple[Any, list[str]]] = [
    (1, ["int -> select at dimension 0 of the batch"]),
    ((slice(1, None), 0), ["slice -> slice at dimension 0 of the batch", "int -> select at dimension 1"]),
    ((..., None), ["... -> alias at dimension 0", "None -> unsqueeze at dimension 2"]),
    ([1, 0, 1], ["a list -> take_rows at dimension 0 of the batch"]),
]


def said(x: Any, index: Any) -> Any:
    with pn.timeline() as t:
        x[index]
    return next(event.facts["index"] for event in t.events if event.name == "getitem")


@pytest.mark.parametrize(("index", "words"), DENSE, ids=lambda one: str(one)[:30])
def test_of_dense_arrays(index: Any, words: list[str]) -> None:
    assert said(pn.zeros(3, 4, 5), index) == words


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided])
@pytest.mark.parametrize(("index", "words"), NESTED, ids=lambda one: str(one)[:30])
def test_of_nested_arrays(index: Any, words: list[str], layout: pn.Layout) -> None:
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=layout)
    if words[0].startswith("..."):
        words = [words[0].replace("at dimension 0", "at dimension 0 of the batch"), words[1]]
    assert said(x, index) == words


def test_of_a_nested_mask_and_of_what_is_refused() -> None:
    x = pn.nested_array([[1.0, 2.0], [3.0]])
    assert said(x, x > 1) == ["a nested mask -> masked_select at dimension 0 of the batch"]
    with pn.timeline() as t, pytest.raises(pn.errors.ArgumentError):
        x[1.5]  # type: ignore[index]
    (refused,) = [event for event in t.events if event.name == "getitem"]
    assert refused.facts["index"] == ["a float -> an error at dimension 0 of the batch"]
    assert refused.facts["raised"] == "ArgumentError"
