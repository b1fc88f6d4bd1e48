"""Generated kernels that are wrong in one thing each: every one is caught by holding a chain against its operators."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import registry
from pynested.graph.cuda import launching

from .arrays import assert_same
from .test_kernels import EXACT, operands, results_and_gradients

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")

Change = Callable[[str], str]


def changed(pattern: str, by: Any) -> Change:
    return lambda text: re.sub(pattern, by, text)


def contracted(text: str) -> str:
    """A product that is not rounded before it is added to."""
    made = re.search(r"const float (v\d+) = Multiply::of\((\S+), (\S+)\);", text)
    assert made is not None
    product, a, b = made.groups()
    return re.sub(rf"Add::of\({product}, (\S+)\);", rf"(float)fma(double({a}), double({b}), double(\1));", text)


COUNT = ", count, (i64)"
QUIET = '#pragma GCC diagnostic ignored "-Wunused-variable"\n'  # so that what is wrong is compiled
WRONG: dict[str, tuple[str, Any, Change]] = {
    "swapped operands": ("a bias", pn.float32, changed(r"Subtract::of\((\S+), (\S+)\);", r"Subtract::of(\2, \1);")),
    "a stale register": (
        "read twice", pn.float32, changed(r"down<(\w+)>\(v(\d+)\)", lambda m: f"down<{m[1]}>(v{int(m[2]) - 1})"),
    ),
    "a cast left out": ("a bias", pn.float16, changed(r"rounded<\w+>", "")),
    "the last block left out": (
        "read twice", pn.float32, lambda text: text.replace(COUNT, ", count / 256 * 256, (i64)"),
    ),
    "the last block out of range": (
        "read twice", pn.float32, lambda text: text.replace(COUNT, ", (count + 255) / 256 * 256, (i64)"),
    ),
    "all blocks at the beginning": ("read twice", pn.float32, changed(r"blockIdx.x \* 256 \+ ", "")),
    "a pull that reads an overwritten value": (
        "a bias", pn.float32, changed(r"ReluBackward::of\((\S+), v\d+\)", r"ReluBackward::of(\1, \1)"),
    ),
    "a choice the other way round": (
        "a choice", pn.float32, changed(r"Where::of\((\S+), (\S+), (\S+)\)", r"Where::of(\1, \3, \2)"),
    ),
    "a condition that is not turned": ("a choice", pn.float32, changed(r"LogicalNot::of\((\S+)\)", r"\1")),
    "a cotangent in the place of what was there": (
        "read twice", pn.float32, changed(r"Add::of\((v\d+), (v\d+)\);", r"\2;"),
    ),
    "an operand spread along another dimension": ("a bias", pn.float32, changed(r"i1 \* step", "i0 * step")),
    "a product and a sum rounded once": ("a bias", pn.float32, contracted),
    "results in each other's place": (
        "several results", pn.float32, changed(r"y([01])\[i\]", lambda m: f"y{1 - int(m[1])}[i]"),
    ),
}  # fmt: skip
GUARDS: list[Any] = []  # memory that kernels may write to, and some behind it
BEHIND, UNTOUCHED = 512, -77


def guarded(shape: tuple[int, ...], dtype: Any) -> Any:
    size = int(np.prod(shape))
    GUARDS.append(np.full(size + BEHIND, UNTOUCHED, dtype))
    return GUARDS[-1][:size].reshape(shape)


def check(name: str, dtype: Any) -> None:
    """Hold a chain against its operators: results, gradients, and the memory behind them."""
    GUARDS.clear()
    given = operands(dtype, 40, 0, 690)
    backend: Any = registry.get_backend("emulated")
    expected = results_and_gradients(EXACT[name], given)
    usual, backend.new = backend.new, guarded
    try:
        found = results_and_gradients(compiled := pn.compile(EXACT[name]), given)
    finally:
        backend.new = usual
    assert compiled.graphs[0].calls, "the graph was given up for the function itself"
    assert all((one[-BEHIND:] == UNTOUCHED).all() for one in GUARDS)
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)


def test_the_checks_hold() -> None:
    for name, dtype in {(name, dtype) for name, dtype, _ in WRONG.values()}:
        check(name, dtype)


@pytest.mark.parametrize(("name", "dtype", "change"), WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_caught(name: str, dtype: Any, change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    right, differ = launching.text_of_kernel, []

    def wrong(*given: Any) -> str:
        text = right(*given)
        differ.append(change(text) != text)
        return QUIET + change(text)

    monkeypatch.setattr(launching, "text_of_kernel", wrong)
    with pytest.raises(AssertionError) as caught:
        check(name, dtype)
    assert any(differ) and "given up" not in str(caught.value)
