"""What fails on a GPU is one DeviceError, which says what to install or what happened."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.errors import DeviceError

from .stand_in import ndarray


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
