"""Computing again instead of keeping."""

from __future__ import annotations

import weakref
from threading import Thread
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, checkpoint, grad, gradcheck, hessian, hvp, jvp, manual_seed, no_grad
from pynested.autograd.random import get_state
from pynested.backends.errors import GradientError

from ..crowd import together

W = pn.array([[1.0, -0.5], [0.25, 2.0]])


def layer(x: Any, w: Any) -> Any:
    return (x @ w).tanh() * x


def test_the_same_values_and_derivatives_of_any_order() -> None:
    x = pn.array([0.3, -0.7])
    assert gradcheck(lambda x, w: checkpoint(layer, x, w), x, W)
    for derivative in (hessian, lambda f, x: jvp(f, (x,), (x,))[1], lambda f, x: hvp(f, x, x)[1]):
        plain = derivative(lambda x: (layer(x, W) * layer(x, W)).sum(), x)
        again = derivative(lambda x: (checkpoint(layer, x, W) * checkpoint(layer, x, W)).sum(), x)
        np.testing.assert_allclose(again.numpy(), plain.numpy(), rtol=1e-14)


def test_it_is_computed_again_and_intermediates_are_not_kept() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(len(calls))
        return x.tanh().tanh().tanh()

    x = pn.array([1.0, 2.0], requires_grad=True)
    y = checkpoint(function, x)
    assert [type(source).__name__ for source in y.node.sources[0].sources] == ["Leaf"]
    y.sum().backward()
    assert calls == [0, 1]
    np.testing.assert_array_equal(x.grad.numpy(), grad(function(x).sum(), x).numpy())


def test_what_the_function_uses_without_being_given_it() -> None:
    x, w = pn.array([0.3, -0.7], requires_grad=True), pn.array(W.numpy(), requires_grad=True)
    made = x * 2  # is used, and so is what it was made of
    expected = grad((layer(made, w) * x).sum(), [x, w])
    found = grad(checkpoint(lambda given: layer(given, w) * x, made).sum(), [x, w])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-15)


def test_checkpoints_inside_checkpoints() -> None:
    def inner(x: Any) -> Any:
        return checkpoint(lambda x: x.sin() * x, x).exp()

    assert gradcheck(lambda x: checkpoint(inner, x), pn.array([0.5, 1.5]))


def test_dropout_is_the_same_again() -> None:
    x = pn.array(np.linspace(1, 2, 50), requires_grad=True)
    manual_seed(3)
    y = checkpoint(lambda x: (x * x).dropout(0.5), x)
    afterwards = pn.rand(3).tolist()
    kept = y.numpy() != 0 if not y.requires_grad else y.detach().numpy() != 0
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(kept, 4 * x.detach().numpy(), 0))
    manual_seed(3)
    (x * x).dropout(0.5)
    assert pn.rand(3).tolist() == afterwards  # computing again draws nothing from the present


def test_containers_nested_arrays_and_constants() -> None:
    nested = pn.nested_array([[1.0, 2.0], [], [0.5]], layout=pn.jagged)

    def function(x: Any, table: dict[str, Any], power: int) -> Any:
        return {"a": x * table["w"] * power, "b": [x.sum(), 3]}

    assert gradcheck(lambda x, w: checkpoint(function, x, {"w": w}, 2), nested, pn.array(0.7))
    assert checkpoint(function, nested, {"w": pn.array(0.7)}, 2)["b"][1] == 3


def test_nothing_is_recorded_where_nothing_is_wanted() -> None:
    x = pn.array([1.0], requires_grad=True)
    with no_grad():
        assert checkpoint(lambda x: x * 2, x).node is None
    assert checkpoint(lambda x: x * 2, x.detach()).node is None
    outputs = checkpoint(lambda x: (x * 2, pn.array(1.0), pn.array(2)), x)
    assert [one.requires_grad for one in outputs] == [True, False, False]


def counted(*values: Any) -> Any:
    """A function that gives one of ``values`` after the other."""
    given = iter(values)
    return lambda: next(given)


# What the function makes of its argument and of what comes next, and what the error says.
OTHER_RESULTS: dict[str, tuple[Any, Any, str]] = {
    "a shape": (lambda x, n: x[:n], counted(2, 3), r"array 0: shape \(3,\) instead of \(2,\)"),
    "a dtype": (lambda x, n: x.to(n), counted("float32", "float16"), "dtype float16 instead of float32"),
    "a number of results": (lambda x, n: [x] * n, counted(1, 2), "2 arrays instead of 1"),
    "the second of two": (lambda x, n: (x, x[:n]), counted(1, 2), "array 1: shape"),
    "what is differentiated": (lambda x, n: (x, x * 1 if n else x.detach()), counted(1, 0), "requires_grad False"),
}


@pytest.mark.parametrize("what", OTHER_RESULTS)
def test_another_result_is_an_error(what: str) -> None:
    function, other, says = OTHER_RESULTS[what]
    y = checkpoint(lambda x: function(x, other()), pn.array(np.ones(40), requires_grad=True))
    with pytest.raises(GradientError, match=f"checkpoint of <lambda>: .*another result: .*{says}"):
        (y if isinstance(y, Array) else y[0]).sum().backward()


def test_the_forward_mode_looks_too() -> None:
    other = counted(1, 2)
    with pytest.raises(GradientError, match="another result"):
        jvp(lambda x: checkpoint(lambda x: x[: other()], x), (pn.array(np.ones(3)),), (pn.array(np.ones(3)),))


@pytest.mark.parametrize("what", ["an argument", "a result"])
def test_a_write_after_the_call_is_noticed(what: str) -> None:
    x = pn.array([0.0, 0.0], requires_grad=True)
    y = checkpoint(lambda z: z * 3, x)
    z = y.sum()
    with no_grad():
        (x if what == "an argument" else y).mul_(100)
    with pytest.raises(GradientError, match="overwritten"):
        grad(z, x)


def test_what_was_written_to_before_the_pass_may_be_what_the_function_made_itself() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    inside: list[Any] = []

    def function(z: Any) -> Any:
        made = z.detach() * 3
        inside.append(made)
        return z + made

    y = checkpoint(function, x)
    inside[0].zero_()
    assert grad(y.sum(), x).tolist() == [1, 1]


def test_only_arguments_and_results_are_kept() -> None:
    made: list[Any] = []

    def function(z: Any) -> Any:
        inner = z.exp()
        made.append(weakref.ref(inner.storage))
        return (inner * inner).sum()

    x = pn.array([1.0, 2.0], requires_grad=True)
    y = checkpoint(function, x)
    assert made[0]() is None
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([2.0, 4.0]), rtol=1e-14)


def test_random_numbers_are_the_same_again_whatever_other_threads_draw() -> None:
    wrong: list[bool] = []
    numbers: list[float] = []

    def differentiate() -> None:
        for _ in range(20):
            x = pn.array(np.ones(500), requires_grad=True)
            y = checkpoint(lambda z: z.dropout(0.5), x)
            y.sum().backward()
            wrong.append(x.grad.tolist() != y.detach().tolist())

    def draw() -> None:
        numbers.extend(pn.rand(1).item() for _ in range(500))

    together([differentiate, draw] * 4)
    assert wrong == [False] * 80
    assert len(set(numbers)) == 2000


def test_a_pass_in_another_thread_draws_what_the_call_drew() -> None:
    x = pn.array(np.ones(200), requires_grad=True)
    y = checkpoint(lambda z: z.dropout(0.5), x)
    state = get_state()
    thread = Thread(target=y.sum().backward)
    thread.start()
    thread.join()
    assert x.grad.tolist() == y.detach().tolist()
    assert get_state() == state


def test_arguments_are_guarded() -> None:
    x, factor = pn.array([1.0, 2.0], requires_grad=True), pn.array([3.0, 4.0])
    y = checkpoint(lambda x, f: x * f, x, factor)
    factor.zero_()
    with pytest.raises(GradientError, match="overwritten"):
        y.sum().backward()
    y = checkpoint(lambda x, f: x * f, x, factor)
    y.sum().backward()
    with pytest.raises(GradientError, match="freed"):
        y.sum().backward()
