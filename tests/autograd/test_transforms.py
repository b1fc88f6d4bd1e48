"""vjp, jvp, jacobian, hessian and hvp: every order, no perturbation confusion, and history only if it is needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, flatten, grad, hessian, hvp, jacobian, jvp, no_grad, vjp
from pynested.backends.errors import ArgumentError, DTypeError, GradientError, StructureError

ONE, TWO, THREE = pn.array(1.0), pn.array(2.0), pn.array(3.0)


def derivative(function: Any) -> Any:
    return lambda x: vjp(function, x)[1](ONE)


def tangent(function: Any) -> Any:
    return lambda x: jvp(function, (x,), (ONE,))[1]


def test_perturbations_are_not_confused() -> None:
    """d/dx [x d/dy (x + y)] = 1, and not 2."""
    for inner in (derivative, tangent):
        for outer in (derivative, tangent):
            assert outer(lambda x, inner=inner: x * inner(lambda y: x + y)(ONE))(THREE).item() == 1


def test_every_order_every_way() -> None:
    """The fifth derivative of sin x exp 2x, by each of the 32 ways to mix forward and reverse."""
    point = 0.7
    exact = (math.exp(2 * point) * complex(2, 1) ** 5 * complex(math.cos(point), math.sin(point))).imag
    for way in range(32):
        function = lambda x: x.sin() * (2 * x).exp()  # noqa: E731
        for order in range(5):
            function = (derivative if way >> order & 1 else tangent)(function)
        assert function(pn.array(point)).item() == pytest.approx(exact, rel=1e-12)


def test_hessian_and_its_products() -> None:
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, -3.0, 4.0], [0.0, 4.0, 1.0]])
    x, direction = pn.array([1.0, -2.0, 0.5]), pn.array([0.0, 1.0, 0.0])

    def function(x: Array) -> Array:
        return (x @ pn.array(matrix) @ x) / 2

    np.testing.assert_array_equal(hessian(function, x).numpy(), matrix)
    slope, product = hvp(function, x, direction)
    np.testing.assert_array_equal(slope.numpy(), matrix @ x.numpy())
    reverse_over_reverse = vjp(lambda x: derivative(function)(x), x)[1](direction)
    assert product.tolist() == reverse_over_reverse.tolist() == matrix[1].tolist()


# The function of pynested, that of NumPy, and the shape of the argument.
LINEAR: dict[str, tuple[Callable[[Array], Any], Callable[[Any], Any], tuple[int, ...]]] = {
    "transpose, negative dims": (lambda x: x.transpose(-3, -1), lambda a: a.swapaxes(0, 2), (2, 3, 4)),
    "permute, negative dims": (lambda x: x.permute((-1, 0, -2)), lambda a: a.transpose(2, 0, 1), (2, 3, 4)),
    "select": (lambda x: x.select(-1, -2), lambda a: a[:, 1], (2, 3)),
    "narrow": (lambda x: x.narrow(-1, -3, 2), lambda a: a[:, 1:3], (2, 4)),
    "chunk": (lambda x: x.chunk(3, -1)[1], lambda a: a[:, 2:4], (2, 5)),
    "as_strided": (lambda x: x.as_strided((3, 2), (1, 3)), lambda a: a.reshape(2, 3).T, (6,)),
    "elements that repeat": (lambda x: x.as_strided((2, 2), (0, 1)), lambda a: np.stack([a, a]), (2,)),
    "another dtype": (lambda x: x.to(pn.float32).to(pn.float64), lambda a: a, (3,)),
    "another device": (lambda x: x.to("plain").to("cpu"), lambda a: a, (3,)),
    "unbind, two used": (lambda x: x.unbind()[2] - x.unbind()[0], lambda a: a[2] - a[0], (3, 2)),
    "index twice": (lambda x: x[0] + x[0], lambda a: 2 * a[0], (2, 3)),
    "to 0-d": (lambda x: x.sum(()).reshape(()), lambda a: a.reshape(()), (1, 1)),
    "index, empty": (lambda x: x[2:1], lambda a: a[2:1], (3, 2)),
    "sum of nothing": (lambda x: x.sum(1), lambda a: a.sum(1), (2, 0)),
}


@pytest.mark.parametrize(("function", "numpys", "shape"), LINEAR.values(), ids=LINEAR)
def test_jacobians_of_linear_functions(function: Any, numpys: Any, shape: tuple[int, ...]) -> None:
    """The columns of the Jacobian are the values of NumPy's function at the unit vectors."""
    x = pn.array(np.arange(math.prod(shape), dtype=float).reshape(shape))
    value, units = numpys(x.numpy()), np.eye(x.numel()).reshape(x.numel(), *shape)
    columns = [numpys(unit) for unit in units]
    np.testing.assert_array_equal(function(x).numpy(), value)
    expected = np.stack(columns, -1) if columns else np.zeros((*value.shape, 0))
    np.testing.assert_array_equal(jacobian(function, x).numpy(), expected.reshape((*value.shape, *shape)))
    for unit, column in zip(units, columns, strict=True):
        np.testing.assert_array_equal(jvp(function, (x,), (pn.array(unit),))[1].numpy(), column)


def test_results_have_no_history_at_top_level_and_inside_no_grad() -> None:
    x, w = pn.array([1.0, 2.0]), pn.array(3.0, requires_grad=True)
    y, function_vjp = vjp(lambda x: x * x, x)
    results = [y, function_vjp(x), *jvp(lambda x: x * x, (x,), (x,)), jacobian(lambda x: x * x, x)]
    results += [hessian(lambda x: (x * x).sum(), x), *hvp(lambda x: (x * x).sum(), x, x)]
    with no_grad():
        y, function_vjp = vjp(lambda x: x * w, TWO)
        results += [y, function_vjp(ONE), jvp(lambda x: x * w, (TWO,), (ONE,))[1]]
    assert [result.item() for result in results[-2:]] == [3, 3]
    assert all(not result.requires_grad and result.is_leaf for result in results)
    assert not x.requires_grad


def test_results_stay_recorded_if_something_outside_is_differentiated() -> None:
    w = pn.array(3.0, requires_grad=True)
    y, function_vjp = vjp(lambda x: x * x * w, TWO)
    assert grad(y, w, retain_graph=True).item() == 4
    assert grad(function_vjp(ONE), w).item() == 4
    assert grad(jvp(lambda x: x * x * w, (TWO,), (ONE,))[1], w).item() == 4
    assert grad(jacobian(lambda x: x * x * w, TWO), w).item() == 4
    assert grad(vjp(lambda x: x * x, THREE)[1](w), w).item() == 6  # the cotangent, and below the tangent
    assert grad(jvp(lambda x: x * x, (THREE,), (w,))[1], w).item() == 6
    leaf = pn.array(2.0, requires_grad=True)
    assert grad(derivative(lambda x: x * x * x)(leaf), leaf).item() == 12
    assert grad((leaf * 1 * derivative(lambda x: x * x * x)(leaf * 1)), leaf).item() == 36


def test_containers_and_integers() -> None:
    def function(pair: Any, table: dict[str, Any], number: int, index: Any) -> Any:
        return {"p": pair[0] * number, "q": [table["w"][0] * pair[1]]}

    arguments = ((TWO, THREE), {"w": pn.array([5.0, 7.0])}, 4, pn.array([1]))
    outputs, function_vjp = vjp(function, *arguments)
    assert outputs["p"].item() == 8
    pair, table, number, index = function_vjp({"p": ONE, "q": [ONE]})
    assert [x.item() for x in pair] == [4, 5] and table["w"].tolist() == [3, 0]
    assert number is index is None
    tangents = ((ONE, ONE), {"w": pn.array([1.0, 0.0])}, None, None)
    assert jvp(function, arguments, tangents)[1]["q"][0].item() == 8


def test_the_derivative_of_a_constant_is_0() -> None:
    assert vjp(lambda x, y: x * 2, ONE, pn.array([1.0, 2.0]))[1](ONE)[1].tolist() == [0, 0]
    assert vjp(lambda x: THREE, ONE)[1](ONE).item() == 0
    assert jvp(lambda x: THREE, (ONE,), (ONE,))[1].item() == 0
    assert jacobian(lambda x: pn.array([1.0, 2.0]), ONE).tolist() == [0, 0]


def test_a_result_that_is_no_array_has_no_tangent() -> None:
    constants = [3.0, 3, True, np.float32(3), np.array([1.0, 2.0]), "text", None]
    outputs, tangents = jvp(lambda x: {"x": x, "constants": constants}, ONE, ONE)
    assert outputs["constants"] == constants and tangents["x"].item() == 1
    assert tangents["constants"] == [None] * len(constants) and jvp(lambda x: 3.0, ONE, ONE) == (3.0, None)


def test_nested_arrays() -> None:
    nested = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=pn.jagged)
    y, function_vjp = vjp(lambda x: x * x, nested)
    assert function_vjp(y).tolist() == function_vjp(y).tolist() == [[2, 16], [], [54]]
    for primals in (nested, (nested,)):  # one primal does not need a tuple
        assert jvp(lambda x: x * x, primals, primals)[1].tolist() == [[2, 8], [], [18]]
    assert hvp(lambda x: (x * x).sum(), nested, nested)[1].tolist() == [[2, 4], [], [6]]


PAIR = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: vjp(lambda x: (x, x), ONE)[1](ONE), ArgumentError, "vjp: .*form"),
    (lambda: vjp(lambda x: x * 1, ONE)[1](pn.array([1.0, 2.0])), GradientError,
     r"^vjp: .*shape \(2,\) and dtype float64 for an array of shape \(\)"),
    (lambda: vjp(lambda x: x * 1, ONE)[1](pn.array(1)), GradientError, "^vjp: the gradient must be floating point"),
    (lambda: vjp(lambda x: x, pn.ones(2))[1](None), GradientError, r"^vjp: .*you want: pn.ones_like\(y\)\."),
    (lambda: vjp(lambda x: x, PAIR)[1](PAIR[:1]), StructureError, "vjp: the operands have 2 and 1 components"),
    (lambda: jvp(lambda x: x, PAIR, PAIR[:1]), StructureError, "jvp: the operands have 2 and 1 components"),
    (lambda: hvp(lambda x: x.sum(), PAIR, PAIR[:1]), StructureError, "hvp: the operands have 2 and 1 components"),
    (lambda: jvp(lambda x: x, (ONE,), (pn.array([1.0]),)), ArgumentError, "tangent of shape"),
    (lambda: jvp(lambda x: x, (ONE,), (ONE, ONE)), ArgumentError, "jvp: .*form"),
    (lambda: hessian(lambda x: x * x, pn.array([1.0, 2.0])), GradientError, "hessian: the function must return one"),
    (lambda: hvp(lambda x: (x, x), ONE, ONE), GradientError, "hvp: the function must return one element"),
    (lambda: jacobian(lambda x: (x, x), ONE), ArgumentError, "one dense array, not a tuple"),
    (lambda: jacobian(lambda x: 3, ONE), ArgumentError, "one dense array, not an int"),
    (lambda: jacobian(lambda x: x * x, pn.array([1, 2])), DTypeError, "jacobian: x must be of floats, not int64"),
    (lambda: hessian(lambda x: (x * x).sum(), pn.array([1, 2])), DTypeError, "hessian: x must be of floats, not int64"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS)
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("device", ["cpu", "plain"])
def test_numbers_are_cotangents_and_tangents_on_every_device(device: str) -> None:
    square, x = pn.square, pn.array(3.0, device=device, requires_grad=True)
    for number in (2.0, np.float32(2)):
        x.grad = None
        (x * x).backward(number)
        results = grad(x * x, x, number), vjp(square, x)[1](number), jvp(square, x, number)[1], x.grad
        assert [(y.device, y.item()) for y in results] == [(device, 12.0)] * 4  # 2 x dx = 2 * 3 * 2


CONSTANT = pn.array([[5.0, 6.0], [7.0, 8.0]])
FUNCTIONS: dict[str, Any] = {
    "itself": lambda x: x,
    "twice the same": lambda x: (x * 2,) * 2,
    "views": lambda x: (x.transpose(0, 1), x[0], x.reshape(-1)),
    "broadcast": lambda x: x[0].broadcast_to((3, 2)),
    "equal arrays": lambda x: [x + 0.0, x.clone(), x * 1],
    "nested": lambda x: (pn.nested_array_from_jagged(x, [0, 2]), pn.as_nested_array(x)),
    "constants": lambda x: (CONSTANT, pn.ones(2, 2)),
}


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_tangents_share_memory_with_nothing(function: Any, is_recorded: bool) -> None:
    x, t = pn.array([[1.0, 2.0], [3.0, 4.0]]), pn.array([[1.0, -1.0], [2.0, 0.5]], requires_grad=is_recorded)
    results, tangents = jvp(function, (x,), (t,))
    arrays = [array.detach() for array in flatten(tangents)[0]]
    others = [x, t, CONSTANT, *flatten(results)[0]]
    before = [np.array(other.data) for other in others]
    for i, array in enumerate(arrays):
        assert not any(np.shares_memory(array.data, other.data) for other in (*others, *arrays[i + 1 :]))
        array.mul_(100.0)
    assert all((other.data == kept).all() for other, kept in zip(others, before, strict=True))
