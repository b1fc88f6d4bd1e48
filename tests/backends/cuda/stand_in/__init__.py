"""A stand-in for the module `cupy` on a machine without a GPU: the part of CuPy that pynested uses, and no more.

Its arrays lie in host memory and its kernels run on the emulator, but it is as strict as CuPy, or stricter. An array is
never converted to an array of NumPy by itself, and never mixes with one. Results without dimensions are arrays. A
function takes the keywords of CuPy's function. ``cupy.synchronized`` counts the calls that make CuPy wait for the GPU.
With `array.fault` the driver fails at a chosen use.

    array.py   ndarray      functions.py   the functions and ufuncs      here   the driver: RawModule and cuda
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from pynested.backends import registry
from pynested.backends.cuda import kernel_source
from pynested.backends.cuda.emulated_launcher import Emulator
from pynested.backends.cuda.instantiations import all_instantiations
from pynested.backends.cuda.kernel_source import source_with_headers

from .array import FUNCTIONS, CUDARuntimeError, ndarray, synchronized, use_driver
from .functions import array, as_strided, asarray, ascontiguousarray, ufunc

emulator = Emulator.from_environment()


class CompileException(Exception):
    """An error of the compiler."""

    __module__ = "cupy.cuda.compiler"


def _synchronize() -> None:
    synchronized["stream"] += 1


stream = SimpleNamespace(synchronize=_synchronize)


class RawModule:
    """Kernels compiled from a text, with the instantiations that are named."""

    def __init__(self, code: str, *, options: tuple[str, ...] = (), name_expressions: Sequence[str]) -> None:
        assert all(option.startswith("-") for option in options)
        self._names = name_expressions
        self._file = next(
            file
            for file in (*all_instantiations(), *kernel_source._generated_texts)
            if source_with_headers(file) == code
        )

    def get_function(self, name: str) -> RawKernel:
        """Return an instantiation."""
        assert name in self._names
        return RawKernel(self._file, name)


class RawKernel:
    """A kernel, which runs at once, on arguments that are not converted, as CuPy does it."""

    def __init__(self, file: str, name: str) -> None:
        self._file, self._name = file, name

    def __call__(self, grid: Any, block: Any, args: tuple[Any, ...]) -> None:
        for arg in args:
            if not isinstance(arg, ndarray | np.generic):
                raise TypeError(f"Unsupported type {type(arg)}")
        use_driver()
        memory = [arg._memory if isinstance(arg, ndarray) else arg for arg in args]
        emulator.run(self._file, self._name, grid, block, memory)


def module() -> ModuleType:
    """Return the module that ``import cupy`` finds."""
    made = ModuleType("cupy")
    made.__version__ = "14.2.0"  # type: ignore[attr-defined]
    vars(made).update(FUNCTIONS, ndarray=ndarray, ufunc=ufunc)
    vars(made).update(array=array, asarray=asarray, ascontiguousarray=ascontiguousarray)
    vars(made).update(RawModule=RawModule, synchronized=synchronized)
    vars(made).update(lib=SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=as_strided)))
    made.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        runtime=SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=lambda: 1),
        nvrtc=SimpleNamespace(getVersion=lambda: (13, 5)),
        cublas=SimpleNamespace(),
        compiler=SimpleNamespace(CompileException=CompileException),
        get_current_stream=lambda: stream,
    )
    return made


@contextmanager
def installed() -> Iterator[ModuleType]:
    """Let ``import cupy`` find the stand-in, and ``"cuda"`` be a device, until the end of the block."""
    made, before = module(), sys.modules.get("cupy")
    with mock.patch.dict(registry._made):
        registry._made.pop("cuda", None)
        synchronized.clear()
        sys.modules["cupy"] = made  # and nothing else is put back: what is imported inside stays imported
        try:
            yield made
        finally:
            del sys.modules["cupy"]
            if before is not None:
                sys.modules["cupy"] = before
            synchronized.clear()
