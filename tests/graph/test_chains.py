"""Chains of elementwise operators are exact: forwards, backwards, whole and in blocks, on whatever they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError, ShapeError, StructureError

from .arrays import assert_same, holed, jagged
from .functions import HELD

BIAS = pn.array([0.25, -0.5])

CHAINS: dict[str, Callable[[Any, Any], Any]] = {
    "one after another": lambda x, y: ((x + y).tanh() * 2.0 - x).exp(),
    "read twice": lambda x, y: (x * x + x) * (x - y) * x,
    "several results": lambda x, y: (x.exp() + y, x.sin() * y),
    "a result that is read": lambda x, y: [z := (x + y).relu(), (z * 2).tanh()],
    "what NumPy lacks": lambda x, y: pn.gelu(x + y).erf() + pn.silu(x) * pn.sigmoid(y) + pn.gelu(x * 2),
    "steps": lambda x, y: (x * 3).floor() * y + pn.sgn(x) - (y * 2).round(),
    "powers": lambda x, y: (x.abs() + 1) ** 0.5 / (1 + y.square()) + (x.abs() + 0.1).log() - pn.logaddexp(x, y),
    "the greater": lambda x, y: pn.maximum(x, y) - pn.minimum(x * 2, y) + pn.maximum(x, x + 0),
    "bounds": lambda x, y: ((x * 2).clamp(-1, 1) * y).clamp(min=y) + pn.clamp(x + y, max=0.5).clamp(BIAS, x),
    "the ends of floats": lambda x, y: (x * 1e200) * (y * 1e200) - (x / 0.0) * float("inf"),
    "zeros": lambda x, y: [x * 0.0 + -0.0, x * -0.0 + -0.0, -(x * 0.0), (x - x) * -1],
    "a bias": lambda x, y: (x * y + BIAS).relu() * BIAS - y,
    "among others": lambda x, y: ((x + 1).sin() @ HELD["w"] + y * 2).tanh().sum(dim=1).exp() * 2 + 1,
    "a choice": lambda x, y: pn.where(x > 0, x, 0.1 * x) * y + pn.where((x < y) | ~(y >= BIAS), 1.0, 0.0) * x,
    "masks": lambda x, y: [(m := (x * 2 > y) & (y != 0)).to(x.dtype) * y, x * m, pn.where(m, -x, abs(y))],
    "the tanh approximation": lambda x, y: pn.gelu(x + y, approximate="tanh") * y,
    "filled": lambda x, y: (x * 2).masked_fill(y > 0, 0.5) - pn.masked_fill(x, BIAS > 0, -1).masked_fill(y != y, 3) * y,
    "what is there already": lambda x, y: -(x.to(x.dtype) * y).to(dtype=x.dtype).astype(pn.float16) + y.to(y.dtype),
    "dtypes": lambda x, y: (x.to(pn.float16) * y + BIAS).to(pn.float32) * pn.array([3, 4]) - x,
    "dense": lambda x, y: (x.values() * 2 + BIAS).tanh() * x.values() - BIAS * BIAS,
    "through views": lambda x, y: (x * 2).transpose(1, 2).exp().sin() + (y + y).transpose(1, 2).neg(),
}  # fmt: skip


def gradients(function: Callable[[Any, Any], Any], x: Any, y: Any, *, twice: bool = False) -> list[Any]:
    """The gradients of every result by both arguments, and of the sum of their squares by them, too."""
    x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    results = function(x, y)
    total = sum(
        (one * (i + 1)).sum() for i, one in enumerate(results if isinstance(results, tuple | list) else [results])
    )
    first = pn.grad(total, [x, y], allow_unused=True, create_graph=twice)
    if twice:
        first += pn.grad(sum((one * one).sum() for one in first if one is not None), [x, y], allow_unused=True)
    return [None if one is None else one.detach() for one in first]


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("dtype", [pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("function", CHAINS.values(), ids=CHAINS)
def test_chains_are_exact_forwards_and_backwards(function: Callable[[Any, Any], Any], dtype: Any) -> None:
    compiled = pn.compile(function)
    for lengths in ((3, 2, 0, 5), (40, 1, 9), (0, 0)):
        x = jagged(*lengths).to(dtype)
        y = pn.nested_array_from_jagged(pn.randn(*x.values().shape, dtype=dtype), x.offsets())
        assert_same(compiled(x, y), function(x, y))
        assert_same(gradients(compiled, x, y), gradients(function, x, y))
    assert len(compiled.graphs) == 2
    assert any("operators in" in note for note in compiled.graphs[0].notes)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", ["one after another", "read twice", "several results", "a bias", "what NumPy lacks"])
def test_derivatives_of_derivatives_and_tangents(name: str) -> None:
    function, x = CHAINS[name], jagged(3, 2)
    compiled, y = pn.compile(CHAINS[name]), pn.randn_like(x)
    for one, other in zip(gradients(compiled, x, y, twice=True), gradients(function, x, y, twice=True), strict=True):
        assert pn.allclose(one, other, rtol=1e-12, atol=1e-12)
    t = pn.ones_like(x)
    (value, tangent), (same, other) = (pn.jvp(f, (x, y), (t, t * 2)) for f in (compiled, function))
    assert_same(value, same)
    assert_same(tangent, other)


def test_operands_that_do_not_line_up_are_left_to_the_operators() -> None:
    compiled = pn.compile(function := CHAINS["one after another"])
    x, placed = jagged(2, 3), holed(2, 3)
    dense, apart = pn.randn(2, 1, 2), pn.nested_array_from_jagged(pn.randn(5, 2), x.offsets())
    for a, b in ((x, placed), (placed, x), (x, dense), (x, apart), (x, x.clone()), (x, pn.array([1.0, 2.0]))):
        assert_same(compiled(a, b), function(a, b))
        assert_same(gradients(compiled, a, b), gradients(function, a, b))
    for strided in (jagged(2, 3, layout=pn.strided), jagged(2, 3, layout=pn.strided).transpose(1, 2)):
        assert_same(compiled(strided, strided), function(strided, strided))
        assert_same(gradients(compiled, strided, strided), gradients(function, strided, strided))
    with pytest.raises(StructureError, match="add: the operands differ at component 1") as caught:
        compiled(x, jagged(2, 4))
    assert any("(x + y).tanh()" in str(entry.statement) for entry in caught.traceback)


def test_one_array_given_twice_has_its_gradients_added_in_order() -> None:
    compiled = pn.compile(function := lambda x, y: ((y * 1.1 + x) * x).sin() + y * 0.3)
    x = jagged(30, 40).requires_grad_()
    assert_same(pn.grad(compiled(x, x).sum(), x), pn.grad(function(x, x).sum(), x))
    x.requires_grad_(False)
    assert_same(compiled(x, x), function(x, x))


def test_one_array_given_twice_to_branches_that_never_meet() -> None:
    def function(x: Any, y: Any) -> Any:
        a, b = x * 1.1, y * 0.7
        c, d = a.sin() * x, b.exp() * y
        return c * 1.3 + x * a, d * 0.3 - y * b

    x, found = jagged(30, 40).requires_grad_(), []
    for f in (pn.compile(function), function):
        first, second = f(x, x)
        found.append(pn.grad((first * 0.1).sum() + (second * 3).sum(), x))
    assert_same(*found)


def test_gradients_by_what_lies_inside_a_chain() -> None:
    def function(x: Any) -> Any:
        inner = (x * 2).sin()
        outer = (inner * 3 + x).exp()
        return pn.grad(outer.sum(), inner, retain_graph=True), inner, outer

    compiled, x = pn.compile(function), jagged(2, 3).requires_grad_()
    for one, other in zip(compiled(x), function(x), strict=True):
        assert_same(one, other)
    _, inner, outer = compiled(x)
    _, same, other = function(x)
    assert_same(pn.grad(outer.sum(), inner, retain_graph=True), pn.grad(other.sum(), same, retain_graph=True))
    assert_same(pn.grad(outer.sum(), x), pn.grad(other.sum(), x))


def test_a_hook_sees_what_it_sees_otherwise() -> None:
    def function(x: Any) -> Any:
        inner = x * 2
        inner.register_hook(lambda gradient: gradient * 10)
        return (inner * 3).sin() + inner

    x = jagged(2, 3).requires_grad_()
    assert_same(pn.grad(pn.compile(function)(x).sum(), x), pn.grad(function(x).sum(), x))


def test_what_a_backward_pass_reads_is_not_overwritten_unseen() -> None:
    x = jagged(2, 3).requires_grad_()
    y = pn.compile(lambda x: (x * x).exp() * x)(x)
    with pn.no_grad():
        x.add_(1)
    with pytest.raises(GradientError, match="overwritten"):
        y.sum().backward()
    y = pn.compile(lambda x: (x + 1) * 2)(x)
    with pn.no_grad():
        x.add_(1)
    assert pn.grad(y.sum(), x).values().tolist() == [[2.0, 2.0]] * 5


def test_a_result_to_which_no_gradient_flows_wants_none() -> None:
    x, y = jagged(2, 3).requires_grad_(), jagged(2, 3)
    y = pn.nested_array_from_jagged(y.values(), x.offsets())
    for function in (
        lambda x, y: [(x + y) * 2, (y * 2).exp()][1],
        lambda x, y: [(x + y) * 2, (y * 2).exp()],
        lambda x, y: (x * y).neg() if y.requires_grad else (y.sin() * 2, x + y)[0],
    ):
        compiled = pn.compile(function)
        assert_same(compiled(x, y), function(x, y))
        assert_same(compiled(y, x), function(y, x))


DROPPING: dict[str, Callable[[Any, Any], Any]] = {
    "once": lambda x, y: pn.dropout(x * y, 0.2) + x,
    "twice, and others between": lambda x, y: pn.dropout(pn.dropout(x, 0.5) * pn.rand_like(x) + y, 0.1, True) * y,
    "all": lambda x, y: pn.dropout(x * 2, 1.0) + pn.dropout(y, p=1),
    "nobody reads it": lambda x, y: [pn.dropout(x, 0.5), pn.dropout(y * 2, 0.5) + 1][1],
    "none": lambda x, y: pn.dropout(x * y, 0.2, False) + pn.dropout(x, 0) * 2,
    "dense": lambda x, y: (pn.dropout(x.values() * 2, 0.25) * y.values() + BIAS) * 2,
    "dense, among nested": lambda x, y: x * pn.dropout(y.values()[0] * 2, 0.5) + x,
    "by generators": lambda x, y: (
        pn.dropout(pn.dropout(x * y, 0.5, generator=OWN) + 1, 0.5) * pn.dropout(y, p=0.2, generator=OTHER)
        + pn.dropout(x, 0.5, generator=OWN)
    ),
}
OWN, OTHER = np.random.default_rng(1), np.random.default_rng(2)
STATES = [one.bit_generator.state for one in (OWN, OTHER)]


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("function", DROPPING.values(), ids=DROPPING)
def test_dropouts_draw_what_they_draw_otherwise(function: Callable[[Any, Any], Any], dtype: Any) -> None:
    compiled = pn.compile(function)

    def drawn(f: Callable[[Any, Any], Any], *given: Any) -> Any:
        pn.manual_seed(5)
        OWN.bit_generator.state, OTHER.bit_generator.state = STATES
        return f(*given)

    for lengths in ((3, 2, 0, 5), (40, 1, 9)):
        x = jagged(*lengths).to(dtype)
        y = pn.nested_array_from_jagged(pn.randn(*x.values().shape, dtype=dtype), x.offsets())
        placed = holed(3, 2).to(dtype)
        for a, b in ((x, y), (placed, placed)):  # the second do not line up
            found = [
                (drawn(f, a, b), pn.rand(2), *[pn.rand(2, generator=g) for g in (OWN, OTHER)])
                for f in (compiled, function)
            ]
            assert_same(*found)
        assert_same(*[gradients(lambda *given, f=f: drawn(f, *given), x, y) for f in (compiled, function)])
    assert all(graph.calls for graph in compiled.graphs) and "operators in" in compiled.explain()


def test_a_generator_is_read_anew_in_each_call() -> None:
    held = {"generator": np.random.default_rng(1)}
    compiled, x = pn.compile(lambda x: pn.dropout(x * 2, 0.5, generator=held["generator"]) + 1), jagged(20, 30)
    given = pn.compile(lambda x, generator: pn.dropout(x * 2, 0.5, generator=generator) + 1)
    for seed in (1, 2, 2):
        held["generator"] = np.random.default_rng(seed)
        expected = pn.dropout(x * 2, 0.5, generator=np.random.default_rng(seed)) + 1
        assert_same(compiled(x), expected)
        assert_same(given(x, np.random.default_rng(seed)), expected)
    assert len(compiled.graphs) == len(given.graphs) == 1


def test_a_cast_to_the_dtype_that_is_there_gives_what_it_was_given() -> None:
    def function(x: Any) -> Any:
        same, copied = x.to(x.dtype), x.astype(x.dtype)
        with pn.no_grad():
            x.mul_(2)
        return same, copied, (same.to(x.dtype) + copied).exp() * 2

    x = jagged(2, 3)
    again = x.clone()
    for one, other in zip(pn.compile(function)(x), function(again), strict=True):
        assert_same(one, other)
    assert_same(x, again)
    tracked = jagged(2, 3).requires_grad_()
    compiled = pn.compile(lambda x: pn.grad(((y := x.to(x.dtype)) * y).sum(), y))
    assert_same(compiled(tracked), (tracked * 2).detach())


@pytest.mark.parametrize("mask", [pn.array([[True, False]]), pn.array([True, False])], ids=["larger", "as large"])
def test_a_mask_that_would_enlarge_what_it_fills_is_refused(mask: Any) -> None:
    compiled = pn.compile(lambda x, mask: (x * 2).masked_fill(mask, 0.0) + 1)
    assert_same(
        compiled(x := pn.array([1.0, 2.0]), same := pn.array([True, False])), (x * 2).masked_fill(same, 0.0) + 1
    )
    nested = pn.nested_array([[[1.0], [2.0]]], layout=pn.jagged)
    assert_same(compiled(nested, pn.array([True])), (nested * 2).masked_fill(pn.array([True]), 0.0) + 1)
    for given in (nested, pn.array([1.0])):
        with pytest.raises(ShapeError, match="would enlarge"):
            compiled(given, mask)


def test_derivatives_of_derivatives_keep_what_was_drawn() -> None:
    x, found = jagged(3, 2).requires_grad_(), []
    function: Callable[[Any], Any] = lambda x: (pn.dropout(x * x, 0.5) * x).exp()  # noqa: E731
    for f in (pn.compile(function), function):
        pn.manual_seed(1)
        slope = pn.grad(f(x).sum(), x, create_graph=True)
        found.append(pn.grad((slope * slope).sum(), x))
    assert pn.allclose(*found, rtol=1e-12, atol=0)


def test_what_is_refused_beside_a_dropout_is_said_once_with_its_line() -> None:
    def function(x: Any, y: Any) -> Any:
        z = x + y
        return pn.dropout(z, 0.5) * 2

    compiled, x = pn.compile(function), jagged(2, 3)
    compiled(x, x)
    with pytest.raises(StructureError, match="add: the operands differ at component 1") as caught:
        compiled(x, jagged(2, 4))
    (note,) = caught.value.__notes__
    assert note.endswith("z = x + y")
