"""The driver: one GPU, one stream, and modules of kernels, which the emulation runs."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from pynested.backends.cuda.catalogue import catalogue
from pynested.backends.cuda.emulated import Emulator
from pynested.backends.cuda.sources import inlined

from .array import ndarray, synchronized

SHARED_BY_DEFAULT = 48 * 1024
FILES = {name: file for file, names in catalogue().items() for name in names}

emulator = Emulator.from_environment()


class CUDARuntimeError(RuntimeError):
    """What the driver reports."""


def _synchronize() -> None:
    synchronized["stream"] += 1


runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=lambda: 1)
stream = SimpleNamespace(synchronize=_synchronize)


class RawModule:
    """Kernels compiled from a text; templates are instantiated for the names that are asked for here."""

    def __init__(self, code: str, *, options: tuple[str, ...] = (), name_expressions: Sequence[str]) -> None:
        assert all(option.startswith("-") for option in options)
        for name in name_expressions:
            assert code == inlined(FILES[name]), f"this is not the text of {FILES[name]}"
        self._names = name_expressions

    def get_function(self, name: str) -> RawKernel:
        """One of the instantiations."""
        assert name in self._names
        return RawKernel(name)


class RawKernel:
    """One kernel to launch: it runs at once, its arguments taken for what they are, as CuPy does."""

    max_dynamic_shared_size_bytes = SHARED_BY_DEFAULT  # to be raised before a launch takes more

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, grid: Any, block: Any, args: tuple[Any, ...], *, shared_mem: int = 0) -> None:
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise CUDARuntimeError("cudaErrorInvalidValue: invalid argument")
        for one in args:
            if not isinstance(one, ndarray | np.generic):
                raise TypeError(f"Unsupported type {type(one)}")
        given = [one._memory if isinstance(one, ndarray) else one for one in args]
        emulator.run(FILES[self._name], self._name, grid, block, given, shared_mem)
