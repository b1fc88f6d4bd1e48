"""What fails on a GPU is one DeviceError, which says what to install or what happened."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.errors import DeviceError

from .stand_in import ndarray
from .stand_in.array import fault


def missing_library(cupy: ModuleType) -> Exception:
    return RuntimeError('Failure finding "libnvrtc.so.13"')  # as the DynamicLibNotFoundError that CuPy raises


FAILURES: dict[str, Callable[[ModuleType], Exception]] = {
    "a library that is not there": missing_library,
    "cuBLAS that is not there": lambda cupy: ImportError('Failure finding "libcublas.so.13"'),
    "the driver": lambda cupy: cupy.cuda.runtime.CUDARuntimeError("cudaErrorIllegalAddress"),
    "the compiler": lambda cupy: cupy.cuda.compiler.CompileException("kern.cu(3): error"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_whatever_fails_on_the_gpu_is_one_device_error(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    error = FAILURES[name](cupy)

    def failing(*args: Any, **options: Any) -> Any:
        raise error

    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, device="cuda")
    monkeypatch.setattr(get_backend("cuda").launcher, "_functions", {})
    for module_or_function, call in (
        ("RawModule", lambda: pn.relu(x)),  # compiling and launching
        ("exp", lambda: pn.exp(x)),  # functions of CuPy's
        ("matmul", lambda: pn.matmul(pn.ones(2, 2, device="cuda"), pn.ones(2, 2, device="cuda"))),
    ):
        get_backend("cuda").__dict__.pop(module_or_function, None)
        monkeypatch.setattr(cupy, module_or_function, failing)
        with pytest.raises(DeviceError, match=r"failed on the GPU: [\s\S]*pip install 'pynested\[cuda12\]'") as caught:
            call()
        assert str(error) in str(caught.value) and caught.value.__cause__ is error
    if isinstance(error, RuntimeError):  # what a wait may raise
        monkeypatch.setattr(ndarray, "get", failing)
        with pytest.raises(DeviceError, match="the GPU failed before an array could be copied"):
            x.to("cpu")


@pytest.mark.parametrize("library", ["nvrtc", "cublas"])
def test_the_device_says_at_once_which_library_it_lacks(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    def failing() -> Any:
        raise missing_library(cupy)

    if library == "nvrtc":
        monkeypatch.setattr(cupy.cuda.nvrtc, "getVersion", failing)
    else:
        lacking = type("lacking", (), {"cublas": property(lambda self: failing())})()
        vars(lacking).update({name: value for name, value in vars(cupy.cuda).items() if name != "cublas"})
        monkeypatch.setattr(cupy, "cuda", lacking)
    with pytest.raises(DeviceError, match=r"needs CUDA's NVRTC and cuBLAS: pip install .*libnvrtc"):
        pn.zeros(2, device="cuda")


def nested(**options: Any) -> pn.NestedArray:
    return pn.nested_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], device="cuda", **options)


def dense(**options: Any) -> pn.Array:
    return pn.array([[1.0, 2.0], [3.0, 4.0]], device="cuda", **options)


def loss(x: Any) -> pn.Array:
    """A scalar that many rules lead to."""
    y = pn.softmax(x * x + 1.0, -1) / (2.0 - x.tanh())
    return (y - y.exp() * pn.logsumexp(y, -1, keepdim=True)).sum()


def assign(x: Any, index: Any, value: Any) -> None:
    x[index] = value


CALLS: dict[str, Callable[[Any], Any]] = {
    "+": lambda x: x + x,
    "- number": lambda x: 2.0 - x,
    "/": lambda x: x / x,
    "@": lambda x: x @ dense(),
    "-x": lambda x: -x,
    "<": lambda x: x < 2.0,
    "add_": lambda x: x.add_(1.0),
    "+=": lambda x: x.__iadd__(x),
    "fill_": lambda x: x.fill_(2.0),
    "copy_": lambda x: x.copy_(x + 1.0),
    "index": lambda x: x[1],
    "index array": lambda x: x[[1, 0]],
    "mask": lambda x: x[x > 1.5],
    "assignment": lambda x: assign(x, (1, 0), 3.0),
    "assignment of an array": lambda x: assign(x, 1, x[1] + 1.0),
    "clone": pn.clone,
    "dtype": lambda x: x.to(pn.float32),
    "to the host": lambda x: x.to("cpu"),
    "repr": repr,
    "str": str,
    "tolist": lambda x: x.tolist(),
    "sum": lambda x: x.sum(),
    "amax": lambda x: pn.amax(x, -1),
    "softmax": lambda x: pn.softmax(x, -1),
    "layer_norm": lambda x: pn.layer_norm(x, (2,)),
    "gelu": pn.gelu,
    "where": lambda x: pn.where(x > 1.5, x, 0.0),
    "cat": lambda x: pn.cat([x, x], -1),
    "cumsum": lambda x: pn.cumsum(x, -1),
    "dropout": lambda x: pn.dropout(x, 0.5),
    "equal": lambda x: pn.equal(x, x),
    "allclose": lambda x: pn.allclose(x, x),
    "zeros_like": pn.zeros_like,
    "rand_like": pn.rand_like,
    "backward": lambda x: loss(x.detach().requires_grad_()).backward(),
    "accumulated": lambda x: [loss(x).backward() for x in [x.detach().requires_grad_()] for _ in range(2)],
    "grad of grad": lambda x: pn.grad(pn.grad(loss(x), x, create_graph=True)[0].sum(), x),
    "jvp": lambda x: pn.jvp(loss, (x.detach(),), (x.detach(),)),
    "compiled": lambda x: pn.compile(loss)(x),
    "compiled, backward": lambda x: pn.compile(loss)(x.detach().requires_grad_()).backward(),
    "new": lambda x: pn.array([1.0, 2.0], device="cuda"),
    "ones": lambda x: pn.ones(2, device="cuda"),
    "randn": lambda x: pn.randn(2, device="cuda"),
    "arange": lambda x: pn.arange(2, device="cuda"),
    "new nested": lambda x: nested(),
    "new jagged": lambda x: nested(layout=pn.jagged),
    "from the host": lambda x: pn.array([1.0]).to("cuda"),
}
OF_ONE: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda x: x.to("cpu").numpy(),
    "item": lambda x: x[0, 0].item(),
    "bool": lambda x: bool(x[0, 0]),
    "float": lambda x: float(x[0, 0]),
    "index": lambda x: x[[1, 0], [0, 1]],
    "assignment": lambda x: assign(x, [1, 0], 3.0),
    "contains": lambda x: 3.0 in x,
    "round": lambda x: round(x[0, 0]),
    "format": lambda x: f"{x[0, 0]:.2f}",
}
OF_NESTED: dict[str, Callable[[Any], Any]] = {
    "padded": lambda x: pn.to_padded_array(x, 0.0),
    "unbind": lambda x: [component.to("cpu").numpy() for component in x.unbind()],
    "contiguous": lambda x: x.transpose(1, 2).contiguous(),
    "attention": lambda x: pn.scaled_dot_product_attention(*[x.unsqueeze(1)] * 3),
    "map_components": lambda x: pn.map_components(lambda c: c * 2.0 + c, x),
}
OPERANDS: dict[str, tuple[Callable[..., Any], dict[str, Callable[[Any], Any]]]] = {
    "dense": (dense, CALLS | OF_ONE),
    "strided": (nested, CALLS | OF_NESTED),
    "jagged": (lambda **options: nested(layout=pn.jagged, **options), CALLS | OF_NESTED),
}


def uses_that_fail_otherwise(call: Callable[[Any], Any], make: Callable[[], Any]) -> tuple[int, list[str]]:
    """Return how often a call uses the driver, and what is raised by failures of the driver that is no DeviceError."""
    others: list[str] = []
    for uses in range(1000):
        x = make()
        with mock.patch.object(fault, "after", uses):
            try:
                call(x)
            except DeviceError as error:
                if fault.after >= 0:
                    raise
                if "cudaErrorIllegalAddress" not in str(error) or "PYNESTED_CHECK" not in str(error):
                    others.append(str(error))
            except Exception as error:
                if fault.after >= 0:
                    raise
                others.append(f"use {uses}: {error!r} in {traceback.extract_tb(error.__traceback__)[-3:]}")
            else:
                return uses, others
    raise AssertionError("the call uses the driver too often to try each use")


@pytest.mark.parametrize("kind", OPERANDS)
def test_the_driver_may_fail_at_any_use(cupy: ModuleType, kind: str) -> None:
    make, calls = OPERANDS[kind]
    others: dict[str, list[str]] = {}
    for name, call in calls.items():
        uses, others[name] = uses_that_fail_otherwise(call, partial(make, requires_grad=name == "grad of grad"))
        assert uses or name == "index", f"{name} never uses the driver"  # a component is a view
    assert not any(others.values()), "\n".join(f"{name}: {one}" for name in others for one in others[name])
