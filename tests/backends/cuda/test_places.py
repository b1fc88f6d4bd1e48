"""Where things lie: NumPy's scalars where the other operand is, gradients where their arrays are."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn
from pynested.autograd import flatten
from pynested.backends.errors import DeviceError, GradientError

KINDS: dict[str, Callable[..., Any]] = {
    "dense": lambda **on: pn.array([1.0, -2.0, 3.0], **on),
    "jagged": lambda **on: pn.nested_array([[1.0, -2.0], [3.0]], layout=pn.jagged, **on),
    "strided": lambda **on: pn.nested_array([[1.0, -2.0], [3.0]], layout=pn.strided, **on),
}
SCALARS = (np.float64(2), np.sqrt(np.float32(4)), np.int64(3), np.int8(1), np.bool_(True))


def reflected(name: str) -> Callable[[Any, Any], Any]:
    return lambda x, v: getattr(operator, name)(v, x)


def in_place(name: str) -> Callable[[Any, Any], Any]:
    return lambda x, v: getattr(x.clone(), name)(v)


def with_item(x: Any, value: Any) -> Any:
    y = x.clone()
    y[0] = value
    return y


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "eq", "ne", "lt", "le", "gt", "ge")},
    **{f"{name}, reflected": reflected(name) for name in ("add", "sub", "mul", "truediv", "eq", "ne", "lt", "ge")},
    **{name: in_place(name) for name in ("add_", "sub_", "mul_", "div_", "fill_", "copy_")},
    "a ufunc": lambda x, v: np.multiply(v, x),
    "add, alpha": lambda x, v: pn.add(x, v, alpha=3),
    "sub, alpha": lambda x, v: pn.sub(v, x, alpha=3),
    "where, other": lambda x, v: pn.where(x > 0, x, v),
    "where, self": lambda x, v: pn.where(x > 0, v, x),
    "where, both": lambda x, v: pn.where(x > 0, v, v),
    "where, condition": lambda x, v: pn.where(np.bool_(v > 1), x, x + 1),
    "masked_fill": lambda x, v: pn.masked_fill(x, x > 0, v),
    "masked_fill, mask": lambda x, v: pn.masked_fill(x, np.bool_(v > 1), 7),
    "assignment": with_item,
    "full_like": lambda x, v: pn.full_like(x, v),
    "joined": lambda x, v: pn.stack([x.sum(), v, x.mean()]),
    "elementwise": lambda x, v: pn.elementwise("f", lambda a, b: a * b, pn.as_nested_array([x.sum()]), v),
    "map_components": lambda x, v: pn.map_components(lambda a, b: a * b, pn.as_nested_array([x.sum()]), v),
}


def numbers(x: Any) -> list[Any]:
    return [one.detach().to("cpu").numpy() for one in flatten(x)[0]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATORS)
def test_numpy_scalars_go_where_the_other_operand_is(name: str, kind: str, device: str) -> None:
    for value in SCALARS:
        here = OPERATORS[name](KINDS[kind](), value)
        there = OPERATORS[name](KINDS[kind](device=device), value)
        assert there.device == device
        for expected, got in zip(numbers(here), numbers(there), strict=True):
            np.testing.assert_array_equal(got, expected, strict=True)


# The scalars of ml_dtypes do not leave it to the other operand where they are the first.
@pytest.mark.parametrize("name", [name for name in OPERATORS if "reflected" not in name and name != "a ufunc"])
def test_numpy_scalars_of_bfloat16_beside_bfloat16(name: str, device: str) -> None:
    x = KINDS["dense"](device=device).to(dtype="bfloat16")
    got, expected = (OPERATORS[name](x, value) for value in (ml_dtypes.bfloat16(2), 2))
    assert got.device == device and pn.equal(got, expected)
    assert got.dtype == (np.bool_ if expected.dtype == np.bool_ else ml_dtypes.bfloat16)


@pytest.mark.parametrize("number", [2, 2.5, np.float64(2), np.int8(2)])
def test_equal_takes_numbers(number: Any, device: str) -> None:
    for where in ("cpu", device):
        x = pn.array(float(number), device=where)
        assert pn.equal(x, number) and pn.equal(number, x) and not pn.equal(x + 1, number)
        assert not pn.equal(KINDS["jagged"](device=where), number)


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_arrays_are_on_the_cpu(kind: str, device: str) -> None:
    x = KINDS[kind](device=device)
    for refused in (
        lambda: x + np.ones(1),
        lambda: x + np.ones(()),
        lambda: pn.where(x > 0, x, np.ones(1)),
        lambda: x.clone().add_(np.ones(1)),
        lambda: with_item(x, np.ones(1)),
    ):
        with pytest.raises(DeviceError, match=f"different devices: {', '.join(sorted(('cpu', device)))}"):
            refused()


# ---- gradients ----------------------------------------------------------------------------------------------


def elsewhere(device: str) -> str:
    return "cpu" if device != "cpu" else "emulated"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("home", ["cpu", "emulated"])
def test_a_hook_answers_where_the_gradient_is(kind: str, home: str, compiled: None) -> None:
    for hooked in (lambda x: x, lambda x: x * 2):
        x = KINDS[kind](device=home, requires_grad=True)
        y = hooked(x)
        y.register_hook(lambda g: g.to(elsewhere(home)))
        with pytest.raises(DeviceError, match=rf"hook .* on '{elsewhere(home)}'; the gradient is on '{home}'\. Move"):
            pn.sum(y * y).backward()
        assert x.grad is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("home", ["cpu", "emulated"])
def test_grad_is_set_where_the_array_is(kind: str, home: str, compiled: None) -> None:
    x = KINDS[kind](device=home, requires_grad=True)
    with pytest.raises(DeviceError, match=f"grad: a gradient on '{elsewhere(home)}' does not fit .* on '{home}'"):
        x.grad = KINDS[kind](device=elsewhere(home))
    assert x.grad is None
    x.grad = KINDS[kind](device=home)
    pn.sum(x).backward()
    assert x.grad.device == home and pn.equal(x.grad, x.detach() + 1)


class Answering(pn.Function):
    """Identities of two arrays, with derivatives that are put where the test says."""

    backs: tuple[Callable[[Any], Any], Callable[[Any], Any]]

    @staticmethod
    def forward(context: Any, x: Any, y: Any) -> Any:
        return x * 1, y * 1

    @staticmethod
    def backward(context: Any, *cotangents: Any) -> Any:
        return tuple(back(one) for back, one in zip(Answering.backs, cotangents, strict=True))


class Pushing(Answering):
    @staticmethod
    def jvp(context: Any, *tangents: Any) -> Any:
        return tuple(back(one) for back, one in zip(Answering.backs, tangents, strict=True))


def same(g: Any) -> Any:
    return g * 2


def moved(g: Any) -> Any:
    return g.to(elsewhere(g.device))


def of_numpy(g: Any) -> Any:
    return 2 * g.to("cpu").numpy()


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_function_answers_where_its_arguments_are(kind: str, graph: bool, compiled: None) -> None:
    for i in range(2):
        arguments = [KINDS[kind](device=home, requires_grad=True) for home in ("cpu", "emulated")]
        Answering.backs = (same, moved) if i else (moved, same)
        here, there = Answering.apply(*arguments)
        home = arguments[i].device
        text = rf"Answering.backward returned a gradient on '{elsewhere(home)}' for an array on '{home}'"
        with pytest.raises(DeviceError, match=text):
            pn.grad([pn.sum(here), pn.sum(there)], arguments, create_graph=graph)


def test_a_function_may_answer_with_numpy_arrays(compiled: None) -> None:
    Answering.backs = (of_numpy, of_numpy)
    arguments = [pn.array([1.0, 2.0], device=home, requires_grad=True) for home in ("cpu", "emulated")]
    here, there = Answering.apply(*arguments)
    slopes = pn.grad([here.sum(), there.sum()], arguments)
    assert [one.device for one in slopes] == ["cpu", "emulated"] and [one.tolist() for one in slopes] == [[2, 2]] * 2


def test_a_function_pushes_where_its_outputs_are(compiled: None) -> None:
    primals = tuple(pn.array([1.0, 2.0], device=home) for home in ("cpu", "emulated"))
    Answering.backs = (same, same)
    for i in range(2):
        tangents = [None, None]
        tangents[i] = pn.ones_like(primals[i])
        pushed = pn.jvp(Pushing.apply, primals, tuple(tangents))[1]  # the other tangent is zero, where its primal is
        assert [one.device for one in pushed] == ["cpu", "emulated"] and pushed[i].tolist() == [2, 2]
    Answering.backs = (same, moved)
    with pytest.raises(DeviceError, match=r"Pushing.jvp returned tangents on \['cpu', 'cpu'\]; the outputs are on"):
        pn.jvp(Pushing.apply, primals, tuple(pn.ones_like(one) for one in primals))


def test_grad_is_an_array() -> None:
    for kind, make in KINDS.items():
        x = make(requires_grad=True)
        with pytest.raises(GradientError, match=r"^grad: .*ndarray"):
            x.grad = np.ones(3)
        assert x.grad is None, kind


# ---- checkpoint ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["cpu", "emulated"])
def test_checkpoint_repeats_the_call_where_it_was_made(home: str, compiled: None) -> None:
    def function(x: Any) -> Any:
        return x * pn.ones(2) + pn.nested_array([[1.0, 2.0]]).to_padded_array(0.0)[0]

    def pulled() -> None:
        with pn.set_default_device(elsewhere(home)):
            pn.sum(y).backward(retain_graph=True)
            assert pn.get_default_device() == elsewhere(home)

    x = pn.array([1.0, 2.0], device=home, requires_grad=True)
    with pn.set_default_device(home):
        y = pn.checkpoint(function, x)
    pulled()
    assert x.grad.tolist() == [1, 1]
    thread = threading.Thread(target=pulled)
    thread.start()
    thread.join()
    assert x.grad.tolist() == [2, 2]
