"""The device "cuda" through a stand-in for CuPy: refusals of the stand-in, and launches."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import packages_distributions, requires
from importlib.util import find_spec
from inspect import signature
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.cuda.cupy_launcher import OPTIONS, CupyLauncher
from pynested.backends.cuda.instantiations import all_instantiations
from pynested.backends.cuda.kernel_source import source_with_headers
from pynested.backends.errors import ArgumentError, DeviceError

from .stand_in import functions, ndarray
from .stand_in.functions import PARAMETERS, UFUNCS, signature_of

NEEDS_CUPY = pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed")


def names_of(function: Any) -> list[str]:
    """Return the names of parameters; compiled functions have them in the first line of their docstring."""
    try:
        return list(signature(function).parameters)
    except ValueError:
        inside = function.__doc__.splitlines()[0].partition("(")[2].rpartition(")")[0]
        return [parameter.split("=")[0].split()[-1].lstrip("*") for parameter in inside.split(", ")]


@NEEDS_CUPY
def test_the_stand_in_has_cupys_parameters() -> None:
    real = import_module("cupy")
    for name, parameters in PARAMETERS.items():
        assert list(signature(getattr(real, name)).parameters) == list(signature_of(parameters).parameters), name
    for name in UFUNCS:
        assert isinstance(getattr(real, name), real.ufunc), name
    assert callable(real.matmul) and callable(real.from_dlpack)
    for ours in (functions.array, functions.asarray, functions.ascontiguousarray):
        names = names_of(ours)
        assert names_of(getattr(real, ours.__name__))[: len(names)] == names, ours
    assert names_of(real.lib.stride_tricks.as_strided) == names_of(functions.as_strided)
    for name in vars(ndarray).keys() - vars(object).keys() - {"_memory", "__slots__", "__weakref__"}:
        assert hasattr(real.ndarray, name), name
        if callable(method := getattr(ndarray, name)) and not name.startswith("__"):
            names = [name for name in names_of(method) if name != "axes"]
            assert names_of(getattr(real.ndarray, name))[: len(names)] == names, name
    assert {"code", "options", "name_expressions"} <= set(names_of(real.RawModule))
    assert names_of(real.RawModule.get_function) == ["self", "name"]
    assert names_of(real.RawKernel.__call__)[:4] == ["self", "grid", "block", "args"]
    assert callable(real.cuda.get_current_stream) and callable(real.cuda.Stream.synchronize)
    assert callable(real.cuda.runtime.getDeviceCount) and issubclass(real.cuda.runtime.CUDARuntimeError, RuntimeError)
    assert issubclass(real.cuda.compiler.CompileException, Exception) and callable(real.cuda.nvrtc.getVersion)


@NEEDS_CUPY
def test_cupys_extra_brings_the_compiler_its_headers_and_cublas() -> None:
    (name,) = packages_distributions()["cupy"]
    (toolkit,) = (line for line in requires(name) or () if 'extra == "ctk"' in line)
    assert all(part in toolkit for part in ("cublas", "cudart", "nvrtc"))


@NEEDS_CUPY
@pytest.mark.parametrize("file", ["attention.cu", "elementwise.cu", "gather_components.cu", "segment_softmax.cu"])
def test_cupy_compiles_files_that_include_all_headers(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy has options and headers of its own; `test_nvrtc` compiles every instantiation."""
    compiler, core = import_module("cupy.cuda.compiler"), import_module("cupy._core.core")
    # CuPy gets the architecture from the driver; the rest needs no GPU.
    monkeypatch.setattr(compiler, "_get_arch_for_options_for_nvrtc", lambda arch=None: ("-arch=sm_90", "cubin"))
    options = (*core.assemble_cupy_compiler_options(OPTIONS), "-ftz=true")
    source, name = source_with_headers(file), all_instantiations()[file][0]
    code, lowered = compiler.compile_using_nvrtc(source, options, name_expressions=(name,))
    assert len(code) > 1000 and set(lowered) == {name}


MIXTURES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x + y, "reflected product": lambda x, y: y * x, "comparison": lambda x, y: x == y,
    "ufunc": lambda x, y: np.add(x, y), "function": lambda x, y: np.concatenate([x, y]),
    "conversion": lambda x, y: np.asarray(x), "assignment": lambda x, y: x.__setitem__(..., y),
    "assignment to the host": lambda x, y: y.__setitem__(..., x), "index": lambda x, y: x[y],
    "ufunc that CuPy lacks": lambda x, y: np.spacing(x), "keyword that CuPy lacks": lambda x, y: np.sum(x, initial=1),
    "index of a list": lambda x, y: [1, 2][x[0]],
}  # fmt: skip


@pytest.mark.parametrize("name", MIXTURES)
def test_the_stand_in_refuses_what_cupy_refuses(cupy: ModuleType, name: str) -> None:
    with pytest.raises(TypeError):
        MIXTURES[name](cupy.arange(3), np.arange(3))


def test_views_and_numbers_are_arrays_of_the_stand_in(cupy: ModuleType) -> None:
    x = cupy.zeros((2, 3))
    repeated = cupy.broadcast_to(x[:1, :1], (2, 1))
    for view in (x[0, 1], x[1:], x.reshape(6), x.T, cupy.broadcast_to(x, (4, 2, 3)), x[:1].reshape(3), repeated[0]):
        assert type(view) is ndarray and view.base is x
    for other in (x.sum(), x + 1, x.copy(), x[cupy.arange(2)], np.exp(x), 2 - x, np.float64(2) * x):
        assert type(other) is ndarray and other.base is None
    assert (x == None) is False and (x != None) is True  # noqa: E711
    x[0, 1] = 7
    assert x.item.__self__ is x and x[0, 1].item() == 7 and not hasattr(x.flags, "writeable")
    with pytest.raises(AssertionError, match="wrap around"):
        x[cupy.arange(3)]


def test_launches_are_waited_for_on_request(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get_backend("cuda").launcher, "check", True)
    made = pn.empty(3, device="cuda")
    assert np.isnan(made.to("cpu").numpy()).all()
    pn.relu(made)
    assert cupy.synchronized["stream"] == 1
    broken = mock.Mock(side_effect=cupy.cuda.runtime.CUDARuntimeError("cudaErrorIllegalAddress"))
    monkeypatch.setattr(cupy.cuda.get_current_stream(), "synchronize", broken)
    with pytest.raises(DeviceError, match=r"unary<Relu, double> failed on the GPU: cudaErrorIllegalAddress"):
        pn.relu(made)
    monkeypatch.setenv("PYNESTED_CHECK", "yes")
    with pytest.raises(ArgumentError, match="PYNESTED_CHECK is 'yes'; it takes a whole number from 0 to 1"):
        CupyLauncher(cupy)


def test_kernels_are_compiled_once_from_a_text_without_includes(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_by = mock.Mock(side_effect=cupy.RawModule)
    monkeypatch.setattr(cupy, "RawModule", compiled_by)
    for _ in range(2):
        pn.relu(pn.ones(5, dtype=pn.float32, device="cuda"))
    (call,) = compiled_by.call_args_list
    assert call.kwargs["name_expressions"] == ("unary<Relu, float>",)
    assert '#include "common.cuh"' not in call.kwargs["code"] and "struct Limits" in call.kwargs["code"]
