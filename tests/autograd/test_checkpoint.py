"""`checkpoint`: a function is called again in the backward pass instead of keeping its intermediate results."""

from __future__ import annotations

import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import checkpoint, flatten, grad, gradcheck, hessian, hvp, jvp, manual_seed, no_grad
from pynested.autograd.random import generator_state
from pynested.backends.errors import GradientError

W = pn.array([[1.0, -0.5], [0.25, 2.0]])
NESTED = pn.nested_array([[1.0, 2.0], [], [0.5]], layout=pn.jagged)


def layer(x: Any, w: Any) -> Any:
    return (x @ w).tanh() * x


def test_values_and_derivatives_of_any_order_are_those_of_the_function() -> None:
    x = pn.array([0.3, -0.7])
    assert gradcheck(lambda x, w: checkpoint(lambda x: checkpoint(layer, x, w).exp(), x), x, W)
    for derivative in (hessian, lambda f, x: jvp(f, (x,), (x,))[1], lambda f, x: hvp(f, x, x)[1]):
        plain = derivative(lambda x: (layer(x, W) * layer(x, W)).sum(), x)
        again = derivative(lambda x: (checkpoint(layer, x, W) * checkpoint(layer, x, W)).sum(), x)
        np.testing.assert_allclose(again.numpy(), plain.numpy(), rtol=1e-14)


def test_arrays_of_the_closure_have_gradients() -> None:
    x, w = pn.array([0.3, -0.7], requires_grad=True), pn.array(W.numpy(), requires_grad=True)
    argument = x * 2  # the function uses both
    expected = grad((layer(argument, w) * x).sum(), [x, w])
    gradients = grad(checkpoint(lambda argument: layer(argument, w) * x, argument).sum(), [x, w])
    for gradient, right in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient.numpy(), right.numpy(), rtol=1e-15)


def hooked(x: Any) -> Any:
    """Return x * x, with a hook that multiplies the gradient of one of its results by 10."""
    y = x * x
    if y.requires_grad:
        y.register_hook(lambda g: g * 10)
    return y * 1


@pytest.mark.parametrize("function", [hooked, lambda x: checkpoint(hooked, x)], ids=["once", "twice"])
def test_hooks_of_the_function_are_called(function: Any) -> None:
    for x in (pn.array([3.0], requires_grad=True), pn.nested_array([[3.0]], layout=pn.jagged, requires_grad=True)):
        gradient = grad(checkpoint(function, x).sum(), x, create_graph=True)
        second = grad(gradient.sum(), x)
        assert gradient.sum().item() == 60 and second.sum().item() == 20  # of 10 x x


def test_containers_nested_arrays_and_constants() -> None:
    def function(x: Any, table: dict[str, Any], power: int) -> Any:
        return {"a": x * table["w"] * power, "b": [x.sum(), 3]}

    assert gradcheck(lambda x, w: checkpoint(function, x, {"w": w}, 2), NESTED, pn.array(0.7))
    assert checkpoint(function, NESTED, {"w": pn.array(0.7)}, 2)["b"][1] == 3


def test_results_that_need_no_gradient_are_not_recorded() -> None:
    x = pn.array([1.0], requires_grad=True)
    with no_grad():
        assert checkpoint(lambda x: x * 2, x).node is None
    assert checkpoint(lambda x: x * 2, x.detach()).node is None
    outputs = checkpoint(lambda x: (x * 2, pn.array(1.0), pn.array(2)), x)
    assert [output.requires_grad for output in outputs] == [True, False, False]


def test_the_function_is_called_again_and_intermediate_results_and_then_arguments_are_freed() -> None:
    inner_storages: list[Any] = []

    def function(x: Any) -> Any:
        inner = x.exp()
        inner_storages.append(weakref.ref(inner.storage))
        return (inner * inner).sum()

    x = pn.array([1.0, 2.0], requires_grad=True)
    y = checkpoint(function, x)
    assert [storage() for storage in inner_storages] == [None]
    y.backward()
    assert len(inner_storages) == 2
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([2.0, 4.0]), rtol=1e-14)
    with pytest.raises(GradientError, match="freed"):  # the arguments
        y.backward()


@pytest.mark.parametrize("overwritten", ["a leaf", "a constant", "the result"])
def test_a_write_after_the_call_is_noticed(overwritten: str) -> None:
    x, factor = pn.array([1.0, 2.0], requires_grad=True), pn.array([3.0, 4.0])
    y = checkpoint(lambda x, f: x * f, x, factor)
    z = y.sum()
    with no_grad():
        {"a leaf": x, "a constant": factor, "the result": y}[overwritten].mul_(100)
    with pytest.raises(GradientError, match="overwritten"):
        grad(z, x)


def test_a_write_into_an_array_that_the_function_makes_is_allowed() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    inner: list[Any] = []

    def function(x: Any) -> Any:
        inner.append(x.detach() * 3)
        return x + inner[-1]

    y = checkpoint(function, x)
    inner[0].zero_()
    assert grad(y.sum(), x).tolist() == [1, 1]


def in_turn(*values: Any) -> Any:
    """Return a function that returns one of ``values`` after the other."""
    remaining = iter(values)
    return lambda: next(remaining)


# The function of an array and of the next value, these values, and a part of the error.
OTHER_RESULTS: dict[str, tuple[Any, Any, str]] = {
    "shape": (lambda x, n: x[:n], (2, 3), r"\['float64 \(3,\) on cpu, .*'\] instead of \['float64 \(2,\) on cpu"),
    "dtype": (lambda x, n: x.to(n), ("float32", "float16"), r"float16 .* instead of .*float32"),
    "number of results": (lambda x, n: [x] * n, (1, 2), r"\[.*, 'float64.*\] instead of \['float64 [^']*'\]"),
    "second of two": (lambda x, n: (x, x[:n]), (1, 2), r"\(40,\).*\(2,\).* instead of .*\(40,\).*\(1,\)"),
    "requires_grad": (lambda x, n: (x, x * 1 if n else x.detach()), (1, 0), "requires_grad=False.* instead of"),
}


@pytest.mark.parametrize(("function", "values", "text"), OTHER_RESULTS.values(), ids=OTHER_RESULTS)
def test_another_result_is_an_error(function: Any, values: Any, text: str) -> None:
    next_value = in_turn(*values)
    y = checkpoint(lambda x: function(x, next_value()), pn.array(np.ones(40), requires_grad=True))
    with pytest.raises(GradientError, match=f"checkpoint of <lambda>: .*another result: .*{text}"):
        flatten(y)[0][0].sum().backward()
    next_value, x = in_turn(*values), pn.ones(40, requires_grad=True)
    with pytest.raises(GradientError, match=f"checkpoint of <lambda>: .*another result: .*{text}"):
        jvp(lambda x: checkpoint(lambda x: function(x, next_value()), x), (x,), (x,))


@pytest.mark.parametrize("is_other_thread", [False, True])
def test_random_numbers_are_those_of_the_first_call(is_other_thread: bool) -> None:
    x = pn.array(np.linspace(1, 2, 50), requires_grad=True)
    manual_seed(3)
    y = checkpoint(lambda x: (x * x).dropout(0.5), x)
    state = generator_state()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(y.sum().backward).result() if is_other_thread else y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(y.detach().numpy() != 0, 4 * x.detach().numpy(), 0))
    assert generator_state() == state
    manual_seed(3)
    (x * x).dropout(0.5)
    assert generator_state() == state
