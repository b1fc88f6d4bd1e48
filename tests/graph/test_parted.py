"""What is made of dense arrays alone comes before a chain of nested ones, where nobody can see that it does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import pynested as pn
from pynested.graph.chains import parted
from pynested.graph.chains.chain import Chain
from pynested.graph.chains.operations import OPERATIONS
from pynested.graph.passes import fused

from .arrays import CHANCE, assert_same, jagged

Program = Callable[..., Any]
# Of a nested array and two dense ones, and how often a chain runs, forwards.
PROGRAMS: dict[str, tuple[Program, int]] = {
    "one of dense": (lambda x, b, c: x * b.exp() + x, 1),
    "a chain of dense": (lambda x, b, c: (x * ((b * 2 + c).exp() - 1)).tanh() + c, 2),
    "dense in the middle": (lambda x, b, c: (x * 3 + c) * (b * 0.7), 1),
    "read by dense first": (lambda x, b, c: (x * (b * 0.7) + b) * (b + x), 1),
    "read by dense later": (lambda x, b, c: (x * 3 + b) * (b * 0.7), 0),
    "what dense has made, read by both": (lambda x, b, c: (x * (d := b * 0.7)) * (d + 1), 0),
    "one of nested": (lambda x, b, c: x * (b * c + 1), 0),
    "several results": (lambda x, b, c: (x * (b * 2) - 1, (x + c * 3).sin()), 2),
    "dense draws": (lambda x, b, c: (pn.manual_seed(3), x * pn.dropout(b * 2, 0.5) + c)[1], 2),
    "nested draws": (lambda x, b, c: (pn.manual_seed(3), pn.dropout(x * (b * 2), 0.5) + c)[1], 1),
    "both draw": (lambda x, b, c: (pn.manual_seed(3), pn.dropout(x * 2, 0.5) * pn.dropout(b * 2, 0.5) + c)[1], 0),
}  # fmt: skip


def gradients(function: Program, given: tuple[Any, ...]) -> list[Any]:
    """By all that goes in, each of which is read elsewhere too, before and after: the order of three parts is seen."""
    before = [(one * 0.3).sum() for one in given]
    results = function(*given)
    results = results if isinstance(results, tuple) else (results,)
    sums = [*before, *[(one * 1.7).sum() for one in results], *[one.sin().sum() for one in given]]
    return [one.detach() for one in pn.grad(sum(sums[1:], start=sums[0]), list(dict.fromkeys(given)))]


def chains_that_run(function: Program, given: tuple[Any, ...]) -> int:
    with mock.patch.object(Chain, "_computed", autospec=True, side_effect=Chain._computed) as computed:
        function(*given)
    return int(computed.call_count)


def operands() -> tuple[Any, Any, Any]:
    x = jagged(3, 0, 7, 2)
    return tuple(one.requires_grad_() for one in (x, *(pn.array(CHANCE.normal(size=2)) for _ in range(2))))


def check(function: Program, runs: int) -> None:
    compiled = pn.compile(function)
    for given in (operands(), (*operands()[:2], pn.array([[0.5, -1.0]]).requires_grad_())):
        assert_same(compiled(*given), function(*given))
        assert_same(gradients(compiled, given), gradients(function, given))
    assert chains_that_run(compiled, operands()) == runs
    for x, b, _ in (operands() for _ in range(8)):  # two operands are one; rounding shows an order in most cases
        assert_same(gradients(compiled, (x, b, b)), gradients(function, (x, b, b)))
    assert all(graph.calls for graph in compiled.graphs)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(("function", "runs"), PROGRAMS.values(), ids=PROGRAMS)
def test_dense_arrays_before_nested_ones(function: Program, runs: int) -> None:
    check(function, runs)


def test_derivatives_of_derivatives() -> None:
    function, (x, b, c) = PROGRAMS["a chain of dense"][0], operands()
    found = []
    for f in (pn.compile(function), function):
        first = pn.grad(f(x, b, c).sum(), [x, b], create_graph=True)
        found.append(pn.grad((first[0] * first[1]).sum(), [x, b, c]))
    for one, other in zip(*found, strict=True):
        assert pn.allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64], ids=str)
def test_on_a_device_it_does_not_matter_who_is_tracked(dtype: Any) -> None:
    """Each operator of two operands, one of them made of dense arrays: the same kernel, and so the same bits."""
    names = [name for name, one in OPERATIONS.items() if len(one.pulls) == 2 and not one.judges]
    x, b = (one.to("emulated") for one in (jagged(3, 0, 40).abs().to(dtype), pn.array([0.3, 1.9]).to(dtype)))
    compiled = pn.compile(lambda x, b: tuple([getattr(pn, name)(x * 1.0, b * 1.0) * 1.0 for name in names]))
    leaves = x.detach().requires_grad_(), b.detach().requires_grad_()
    assert len(names) > 9 and chains_that_run(compiled, leaves)
    for one, other in zip(compiled(x, b), compiled(*leaves), strict=True):
        assert np.array_equal(one.values().numpy(), other.detach().values().numpy(), equal_nan=True)


WRONG: dict[str, tuple[Any, str, Any]] = {
    "two operands send their gradients to one place": (parted, "met_twice", lambda arrays: False),
    "gradients in another order": (fused, "_dense_read_first", lambda nodes, recording: True),
}


@pytest.mark.parametrize(("where", "name", "wrong"), WRONG.values(), ids=WRONG)
def test_another_order_is_caught(where: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises(AssertionError):
        for function, runs in PROGRAMS.values():
            check(function, runs)
