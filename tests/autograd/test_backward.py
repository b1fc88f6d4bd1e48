"""backward and grad: cotangents, accumulation, the memory of gradients, and graphs that are freed."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, backward, grad, no_grad
from pynested.backends.errors import ArgumentError, GradientError

from .test_function import define


def leaf(*values: float) -> Array:
    return pn.array(np.array(values, float), requires_grad=True)


COTANGENTS: dict[str, tuple[Callable[[Array], None], list[float]]] = {
    "none, for one element": (lambda x: (x * x).sum().backward(), [2, 4]),
    "none, for one element in a matrix": (lambda x: (x * x).sum().reshape(1, 1).backward(), [2, 4]),
    "NumPy's array": (lambda x: (x * 2).backward(np.array([1.0, 3.0])), [2, 6]),
    "another dtype": (lambda x: (x * 2).backward(pn.array([1.0, 3.0], dtype=pn.float32)), [2, 6]),
    "a number": (lambda x: x.sum().backward(5.0), [5, 5]),
    "a list": (lambda x: backward([x.sum(), x * 2, pn.array(1.0)], [None, pn.array([1.0, 1.0]), None]), [3, 3]),
    "a dict": (lambda x: backward({"a": x.sum(), "b": x * 2}, {"a": None, "b": pn.array([1.0, 0.0])}), [3, 1]),
}


@pytest.mark.parametrize(("run", "expected"), COTANGENTS.values(), ids=COTANGENTS)
def test_cotangents_of_every_kind(run: Callable[[Array], None], expected: list[float]) -> None:
    x = leaf(1, 2)
    run(x)
    assert x.grad.tolist() == expected


X, UNUSED = leaf(1, 2), leaf(3)
ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no cotangent for two elements": (
        (X * X).backward, GradientError, "implicitly only for an output of one element"),
    "another shape": (
        lambda: (X * 2).backward(pn.array([1.0])), GradientError, r"shape \(1,\) .* an array of shape \(2"),
    "integers": (lambda: (X * 2).backward(pn.array([1, 2])), GradientError, "must be floating point, not int64"),
    "a constant": (lambda: pn.array(1.0).backward(), GradientError, "no output requires grad"),
    "grad of a constant": (lambda: grad(no_grad(pn.square)(X), X, X), GradientError, "^grad: no output requires grad"),
    "no flag": (lambda: backward(X.sum(), create_graph="no"), ArgumentError, "'create_graph' must be True or False"),
    "no optional flag": (lambda: backward(X.sum(), retain_graph=1), ArgumentError, "'retain_graph' must be True or"),
    "an unused input": (lambda: grad(X.sum(), [X, UNUSED]), GradientError, "input 1 was not used"),
    "an input that is a constant": (lambda: grad(X.sum(), pn.array(1.0)), GradientError, "input 0 does not require"),
    "a gradient of another shape": (lambda: setattr(X, "grad", pn.array([1.0])), GradientError, "grad: got a gradient"),
    "a gradient of another dtype": (
        lambda: setattr(X, "grad", pn.array([1.0, 2.0], dtype=pn.float32)), GradientError, "grad: got a gradient"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
    assert X.grad is None


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_accumulate_in_place_and_overflow_without_a_warning(create_graph: bool) -> None:
    for factor, total in ((3.0, 6.0), (1.5e308, np.inf)):
        x, gradients = leaf(1, 2), []
        for _ in range(2):
            (x * factor).sum().backward(create_graph=create_graph)
            gradients.append(x.grad)
        assert x.grad.tolist() == [total, total] and gradients[0] is gradients[1]


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_never_share_memory(create_graph: bool) -> None:
    x, y, cotangent = leaf(1, 2), leaf(3, 4), pn.array([1.0, 1.0])
    w = leaf(5, 6)  # whose gradient is a sum
    z = (x + y + w + w * 0).reshape(2)
    z.retain_grad()
    hooked: list[Array] = []
    x.register_hook(hooked.append)
    z.backward(cotangent, create_graph=create_graph)
    inputs = leaf(1, 2), leaf(3, 4)  # without hooks
    results = grad(inputs[0] + inputs[1], inputs, cotangent, create_graph=create_graph)
    arrays = [x.grad, y.grad, w.grad, z.grad, cotangent, *results]
    assert [array.tolist() for array in arrays] == [[1, 1]] * 7
    pairs = [*itertools.combinations(arrays, 2), (x.grad, hooked[0])]
    assert not any(np.shares_memory(array.data, other.data) for array, other in pairs)


kept: list[Array] = []


def _keep(gradient: Array) -> Array:
    kept.append(gradient)
    return gradient


Keeps = define(lambda context, x: x + 0.0, lambda context, g: _keep(_keep(g) * 1.0))
Returns = define(lambda context, x: x + 0.0, lambda context, g: _keep(g))


def _hooked(x: Array, hook: Callable[[Array], Array | None]) -> Array:
    x.register_hook(hook)
    return x


IDENTITIES: dict[str, Callable[[Array], Array]] = {
    "nobody keeps an array": lambda x: x + 0.0,
    "a function keeps its cotangent and its result": Keeps.apply,
    "a function keeps and returns its cotangent": Returns.apply,
    "a hook keeps its argument": lambda x: _hooked(x + 0.0, kept.append),
    "a hook keeps its result": lambda x: _hooked(x + 0.0, lambda gradient: _keep(gradient * 1.0)),
    "a hook of the leaf keeps its argument": lambda x: _hooked(x, kept.append) + 0.0,
    "a hook of the leaf keeps its result": lambda x: _hooked(x, lambda gradient: _keep(gradient * 1.0)) + 0.0,
}


def _accumulated(total: Array, leaves: list[Array]) -> list[Array]:
    total.backward()
    return [array.grad for array in leaves]


@pytest.mark.parametrize("derivative", [grad, _accumulated])
@pytest.mark.parametrize("is_checkpoint", [False, True])
@pytest.mark.parametrize("identity", IDENTITIES.values(), ids=IDENTITIES)
def test_a_write_into_a_gradient_changes_no_other_array(identity: Any, is_checkpoint: bool, derivative: Any) -> None:
    kept.clear()
    x, w = leaf(1, 2), leaf(3, 4)
    y = x + (pn.checkpoint(identity, w) if is_checkpoint else identity(w))
    gradients = derivative((y * pn.array([3.0, 4.0])).sum(), [x, w])
    for gradient in gradients:
        gradient.mul_(2)
    assert [array.tolist() for array in gradients] == [[6, 8]] * 2
    assert all(array.tolist() == [3, 4] for array in kept)


def test_gradients_of_views_are_contiguous_and_apart() -> None:
    x, twice = (pn.array(np.ones((2, 3)), requires_grad=True) for _ in range(2))
    factors = pn.array(np.arange(6.0).reshape(3, 2))
    (x.T * factors + twice.T * factors + twice.T * factors).sum().backward()
    assert x.grad.is_contiguous() and x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert twice.grad.is_contiguous() and twice.grad.tolist() == [[0, 4, 8], [2, 6, 10]]
    transposed, cotangent = x.T, pn.array(np.ones((2, 3)))
    arrays = [*grad(transposed.T, [transposed, x], cotangent), cotangent, x]
    assert arrays[0].is_contiguous() and arrays[0].tolist() == [[1, 1]] * 3
    assert not any(np.shares_memory(array.data, other.data) for array, other in itertools.combinations(arrays, 2))


def test_a_broadcast_gradient_is_copied_before_it_is_written() -> None:
    x, one = leaf(1, 2, 3), leaf(1)
    (x.sum() * 2 + one.sum() * 3).backward()
    assert x.grad.is_contiguous() and x.grad.mul_(2).tolist() == [4, 4, 4]
    assert one.grad.mul_(2).tolist() == [6]
    x.grad = pn.array([1.0]).broadcast_to((3,))  # read-only
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_each_array_that_retains_its_gradient_gets_it_once() -> None:
    """A copy of a result refers to the same node."""
    y = leaf(1, 2) * 1
    arrays = [y, copy.copy(y), copy.copy(y)]
    for array in [*arrays, y]:
        array.retain_grad()
    arrays.pop()  # an array that is gone
    (y * y).sum().backward()
    assert [array.grad.tolist() for array in arrays] == [[2, 4]] * 2
    assert not np.shares_memory(arrays[0].grad.data, arrays[1].grad.data)


def test_accumulation_into_a_gradient_that_was_saved_is_noticed() -> None:
    x, w = leaf(1, 2), leaf(3)
    (x * x).sum().backward()
    y = (w * x.grad).sum()
    (x * x).sum().backward()
    with pytest.raises(GradientError, match="mul: memory of a value saved for the gradient was overwritten in place"):
        grad(y, w)


def test_a_second_pass_needs_saved_values_only() -> None:
    x = leaf(1, 2)
    y, z = (x * x).sum(), (x + x).sum()
    for _ in range(2):
        z.backward()
    assert x.grad.tolist() == [4, 4]
    y.backward()
    with pytest.raises(GradientError, match=r"mul: its saved values were freed.*retain_graph=True"):
        y.backward()


def test_recorded_gradients_accumulate() -> None:
    x = leaf(2)
    (x * x).sum().backward(create_graph=True)
    (x * x * x).sum().backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.tolist() == [16]
    assert grad(x.grad.sum(), x).tolist() == [14]


def test_grad_reads_the_nodes_between_outputs_and_inputs() -> None:
    x, other = leaf(1, 2), leaf(3, 4)
    y = x * 3
    by_y, by_x = grad((y * y).sum(), [y, x])
    assert (by_y.tolist(), by_x.tolist()) == ([6, 12], [18, 36])
    assert grad(y, y, pn.array([1.0, 2.0])).tolist() == [1, 2]
    assert grad(x.sum(), {"a": x, "b": other}, allow_unused=True)["b"] is None
    assert grad(x.sum(), [x, 3.0, {"n": np.ones(2)}])[1:] == [None, {"n": None}]  # constants have no gradient
    assert x.grad is None
    branch = (other * other).sum()
    branch.backward()  # frees saved values of a branch that the gradient of x does not need
    assert grad((x * x).sum() + branch, x).tolist() == [2, 4]


CONDITION = [[True, False], [False, True]]
CONSTANTS: dict[str, tuple[Any, Callable[[Any, Array], Any], list[list[float]]]] = {
    "a condition": (CONDITION, lambda c, x: pn.where(c, x, 0.0), [[1, 0], [0, 1]]),
    "indices": ([1, 0], lambda i, x: pn.embedding(i, x) * pn.array([[1.0], [2.0]]), [[2, 2], [1, 1]]),
    "targets": ([1, 0], lambda t, x: pn.cross_entropy(x, t, reduction="sum"), [[0.5, -0.5], [-0.5, 0.5]]),
}


@pytest.mark.parametrize(("values", "function", "expected"), CONSTANTS.values(), ids=CONSTANTS)
def test_arguments_that_are_not_differentiated_can_be_overwritten(values: Any, function: Any, expected: Any) -> None:
    """The node has a copy of each."""
    x, constant = pn.array(np.ones((2, 2)), requires_grad=True), pn.array(values)
    y = function(constant, x).sum()
    constant.zero_()
    np.testing.assert_allclose(grad(y, x).numpy(), expected)


def test_large_cotangents_are_added_as_small_ones_are() -> None:
    """All threads compute the sum over several uses; no addend changes, and nothing warns."""
    x = pn.array(np.ones((3000, 100)), requires_grad=True)
    infinite, three = pn.array(np.full((3000, 100), np.inf)), pn.array(np.full((3000, 100), 3.0))
    gradient = grad(x * three + x * 4 + x * three, x, pn.ones_like(x.detach()))
    assert (gradient.numpy() == 10).all() and (three.numpy() == 3).all()
    gradient = grad(x * infinite - x * infinite, x, pn.ones_like(x.detach()))  # every warning is an error
    assert np.isnan(gradient.numpy()).all()
