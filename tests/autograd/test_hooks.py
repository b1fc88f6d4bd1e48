"""Hooks: what they return, when they are called, and that the gradient they receive is read-only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pynested as pn
from pynested.autograd import grad
from pynested.backends.errors import GradientError

ERRORS: dict[str, tuple[Callable[[], Any], str]] = {
    "a constant": (lambda: pn.array(1.0).register_hook(lambda g: g), "register_hook"),
    "retain_grad of a constant": (lambda: pn.array(1.0).retain_grad(), "retain_grad"),
    "another shape": (lambda: run_with_hook(lambda g: pn.array([1.0])), "hook '<lambda>' returned"),
    "another dtype": (lambda: run_with_hook(lambda g: pn.array([1, 2])), "hook '<lambda>' returned"),
    "another dtype of a nested array": (
        lambda: run_with_hook(lambda g: g.to(pn.float32), make("strided")), "hook '<lambda>' returned"),
    "a dense gradient of a nested array": (lambda: run_with_hook(lambda g: g.values(), make("strided")),
        "hook: the gradient of a nested array must be nested, not Array"),
    "a number": (lambda: run_with_hook(lambda g: 3.0), "hook '<lambda>' returned"),
}  # fmt: skip


def run_with_hook(hook: Callable[[Any], Any], array: Any = None) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True) if array is None else array
    x.register_hook(hook)
    x.sum().backward()


@pytest.mark.parametrize(("call", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(GradientError, match=text):
        call()


def test_hooks_in_a_recorded_pass_are_differentiated() -> None:
    x = pn.array([3.0], requires_grad=True)
    y = x * 1.0
    remove = y.register_hook(lambda g: g * x)
    slope = grad((y * y).sum(), x, create_graph=True)
    remove()
    assert slope.tolist() == [18]
    assert grad(slope.sum(), x).tolist() == [12]


def test_a_hook_is_called_once_in_a_pass_for_an_input_that_is_named_twice() -> None:
    x = pn.array([3.0], requires_grad=True)
    for y in (x, x * 1):
        kept: list[Any] = []
        y.register_hook(lambda g, kept=kept: kept.append(g) or g * 2)
        gradients = grad((y * y).sum(), [y, y])
        assert [g.tolist() for g in gradients] == [[12], [12]] and len(kept) == 1
        assert gradients[0].storage is not gradients[1].storage


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


def test_a_hook_that_a_hook_registers_is_called_from_the_next_pass_on() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * 1
    calls: list[str] = []

    def again(g: Any) -> None:
        calls.append("again")
        y.register_hook(again)
        x.register_hook(lambda g: calls.append("leaf"))  # on a leaf that the pass reaches later

    y.register_hook(again)
    z = y.sum()
    z.backward(retain_graph=True)
    assert calls == ["again"]
    z.backward()
    assert calls == ["again", "again", "again", "leaf"]


def test_a_hook_that_a_hook_removes_is_not_called() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * 1
    removed: list[Callable[[], None]] = []
    for array in (y, x):  # the hooks of y are called first
        y.register_hook(lambda g: removed.pop(0)())
        removed.append(array.register_hook(lambda g: g * 2))
    assert grad(y.sum(), x).tolist() == [1]


WRITES: dict[str, Callable[[Any], Any]] = {
    "mul_": lambda g: g.mul_(10),
    "fill_": lambda g: g.fill_(0),
    "assignment": lambda g: g.__setitem__(0, 0.0),
    "a view": lambda g: g[0].mul_(10),
    "detached": lambda g: g.detach().mul_(10),
    "inside no_grad": lambda g: pn.no_grad()(lambda: g.mul_(10))(),
    "while recording": lambda g: pn.enable_grad()(lambda: g.mul_(10))(),
}
KINDS = pytest.mark.parametrize("kind", ["dense", "jagged", "strided"])
LEAF = pytest.mark.parametrize("is_leaf", [True, False], ids=["leaf", "recorded"])


def make(kind: str) -> Any:
    if kind == "dense":
        return pn.array([[1.0], [2.0]], requires_grad=True)
    return pn.nested_array([[[1.0]], [[2.0]]], layout=getattr(pn, kind), requires_grad=True)


@KINDS
@LEAF
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_hook_does_not_write_into_a_gradient(kind: str, is_leaf: bool, write: Callable[[Any], Any]) -> None:
    """Both operands of a sum receive the same memory, and all elements of an operand of `sum` the same element."""
    for i in range(2):
        operands = [make(kind) if is_leaf else make(kind) * 1 for _ in range(2)]
        operands[i].register_hook(lambda g: (write(g), None)[1])
        cotangent = pn.ones_like(operands[0].detach())
        for output, gradient in ((operands[0] + operands[1], cotangent), (operands[i].sum(), None)):
            with pytest.raises(GradientError, match="read-only"):
                output.backward(gradient)
        assert pn.equal(cotangent, pn.ones_like(cotangent))


def test_numpy_does_not_write_either_and_the_error_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="read-only"):
        run_with_hook(lambda g: g.numpy().__imul__(10))
    with pytest.raises(GradientError, match=r"read-only, like a gradient in a hook.*x = .*clone"):
        run_with_hook(lambda g: g.mul_(10))


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
