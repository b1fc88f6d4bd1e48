"""Compiled programs give what functions give, whatever passes do: values, gradients, writes, random draws, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.graph import compiling

from .arrays import assert_same, jagged

pytestmark = pytest.mark.usefixtures("small_blocks")

HELD = {"w": pn.array([1.0, 2.0]), "x": jagged(2, 3)}
Program = Callable[[Any], Any]


def kept_apart(x: Any) -> Any:
    return x.exp(), x.exp()


def written_between(x: Any) -> Any:
    before = x + 1
    same = x.sin() * 2
    x.mul_(2)
    after = x * 3
    return before + after, (x.sin() * 2 - same).sum()


def drawn_twice(x: Any) -> Any:
    return (pn.rand_like(x) - pn.rand_like(x)).values()


def refused(x: Any) -> Any:
    x + HELD["x"]
    return x * 2


def acting(x: Any) -> Any:
    x.add_(1)


def sized(x: Any) -> Any:
    return x.values().sum() / x.values().shape[0]


def branching(x: Any) -> Any:
    return x * 2 if x.values().shape[0] > 3 else x * 3


def closed_over(x: Any) -> Any:
    return x * HELD["w"]


def long_lived(x: Any) -> Any:
    a, b = x + 1, x * 2
    c, d = a * b, a - b
    return c * d + (a + b) * (c - d) - a


def several(x: Any) -> Any:
    return (x + 1).sin(), (x + 1).cos() * 2


def scaled(x: Any, zero: float) -> Any:
    return x * zero + -0.0


def choosing(x: Any) -> Any:
    return pn.where(x > 0, x, 0.1 * x) * (x < 1)


def narrower(x: Any) -> Any:
    return (x.to(pn.float16) * 3).to(pn.float64) * x


def dropping(x: Any) -> Any:
    pn.dropout(x, 0.5)
    return pn.dropout(pn.dropout(x * 2, 0.5) + 1, 0.25), pn.rand_like(x)


def activated(x: Any) -> Any:
    return pn.gelu(x * 2 + 1) * x


def filling(x: Any) -> Any:
    return (x * 2).masked_fill(x > 0, 0.5) + x.to(x.dtype)


def drawn_by_two(x: Any) -> Any:
    return pn.dropout(x * 2, 0.5, generator=HELD["generator"]) + pn.dropout(x, 0.5)


def drawn_in_turn(x: Any) -> Any:
    a, b = pn.dropout(x, 0.5), pn.dropout(x.values() * 2, 0.5)
    return pn.dropout(a * 2, 0.5), b + 1


def inside(x: Any) -> Any:
    inner = (x * 2).sin()
    return pn.grad((inner * inner).exp().sum(), inner)


PROGRAMS: list[Program] = [
    kept_apart, written_between, drawn_twice, refused, acting, sized, branching, closed_over, long_lived, several,
    choosing, narrower, filling, activated, dropping, drawn_by_two, drawn_in_turn,
]  # fmt: skip


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the class of the error that it raises."""
    try:
        return call()
    except pn.errors.PynestedError as error:
        return type(error).__name__


def check(program: Program) -> None:
    """Hold a compiled program against the program itself, on several structures, and write into what it gives."""
    compiled = pn.compile(program)
    for turn, lengths in enumerate([(2, 3), (1, 1), (4, 1)]):
        HELD["w"] = pn.array([1.0 + turn, 2.0])
        x = jagged(*lengths)
        again = x.clone()
        pn.manual_seed(turn)
        HELD["generator"] = np.random.default_rng(7)
        expected = outcome(lambda: program(again))  # noqa: B023
        pn.manual_seed(turn)
        HELD["generator"] = np.random.default_rng(7)
        found = outcome(lambda: compiled(x))  # noqa: B023
        assert_same(found, expected)
        assert_same(x, again)
        if program is kept_apart:
            found[0].zero_()
            assert_same(found[1], expected[1])


def check_gradients(program: Program) -> None:
    """Hold gradients against those of the program itself, bit for bit."""
    compiled = pn.compile(program)
    for lengths in ((2, 3), (9, 40)):
        x = jagged(*lengths).requires_grad_()
        found, expected = [pn.grad(sum(one.sum() for one in f(x)), x) for f in (compiled, program)]
        assert_same(found, expected)


def test_the_passes_hold() -> None:
    for program in PROGRAMS:
        check(program)
    check_gradients(lambda x: (choosing(x), narrower(x), filling(x), activated(x)))
    check_gradients(lambda x: (x.exp() * x, x.exp() * 3, x.exp() * 7.1))
    x = jagged(2, 3).requires_grad_()
    assert_same(pn.compile(inside)(x), inside(x))
    compiled = pn.compile(scaled)
    for zero in (0.0, -0.0):
        assert_same(compiled(x := jagged(2, 3), zero), scaled(x, zero))


def test_every_pass_is_there() -> None:
    assert list(compiling.optimized.__globals__["PASSES"]) == ["sizes", "common subexpressions", "dead code", "chains"]
