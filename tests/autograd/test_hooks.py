"""Hooks: what they return, when they are called, and that the gradient they receive is read-only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pynested as pn
from pynested.autograd import grad
from pynested.backends.errors import GradientError

# ---- results and registration -------------------------------------------------------------------------------------


def test_a_hook_replaces_or_reads_the_gradient() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    y = x * 3
    read: list[Any] = []
    y.register_hook(lambda g: read.append(g.tolist()))
    y.register_hook(lambda g: g * 2)
    remove = x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert (read, x.grad.tolist()) == ([[1, 1]], [7, 7])
    assert grad((x * 1).sum(), x).tolist() == [2, 2]
    remove()
    assert grad((x * 1).sum(), x).tolist() == [1, 1]


def test_a_hook_replaces_the_gradient_of_its_own_branch_only() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    for i in range(2):
        branches = x * 1, x * 1
        branches[i].register_hook(lambda g: g * 10)
        assert grad((branches[0] + branches[1]).sum(), x).tolist() == [11, 11]


@pytest.mark.parametrize("result", [pn.array([1.0]), pn.array([1, 2]), 3.0], ids=["shape", "dtype", "number"])
def test_a_wrong_result_is_refused(result: Any) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: result)
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


def test_each_registration_is_removed_by_its_own_function() -> None:
    def double(g: Any) -> Any:
        return g * 2

    for x in (pn.array([1.0], requires_grad=True), pn.array([1.0], requires_grad=True) * 1):
        first, second = x.register_hook(double), x.register_hook(double)
        slopes = [grad((x * 1).sum(), x).item()]
        for remove in (first, first, second, second):
            remove()
            slopes.append(grad((x * 1).sum(), x).item())
        assert slopes == [4, 2, 2, 1, 1]


def test_a_hook_that_is_registered_during_a_pass_is_called_from_the_next_on() -> None:
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
    z.backward()
    assert calls == ["again", "again", "again", "leaf"]


def test_a_hook_that_is_removed_during_a_pass_is_not_called() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: remove_here())
    remove_here = y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: remove_there())
    remove_there = x.register_hook(lambda g: g * 2)
    assert grad(y.sum(), x).tolist() == [1]


# ---- the gradient that a hook receives is read-only -----------------------------------------------------------------

WRITES: dict[str, Callable[[Any], Any]] = {
    "mul_": lambda g: g.mul_(10),
    "fill_": lambda g: g.fill_(0),
    "assignment": lambda g: g.__setitem__(0, 0.0),
    "a view": lambda g: g[0].mul_(10),
    "detached": lambda g: g.detach().mul_(10),
    "inside no_grad": lambda g: pn.no_grad()(lambda: g.mul_(10))(),
    "while recording": lambda g: pn.enable_grad()(lambda: g.mul_(10))(),
}
READ_ONLY = r"read-only, as that of a gradient"
KINDS = pytest.mark.parametrize("kind", ["dense", "jagged", "strided"])
LEAF = pytest.mark.parametrize("is_leaf", [True, False], ids=["leaf", "recorded"])


def make(kind: str) -> Any:
    if kind == "dense":
        return pn.array([[1.0], [2.0]], requires_grad=True)
    return pn.nested_array([[[1.0]], [[2.0]]], layout=getattr(pn, kind), requires_grad=True)


@KINDS
@LEAF
def test_a_hook_does_not_write_into_a_gradient(kind: str, is_leaf: bool) -> None:
    """Both operands of a sum receive the same memory, and all elements of an operand of `sum` the same element."""
    for write in WRITES.values():
        for i in range(2):
            operands = [make(kind) if is_leaf else make(kind) * 1 for _ in range(2)]
            operands[i].register_hook(lambda g, write=write: (write(g), None)[1])
            cotangent = pn.ones_like(operands[0].detach())
            with pytest.raises(GradientError, match=READ_ONLY + r" in a hook is.*x = .*clone"):
                (operands[0] + operands[1]).backward(cotangent)
            assert pn.equal(cotangent, pn.ones_like(cotangent))
            with pytest.raises(GradientError, match=READ_ONLY):
                operands[i].sum().backward()


def test_numpy_does_not_write_into_a_gradient() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g.numpy().__imul__(10))
    with pytest.raises(ValueError, match="read-only"):
        (x * 3).backward(pn.ones(2))


@KINDS
@LEAF
def test_a_hook_can_keep_a_gradient_and_return_it(kind: str, is_leaf: bool) -> None:
    """A later write into `grad` does not change the gradients that hooks keep."""
    x, kept, products = make(kind), [], []
    y = x if is_leaf else x * 1
    for array in (x, y):
        array.register_hook(kept.append)
        array.register_hook(lambda g: g)
        array.register_hook(lambda g: products.append(g * 10))
    z = y * 3
    for total in (3.0, 9.0):
        z.backward(pn.ones_like(x.detach()), retain_graph=True)
        assert pn.equal(x.grad, pn.ones_like(x.grad) * total)
        x.grad.mul_(2)  # its own memory
    for gradient, product in zip(kept, products, strict=True):
        assert pn.equal(gradient, pn.ones_like(gradient) * 3) and pn.equal(product.mul_(1), gradient * 10)
        with pytest.raises(GradientError, match="read-only"):
            gradient.mul_(2)


def test_a_kept_gradient_as_grad_is_not_written() -> None:
    x = pn.array([1.0], requires_grad=True)
    kept: list[Any] = []
    remove = x.register_hook(kept.append)
    (x * 3).sum().backward()
    remove()
    x.grad = kept[0]
    (x * 4).sum().backward()
    assert (x.grad.tolist(), kept[0].tolist()) == ([7], [3])


class Writes(pn.Function):
    """The identity, whose derivatives write into their argument."""

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
def test_a_function_does_not_write_into_cotangents_and_tangents(kind: str) -> None:
    x = make(kind)
    ones = pn.ones_like(x.detach())
    for create_graph in (False, True):
        with pytest.raises(GradientError, match=READ_ONLY):
            grad(Writes.apply(x), x, ones, create_graph=create_graph)
    with pytest.raises(GradientError, match=READ_ONLY):
        pn.jvp(Writes.apply, x.detach(), ones)
    assert pn.equal(ones, pn.ones_like(ones))
