"""Compiled chains return the bits of their operators, results and gradients, whole and in blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import pynested as pn
from pynested.autograd import flatten
from pynested.backends.errors import GradientError, ShapeError, StructureError

from .arrays import BIAS, Replayed, assert_same, assert_same_with_gradients, gradients, holed, jagged

Program = Callable[[Any, Any], Any]

CHAINS: dict[str, Program] = {
    "one after another": lambda x, y: ((x + y).tanh() * 2.0 - x).exp(),
    "several results": lambda x, y: (x.exp() + y, x.sin() * y),
    "what NumPy lacks": lambda x, y: pn.gelu(x + y).erf() + pn.silu(x) * pn.sigmoid(y) + pn.gelu(x * 2),
    "bounds": lambda x, y: ((x * 2).clamp(-1, 1) * y).clamp(min=y) + pn.clamp(x + y, max=0.5).clamp(BIAS, x),
    "a bias": lambda x, y: (x * y + BIAS).relu() * BIAS - y,
    "a choice": lambda x, y: pn.where(x > 0, x, 0.1 * x) * y + pn.where((x < y) | ~(y >= BIAS), 1.0, 0.0) * x,
    "masks": lambda x, y: [(m := (x * 2 > y) & (y != 0)).to(x.dtype) * y, x * m, pn.where(m, -x, abs(y))],
    "the tanh approximation": lambda x, y: pn.gelu(x + y, approximate="tanh") * y,
    "filled": lambda x, y: (x * 2).masked_fill(y > 0, 0.5) - pn.masked_fill(x, BIAS > 0, -1).masked_fill(y != y, 3) * y,
    "dtypes": lambda x, y: (x.to(pn.float16) * y + BIAS).to(pn.float32) * pn.array([3, 4]) - x,
    "dense": lambda x, y: (x.values() * 2 + BIAS).tanh() * x.values() - BIAS * BIAS,
    "dense between nested": lambda x, y: (x * 3 + y.values().sum()) * (y.values()[:1].sum(0) * 0.7) * (BIAS.exp() - 1),
}  # fmt: skip


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("dtype", [pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("function", CHAINS.values(), ids=CHAINS)
def test_chains_are_exact_forwards_and_backwards(function: Program, dtype: Any) -> None:
    compiled = Replayed(function)
    for lengths in ((3, 2, 0, 5), (40, 1, 9), (0, 0)):
        x = jagged(*lengths).to(dtype)
        y = pn.nested_array_from_jagged(pn.randn(*x.values().shape, dtype=dtype), x.offsets())
        assert_same_with_gradients(compiled, function, x, y)
    assert len(compiled.graphs) == 2 and compiled.has_chains


def first_gradients(function: Program, x: Any, y: Any) -> Any:
    return pn.grad(sum(result.sum() for result in flatten(function(x, y))[0]), [x, y], create_graph=True)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", ["one after another", "several results", "a bias", "what NumPy lacks"])
def test_second_derivatives_and_tangents(name: str) -> None:
    function, x = CHAINS[name], jagged(3, 2)
    compiled, y = Replayed(CHAINS[name]), pn.randn_like(x)
    for a, b in zip(*(gradients(partial(first_gradients, f), x, y) for f in (compiled, function)), strict=True):
        assert pn.allclose(a, b, rtol=1e-12, atol=1e-12)
    tangents = pn.ones_like(x), pn.ones_like(x) * 2
    assert_same(*[pn.jvp(f, (x, y), tangents) for f in (compiled, function)])


def test_operands_of_several_structures_are_left_to_the_operators() -> None:
    compiled = Replayed(function := CHAINS["one after another"])
    x, placed = jagged(2, 3), holed(2, 3)
    dense, apart = pn.randn(2, 1, 2), pn.nested_array_from_jagged(pn.randn(5, 2), x.offsets())
    strided = jagged(2, 3, layout=pn.strided)
    for a, b in (
        (x, placed), (placed, x), (placed, placed), (x, dense), (x, apart), (x, x.clone()), (x, BIAS),
        (strided, strided), (strided.transpose(1, 2), strided.transpose(1, 2)),
    ):  # fmt: skip
        assert_same_with_gradients(compiled, function, a, b)
    for lengths in ((3, 2), (2, 4)):
        with pytest.raises(StructureError, match="add: the operands differ at component") as caught:
            compiled(x, jagged(*lengths))
    assert any("(x + y).tanh()" in str(entry.statement) for entry in caught.traceback)


def reading_in_turn(x: Any, y: Any) -> Any:
    """Compute two branches that share no array made here; if x is y, a gradient has three parts, whose order shows."""
    a, b = x * 1.1, y * 0.7
    c, d = a.sin() * x, b.exp() * y
    return (c * 1.3 + x * a) * 0.1, (d * 0.3 - y * b) * 3


@pytest.mark.parametrize("function", [lambda x, y: (((y * 1.1 + x) * x).sin() + y * 0.3, y), reading_in_turn])
def test_gradients_are_added_in_order(function: Program) -> None:
    compiled, x = Replayed(function), jagged(30, 40).requires_grad_()
    other = pn.nested_array_from_jagged(pn.randn(70, 2), x.offsets()).requires_grad_()
    for y in (x, other):
        results = []
        for call in (compiled, function):
            before, (first, second), after = (x * 0.3).sum(), call(x, y), x.sin().sum()
            total = before + first.sum() + second.sum() + after
            results.append([pn.grad(total, x, retain_graph=True), pn.grad(first.sum(), x)])
        assert_same(*results)


def test_gradients_by_arrays_inside_a_chain() -> None:
    def function(x: Any) -> Any:
        inner = (x * 2).sin()
        outer = (inner * 3 + x).exp()
        return pn.grad(outer.sum(), inner, retain_graph=True), inner, outer

    compiled, x = Replayed(function), jagged(2, 3).requires_grad_()
    results = []
    for call in (compiled, function):
        gradient, inner, outer = call(x)
        results.append([gradient, pn.grad(outer.sum(), inner, retain_graph=True), pn.grad(outer.sum(), x)])
    assert_same(*results)
    assert compiled.has_chains


def test_writes_into_gradients_that_are_the_cotangent_itself_change_no_other_array() -> None:
    x, y = pn.array([1.0, 2.0], requires_grad=True), pn.array([3.0, 4.0], requires_grad=True)
    cotangent = pn.array([5.0, 6.0])
    add, add_twice = pn.compile(lambda x, y: x - 0.0 + y), pn.compile(lambda x, y: (x + y) * 2.0)
    add(x, y), add_twice(x, y)
    for total, expected in ((add(x, y), [50, 60]), (add(x, y) * 2, [100, 120]), (add_twice(x, y), [100, 120])):
        gradients = pn.grad(total, [x, y], cotangent)
        assert [gradient.mul_(10).tolist() for gradient in gradients] == [expected] * 2
        assert gradients[0].tolist() == expected and cotangent.tolist() == [5, 6]


def test_a_backward_pass_refuses_saved_arrays_that_were_overwritten() -> None:
    x = jagged(2, 3).requires_grad_()
    for function, saved in ((lambda x: (x * x).exp() * x, lambda y: x), (lambda x: (x * 2).relu(), pn.detach)):
        y = Replayed(function)(x)
        with pn.no_grad():
            saved(y).add_(1)
        with pytest.raises(GradientError, match="overwritten"):
            y.sum().backward()


def test_a_result_without_a_gradient_gets_none() -> None:
    x, y = jagged(2, 3).requires_grad_(), jagged(2, 3)
    y = pn.nested_array_from_jagged(y.values(), x.offsets())
    compiled = Replayed(function := lambda x, y: [(x + y) * 2, (y * 2).exp()])
    assert_same([compiled(x, y), compiled(y, x)], [function(x, y), function(y, x)])
    results = Replayed(lambda x, y, z: ((x * z).exp(), (y * z).exp()))(x, y.requires_grad_(), x.detach())
    assert pn.grad(results[1].sum(), [x], allow_unused=True) == [None]


def test_a_cast_to_the_same_dtype_returns_its_operand() -> None:
    def function(x: Any) -> Any:
        made = x.clone()
        same, copied = made.to(x.dtype), made.astype(x.dtype)
        made.mul_(2)
        return same, copied, (same.to(x.dtype) + copied).exp() * 2

    assert_same(Replayed(function)(x := jagged(2, 3)), function(x))


def test_a_mask_that_would_enlarge_its_array_is_an_error() -> None:
    compiled = Replayed(lambda x, mask: (x * 2).masked_fill(mask, 0.0) + 1)
    assert compiled(pn.array([1.0, 2.0]), pn.array([True, False])).tolist() == [1.0, 5.0]
    for x in (pn.nested_array([[[1.0], [2.0]]], layout=pn.jagged), pn.array([1.0])):
        with pytest.raises(ShapeError, match="would enlarge"):
            compiled(x, pn.array([[True, False]]))


HELD = {"n": pn.array([1, 2]), "w": pn.array([0.5, 2.0]), "x": jagged(2, 3), "y": jagged(4, 1)}

# Programs, and the lengths of their chains: without gradients, and if gradients flow to the argument.
FUSED: dict[str, tuple[Callable[[Any], Any], list[int], list[int]]] = {
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


@pytest.mark.parametrize(("function", "lengths", "tracked"), FUSED.values(), ids=FUSED)
def test_the_pass_fuses_the_operators_that_it_may(function: Any, lengths: list[int], tracked: list[int]) -> None:
    for x, expected in ((jagged(2, 3), lengths), (jagged(2, 3).requires_grad_(), tracked)):
        compiled = pn.compile(function)
        compiled(x)
        assert [len(chain.nodes) for chain in compiled.graphs[0].chains] == expected
