"""Passes that are wrong in one thing each, as people get them wrong: every one is caught by what the passes promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.numpy.activations import gelu_backward_of, normal_distribution
from pynested.graph import compiling, replay
from pynested.graph.chains import Chain, kernels, operations
from pynested.graph.chains.operations import OPERATIONS
from pynested.graph.chains.registers import Register
from pynested.graph.chains.steps import Step
from pynested.graph.forms import Value, renamed, values_in
from pynested.graph.nodes import Recording
from pynested.graph.passes import PASSES, common, dead, fused, groups, known
from pynested.graph.places import Place

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
    """What a call gives, or the class of the error that it raises."""
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


def check_all() -> None:
    """Everything."""
    for program in PROGRAMS:
        check(program)
    check_gradients(lambda x: (choosing(x), narrower(x), filling(x), activated(x)))
    check_gradients(lambda x: (x.exp() * x, x.exp() * 3, x.exp() * 7.1))
    x = jagged(2, 3).requires_grad_()
    assert_same(pn.compile(inside)(x), inside(x))
    compiled = pn.compile(scaled)
    for zero in (0.0, -0.0):
        assert_same(compiled(x := jagged(2, 3), zero), scaled(x, zero))


def without_effects(run: Any) -> Any:
    """A pass that does not know what acts."""

    def wrong(recording: Recording) -> Any:
        return run(replace(recording, nodes=[replace(node, effect=False) for node in recording.nodes]))

    return wrong


def without_gradients(run: Any) -> Any:
    """A pass that does not know where gradients flow."""

    def wrong(recording: Recording) -> Any:
        facts = {number: replace(fact, tracked=False) for number, fact in recording.facts.items()}
        done, note = run(replace(recording, facts=facts))
        return replace(done, facts=recording.facts), note

    return wrong


def with_stale_sizes(run: Any) -> Any:
    """A pass after which sizes are those of the recording."""

    def wrong(recording: Recording) -> Any:
        read = {value for node in recording.nodes if known.is_size(node) for value in values_in(node.results)}
        stale: Any = {one: int(text) for one in read if (text := recording.shown[one.number]).isdigit()}
        nodes = [replace(node, args=renamed(node.args, stale)) for node in recording.nodes]
        return run(replace(recording, nodes=nodes))

    return wrong


def with_outputs_turned(run: Any) -> Any:
    """A pass that gives results in the opposite order."""

    def wrong(recording: Recording) -> Any:
        outputs = recording.outputs
        turned = outputs[::-1] if isinstance(outputs, tuple) and all(type(one) is Value for one in outputs) else outputs
        return run(replace(recording, outputs=turned))

    return wrong


def found_once() -> Callable[[Place], Any]:
    """A closure's array as a constant."""
    first: dict[str, Any] = {}
    return lambda place: first.setdefault(place.text, place.step())


def takes(node: Any, result: Any, back: Any) -> Iterator[Any]:
    """Results without a look at what the function had seen."""
    found: list[Any] = []
    replay._fits(node.results, result, list(back), found)
    return iter(found)


mask = Chain._mask
Patch = Callable[[pytest.MonkeyPatch], None]
WRONG: dict[str, Patch] = {
    "fusing across a write": lambda m: m.setattr(fused, "cannot_fail", lambda node: True),
    "no second look after a write": lambda m: m.setitem(PASSES, "common subexpressions", without_effects(common.run)),
    "random numbers drawn once": lambda m: (
        m.setattr(common, "FRESH", known.FRESH | {"rand_like"}),
        m.setitem(PASSES, "common subexpressions", without_effects(common.run)),
    )[0],
    "one array for two results": lambda m: m.setattr(common, "escaping", lambda recording: set()),
    "one call for two gradients": lambda m: m.setitem(PASSES, "common subexpressions", without_gradients(common.run)),
    "an error left out": lambda m: m.setattr(dead, "_harmless", lambda node, recording: not node.effect),
    "a write left out": lambda m: m.setattr(dead, "_harmless", lambda node, recording: True),
    "a stale size": lambda m: m.setitem(PASSES, "sizes", with_stale_sizes(PASSES["sizes"])),
    "a check left out": lambda m: m.setattr(replay, "_taken", takes),
    "a closure's array as a constant": lambda m: m.setattr(Place, "find", found_once()),
    "a buffer used again too early": lambda m: m.setattr(Step, "reads", property(lambda step: [])),
    "a dtype that stays": lambda m: m.setattr(Register, "astype", lambda register, dtype: register),
    "a choice that is not pulled": lambda m: m.setitem(
        OPERATIONS, "where", replace(OPERATIONS["where"], pulls=(None, 1, 1))
    ),
    "a choice the other way round": lambda m: m.setitem(
        kernels.KERNELS, np.where, (lambda out, condition, a, b, _: np.copyto(out, np.where(condition, b, a)), 1)
    ),
    "one share for all dropouts": lambda m: m.setattr(
        Chain, "_mask", lambda chain, shape, _, generator: mask(chain, shape, 0.5, generator)
    ),
    "one generator for all dropouts": lambda m: m.setattr(
        Chain, "_mask", lambda chain, shape, share, _: mask(chain, shape, share, None)
    ),
    "a distribution of something else": lambda m: m.setitem(
        kernels.KERNELS, normal_distribution, (lambda out, x, _: np.copyto(out, np.tanh(x)), 1)
    ),
    "a slope without its density": lambda m: m.setitem(
        kernels.KERNELS, gelu_backward_of, (lambda out, g, x, known, _: np.multiply(g, known, out=out), 1)
    ),
    "a fill that is pulled": lambda m: m.setattr(operations, "_FILL", replace(operations._FILL, pulls=(None, None, 1))),
    "a cast to fewer digits left out": lambda m: m.setattr(
        common, "changes_nothing", lambda node, recording: node.name == "to"
    ),
    "a mask that is drawn twice": lambda m: m.setattr(
        Chain, "_mask", lambda *given: [mask(*given), mask(*given)][0]
    ),
    "branches that draw in another order": lambda m: m.setattr(groups._Group, "minds", lambda one, other: False),
    "a dropout that nobody reads left out": lambda m: m.setattr(dead, "_harmless", known.is_elementwise),
    "outputs in another order": lambda m: m.setitem(PASSES, "chains", with_outputs_turned(fused.run)),
    "0.0 and -0.0 in one graph": lambda m: m.setattr("pynested.graph.signature.constant", lambda x: ("constant", x)),
    "a gradient by what is inside of a chain": lambda m: m.setitem(PASSES, "chains", without_gradients(fused.run)),
}  # fmt: skip


def test_the_passes_hold() -> None:
    assert len(WRONG) >= 10
    check_all()


@pytest.mark.parametrize("patch", WRONG.values(), ids=WRONG)
def test_a_wrong_pass_is_caught(patch: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    patch(monkeypatch)
    with pytest.raises((AssertionError, TypeError, ValueError, RuntimeError, KeyError)):
        check_all()


def test_every_pass_is_there() -> None:
    assert list(compiling.optimized.__globals__["PASSES"]) == ["sizes", "common subexpressions", "dead code", "chains"]
