"""What fails on a GPU is one DeviceError, which says what to install or what happened."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.errors import DeviceError

from .stand_in import ndarray
from .stand_in.array import fault


def missing_library(cupy: ModuleType) -> Exception:
    return RuntimeError('Failure finding "libnvrtc.so.13"')  # as the DynamicLibNotFoundError that CuPy raises


FAILURES: dict[str, Callable[[ModuleType], Exception]] = {
    "a missing library": missing_library,
    "missing cuBLAS": lambda cupy: ImportError('Failure finding "libcublas.so.13"'),
    "the driver": lambda cupy: cupy.cuda.runtime.CUDARuntimeError("cudaErrorIllegalAddress"),
    "the compiler": lambda cupy: cupy.cuda.compiler.CompileException("kern.cu(3): error"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_of_the_gpu_is_a_device_error(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    failing = mock.Mock(side_effect=FAILURES[name](cupy))
    error = failing.side_effect
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
def test_a_missing_library_is_reported_with_the_first_array(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    error = missing_library(cupy)
    if library == "nvrtc":
        monkeypatch.setattr(cupy.cuda.nvrtc, "getVersion", mock.Mock(side_effect=error))
    else:
        lacking = type("lacking", (), {"cublas": mock.PropertyMock(side_effect=error)})()
        vars(lacking).update({name: value for name, value in vars(cupy.cuda).items() if name != "cublas"})
        monkeypatch.setattr(cupy, "cuda", lacking)
    with pytest.raises(DeviceError, match=r"needs CUDA's NVRTC and cuBLAS: pip install .*libnvrtc"):
        pn.zeros(2, device="cuda")


# ---- the driver fails at any use ------------------------------------------------------------------------------------


def dense(**options: Any) -> pn.Array:
    return pn.array([[1.0, 2.0], [3.0, 4.0]], device="cuda", **options)


def nested(layout: pn.Layout = pn.strided, **options: Any) -> pn.NestedArray:
    return pn.nested_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=layout, device="cuda", **options)


def loss(x: Any) -> pn.Array:
    """A scalar that many rules lead to."""
    y = pn.softmax(x * x + 1.0, -1) / (2.0 - x.tanh())
    return (y - y.exp() * pn.logsumexp(y, -1, keepdim=True)).sum()


def leaf(x: Any) -> Any:
    return x.detach().requires_grad_()


CALLS: dict[str, Callable[[Any], Any]] = {
    "- number": lambda x: 2.0 - x,
    "@": lambda x: x @ dense(),
    "add_": lambda x: x.add_(x),
    "fill_": lambda x: x.fill_(2.0),
    "copy_": lambda x: x.copy_(x + 1.0),
    "index array": lambda x: x[[1, 0]],
    "mask": lambda x: x[x > 1.5],
    "assignment": lambda x: x.__setitem__((1, 0), 3.0),
    "assignment of an array": lambda x: x.__setitem__(1, x[1] + 1.0),
    "clone": pn.clone,
    "dtype": lambda x: x.to(pn.float32),
    "to the host": lambda x: x.to("cpu"),
    "from the host": lambda x: pn.array([1.0]).to("cuda"),
    "repr": repr,
    "tolist": lambda x: x.tolist(),
    "where": lambda x: pn.where(x > 1.5, x, 0.0),
    "dropout": lambda x: pn.dropout(x, 0.5),
    "allclose": lambda x: pn.allclose(x, x),
    "rand_like": pn.rand_like,
    "accumulated": lambda x: [loss(y).backward() for y in [leaf(x)] for _ in range(2)],
    "grad of grad": lambda x: [pn.grad(pn.grad(loss(y), y, create_graph=True).sum(), y) for y in [leaf(x)]],
    "jvp": lambda x: pn.jvp(loss, (x.detach(),), (x.detach(),)),
    "compiled, backward": lambda x: pn.compile(loss)(leaf(x)).backward(),
}
OF_DENSE: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x[0, 0].item(),
    "format": lambda x: f"{x[0, 0]:.2f}",
    "contains": lambda x: 3.0 in x,
    "index arrays": lambda x: x[[1, 0], [0, 1]],
    "assignment by a list": lambda x: x.__setitem__([1, 0], 3.0),
    "randn": lambda x: pn.randn(2, device="cuda"),
    "arange": lambda x: pn.arange(2, device="cuda"),
    "new": lambda x: dense(),
    "new nested": lambda x: nested(),
    "new jagged": lambda x: nested(pn.jagged),
}
OF_NESTED: dict[str, Callable[[Any], Any]] = {
    "padded": lambda x: pn.to_padded_array(x, 0.0),
    "unbind": lambda x: [component.to("cpu").numpy() for component in x.unbind()],
    "contiguous": lambda x: x.transpose(1, 2).contiguous(),
    "attention": lambda x: pn.scaled_dot_product_attention(*[x.unsqueeze(1)] * 3),
    "map_components": lambda x: pn.map_components(lambda c: c * 2.0 + c, x),
}
OPERANDS: dict[str, tuple[Callable[[], Any], dict[str, Callable[[Any], Any]]]] = {
    "dense": (dense, CALLS | OF_DENSE),
    "strided": (nested, CALLS | OF_NESTED),
    "jagged": (partial(nested, pn.jagged), CALLS | OF_NESTED),
}
MOST = 10**6


def failures_of(call: Callable[[Any], Any], make: Callable[[], Any], tried: int) -> Iterator[str]:
    """Yield what a call raises that is no DeviceError when the driver fails, at its first uses and others drawn."""
    x = make()
    with mock.patch.object(fault, "after", MOST):
        call(x)
        uses = MOST - fault.after
    assert uses, "the call never uses the driver"
    drawn = np.random.default_rng(uses).permutation(uses - 2) + 2 if uses > 2 else []
    for use in [*range(min(uses, 2)), *drawn][:tried]:
        x = make()
        error: Exception | None = None
        with mock.patch.object(fault, "after", use):
            try:
                call(x)
            except Exception as raised:
                error = raised
        is_reported = "cudaErrorIllegalAddress" in str(error) and "PYNESTED_CHECK" in str(error)
        if not (isinstance(error, DeviceError) and is_reported):
            yield f"use {use}: {error!r} in {traceback.extract_tb(error.__traceback__ if error else None)[-3:]}"


@pytest.mark.parametrize("tried", [5, pytest.param(1000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("kind", OPERANDS)
def test_the_driver_may_fail_at_any_use(cupy: ModuleType, kind: str, tried: int) -> None:
    make, calls = OPERANDS[kind]
    others = {name: list(failures_of(call, make, tried)) for name, call in calls.items()}
    assert not any(others.values()), others
