"""Refusals on devices: arrays that lie elsewhere, read-only memory, dtypes, and missing libraries."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.cuda import compiler
from pynested.backends.cuda.emulated import Emulator, emulated_backend
from pynested.backends.errors import DeviceError, DTypeError, GradientError, MissingDependency

from ...autograd import test_hooks as hooks

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
KINDS: dict[str, Callable[..., Any]] = {
    "dense": lambda **on: pn.array([1.0, -2.0, 3.0], **on),
    "jagged": lambda **on: pn.nested_array([[1.0, -2.0], [3.0]], layout=pn.jagged, **on),
    "strided": lambda **on: pn.nested_array([[1.0, -2.0], [3.0]], layout=pn.strided, **on),
}
KIND = pytest.mark.parametrize("kind", KINDS)
HOME = pytest.mark.parametrize("home", ["cpu", "emulated"])


def elsewhere(device: str) -> str:
    return "cpu" if device != "cpu" else "emulated"


# ---- arrays that lie elsewhere --------------------------------------------------------------------------------------

# An operator of an array on a device, and of an array that lies on the CPU: one of pynested's, and one of NumPy's.
MIXED: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x + y,
    "sum, without dimensions": lambda x, y: x + y.reshape(()),
    "where": lambda x, y: pn.where(x > 0, x, y),
    "where, condition": lambda x, y: pn.where(y > 0, x, 0.0),
    "masked_fill": lambda x, y: pn.masked_fill(x, y > 0, 0.0),
    "in place": lambda x, y: x.clone().add_(y),
    "assignment": lambda x, y: x.clone().__setitem__(0, y),
}


@KIND
@pytest.mark.parametrize("name", MIXED)
def test_operands_of_two_devices(name: str, kind: str, device: str) -> None:
    for other in (np.ones(1), pn.ones(1)):
        with pytest.raises(DeviceError, match=f"different devices: {', '.join(sorted(('cpu', device)))}"):
            MIXED[name](KINDS[kind](device=device), other)


def test_kernels_take_no_arrays_of_numpy(cupy: ModuleType) -> None:
    backend = get_backend("cuda")
    for kernel in (backend.relu, backend.sum_all, backend.sum_last):
        with pytest.raises(DeviceError, match=r"a numpy.ndarray was given to the device 'cuda', whose arrays are cupy"):
            kernel(np.ones(3))


@KIND
@HOME
def test_gradients_lie_where_their_arrays_do(kind: str, home: str, compiled: None) -> None:
    for hooked in (lambda x: x, lambda x: x * 2):
        x = KINDS[kind](device=home, requires_grad=True)
        y = hooked(x)
        y.register_hook(lambda g: g.to(elsewhere(home)))
        with pytest.raises(DeviceError, match=rf"hook .* on '{elsewhere(home)}'; the gradient is on '{home}'\. Move"):
            pn.sum(y * y).backward()
        assert x.grad is None
    with pytest.raises(DeviceError, match=f"grad: a gradient on '{elsewhere(home)}' does not fit .* on '{home}'"):
        x.grad = KINDS[kind](device=elsewhere(home))
    with pytest.raises(GradientError, match=r"^grad: .*ndarray"):
        x.grad = np.ones(3)
    assert x.grad is None
    x.grad = KINDS[kind](device=home)
    pn.sum(x).backward()
    assert x.grad.device == home and pn.equal(x.grad, x.detach() + 1)
    dense = pn.array([1.0, 2.0], device=home, requires_grad=True)
    other = pn.ones(2, device=elsewhere(home))
    with pytest.raises(DeviceError, match=rf"gradient on '{other.device}' was given for an output on '{home}'. Move"):
        (dense * dense).backward(other)
    with pytest.raises(DeviceError, match=rf"tangent on '{other.device}' was given for a primal on '{home}'. Move it"):
        pn.jvp(lambda x: x * x, (dense.detach(),), (other,))


class Answering(pn.Function):
    """Identities of two arrays, with derivatives that lie where the test says."""

    answers: tuple[Callable[[Any], Any], Callable[[Any], Any]]

    @staticmethod
    def forward(context: Any, x: Any, y: Any) -> Any:
        return x * 1, y * 1

    @staticmethod
    def backward(context: Any, *cotangents: Any) -> Any:
        return tuple(answer(one) for answer, one in zip(Answering.answers, cotangents, strict=True))


class Pushing(Answering):
    @staticmethod
    def jvp(context: Any, *tangents: Any) -> Any:
        return Answering.backward(context, *tangents)


def doubled(g: Any) -> Any:
    return g * 2


def moved(g: Any) -> Any:
    return g.to(elsewhere(g.device))


@pytest.mark.parametrize("graph", [False, True])
@KIND
def test_a_function_answers_where_its_arguments_lie(kind: str, graph: bool, compiled: None) -> None:
    arguments = [KINDS[kind](device=home, requires_grad=True) for home in ("cpu", "emulated")]
    for i, home in enumerate(("cpu", "emulated")):
        Answering.answers = (doubled, moved) if i else (moved, doubled)
        text = rf"Answering.backward returned a gradient on '{elsewhere(home)}' for an array on '{home}'"
        with pytest.raises(DeviceError, match=text):
            pn.grad([pn.sum(y) for y in Answering.apply(*arguments)], arguments, create_graph=graph)
    Answering.answers = (doubled, moved)
    with pytest.raises(DeviceError, match=r"Pushing.jvp returned tangents on \['cpu', 'cpu'\]; the outputs are on"):
        pn.jvp(Pushing.apply, tuple(x.detach() for x in arguments), tuple(pn.ones_like(x.detach()) for x in arguments))


def test_a_function_answers_on_two_devices(compiled: None) -> None:
    arguments = [pn.array([1.0, 2.0], device=home, requires_grad=True) for home in ("cpu", "emulated")]
    for answer in (doubled, lambda g: 2 * g.to("cpu").numpy()):  # NumPy arrays go where the argument is
        Answering.answers = (answer, answer)
        slopes = pn.grad([y.sum() for y in Answering.apply(*arguments)], arguments)
        assert [x.device for x in slopes] == ["cpu", "emulated"] and [x.tolist() for x in slopes] == [[2, 2]] * 2
    Answering.answers = (doubled, doubled)
    primals = tuple(x.detach() for x in arguments)
    for i in range(2):
        tangents = [None, None]
        tangents[i] = pn.ones_like(primals[i])
        pushed = pn.jvp(Pushing.apply, primals, tuple(tangents))[1]  # the other tangent is zero, where its primal is
        assert [x.device for x in pushed] == ["cpu", "emulated"] and pushed[i].tolist() == [2, 2]


# ---- read-only memory -----------------------------------------------------------------------------------------------


@hooks.KINDS
@hooks.PLACES
def test_a_hook_does_not_write_into_its_gradient(device: str, kind: str, leaf: bool) -> None:
    for name in hooks.WRITES:
        hooks.check_refused(kind, leaf, name, device)


def test_a_function_does_not_write_into_its_cotangent(device: str) -> None:
    x, given = pn.array([1.0], requires_grad=True, device=device), pn.ones(1, device=device)
    with pytest.raises(GradientError, match="read-only"):
        pn.grad(hooks.Writes.apply(x), x, given)
    with pytest.raises(GradientError, match="read-only"):
        pn.jvp(hooks.Writes.apply, x.detach(), given)
    assert given.tolist() == [1]


def test_a_view_that_was_not_recorded_is_not_written_to(device: str) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True, device=device)
    nested = pn.nested_array([[1.0], [2.0]], requires_grad=True, device=device)
    made, other = x * 3, nested * 3
    with pn.no_grad():
        views = x[0:1], made[0:1], nested[0], other.values(), nested[0:1]
    for view in views:
        with pytest.raises(GradientError, match="inside no_grad"):
            view.mul_(10)
        view.detach().mul_(10)


def test_places_that_repeat_are_not_written(device: str) -> None:
    overlapping = pn.nested_array_from_strided(pn.arange(4.0, device=device), [[2, 2]], [[1, 1]], [0])
    for repeating in (pn.array([1.0, 2.0], device=device).broadcast_to((3, 2)), overlapping.unbind()[0]):
        with pytest.raises(GradientError, match="its places repeat"):
            repeating.add_(1.0)


# ---- dtypes, and what is missing ------------------------------------------------------------------------------------

REFUSED_ON_THE_CPU: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: pn.array(x),
    "zeros": lambda x: pn.zeros(2, dtype="bfloat16"),
    "nested_array": lambda x: pn.nested_array([x]),
    "as_nested_array": lambda x: pn.as_nested_array([np.ones(2)], dtype=BFLOAT16),
    "an operand": lambda x: pn.ones(2) + x,
    "to a dtype": lambda x: pn.ones(2).to(dtype=BFLOAT16),
    "to the CPU": lambda x: pn.array(x, device="emulated").to("cpu"),
    "nested to the CPU": lambda x: pn.nested_array([x], device="emulated").to("cpu"),
    "a sum": lambda x: pn.sum(pn.ones(2), dtype=BFLOAT16),
    "zeros_like": lambda x: pn.zeros_like(pn.ones(2), dtype=BFLOAT16),
}


@pytest.mark.parametrize("name", REFUSED_ON_THE_CPU)
def test_bfloat16_is_not_computed_on_the_cpu(name: str, compiled: None) -> None:
    with pytest.raises(DTypeError, match=r"computed on the devices 'cuda' and 'emulated'.*x\.to\(dtype=pn\.float32\)"):
        REFUSED_ON_THE_CPU[name](np.ones(2, BFLOAT16))


def test_a_refused_dtype_names_those_of_the_device(compiled: None) -> None:
    for device, has in (("cpu", False), ("emulated", True)):
        for dtype in ("complex64", "no dtype"):
            with pytest.raises(DTypeError, match=r"one of bool, int8, .*float64") as refused:
                pn.zeros(2, dtype=dtype, device=device)
            assert ("bfloat16" in str(refused.value)) == has


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path))
    monkeypatch.setattr(compiler, "compiler", compiler.compiler.__wrapped__)
    with pytest.raises(MissingDependency, match=r"'no-such-compiler' is not on the path\. Install g\+\+"):
        emulated_backend(Emulator()).relu(np.ones(3, np.float32))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed")
def test_without_cupy() -> None:
    for ask in (get_backend, lambda device: pn.zeros(2, device=device), lambda device: pn.ones(2).to(device)):
        with pytest.raises(DeviceError, match="the device 'cuda' needs CuPy"):
            ask("cuda")


@pytest.mark.parametrize(("count", "says"), [(None, "needs an NVIDIA driver and a GPU"), (0, "the driver sees none")])
def test_without_a_driver_or_a_gpu(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, count: int | None, says: str
) -> None:
    def counted() -> int:
        if count is None:
            raise cupy.cuda.runtime.CUDARuntimeError("cudaErrorInsufficientDriver")
        return count

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", counted)
    with pytest.raises(DeviceError, match=says):
        pn.zeros(2, device="cuda")
