"""Hooks and retained gradients."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import grad
from pynested.backends.errors import GradientError


def test_hooks_replace_and_look() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    y = x * 3
    seen: list[Any] = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 2)
    remove = x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert seen == [[1, 1]]
    assert x.grad.tolist() == [7, 7]
    assert grad((x * 1).sum(), x).tolist() == [2, 2]
    remove()
    remove()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("answer", [pn.array([1.0]), pn.array([1, 2]), 3.0])
def test_hooks_that_answer_wrongly(answer: Any) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: answer)
    with pytest.raises(GradientError, match="hook '<lambda>' returned"):
        x.sum().backward()


def test_hooks_and_retain_need_gradients() -> None:
    with pytest.raises(GradientError, match="register_hook"):
        pn.array(1.0).register_hook(lambda g: g)
    with pytest.raises(GradientError, match="retain_grad"):
        pn.array(1.0).retain_grad()


def test_hooks_in_a_recorded_pass_are_differentiated() -> None:
    x = pn.array([3.0], requires_grad=True)
    y = x * 1.0
    remove = y.register_hook(lambda g: g * x)
    slope = grad((y * y).sum(), x, create_graph=True)
    remove()
    assert slope.tolist() == [18]
    assert grad(slope.sum(), x).tolist() == [12]


def test_each_registration_is_taken_off_by_itself() -> None:
    def double(g: Any) -> Any:
        return g * 2

    for x in (pn.array([1.0], requires_grad=True), pn.array([1.0], requires_grad=True) * 1):
        first, second = x.register_hook(double), x.register_hook(double)
        found = [grad((x * 1).sum(), x).item()]
        for remove in (first, first, second, second):
            remove()
            found.append(grad((x * 1).sum(), x).item())
        assert found == [4, 2, 2, 1, 1]


def test_a_hook_that_is_registered_in_a_pass_comes_into_force_with_the_next() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * 1
    calls: list[str] = []

    def again(g: Any) -> None:
        calls.append("again")
        y.register_hook(again)  # here, and on a leaf that the pass comes to later
        x.register_hook(lambda g: calls.append("leaf"))

    y.register_hook(again)
    z = y.sum()
    z.backward(retain_graph=True)
    assert calls == ["again"]
    z.backward(retain_graph=True)
    assert calls == ["again", "again", "again", "leaf"]


def test_a_hook_that_is_taken_off_in_a_pass_is_not_called() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: remove_here())
    remove_here = y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: remove_there())
    remove_there = x.register_hook(lambda g: g * 2)
    assert grad(y.sum(), x).tolist() == [1]


# ---- what a hook is given belongs to the pass ---------------------------------------------------------------------

WRITES: dict[str, Any] = {
    "mul_": lambda g: g.mul_(10),
    "fill_": lambda g: g.fill_(0),
    "assignment": lambda g: g.__setitem__(0, 0.0),
    "a view": lambda g: g[0].mul_(10),
    "a view of all": lambda g: g.detach().mul_(10),
    "inside no_grad": lambda g: pn.no_grad()(lambda: g.mul_(10))(),
    "while recording": lambda g: pn.enable_grad()(lambda: g.mul_(10))(),
}


def made(kind: str, device: str = "cpu") -> Any:
    if kind == "dense":
        return pn.array([[1.0], [2.0]], requires_grad=True, device=device)
    components = [np.array([[1.0]]), np.array([[2.0]])]
    return pn.nested_array(components, layout=getattr(pn, kind), requires_grad=True, device=device)


KINDS = pytest.mark.parametrize("kind", ["dense", "jagged", "strided"])
PLACES = pytest.mark.parametrize("leaf", [True, False], ids=["leaf", "recorded"])


def check_refused(kind: str, leaf: bool, name: str, device: str) -> None:
    """Both hooks see the same memory, as a sum sends one cotangent to each operand."""
    for first in (True, False):
        a, b = made(kind, device), made(kind, device)
        u, v = (a, b) if leaf else (a * 1, b * 1)
        (u if first else v).register_hook(lambda g: (WRITES[name](g), None)[1])
        cotangent = pn.ones_like(u.detach())
        with pytest.raises(GradientError, match=r"read-only, as that of a gradient in a hook is.*x = .*clone"):
            (u + v).backward(cotangent)
        assert pn.equal(cotangent, pn.ones_like(cotangent))


@KINDS
@PLACES
@pytest.mark.parametrize("name", WRITES)
def test_a_hook_does_not_write_into_what_it_is_given(kind: str, leaf: bool, name: str) -> None:
    check_refused(kind, leaf, name, "cpu")


@KINDS
@PLACES
def test_nor_where_the_gradient_is_the_same_everywhere(kind: str, leaf: bool) -> None:
    x = made(kind)
    y = x if leaf else x * 1
    y.register_hook(lambda g: (g.mul_(10), None)[1])
    with pytest.raises(GradientError, match="read-only"):
        y.sum().backward()


@KINDS
def test_a_hook_may_keep_what_it_is_given_and_return_it(kind: str) -> None:
    kept: list[Any] = []
    x = made(kind)
    y = x * 1
    for array in (x, y):
        array.register_hook(kept.append)
        array.register_hook(lambda g: g)
        array.register_hook(lambda g: (kept.append(g * 10), None)[1])
    for _ in range(2):
        (y * 3).backward(pn.ones_like(x.detach()), retain_graph=True)
        x.grad.mul_(2)  # its own memory
    whole = x.grad.data if x.grad.is_nested else x.grad
    assert whole.tolist() == ([[18.0], [18.0]] if kind != "strided" else [18.0, 18.0])
    for i, gradient in enumerate(kept):
        assert pn.equal(gradient, pn.ones_like(gradient) * (30.0 if i % 2 else 3.0))
        with pytest.raises(GradientError, match="read-only") if not i % 2 else nullcontext():
            gradient.mul_(2)


@KINDS
@PLACES
def test_what_a_hook_keeps_is_not_the_memory_of_a_gradient(kind: str, leaf: bool) -> None:
    kept: list[Any] = []
    x = made(kind)
    y = x if leaf else x * 1
    y.register_hook(kept.append)
    for _ in range(2):
        (y * 3).backward(pn.ones_like(x.detach()))
        x.grad.mul_(2)
        y = x if leaf else x * 1
        y.register_hook(kept.append)
    assert [pn.equal(one, pn.ones_like(one) * 3.0) for one in kept] == [True] * len(kept)
    assert len(kept) == (3 if leaf else 2)


def test_a_hook_that_returns_another_gradient_reaches_its_own_branch_only() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    for first in (True, False):
        u, v = x * 1, x * 1
        (u if first else v).register_hook(lambda g: g * 10)
        assert grad((u + v).sum(), x).tolist() == [11, 11]


def test_a_kept_gradient_as_grad_is_not_written_to() -> None:
    x = pn.array([1.0], requires_grad=True)
    kept: list[Any] = []
    remove = x.register_hook(kept.append)
    (x * 3).sum().backward()
    remove()
    x.grad = kept[0]
    (x * 4).sum().backward()
    assert (x.grad.tolist(), kept[0].tolist()) == ([7], [3])


def test_numpy_does_not_write_into_what_a_hook_is_given() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g.numpy().__imul__(10))
    with pytest.raises(ValueError, match="read-only"):
        (x * 3).backward(pn.ones(2))


class Writes(pn.Function):
    """The identity, which writes into what it is given."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        return x + 0

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        return cotangent.mul_(10)

    @staticmethod
    def jvp(context: Any, tangent: Any) -> Any:
        return tangent.mul_(10)


@KINDS
@pytest.mark.parametrize("graph", [False, True])
def test_a_function_does_not_write_into_cotangents_and_tangents(kind: str, graph: bool) -> None:
    x, given = made(kind), pn.ones_like(made(kind).detach())
    with pytest.raises(GradientError, match="read-only, as that of a gradient"):
        grad(Writes.apply(x), x, given, create_graph=graph)
    with pytest.raises(GradientError, match="read-only, as that of a gradient"):
        pn.jvp(Writes.apply, x.detach(), given)
    assert pn.equal(given, pn.ones_like(given))
