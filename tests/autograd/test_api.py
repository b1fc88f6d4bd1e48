"""vjp, jvp, jacobian, hessian, hvp: every order, no confusion, and no history that nobody needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, grad, hessian, hvp, jacobian, jvp, no_grad, vjp
from pynested.autograd.containers import flatten
from pynested.backends.errors import ArgumentError, GradientError

ONE = pn.array(1.0)


def derivative(function: Any) -> Any:
    return lambda x: vjp(function, x)[1](ONE)


def tangent(function: Any) -> Any:
    return lambda x: jvp(function, (x,), (ONE,))[1]


def test_perturbations_are_not_confused() -> None:
    """d/dx [x d/dy (x + y)] = 1, and not 2."""
    for inner in (derivative, tangent):
        for outer in (derivative, tangent):
            assert outer(lambda x, inner=inner: x * inner(lambda y: x + y)(ONE))(pn.array(3.0)).item() == 1


def test_every_order_every_way() -> None:
    """The fifth derivative of sin x exp 2x, by each of the 32 ways to mix forward and reverse."""
    point = 0.7
    exact = (math.exp(2 * point) * complex(2, 1) ** 5 * complex(math.cos(point), math.sin(point))).imag
    for way in range(32):
        function = lambda x: x.sin() * (2 * x).exp()  # noqa: E731
        for order in range(5):
            function = (derivative if way >> order & 1 else tangent)(function)
        assert function(pn.array(point)).item() == pytest.approx(exact, rel=1e-12)


def test_third_derivative_of_tanh() -> None:
    t = math.tanh(0.3)
    found = derivative(derivative(derivative(lambda x: x.tanh())))(pn.array(0.3))
    assert found.item() == pytest.approx((1 - t * t) * (6 * t * t - 2), rel=1e-14)


def test_hessian_and_its_products() -> None:
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, -3.0, 4.0], [0.0, 4.0, 1.0]])
    x = pn.array([1.0, -2.0, 0.5])

    def function(x: Array) -> Array:
        return (x @ pn.array(matrix) @ x) / 2

    np.testing.assert_array_equal(hessian(function, x).numpy(), matrix)
    slope, product = hvp(function, x, pn.array([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(slope.numpy(), matrix @ x.numpy())
    np.testing.assert_array_equal(product.numpy(), matrix[1])
    both = vjp(lambda x: derivative(function)(x), x)[1](pn.array([0.0, 1.0, 0.0]))  # reverse over reverse
    np.testing.assert_array_equal(both.numpy(), matrix[1])


def test_results_are_released_at_top_level() -> None:
    x = pn.array([1.0, 2.0])
    y, pull = vjp(lambda x: x * x, x)
    results = [y, pull(x), *jvp(lambda x: x * x, (x,), (x,)), jacobian(lambda x: x * x, x)]
    results += [hessian(lambda x: (x * x).sum(), x), *hvp(lambda x: (x * x).sum(), x, x)]
    assert all(not one.requires_grad and one.line is None for one in results)
    assert not x.requires_grad


def test_results_stay_recorded_where_something_outside_is_differentiated() -> None:
    w = pn.array(3.0, requires_grad=True)
    x = pn.array(2.0)
    y, pull = vjp(lambda x: x * x * w, x)
    assert grad(y, w, retain_graph=True).item() == 4
    assert grad(pull(ONE), w).item() == 4
    assert grad(jvp(lambda x: x * x * w, (x,), (ONE,))[1], w).item() == 4
    assert grad(jacobian(lambda x: x * x * w, x), w).item() == 4
    leaf = pn.array(2.0, requires_grad=True)
    assert grad(derivative(lambda x: x * x * x)(leaf), leaf).item() == 12
    assert grad((leaf * 1 * derivative(lambda x: x * x * x)(leaf * 1)), leaf).item() == 36


def test_a_cotangent_or_tangent_can_be_what_is_differentiated() -> None:
    weight = pn.array(5.0, requires_grad=True)
    _, pull = vjp(lambda x: x * x, pn.array(3.0))
    assert grad(pull(weight), weight).item() == 6
    assert grad(jvp(lambda x: x * x, (pn.array(3.0),), (weight,))[1], weight).item() == 6


def test_no_grad_around_still_computes_and_records_nothing() -> None:
    w = pn.array(3.0, requires_grad=True)
    with no_grad():
        y, pull = vjp(lambda x: x * w, pn.array(2.0))
        pulled = pull(ONE)
        pushed = jvp(lambda x: x * w, (pn.array(2.0),), (ONE,))[1]
    assert pulled.item() == pushed.item() == 3
    assert not (y.requires_grad or pulled.requires_grad or pushed.requires_grad)


def test_containers_and_integers() -> None:
    def function(pair: Any, table: dict[str, Any], number: int, index: Any) -> Any:
        return {"p": pair[0] * number, "q": [table["w"][0] * pair[1]]}

    arguments = ((pn.array(2.0), pn.array(3.0)), {"w": pn.array([5.0, 7.0])}, 4, pn.array([1]))
    outputs, pull = vjp(function, *arguments)
    assert outputs["p"].item() == 8
    pair, table, number, index = pull({"p": ONE, "q": [ONE]})
    assert [one.item() for one in pair] == [4, 5]
    assert table["w"].tolist() == [3, 0]
    assert number == 4
    assert index is None
    tangents = ((ONE, ONE), {"w": pn.array([1.0, 0.0])}, None, None)
    assert jvp(function, arguments, tangents)[1]["q"][0].item() == 8


def test_what_does_not_depend_has_zero() -> None:
    _, pull = vjp(lambda x, y: x * 2, ONE, pn.array([1.0, 2.0]))
    assert pull(ONE)[1].tolist() == [0, 0]
    _, pull = vjp(lambda x: pn.array(3.0), ONE)
    assert pull(ONE).item() == 0
    assert jvp(lambda x: pn.array(3.0), (ONE,), (ONE,))[1].item() == 0
    assert jacobian(lambda x: pn.array([1.0, 2.0]), ONE).tolist() == [0, 0]


def test_pull_can_be_called_again() -> None:
    _, pull = vjp(lambda x: x * x, pn.array(3.0))
    assert [pull(pn.array(w)).item() for w in (1.0, 2.0)] == [6, 12]


def test_a_bare_primal_stands_for_itself() -> None:
    nested = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    value, slope = jvp(lambda x: x * x, nested, pn.ones_like(nested))
    assert value.values().tolist() == [1.0, 4.0, 9.0] and slope.values().tolist() == [2.0, 4.0, 6.0]
    assert pn.gradcheck(lambda x: x * x, (pn.array([1.0, 2.0]),))


def test_errors() -> None:
    _, pull = vjp(lambda x: (x, x), ONE)
    with pytest.raises(ArgumentError, match="form"):
        pull(ONE)
    with pytest.raises(GradientError, match=r"shape \(2,\) was given for an output of shape \(\)"):
        vjp(lambda x: x * 1, ONE)[1](pn.array([1.0, 2.0]))
    with pytest.raises(ArgumentError, match="tangent of shape"):
        jvp(lambda x: x, (ONE,), (pn.array([1.0]),))
    with pytest.raises(ArgumentError, match="form"):
        jvp(lambda x: x, (ONE,), (ONE, ONE))
    with pytest.raises(GradientError, match="hessian: the function must return one element"):
        hessian(lambda x: x * x, pn.array([1.0, 2.0]))
    with pytest.raises(GradientError, match="hvp: the function must return one element"):
        hvp(lambda x: (x, x), ONE, ONE)
    with pytest.raises(ArgumentError, match="one dense array"):
        jacobian(lambda x: (x, x), ONE)


def test_nested_arrays() -> None:
    nested = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=pn.jagged)
    y, pull = vjp(lambda x: x * x, nested)
    assert [c.tolist() for c in pull(y).unbind()] == [[2, 16], [], [54]]
    assert [c.tolist() for c in jvp(lambda x: x * x, (nested,), (nested,))[1].unbind()] == [[2, 8], [], [18]]
    assert [c.tolist() for c in hvp(lambda x: (x * x).sum(), nested, nested)[1].unbind()] == [[2, 4], [], [6]]


W = pn.array([[5.0, 6.0], [7.0, 8.0]])
PUSHED: dict[str, Any] = {
    "itself": lambda x: x,
    "twice the same": lambda x: (x * 2,) * 2,
    "views": lambda x: (x.transpose(0, 1), x[0], x.reshape(-1)),
    "broadcast": lambda x: x[0].broadcast_to((3, 2)),
    "equal ones": lambda x: [x + 0.0, x.clone(), x * 1],
    "nested": lambda x: (pn.nested_array_from_jagged(x, [0, 2]), pn.as_nested_array(x)),
    "constants": lambda x: (W, pn.ones(2, 2)),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", PUSHED)
def test_tangents_share_memory_with_nothing(name: str, recorded: bool) -> None:
    x, t = pn.array([[1.0, 2.0], [3.0, 4.0]]), pn.array([[1.0, -1.0], [2.0, 0.5]], requires_grad=recorded)
    results, tangents = jvp(PUSHED[name], (x,), (t,))
    found = [one.detach() for one in flatten(tangents)[0]]
    others = [x, t, W, *flatten(results)[0]]
    before = [np.array(one.data) for one in others]
    for i, one in enumerate(found):
        assert not any(np.shares_memory(one.data, other.data) for other in (*others, *found[i + 1 :]))
        one.mul_(100.0)
    assert all((one.data == kept).all() for one, kept in zip(others, before, strict=True))
