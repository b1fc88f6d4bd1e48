"""Errors on devices: arrays of another device, and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.errors import DeviceError, DTypeError, GradientError

from ...autograd.test_defaults import FLOATS

KINDS: dict[str, Callable[..., Any]] = {
    "dense": lambda **on: pn.array([1.0, -2.0, 3.0], **on),
    "jagged": lambda **on: pn.nested_array([[1.0, -2.0], [3.0]], layout=pn.jagged, **on),
    "strided": lambda **on: pn.nested_array([[1.0, -2.0], [3.0]], layout=pn.strided, **on),
}
KIND = pytest.mark.parametrize("kind", KINDS)


def elsewhere(device: str) -> str:
    return "cpu" if device != "cpu" else "emulated"


# ---- arrays of another device; `operators/test_gradients` has derivatives on devices --------------------------------


@KIND
def test_operands_of_two_devices(kind: str, device: str) -> None:
    for other in (np.ones(1), pn.ones(1)):
        with pytest.raises(DeviceError, match=f"different devices: {', '.join(sorted(('cpu', device)))}"):
            KINDS[kind](device=device) + other


def test_kernels_take_no_arrays_of_numpy(cupy: ModuleType) -> None:
    backend = get_backend("cuda")
    for kernel in (backend.relu, backend.sum_all, backend.sum_last):
        with pytest.raises(DeviceError, match=r"a numpy.ndarray was given to the device 'cuda', whose arrays are cupy"):
            kernel(np.ones(3))


@KIND
@pytest.mark.parametrize("home", ["cpu", "emulated"])
def test_gradients_lie_where_their_arrays_do(kind: str, home: str, compiled: None) -> None:
    other = elsewhere(home)
    for make in (lambda x: x, lambda x: x * 2):
        x = KINDS[kind](device=home, requires_grad=True)
        y = make(x)
        y.register_hook(lambda g: g.to(other))
        with pytest.raises(DeviceError, match=rf"hook .* on '{other}' for an array on '{home}'\. Move"):
            pn.sum(y * y).backward()
    for wrong, error, text in (
        (KINDS[kind](device=other), DeviceError, f"grad: got a gradient on '{other}' for .* on '{home}'"),
        (np.ones(3), GradientError, r"^grad: .*ndarray"),
    ):
        with pytest.raises(error, match=text):
            x.grad = wrong
    assert x.grad is None
    x.grad = KINDS[kind](device=home)
    pn.sum(x).backward()
    assert x.grad.device == home and pn.equal(x.grad, x.detach() + 1)
    y = x * x
    with pytest.raises(DeviceError, match=rf"gradient on '{other}' for an array on '{home}'. Move"):
        y.backward(pn.ones_like(y.detach()).to(other))
    with pytest.raises(DeviceError, match=rf"tangent on '{other}' for an array on '{home}'. Move the tangent"):
        pn.jvp(lambda x: x * x, (x.detach(),), (x.detach().to(other),))


class Identities(pn.Function):
    """Identities of two arrays, with the derivatives that a test sets."""

    derivatives: tuple[Callable[[Any], Any], ...]

    @staticmethod
    def forward(context: Any, x: Any, y: Any) -> Any:
        return x * 1, y * 1

    @staticmethod
    def backward(context: Any, *cotangents: Any) -> Any:
        return tuple(derive(g) for derive, g in zip(Identities.derivatives, cotangents, strict=True))

    @staticmethod
    def jvp(context: Any, *tangents: Any) -> Any:
        return Identities.backward(context, *tangents)


def doubled(g: Any) -> Any:
    return g * 2


def moved(g: Any) -> Any:
    return g.to(elsewhere(g.device))


@KIND
def test_derivatives_of_a_function_lie_where_its_arguments_do(kind: str, compiled: None) -> None:
    homes = ["cpu", "emulated"]
    arguments = [KINDS[kind](device=home, requires_grad=True) for home in homes]
    primals = tuple(x.detach() for x in arguments)

    def gradients(*derivatives: Callable[[Any], Any], graph: bool = False) -> Any:
        Identities.derivatives = derivatives
        return pn.grad([pn.sum(y) for y in Identities.apply(*arguments)], arguments, create_graph=graph)

    for home, derivatives in zip(homes, ((moved, doubled), (doubled, moved)), strict=True):
        text = rf"Identities.backward returned a gradient on '{elsewhere(home)}' for an array on '{home}'"
        for graph in (False, True):
            with pytest.raises(DeviceError, match=text):
                gradients(*derivatives, graph=graph)
    with pytest.raises(DeviceError, match="Identities.jvp returned a tangent on 'cpu' for an array on"):
        pn.jvp(Identities.apply, primals, tuple(map(pn.ones_like, primals)))
    for double in (lambda g: 2 * g.to("cpu").numpy() if kind == "dense" else doubled(g), doubled):
        slopes = gradients(double, double)  # NumPy arrays are copied to the device of the argument
        assert [(x.device, pn.equal(x, pn.ones_like(x) * 2)) for x in slopes] == [(home, True) for home in homes]
    for i in range(2):  # the missing tangent is zero, on the device of its primal
        given = tuple(pn.ones_like(x) if i == j else None for j, x in enumerate(primals))
        _, tangents = pn.jvp(Identities.apply, primals, given)
        assert [x.device for x in tangents] == homes and pn.equal(tangents[i], pn.ones_like(primals[i]) * 2)


# ---- dtypes ---------------------------------------------------------------------------------------------------------

REFUSED_ON_THE_CPU: dict[str, Callable[[Any], Any]] = {
    **{f"new array {number}": lambda x, make=make: make(dtype=x.dtype) for number, make in enumerate(FLOATS)},
    "an array of NumPy": lambda x: pn.array(x),
    "a component": lambda x: pn.nested_array([x]),
    "an operand": lambda x: pn.ones(2) + x,
    "to a dtype": lambda x: pn.ones(2).to(dtype=x.dtype),
    "to the CPU": lambda x: pn.array(x, device="emulated").to("cpu"),
    "nested to the CPU": lambda x: pn.nested_array([x], device="emulated").to("cpu"),
    "a sum": lambda x: pn.sum(pn.ones(2), dtype=x.dtype),
    "zeros_like": lambda x: pn.zeros_like(pn.ones(2), dtype=x.dtype),
}


@pytest.mark.parametrize("name", REFUSED_ON_THE_CPU)
def test_bfloat16_is_not_computed_on_the_cpu(name: str, compiled: None) -> None:
    with pytest.raises(DTypeError, match=r"computed on the devices 'cuda' and 'emulated'.*x\.to\(dtype=pn\.float32\)"):
        REFUSED_ON_THE_CPU[name](np.ones(2, ml_dtypes.bfloat16))


def test_a_refused_dtype_names_those_of_the_device(compiled: None) -> None:
    for device, has_bfloat16 in (("cpu", False), ("emulated", True)):
        for dtype in ("complex64", "no dtype"):
            with pytest.raises(DTypeError, match=r"one of bool, int8, .*float64") as refused:
                pn.zeros(2, dtype=dtype, device=device)
            assert ("bfloat16" in str(refused.value)) == has_bfloat16
