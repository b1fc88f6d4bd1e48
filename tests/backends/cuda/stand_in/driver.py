"""The driver of the stand-in: one GPU, one stream, and modules of kernels, which the emulator runs."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from pynested.backends.cuda import kernel_source
from pynested.backends.cuda.emulated_launcher import Emulator
from pynested.backends.cuda.instantiations import all_instantiations
from pynested.backends.cuda.kernel_source import inlined

from .array import CUDARuntimeError, ndarray, synchronized, use_driver

SHARED_BY_DEFAULT = 48 * 1024
FILES = {name: file for file, names in all_instantiations().items() for name in names}

emulator = Emulator.from_environment()


class CompileException(Exception):
    """An error of the compiler."""

    __module__ = "cupy.cuda.compiler"


def _synchronize() -> None:
    synchronized["stream"] += 1


runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=lambda: 1)
nvrtc = SimpleNamespace(getVersion=lambda: (13, 5))
compiler = SimpleNamespace(CompileException=CompileException)
stream = SimpleNamespace(synchronize=_synchronize)


class RawModule:
    """Kernels compiled from a text, with the instantiations that are named."""

    def __init__(self, code: str, *, options: tuple[str, ...] = (), name_expressions: Sequence[str]) -> None:
        assert all(option.startswith("-") for option in options)
        self._files = {name: FILES.get(name) or _generated(code) for name in name_expressions}
        for file in self._files.values():
            assert code == inlined(file), f"this is not the text of {file}"

    def get_function(self, name: str) -> RawKernel:
        """Return an instantiation."""
        return RawKernel(self._files[name], name)


def _generated(code: str) -> str:
    """Return the name of the generated kernel that has this text."""
    return next(file for file in kernel_source._TEXTS if inlined(file) == code)


class RawKernel:
    """A kernel, which runs at once, on arguments that are not converted, as CuPy does it."""

    max_dynamic_shared_size_bytes = SHARED_BY_DEFAULT  # to be raised before a launch takes more

    def __init__(self, file: str, name: str) -> None:
        self._file, self._name = file, name

    def __call__(self, grid: Any, block: Any, args: tuple[Any, ...], *, shared_mem: int = 0) -> None:
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise CUDARuntimeError("cudaErrorInvalidValue: invalid argument")
        for arg in args:
            if not isinstance(arg, ndarray | np.generic):
                raise TypeError(f"Unsupported type {type(arg)}")
        use_driver()
        memory = [arg._memory if isinstance(arg, ndarray) else arg for arg in args]
        emulator.run(self._file, self._name, grid, block, memory, shared_mem)
