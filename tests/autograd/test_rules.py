"""Every rule, on the samples it is registered with: both directions, first and second order, float32."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

from pynested.autograd import Array, grad, gradcheck, jvp
from pynested.autograd.rules import attention, views  # noqa: F401  (register their rules)
from pynested.autograd.rules.kinds import RULES, Variadic
from pynested.autograd.rules.rule import Rule
from pynested.backends import transfer
from pynested.backends.errors import DeviceError


def drawn(rule: Rule) -> list[tuple[Any, ...]]:
    return list(rule.samples(np.random.default_rng(0)))


def called(rule: Rule, sample: tuple[Any, ...], device: str = "cpu") -> tuple[Any, list[Any]]:
    """The rule as a function of its arrays, and the arrays of a sample."""

    def placed(x: Any) -> Any:
        return None if x is None else Array(transfer(np.asarray(x), device), device)

    if isinstance(rule, Variadic):
        return lambda *arrays: rule(list(arrays), *sample[1:]), [placed(x) for x in sample[0]]
    static = sample[rule.arity :]
    return lambda *given: rule(*given, *static), [placed(x) for x in sample[: rule.arity]]


CASES = [(name, number) for name, rule in RULES.items() for number in range(len(drawn(rule)))]


def test_there_are_many_rules() -> None:
    assert len(RULES) >= 50
    assert len(CASES) >= 200


def test_arrays_of_two_devices_are_refused() -> None:
    for rule in (RULES["matmul"], RULES["concatenate"]):
        pair = Array(np.ones((2, 2))), Array(np.ones((2, 2)), "elsewhere")
        with pytest.raises(DeviceError, match=f"{rule.name}: .*different devices: cpu, elsewhere"):
            rule(pair, 0) if isinstance(rule, Variadic) else rule(*pair)


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


# ---- cotangents and tangents that lie in memory in another way ----------------------------------------------------


def turned(x: Any) -> Any:
    return np.array(x.T, order="C").T


def backwards(x: Any) -> Any:
    everywhere = (slice(None, None, -1),) * x.ndim
    return x[everywhere].copy()[everywhere]


def apart(x: Any) -> Any:
    return np.stack([x, np.full(x.shape, np.nan)], -1)[..., 0]


def in_one_place(x: Any) -> Any:
    return np.broadcast_to(x.reshape(-1)[0] if x.size else 0.0, x.shape)


def results(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def check_same(found: list[Any], expected: list[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one.data, other.data, rtol=1e-13, atol=1e-14)


def pulled(function: Any, arrays: list[Any], cotangents: list[Any], graph: bool) -> list[Any]:
    outputs = results(function(*arrays))
    weights = [Array(w, y.device) for w, y in zip(cotangents, outputs, strict=True)]
    leaves = [a for a in arrays if a is not None]
    return list(grad(outputs, leaves, weights, create_graph=graph, allow_unused=True))


def pushed(function: Any, arrays: list[Any], tangents: list[Any]) -> list[Any]:
    leaves = [a for a in arrays if a is not None]

    def of_leaves(*primals: Any) -> Any:
        each = iter(primals)
        return function(*[None if a is None else next(each) for a in arrays])

    primals = tuple(leaf.detach() for leaf in leaves)
    moved = tuple(Array(v, leaf.device) for v, leaf in zip(tangents, leaves, strict=True))
    return results(jvp(of_leaves, primals, moved)[1])


def check_ways(name: str, device: str, graphs: tuple[bool, ...]) -> None:
    """Pulls, recorded or not, and pushes give what they give for the same numbers one after the other."""
    generator = np.random.default_rng(2)
    for sample in drawn(RULES[name]):
        function, arrays = called(RULES[name], sample, device)
        leaves = [a.requires_grad_() for a in arrays if a is not None]
        ws = [generator.standard_normal(y.shape) for y in results(function(*arrays))]
        vs = [generator.standard_normal(leaf.shape) for leaf in leaves]
        same_ws, same_vs = [[np.full(x.shape, in_one_place(x)) for x in numbers] for numbers in (ws, vs)]
        for w, v, ways in ((ws, vs, (turned, backwards, apart)), (same_ws, same_vs, (in_one_place,))):
            push, pulls = pushed(function, arrays, v), [pulled(function, arrays, w, graph) for graph in graphs]
            for way in ways:
                check_same(pushed(function, arrays, [way(x) for x in v]), push)
                for graph, pull in zip(graphs, pulls, strict=True):
                    check_same(pulled(function, arrays, [way(x) for x in w], graph), pull)


@pytest.mark.parametrize("name", RULES)
def test_cotangents_and_tangents_lie_anywhere(name: str) -> None:
    check_ways(name, "cpu", (False, True))


@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
@pytest.mark.parametrize("name", RULES)
def test_cotangents_and_tangents_lie_anywhere_on_a_device(name: str) -> None:
    check_ways(name, "emulated", (False,))
