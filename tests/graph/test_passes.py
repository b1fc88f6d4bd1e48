"""Each pass leaves out what it may, and nothing else. What a wrong one would do is in test_wrong_passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pynested as pn
from pynested.graph.passes import common, dead, fused, sizes
from pynested.graph.tracing import recorded

from .arrays import jagged


def names(run: Any, function: Callable[..., Any], *args: Any) -> list[str]:
    """The calls that are left after one pass."""
    recording, _ = run(recorded(function, args, {}))
    return [node.name for node in recording.nodes]


def test_sizes_are_read_at_once_and_facts_of_the_signature_never() -> None:
    def function(x: Any) -> Any:
        y = x.exp()
        if x.dtype == pn.float64 and x.dim() == 3:
            y = y + x.values().shape[0] * 2
        return y

    left = ["NestedArray.values", "Array.shape", "mul", "exp", "add"]
    assert sorted(names(sizes.run, function, jagged(2, 3))) == sorted(left)
    assert names(sizes.run, lambda x: [x.sin(), x.cos(), x.shape[0]], jagged(2))[0] == "NestedArray.shape"


def twice(x: Any) -> Any:
    return (x.exp() + 1) * (x.exp() + 2) + x.sum() * x.sum()


@pytest.mark.parametrize(("tracked", "left"), [(False, 7), (True, 9)])
def test_what_was_computed_is_not_computed_again_but_where_gradients_flow(tracked: bool, left: int) -> None:
    found = names(common.run, twice, jagged(2, 3).requires_grad_(tracked))
    assert len(found) == left and found.count("exp") == found.count("sum") == (2 if tracked else 1)


def test_what_somebody_holds_is_made_twice() -> None:
    assert names(common.run, lambda x: (x.exp(), x.exp()), jagged(2)) == ["exp", "exp"]
    assert names(common.run, lambda x: x.exp()[0] + x.exp()[1:2][0], jagged(2, 2)).count("exp") == 2
    assert names(common.run, lambda x: (x.add_(1) * 2) + (x.add_(1) * 2), jagged(2)).count("mul") == 2
    assert names(common.run, lambda x: pn.rand_like(x) + pn.rand_like(x), jagged(2)).count("rand_like") == 2


def test_what_nobody_reads_is_left_out_unless_it_acts_or_may_fail() -> None:
    def function(x: Any, y: Any) -> Any:
        x.exp().sin()
        x.values()
        x.shape  # noqa: B018
        x.clamp(0, 1) + 1
        x + y
        x.clamp(max=y)
        x.neg_()
        pn.rand_like(x)
        return x * 2

    assert names(dead.run, function, jagged(2), jagged(2)) == ["add", "clamp", "neg_", "rand_like", "mul"]


HELD = {"n": pn.array([1, 2]), "w": pn.array([0.5, 2.0]), "x": jagged(2, 3)}
CHAINS: dict[str, tuple[Callable[[Any], Any], list[int]]] = {
    "all": (lambda x: ((x + 1) * x).sin().relu(), [4]),
    "with bounds": (lambda x: ((x + 1).clamp(0) * x).clamp(max=x), [4]),
    "without a bound": (lambda x: pn.clamp(x) * 2 + 1, [2]),
    "branches that meet": (lambda x: pn.where((HELD["x"] > 0) | (HELD["x"] < -9), (x * 2).exp(), (x - 3).sin()), [8]),
    "branches that do not": (lambda x: [(a := x * 2), (b := HELD["x"] * 3), a + 1, b + 1], [2, 2]),
    "branches that draw": (lambda x: [(a := pn.dropout(x)), (b := pn.dropout(HELD["x"])), a + 1, b + 1], [4]),
    "what is dense comes before": (lambda x: x * 2 + HELD["w"] * 3, [2]),
    "one alone is none": (lambda x: x.sum(dim=1) + 1, []),
    "around others": (lambda x: ((x + 1).sin() @ pn.ones(2, 2) * 2).exp(), [2, 2]),
    "around a write": (lambda x: [(x + 1) * 2, x.mul_(2), (x + 1) * 2], [2, 2]),
    "not across what may fail": (lambda x: (x.values() + 1) * 2 + x.values().sum(dim=0), [2]),
    "not of integers": (lambda x: (x.offsets() + 1) * 2, []),
    "integers among floats": (lambda x: (x * HELD["n"] > 0).logical_not() & (x == HELD["n"]), [5]),
    "a number that no element equals": (lambda x: (x.offsets().to(pn.int8) == 300) & (x.offsets() == 2), [2]),
    "signs": (lambda x: abs(-x) * (~(x > 0)), [5]),
    "another dtype": (lambda x: x.to(pn.float32) * 2, [2]),
    "the same dtype": (lambda x: (x.to(pn.float64) * 2).to(dtype=pn.float64) + 1, []),
    "not another layout or device": (lambda x: (x * 2).to(pn.strided).to("cpu") + 1, []),
    "not where gradients are off": (lambda x: _quietly(x) * 2 + 1, [2]),
}


def _quietly(x: Any) -> Any:
    with pn.no_grad():
        return (x + 1) * 2


@pytest.mark.parametrize(("function", "lengths"), CHAINS.values(), ids=CHAINS)
def test_chains(function: Callable[[Any], Any], lengths: list[int]) -> None:
    recording, _ = fused.run(recorded(function, (jagged(2, 3),), {}))
    assert [len(node.function.nodes) for node in recording.nodes if node.name.startswith("chain")] == lengths
