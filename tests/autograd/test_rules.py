"""Every rule, on the samples it is registered with: both directions, first and second order, float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.autograd import Array, gradcheck
from pynested.autograd.rules import views  # noqa: F401  (registers its rules)
from pynested.autograd.rules.kinds import RULES, Variadic
from pynested.autograd.rules.rule import Rule


def drawn(rule: Rule) -> list[tuple[Any, ...]]:
    return list(rule.samples(np.random.default_rng(0)))


def called(rule: Rule, sample: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The rule as a function of its arrays, and the arrays of a sample."""
    if isinstance(rule, Variadic):
        return lambda *arrays: rule(list(arrays), *sample[1:]), [Array(np.asarray(a)) for a in sample[0]]
    static = sample[rule.arity :]
    arrays = [None if a is None else Array(np.asarray(a)) for a in sample[: rule.arity]]
    return lambda *given: rule(*given, *static), arrays


CASES = [(name, number) for name, rule in RULES.items() for number in range(len(drawn(rule)))]


def test_there_are_many_rules() -> None:
    assert len(RULES) >= 50
    assert len(CASES) >= 200


@pytest.mark.parametrize("name", RULES)
def test_every_rule_has_samples(name: str) -> None:
    assert drawn(RULES[name]), f"{name} has no samples, so nothing checks it"


@pytest.mark.parametrize("name", RULES)
def test_samples_are_the_same_every_time(name: str) -> None:
    assert repr(drawn(RULES[name])) == repr(drawn(RULES[name]))


@pytest.mark.parametrize(("name", "number"), CASES)
def test_derivatives(name: str, number: int) -> None:
    function, arrays = called(RULES[name], drawn(RULES[name])[number])
    assert gradcheck(function, *arrays)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_bare_arrays_only_compute(name: str, number: int) -> None:
    """What rules do in a pass that is not recorded: the same values, not wrapped."""
    rule, sample = RULES[name], drawn(RULES[name])[number]
    function, arrays = called(rule, sample)
    wrapped, bare = function(*arrays), function(*[None if a is None else a.data for a in arrays])
    several = isinstance(wrapped, tuple)
    for one, other in zip(wrapped if several else [wrapped], bare if several else [bare], strict=True):
        assert not isinstance(other, Array)
        np.testing.assert_array_equal(one.numpy(), other)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", [name for name in RULES if name != "cast"])
def test_narrow_floats_stay(name: str, dtype: Any) -> None:
    """Of the result and of every gradient, in passes that are recorded or not; only a cast is there to change them."""
    for sample in drawn(RULES[name]):
        function, arrays = called(RULES[name], sample)
        narrow = [a if a is None else Array(a.data.astype(dtype)).requires_grad_() for a in arrays]
        result = function(*narrow)
        for one in result if isinstance(result, tuple) else [result]:
            assert one.dtype == dtype
            if not one.requires_grad:
                continue
            one.backward(Array(np.ones(one.shape, dtype)), retain_graph=True)
            one.backward(Array(np.ones(one.shape, dtype)), create_graph=True)
        for leaf in narrow:
            assert leaf is None or leaf.grad is None or leaf.grad.dtype == dtype
