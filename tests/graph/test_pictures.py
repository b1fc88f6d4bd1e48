"""Every picture of a graph is held byte for byte; running this module as a program draws them anew:

python -m tests.graph.test_pictures
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pynested as pn
from pynested.pictures import Picture

from ..sheets import golden_sheet

GOLDEN = Path(__file__).parent / "pictures"
WEIGHT, BIAS = pn.ones(4, 4), pn.zeros(4)


def ragged(*lengths: int) -> Any:
    return pn.nested_array([pn.ones(length, 4) for length in lengths], layout=pn.jagged)


def one_call(x: Any) -> Any:
    return pn.softmax(x, 1)


def two_structures(x: Any, y: Any, w: Any, b: Any) -> Any:
    h, k = pn.relu(pn.linear(x, w, b)), pn.relu(pn.linear(y, w, b))
    m = h.mean(1) - k.mean(1)
    return {"h": h * 2, "m": m, "both": (m, k.amax(1))}


def writes(x: Any) -> Any:
    z = x.clone()
    z[0][:] = 0.0
    z += 1
    return z.sum(1)


def slope(x: Any, w: Any) -> Any:
    return pn.grad((pn.linear(x, w) ** 2).sum(), (x, w))


def attention(x: Any, w: Any) -> Any:
    q, k, v = (pn.linear(x, w).unflatten(-1, (2, 2)).transpose(1, 2) for _ in range(3))
    return x + pn.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2, 3)


def captured(x: Any) -> Any:
    for _ in range(4):
        x = x + pn.gelu(pn.linear(x, WEIGHT, BIAS)) * 0.5
    return x


def long_line(x: Any, w: Any) -> Any:
    return pn.cat([x, x @ w, x, x @ w, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x], dim=2)


def nothing(x: Any) -> Any:
    return x


GRAPHS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "one_call": (one_call, lambda: (ragged(3, 5),)),
    "two_structures": (two_structures, lambda: (ragged(3, 5), ragged(2, 6), WEIGHT, BIAS)),
    "writes": (writes, lambda: (ragged(3, 5),)),
    "slope": (slope, lambda: (ragged(3, 5).requires_grad_(), pn.ones(4, 4, requires_grad=True))),
    "attention": (attention, lambda: (ragged(3, 5), WEIGHT)),
    "captured": (captured, lambda: (ragged(3, 5),)),
    "long_line": (long_line, lambda: (ragged(3, 5), WEIGHT)),
    "nothing": (nothing, lambda: (ragged(3, 5),)),
}


def drawn(name: str) -> Picture:
    function, examples = GRAPHS[name]
    return pn.trace(function, *examples()).picture()


@pytest.mark.parametrize("name", GRAPHS)
def test_a_picture_is_the_golden_one_fits_the_page_and_no_text_lies_on_another(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden_sheet(lambda: drawn(name), GOLDEN / f"{name}.svg", monkeypatch)


def test_there_are_no_golden_pictures_of_nothing() -> None:
    assert {file.stem for file in GOLDEN.glob("*")} == {*GRAPHS}


def test_what_has_the_rows_of_an_operand_has_its_colour_and_its_name() -> None:
    """A result of attention has one row for each query, and is added to what the queries were made of."""
    assert "j2" not in drawn("attention").alt


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in sys.argv[1:] or GRAPHS:
        (GOLDEN / f"{name}.svg").write_text(drawn(name).svg, encoding="utf-8")
