"""The launcher that runs kernels on the CPU: the same ``.cu`` files through a C++ compiler, a fiber for each thread."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import numpy as cpu
from ..allocator import allocate_cpu
from ..errors import ArgumentError, DeviceError
from .backend import KernelBackend
from .catalogue import catalogue
from .checks import Triple
from .compiler import MODES, library
from .signatures import KERNELS, signature

SCHEDULES = ("forward", "reverse", "random", "eager")
POISON = 0xFF  # in every byte of a new array: NaN as a float, -1 as an integer


class Emulator:
    """Kernels of a folder, compiled when they are first launched, a whole file at a time.

    Parameters
    ----------
    schedule : str
        In which order the threads of a block take turns between barriers: ``"forward"``, ``"reverse"``, ``"random"``,
        or ``"eager"``, in which a warp runs as far ahead of the others as barriers let it.
    seed : int
        Of the random schedule, and of the order of warps in the eager one.
    workers : int
        How many blocks run at the same time.
    mode : str
        ``""``, ``"address"`` or ``"thread"``: built with which sanitizers.
    kernels : Path
        The folder of the ``.cu`` files.
    units : mapping, optional
        The instantiations of each file that are compiled together: those of the catalogue, unless given. Those of a
        file that is not in it are compiled one by one.
    """

    def __init__(
        self,
        schedule: str = "forward",
        seed: int = 0,
        workers: int = 1,
        mode: str = "",
        kernels: Path = KERNELS,
        units: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        for what, given, known in (("schedule", schedule, SCHEDULES), ("mode", mode, tuple(MODES))):
            if given not in known:
                raise ArgumentError(f"the emulation has no {what} {given!r}: it has {', '.join(map(repr, known))}.")
        self.schedule, self.seed, self.workers, self.mode = schedule, seed, workers, mode
        self.kernels, self.units = kernels, catalogue() if units is None else units
        self._functions: dict[tuple[str, str], Any] = {}

    @classmethod
    def from_environment(cls) -> Emulator:
        """As PYNESTED_EMULATOR_SCHEDULE, _SEED, _WORKERS and _MODE say."""

        def asked(name: str, otherwise: str) -> str:
            return os.environ.get(f"PYNESTED_EMULATOR_{name}", otherwise)

        return cls(asked("SCHEDULE", "forward"), int(asked("SEED", "0")), int(asked("WORKERS", "1")), asked("MODE", ""))

    def run(self, file: str, name: str, grid: Triple, block: Triple, args: Sequence[Any], shared: int) -> None:
        """Run a kernel to its end; DeviceError where the emulation noticed a fault in it."""
        function = self._functions.get((file, name)) or self._load(file, name)
        cells = (ctypes.c_void_p * len(args))()
        held = []  # what the cells point to
        for place, given in enumerate(args):
            value: Any
            if given is None or isinstance(given, np.ndarray):
                value = ctypes.c_void_p(None if given is None else given.ctypes.data)
                cells[place] = ctypes.addressof(value)
            else:
                value = np.array(given)
                cells[place] = value.ctypes.data
            held.append(value)
        sizes = (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block)
        order = SCHEDULES.index(self.schedule)
        error = function(*sizes, shared, cells, order, self.seed, self.workers)
        if error:
            raise DeviceError(f"{name}: {error.decode()}")

    def compile(self, file: str) -> None:
        """Have all instantiations of a file ready."""
        library(file, self.units[file], self.mode, self.kernels)

    def _load(self, file: str, name: str) -> Any:
        names = self.units.get(file, (name,))
        if name not in names:
            raise DeviceError(f"{name} is not in the catalogue of {file}.")
        loaded = ctypes.CDLL(str(library(file, names, self.mode, self.kernels)))
        for number, one in enumerate(names):
            self._functions[file, one] = self._function(loaded, number, file, one)
        return self._functions[file, name]

    def _function(self, loaded: ctypes.CDLL, number: int, file: str, name: str) -> Any:
        describe = getattr(loaded, f"k{number}_signature")
        describe.restype = ctypes.c_char_p
        compiled, read = describe().decode(), "".join(one.code for one in signature(self.kernels, file, name))
        if compiled != read:
            raise DeviceError(f"{name}: its text was read as taking {read}, the compiler says {compiled}.")
        function = getattr(loaded, f"k{number}_launch")
        function.restype = ctypes.c_char_p
        function.argtypes = [
            ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint), ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_uint64, ctypes.c_int,
        ]  # fmt: skip
        return function


def poisoned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """A new array that holds no number a kernel would leave there by accident."""
    made = allocate_cpu(shape, dtype)
    made.reshape(-1).view(np.uint8).fill(POISON)
    return made


def emulated_backend(launcher: Emulator | None = None) -> KernelBackend:
    """The backend of the device ``"emulated"``; as the environment says unless a launcher is given."""
    return KernelBackend("emulated", np, launcher or Emulator.from_environment(), poisoned, cpu)
