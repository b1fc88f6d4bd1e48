"""Chains of arrays with holes: each is packed once, and everything else is as it is for packed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import StructureError
from pynested.components.packing import packed
from pynested.graph.chains import chain, lined_up
from pynested.nested.array import around

from .arrays import assert_same, jagged

Program = Callable[..., Any]
CHANCE = np.random.default_rng(12)
# Each with what two of its operators read: with holes that is not packed once, where gradients flow.
PROGRAMS: dict[str, tuple[Program, str]] = {
    "read once": (lambda x, y: ((x * 2 + 1) * y - 1).exp() * 0.5, ""),
    "read twice": (lambda x, y: ((x - y) * x + 0.1).sin() * y, "xy"),
    "one of them read twice": (lambda x, y: (x * 2 + y).tanh() * y + 0.5, "y"),
    "a square": (lambda x, y: (x * x + 1) * 3 + y, "x"),
    "several results": (lambda x, y: ((z := x * 2 + y) * 3, z.exp()), ""),
    "sums of rows": (lambda x, y: ((x - y) ** 2).sum(-1), ""),
    "a bias": (lambda x, y: ((x + pn.array([0.5, -1.0])) * y).abs(), ""),
    "dropped": (lambda x, y: (pn.manual_seed(3), pn.dropout(x * 2, 0.5) + y)[1], ""),
}


def holed(lengths: tuple[int, ...], starts: tuple[int, ...], rows: int = 40) -> pn.NestedArray:
    """Components somewhere in a buffer, and NaN between them."""
    values = np.full((rows, 2), np.nan)
    for start, length in zip(starts, lengths, strict=True):
        values[start : start + length] = CHANCE.normal(size=(length, 2))
    return pn.nested_array_from_jagged(pn.array(values), pn.array([*starts, rows]), pn.array(lengths))


def operands() -> list[tuple[pn.NestedArray, pn.NestedArray]]:
    """Both with holes, in equal and in different places, and one of the two packed."""
    lengths = 3, 0, 7, 2
    one, same, other = (holed(lengths, starts) for starts in ((0, 5, 9, 30), (0, 5, 9, 30), (1, 4, 20, 30)))
    return [(one, same), (one, other), (one, jagged(*lengths)), (jagged(*lengths), one), (one, one)]


def gradients(function: Program, x: Any, y: Any) -> list[Any]:
    """Of the results, and of what else is made of the operands, whose parts are added to those of the chain."""
    x, y = (one.detach().requires_grad_() for one in (x, y))
    results = function(x, y)
    sums = [
        (one * 1.7).sum() for one in (*(results if isinstance(results, tuple) else [results]), x * x * 0.3, y.sin())
    ]
    found = pn.grad(sum(sums[1:], start=sums[0]), [x, y], allow_unused=True)
    return [None if one is None else one.detach() for one in found]


def check(function: Program, twice: str) -> None:
    """Hold a compiled function against the function itself, bit for bit, and see where operators ran one by one."""
    for x, y in operands():
        compiled, calls = pn.compile(function), []
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(chain, "lined_up_or_packed", lambda *given: noted(calls, *given))  # noqa: B023
            assert_same(compiled(x, y), function(x, y))
            assert_same(gradients(compiled, x, y), gradients(function, x, y))
        assert all(graph.calls for graph in compiled.graphs)
        apart = any(name in twice and one.lengths() is not None for name, one in (("x", x), ("y", y)))
        assert calls == [False, apart]


def noted(calls: list[bool], *given: Any) -> Any:
    found = lined_up.lined_up_or_packed(*given)
    calls.append(found[1] is None)
    return found


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(("function", "twice"), PROGRAMS.values(), ids=PROGRAMS)
def test_chains_of_arrays_with_holes_are_exact(function: Program, twice: str) -> None:
    check(function, twice)


def test_what_does_not_meet_is_refused_as_ever() -> None:
    compiled, x = pn.compile(lambda x, y: (x + y) * 2), holed((2, 3), (4, 20))
    assert_same(compiled(x, x), (x + x) * 2)
    with pytest.raises(StructureError, match="add: the operands differ at component 1"):
        compiled(x, holed((2, 4), (4, 20)))


def test_derivatives_of_derivatives() -> None:
    def slopes(f: Program) -> Any:
        x, y = (one.detach().requires_grad_() for one in operands()[1])
        first = pn.grad(f(x, y).sum(), [x, y], create_graph=True)
        return pn.grad((first[0] * first[1]).sum(), [x, y])

    function = PROGRAMS["read once"][0]
    state = CHANCE.bit_generator.state
    found = slopes(pn.compile(function))
    CHANCE.bit_generator.state = state
    for one, other in zip(found, slopes(function), strict=True):
        assert pn.allclose(one, other, rtol=1e-12, atol=1e-12)


WRONG: dict[str, tuple[str, Any]] = {
    "two parts of a gradient added too early": ("_told_apart", lambda operands, steps: False),
    "holes in the blocks": ("_holed", lambda x: False),
    "another array packed": ("packed", lambda x: around(pn.zeros_like(packed(x)).data, packed(x).structure)),
}


@pytest.mark.parametrize(("name", "wrong"), WRONG.values(), ids=WRONG)
def test_wrong_packing_is_caught(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lined_up, name, wrong)
    with pytest.raises(AssertionError):
        for function, twice in PROGRAMS.values():
            check(function, twice)
