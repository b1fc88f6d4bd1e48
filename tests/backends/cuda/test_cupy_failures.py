"""Every failure of a GPU is a DeviceError that says what to install or what happened."""

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
from .test_device_law import computed, samples


class DynamicLibNotFoundError(RuntimeError):
    """The error of CuPy for a missing library."""

    __module__ = "cuda.pathfinder"


FAILURES: dict[str, Callable[[ModuleType], Exception]] = {
    "a missing library": lambda cupy: DynamicLibNotFoundError('Failure finding "libnvrtc.so.13"'),
    "a missing module": lambda cupy: ImportError("No module named 'cuda.pathfinder'"),
    "the driver": lambda cupy: cupy.cuda.runtime.CUDARuntimeError("cudaErrorIllegalAddress"),
    "the compiler": lambda cupy: cupy.cuda.compiler.CompileException("kern.cu(3): error"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_of_the_gpu_is_a_device_error(cupy: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    failing = mock.Mock(side_effect=FAILURES[name](cupy))
    error = failing.side_effect
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, device="cuda")
    monkeypatch.setattr(get_backend("cuda").launcher, "_functions", {})
    for module_or_function, call in (
        ("RawModule", lambda: pn.relu(x)),  # compiling and launching
        ("exp", lambda: pn.exp(x)),  # functions of CuPy's
        ("matmul", lambda: pn.matmul(pn.ones(2, 2, device="cuda"), pn.ones(2, 2, device="cuda"))),
    )[: 1 if isinstance(error, ImportError) else 3]:
        get_backend("cuda").__dict__.pop(module_or_function, None)
        monkeypatch.setattr(cupy, module_or_function, failing)
        with pytest.raises(DeviceError, match=r"failed on the GPU: [\s\S]*pip install 'pynested\[cuda12\]'") as caught:
            call()
        assert str(error) in str(caught.value) and caught.value.__cause__ is error
    if isinstance(error, RuntimeError):  # what a wait may raise
        monkeypatch.setattr(ndarray, "get", failing)
        with pytest.raises(DeviceError, match="the GPU failed before an array could be copied"):
            x.to("cpu")


def test_what_a_machine_lacks_is_reported_with_the_first_array(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, no_library = cupy.cuda.runtime, FAILURES["a missing library"](cupy)
    no_driver = mock.Mock(side_effect=runtime.CUDARuntimeError("cudaErrorInsufficientDriver"))
    without_cublas = type("cuda", (), {**vars(cupy.cuda), "cublas": mock.PropertyMock(side_effect=no_library)})()
    needs_libraries = r"needs CUDA's NVRTC and cuBLAS: pip install .*libnvrtc"
    for module, name, value, says in (
        (runtime, "getDeviceCount", no_driver, "needs an NVIDIA driver and a GPU: cudaErrorInsufficientDriver"),
        (runtime, "getDeviceCount", lambda: 0, "the driver sees none"),
        (cupy.cuda.nvrtc, "getVersion", mock.Mock(side_effect=no_library), needs_libraries),
        (cupy, "cuda", without_cublas, needs_libraries),
    ):
        with monkeypatch.context() as change, pytest.raises(DeviceError, match=says):
            change.setattr(module, name, value)
            pn.zeros(2, device="cuda")


def dense(**options: Any) -> pn.Array:
    return pn.array([[1.0, 2.0], [3.0, 4.0]], device="cuda", **options)


def nested(layout: pn.Layout = pn.strided, **options: Any) -> pn.NestedArray:
    return pn.nested_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=layout, device="cuda", **options)


def loss(x: Any) -> pn.Array:
    """Return a scalar that depends on its argument by many primitives."""
    y = pn.softmax(x * x + 1.0, -1) / (2.0 - x.tanh())
    return (y - y.exp() * pn.logsumexp(y, -1, keepdim=True)).sum()


def leaf(x: Any) -> Any:
    return x.detach().requires_grad_()


# Calls that are no sample inputs: of every array, of dense ones and of nested ones. Each keeps the leaves that it
# makes: the gradient of a leaf that nobody holds is not written, or is, depending on when Python collects its garbage.
CALLS: dict[str, Callable[[Any], Any]] = {
    "in place": lambda x: x.add_(x).fill_(2.0).copy_(x + 1.0),
    "assignment": lambda x: [x.__setitem__((1, 0), 3.0), x.__setitem__(1, x[1] + 1.0)],
    "text": lambda x: (repr(x), x.tolist()),
    "accumulated": lambda x: [loss(y).backward() for y in [leaf(x)] for _ in range(2)],
    "grad of grad": lambda x: [pn.grad(pn.grad(loss(y), y, create_graph=True).sum(), y) for y in [leaf(x)]],
    "jvp": lambda x: pn.jvp(loss, (x.detach(),), (x.detach(),)),
    "compiled, backward": lambda x: [pn.compile(loss)(y).backward() for y in [leaf(x)]],
}
OF_DENSE: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda x: (x[0, 0].item(), f"{x[0, 0]:.2f}", 3.0 in x),
    "assignment by a list": lambda x: x.__setitem__([1, 0], 3.0),
    "new": lambda x: (dense(), nested(), nested(pn.jagged), pn.randn(2, device="cuda"), pn.arange(2, device="cuda")),
}
OF_NESTED: dict[str, Callable[[Any], Any]] = {
    "map_components": lambda x: pn.map_components(lambda c: c * 2.0 + c, x),
    "unbind": lambda x: [component.to("cpu").numpy() for component in x.unbind()],
}
OPERANDS: dict[str, tuple[Callable[[], Any], dict[str, Callable[[Any], Any]]]] = {
    "dense": (dense, CALLS | OF_DENSE),
    "strided": (nested, CALLS | OF_NESTED),
    "jagged": (partial(nested, pn.jagged), CALLS | OF_NESTED),
}
MOST = 10**6


def failures_of(call: Callable[..., Any], make: Callable[[], tuple[Any, ...]], tried: int) -> Iterator[str]:
    """Yield errors of a call that are no DeviceError; the driver fails at uses that are drawn."""
    call(*make())  # the first call also uses the driver for what is cached
    arguments = make()
    with mock.patch.object(fault, "after", MOST):
        call(*arguments)
        uses = MOST - fault.after
    assert uses, "the call never uses the driver"
    for use in np.random.default_rng(uses).permutation(uses)[:tried]:
        arguments = make()
        error: Exception | None = None
        with mock.patch.object(fault, "after", use):
            try:
                call(*arguments)
            except Exception as raised:
                error = raised
        is_reported = "cudaErrorIllegalAddress" in str(error) and "PYNESTED_CHECK" in str(error)
        if not (isinstance(error, DeviceError) and is_reported):
            yield f"use {use}: {error!r} in {traceback.extract_tb(error.__traceback__ if error else None)[-3:]}"


@pytest.mark.parametrize("tried", [5, pytest.param(1000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("kind", OPERANDS)
def test_the_driver_may_fail_at_any_use(cupy: ModuleType, kind: str, tried: int) -> None:
    make, calls = OPERANDS[kind]
    for name, call in calls.items():
        assert not list(failures_of(call, lambda: (make(),), tried)), name


@pytest.mark.parametrize("tried", [1, pytest.param(10, marks=pytest.mark.exhaustive)])
def test_the_driver_may_fail_at_any_use_of_a_sample(cupy: ModuleType, tried: int) -> None:
    for sample in samples():
        call, *how = sample.values
        assert not list(failures_of(computed, partial(tuple, (call, *how, "cuda")), tried)), sample.id
