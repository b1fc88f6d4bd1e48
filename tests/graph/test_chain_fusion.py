"""The pass that fuses chains takes the operators that it may, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pynested as pn

from .arrays import jagged

HELD = {"n": pn.array([1, 2]), "w": pn.array([0.5, 2.0]), "x": jagged(2, 3), "y": jagged(4, 1)}


# Programs, and the lengths of their chains: without gradients, and if gradients flow to the argument.
CHAINS: dict[str, tuple[Callable[[Any], Any], list[int], list[int]]] = {
    "all": (lambda x: ((x + 1) * x).sin().relu(), [4], [4]),
    "with bounds": (lambda x: ((x + 1).clamp(0) * x).clamp(max=x), [4], [4]),
    "branches that meet": (lambda x: pn.where((x > 0) | (x < -9), (x * 2).exp(), (x - 3).sin()), [8], [8]),
    "branches of one structure": (lambda x: [(a := x * 2), (b := HELD["x"] * 3), a + 1, b + 1][2:], [4], [4]),
    "branches of two structures": (lambda x: [(x * HELD["w"]).exp(), (HELD["y"] - 1).exp()], [2, 2], [2, 2]),
    "a result that is read": (lambda x: [a := (x + 1) * 2, a.sin() * a], [4], [2, 2]),
    "dense before nested": (lambda x: x * 2 + HELD["w"] * 3, [2], [2]),
    "around others": (lambda x: ((x + 1).sin() @ pn.ones(2, 2) * 2).exp(), [2, 2], [2, 2]),
    "around a write": (lambda x: [(x + 1) * 2, pn.zeros(2).add_(1), (x + 1) * HELD["w"]], [2, 2], [2, 2]),
    "around a dropout": (lambda x: (pn.dropout((x + 1) * 2, 0.5) * x).exp(), [2, 2], [2, 2]),
    "around what reads none of it": (lambda x: (x.values() + 1) * 2 + x.values().sum(dim=0), [3], [2]),
    "not of integers": (lambda x: (x.offsets() + 1) * 2, [], []),
    "a number that no element equals": (lambda x: ((n := x.offsets().to(pn.int8)) == 300) | (n == 2), [2], [2]),
    "not another layout": (lambda x: (x * 2).to(pn.strided).to("cpu") + 1, [], []),
}  # fmt: skip


@pytest.mark.parametrize(("function", "lengths", "tracked"), CHAINS.values(), ids=CHAINS)
def test_chains(function: Callable[[Any], Any], lengths: list[int], tracked: list[int]) -> None:
    for x, expected in ((jagged(2, 3), lengths), (jagged(2, 3).requires_grad_(), tracked)):
        compiled = pn.compile(function)
        compiled(x)
        assert [len(chain.nodes) for chain in compiled.graphs[0].chains] == expected
