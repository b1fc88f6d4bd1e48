"""Reductions of rows at the end of a chain are exact: forwards and backwards, whole and in blocks of whole rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import EmptyReductionError, StructureError
from pynested.backends.numpy import running
from pynested.backends.numpy.products import LONGEST_DOT

from .arrays import assert_same, holed, jagged
from .functions import HELD

Program = Callable[..., Any]
CHANCE = np.random.default_rng(11)
# Each with what the passes say of it.
ENDS: dict[str, tuple[Program, str]] = {
    "squares": (lambda x, y: ((x - y) ** 2).sum(-1), "3 operators in 1"),
    "a mean that stays": (lambda x, y: (x * y + 1).mean(dim=-1, keepdim=True), "3 operators in 1"),
    "the greatest": (lambda x, y: (x * y).amax(axis=(-1,), keepdims=True), "2 operators in 1"),
    "the least, with ties": (lambda x, y: pn.amin(y * 3 + 1, 2) + x.sum(-1), " operators in 1"),
    "by NumPy": (lambda x, y: np.sum((x - y).exp(), axis=2), "3 operators in 1"),
    "halves": (lambda x, y: (((h := (x * 3).to(pn.float16)) * h).mean(2), h.sum(-1), h.amax(-1)), " operators in 1"),
    "several, and what goes in": (
        lambda x, y: ((d := x * y + y).sum(-1), (d * d).mean(2), d.amax(-1), x.sum(-1), d), "7 operators in 1",
    ),
    "rows without their mean": (lambda x, y: x * y - (x + y).mean(-1, keepdim=True), "3 operators in 1"),
    "one after another": (lambda x, y: ((x - y).abs().sum(-1) * 2 + 1).sqrt(), "6 operators in 2"),
    "a bias": (lambda x, y: (x * HELD["row"] + y).sum(-1), "3 operators in 1"),
    "dense": (lambda x, y: (x.values() * y.values() - HELD["row"]).mean(-1), "3 operators in 1"),
    "what is given away": (lambda x, y: [d := x * y + 1, d.sum(-1)], ""),
}  # fmt: skip
OTHERS: dict[str, tuple[Program, str]] = {
    "of the ragged dimension": (lambda x, y: (x * y + 1).sum(1), "2 operators in 1"),
    "of the first": (lambda x, y: (x.values() * y.values() + 1).sum(0), "2 operators in 1"),
    "of all": (lambda x, y: (x * y + 1).sum(), "2 operators in 1"),
    "of both": (lambda x, y: (x * y + 1).sum((1, 2)), "2 operators in 1"),
    "in another dtype": (lambda x, y: (x * y + 1).sum(-1, dtype=pn.float16), "2 operators in 1"),
    "of bools": (lambda x, y: ((x > y) | (x < 0)).sum(-1), "3 operators in 1"),
    "another one": (lambda x, y: (x * y + 1).logsumexp(-1), "2 operators in 1"),
    "dense, among nested": (
        lambda x, y: [a := x * 2, b := y.values() * 3, (a + b.mean(-1).sum()) * a],
        "2 operators in 1",
    ),
    "alone": (lambda x, y: x.sum(-1), ""),
}


def operands(dtype: Any, width: int, *lengths: int) -> tuple[pn.NestedArray, pn.NestedArray]:
    """Two nested arrays of one structure, of rows of so many elements, in the second small integers."""
    count = sum(lengths)
    offsets = pn.array([0, *np.cumsum(lengths)])
    drawn = CHANCE.normal(size=(count, width)), CHANCE.integers(-2, 3, (count, width)) + 0.0
    x, y = (pn.array(one).to(dtype) for one in drawn)
    HELD["row"] = pn.array(CHANCE.normal(size=width)).to(dtype)
    return pn.nested_array_from_jagged(x, offsets), pn.nested_array_from_jagged(y, offsets)


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple | list) else [results]


def gradients(function: Program, given: tuple[Any, ...], *, even: bool, twice: bool = False) -> list[Any]:
    """What arrives at both operands, where results have cotangents of their own: of ones, or one for each element."""
    given = tuple(one.detach().requires_grad_() for one in given)
    sums = []
    for i, one in enumerate(listed(function(*given))):
        values = one.values() if one.is_nested else one
        weight = pn.arange(values.numel()).reshape(*values.shape).to(values.device, values.dtype) * 0.125 - 3
        sums.append((values * (i + 1 if even else weight)).sum())
    found = pn.grad(sum(sums[1:], start=sums[0]), given, allow_unused=True, create_graph=twice)
    if twice:
        found += pn.grad(sum((one * one).sum() for one in found if one is not None), given, allow_unused=True)
    return [None if one is None else one.detach() for one in found]


def check(function: Program, given: tuple[Any, ...]) -> str:
    """Hold a compiled function against the function itself, bit for bit; what it says of itself."""
    compiled = pn.compile(function)
    assert_same(compiled(*given), function(*given))
    for even in (True, False):
        assert_same(gradients(compiled, given, even=even), gradients(function, given, even=even))
    assert all(graph.calls for graph in compiled.graphs), "a graph was given up for the function itself"
    return compiled.graphs[0].notes[-1] if compiled.graphs[0].notes else ""


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize(("function", "said"), [*ENDS.values(), *OTHERS.values()], ids=[*ENDS, *OTHERS])
def test_reductions_of_rows_end_chains(function: Program, said: str, dtype: Any) -> None:
    for width, *lengths in ((5, 3, 2, 0, 5), (1, 4, 0), (64, 20, 1, 9), (3, 0, 0)):
        assert said in check(function, operands(dtype, width, *lengths))


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("width", [LONGEST_DOT, LONGEST_DOT + 1, 3000])
def test_long_rows_are_added_up_as_they_are_otherwise(width: int) -> None:
    for dtype in (pn.float16, pn.float32, pn.float64):
        check(ENDS["squares"][0], operands(dtype, width, 3, 4))


@pytest.mark.usefixtures("blocks")
def test_regular_dimensions_before_the_rows() -> None:
    given = [pn.nested_array([CHANCE.normal(size=(n, 3, 4)) for n in (2, 0, 5)], layout=pn.jagged)] * 2
    assert "4 operators in 1" in check(lambda x, y: (x * 1.5 + y).square().mean(-1), (given[0], given[1].clone()))
    x = given[0].transpose(1, 2)
    assert "3 operators in 1" in check(lambda x, y: (x * 1.5 + y).amax(-1, keepdim=True), (x, x * 2))


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", ["squares", "a mean that stays", "several, and what goes in", "the least, with ties"])
def test_derivatives_of_derivatives_and_tangents(name: str) -> None:
    function, given = ENDS[name][0], operands(pn.float64, 4, 3, 2)
    compiled = pn.compile(function)
    found, expected = (gradients(f, given, even=False, twice=True) for f in (compiled, function))
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None) and (one is None or pn.allclose(one, other, rtol=1e-12, atol=1e-12))
    for one, other in zip(*[pn.jvp(f, given, given[::-1]) for f in (compiled, function)], strict=True):
        assert_same(one, other)


@pytest.mark.usefixtures("blocks")
def test_extremes_and_infinities() -> None:
    values = CHANCE.choice([0.0, 1.0, np.inf, -np.inf, np.nan, 2.0], (40, 6))
    x = pn.nested_array_from_jagged(pn.array(values), pn.array([0, 10, 40])).requires_grad_()
    for reduce in (pn.amax, pn.amin, pn.sum):
        found = []
        for f in (compiled := pn.compile(lambda x, reduce=reduce: reduce(x * 1.0, -1)), compiled.function):
            y = f(x)
            numbers = [y.detach().values().numpy(), pn.grad(y, x, y * 0 + 3, allow_unused=True).values().numpy()]
            found += [np.where(np.isnan(one), 7, one).tobytes() for one in numbers]
        assert found[:2] == found[2:] and compiled.graphs[0].calls


def test_operands_that_do_not_line_up_are_left_to_the_operators() -> None:
    x, _ = operands(pn.float64, 2, 2, 3)
    for name in ("squares", "a mean that stays", "the greatest"):
        compiled = pn.compile(function := ENDS[name][0])
        strided = jagged(2, 3, layout=pn.strided)
        for a, b in ((x, holed(2, 3)), (holed(2, 3), x), (x, pn.randn(2, 1, 2)), (strided, strided * 2)):
            assert_same(compiled(a, b), function(a, b))
            assert_same(gradients(compiled, (a, b), even=False), gradients(function, (a, b), even=False))
        with pytest.raises(StructureError, match="the operands differ at component 1"):
            compiled(x, jagged(2, 4))


def test_rows_of_nothing() -> None:
    x = pn.nested_array_from_jagged(pn.zeros(5, 0), pn.array([0, 2, 5]))
    for name in ("squares", "a mean that stays"):
        check(ENDS[name][0], (x, x * 2))
    compiled = pn.compile(lambda x: (x * 2).amax(-1))
    assert_same(compiled(one := jagged(2, 3)), (one * 2).amax(-1))
    with pytest.raises(EmptyReductionError) as caught:
        compiled(x)
    assert any("compiled = pn.compile(lambda x: (x * 2).amax(-1))" in str(one.statement) for one in caught.traceback)


def test_gradients_by_what_lies_inside() -> None:
    def function(x: Any) -> Any:
        inner = (x * 2).sin()
        total = (inner * inner).sum(-1)
        return pn.grad(total.sqrt().sum(), [inner, total])

    x = jagged(2, 3).requires_grad_()
    compiled = pn.compile(function)
    assert_same(list(compiled(x)), list(function(x)))
    assert compiled.graphs[0].calls


def test_threads_meet_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 3)
    for dtype in (pn.float32, pn.float64):
        check(ENDS["several, and what goes in"][0], operands(dtype, 37, 3, 9_000, 0, 8_001))


@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
def test_on_devices_a_chain_ends_before_a_reduction() -> None:
    given = tuple(one.to("emulated") for one in operands(pn.float32, 4, 3, 2))
    assert "2 operators in 1" in check(lambda x, y: (x * y + 1).sum(-1), given)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [pn.float64, pn.float16], ids=str)
def test_blocks_hold_whole_rows(dtype: Any) -> None:
    for function, said in (*ENDS.values(), *OTHERS.values()):
        assert said in check(function, operands(dtype, 33, 3, 2, 0, 9))
