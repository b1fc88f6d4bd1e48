"""The pass that fuses chains takes the operators that it may, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pynested as pn
from pynested.graph.fused_chain import FusedChain

from .arrays import jagged

HELD = {"n": pn.array([1, 2]), "w": pn.array([0.5, 2.0]), "x": jagged(2, 3)}


def quietly(x: Any) -> Any:
    with pn.no_grad():
        return (x + 1) * 2


# Programs, and the lengths of their chains: without gradients, and if gradients flow to the argument.
CHAINS: dict[str, tuple[Callable[[Any], Any], list[int], list[int]]] = {
    "all": (lambda x: ((x + 1) * x).sin().relu(), [4], [4]),
    "with bounds": (lambda x: ((x + 1).clamp(0) * x).clamp(max=x), [4], [4]),
    "without a bound": (lambda x: pn.clamp(x) * 2 + 1, [2], [2]),
    "branches that meet": (lambda x: pn.where((x > 0) | (x < -9), (x * 2).exp(), (x - 3).sin()), [8], [8]),
    "branches in turn": (lambda x: [(a := x * 2), (b := HELD["x"] * 3), a + 1, b + 1][2:], [2, 2], []),
    "branches that share a dense array": (
        lambda x: [(x * HELD["w"] - 1).exp(), (HELD["x"] * HELD["w"] - 1).exp()], [3, 3], [3, 3],
    ),
    "a result that is read": (lambda x: [a := (x + 1) * 2, a.sin() * a], [4], [2, 2]),
    "dense before nested": (lambda x: x * 2 + HELD["w"] * 3, [2], [2]),
    "nested after dense": (lambda x: [(HELD["w"] * 3).exp(), (x * 2).exp()], [2, 2], [2, 2]),
    "an operator alone": (lambda x: x.sum(dim=1) + 1, [], []),
    "around others": (lambda x: ((x + 1).sin() @ pn.ones(2, 2) * 2).exp(), [2, 2], [2, 2]),
    "around a write": (lambda x: [(x + 1) * 2, pn.zeros(2).add_(1), (x + 1) * HELD["w"]], [2, 2], [2, 2]),
    "around a dropout": (lambda x: (pn.dropout((x + 1) * 2, 0.5) * x).exp(), [2, 2], [2, 2]),
    "not across an error": (lambda x: (x.values() + 1) * 2 + x.values().sum(dim=0), [2], [2]),
    "not of integers": (lambda x: (x.offsets() + 1) * 2, [], []),
    "integers among floats": (lambda x: (x * HELD["n"] > 0).logical_not() & (x == HELD["n"]), [5], [5]),
    "a number that no element equals": (lambda x: ((n := x.offsets().to(pn.int8)) == 300) | (n == 2), [2], [2]),
    "signs": (lambda x: abs(-x) * (~(x > 0)), [5], [5]),
    "another dtype": (lambda x: x.to(pn.float32) * 2, [2], [2]),
    "not another layout": (lambda x: (x * 2).to(pn.strided).to("cpu") + 1, [], []),
    "without gradients": (lambda x: quietly(x) * 2 + 1, [2], [2]),
}  # fmt: skip


@pytest.mark.parametrize(("function", "lengths", "tracked"), CHAINS.values(), ids=CHAINS)
def test_chains(function: Callable[[Any], Any], lengths: list[int], tracked: list[int]) -> None:
    for x, expected in ((jagged(2, 3), lengths), (jagged(2, 3).requires_grad_(), tracked)):
        compiled = pn.compile(function)
        compiled(x)
        nodes = compiled.graphs[0].program.nodes
        assert [len(node.function.nodes) for node in nodes if isinstance(node.function, FusedChain)] == expected
