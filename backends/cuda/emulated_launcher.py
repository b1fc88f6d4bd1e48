"""The launcher that runs kernels on the CPU: a C++ compiler compiles the ``.cu`` files, and fibers are the threads."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..environment import whole_number
from ..errors import ArgumentError, DeviceError, DTypeError
from .backend import KernelBackend
from .cache import load_library
from .host_compiler import compile_library, compiler, sanitizer_environment
from .instantiations import all_instantiations
from .kernel_device import Dim3
from .kernel_source import KERNELS
from .naming import CTYPES, WORDS

SCHEDULES = ("forward", "reverse", "random", "eager")
LIMITS = {"seed": (0, 2**64 - 1), "workers": (1, 2**31 - 1)}
SANITIZERS = {"": "", "address": "AddressSanitizer and UndefinedBehaviorSanitizer", "thread": "ThreadSanitizer"}
VARIABLES = {name: f"PYNESTED_EMULATOR_{name.upper()}" for name in ("schedule", "seed", "workers", "mode")}
SCALAR_TYPES = {**CTYPES, "uint64": WORDS[8]}  # the C++ types of NumPy's scalars
WORD_SIZES = {word: size for size, word in WORDS.items()}
POISON = 0xFF  # in every byte of a new array: NaN as a float, -1 as an integer


class Emulator:
    """The kernels of a folder, each compiled with the others of its unit when it is first launched.

    Parameters
    ----------
    schedule : str
        The order in which the threads of a block run between barriers: ``"forward"``, ``"reverse"``, ``"random"``, or
        ``"eager"``. In the eager schedule a warp runs as far ahead of the other warps as barriers let it.
    seed : int
        Seed of the random schedule, and of the order of warps in the eager schedule.
    workers : int
        Number of blocks that run at the same time.
    mode : str
        The sanitizers with which kernels are built: ``""``, ``"address"`` or ``"thread"``.
    kernels : Path
        The folder of the ``.cu`` files.
    units : mapping, optional
        By file, the instantiations that are compiled together. The default is the catalogue. The instantiations of a
        file that is not in the mapping are compiled one by one.
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
        for title, choice, choices in (("schedule", schedule, SCHEDULES), ("sanitizer", mode, SANITIZERS)):
            if choice not in choices:
                names = ", ".join(repr(name) for name in choices if name)
                raise ArgumentError(f"the emulation has no {title} {choice!r}: it has {names}.")
        for title, number in (("seed", seed), ("workers", workers)):
            least, greatest = LIMITS[title]
            if not least <= number <= greatest:
                limit = f">= {least}" if number < least else f"<= {greatest}"
                raise ArgumentError(f"the emulation needs {title} {limit}, got {number}.")
        self.schedule, self.seed, self.workers, self.mode = schedule, seed, workers, mode
        self.kernels, self.units = kernels, all_instantiations() if units is None else units
        self._functions: dict[tuple[str, str], tuple[Any, list[str]]] = {}

    @classmethod
    def from_environment(cls, **settings: str | int) -> Emulator:
        """Return the emulator that PYNESTED_EMULATOR_SCHEDULE, _SEED, _WORKERS and _MODE describe, or ``settings``."""
        values: dict[str, Any] = {
            "schedule": os.environ.get(VARIABLES["schedule"], "forward"),
            "seed": whole_number(VARIABLES["seed"], 0, *LIMITS["seed"]),
            "workers": whole_number(VARIABLES["workers"], 1, *LIMITS["workers"]),
            "mode": os.environ.get(VARIABLES["mode"], ""),
        }
        return cls(**{**values, **settings})

    def environment(self) -> dict[str, str]:
        """Return the environment variables of a process in which `from_environment` returns an equal emulator."""
        settings = {variable: str(getattr(self, name)) for name, variable in VARIABLES.items()}
        return {**os.environ, **settings, **sanitizer_environment(self.mode)}

    def __str__(self) -> str:
        """Describe the schedule, and each setting that is not the default."""
        seed = f", seed {self.seed}" if self.schedule in ("random", "eager") else ""
        workers = f", {self.workers} blocks at a time" if self.workers > 1 else ""
        sanitizer = f", {SANITIZERS[self.mode]}" if self.mode else ""
        return f"schedule {self.schedule}{seed}{workers}{sanitizer}"

    def new(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new array whose bytes are all `POISON`.

        Its memory ends with its last element, so that a sanitizer notices reads and writes behind the array.
        """
        kind = np.dtype(dtype)
        return np.full(prod(shape) * kind.itemsize, POISON, np.uint8).view(kind).reshape(shape)

    def run(self, file: str, name: str, grid: Dim3, block: Dim3, args: Sequence[Any], shared: int) -> None:
        """Run a kernel to its end; raise DeviceError if the emulation noticed a fault in it."""
        function, types = self._functions.get((file, name)) or self._load(file, name)
        check_arguments(name, types, args)
        # A kernel takes the addresses of its arguments. The argument for an array is the address of its memory.
        cells = [np.array(x.ctypes.data if isinstance(x, np.ndarray) else x) for x in args]
        pointers = (ctypes.c_void_p * len(args))(*(cell.ctypes.data for cell in cells))
        shape = (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), ctypes.c_size_t(shared)
        order = SCHEDULES.index(self.schedule), ctypes.c_uint64(self.seed), self.workers
        error = function(*shape, pointers, *order)
        if error:
            raise DeviceError(f"{name}: {error.decode()}")

    def compile_all(self) -> None:
        """Compile every unit, with as many compilers at a time as there are cores."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda file: compile_library(file, self.units[file], self.mode, self.kernels), self.units))

    def _load(self, file: str, name: str) -> tuple[Any, list[str]]:
        """Load the unit of an instantiation; return its function, and the C++ types of the kernel's parameters."""
        names = self.units.get(file, (name,))
        if name not in names:
            raise DeviceError(f"{name} is not in the catalogue of {file}.")
        library = load_library(compile_library(file, names, self.mode, self.kernels))
        for number, instantiation in enumerate(names):
            launch, parameters = library[f"k{number}_launch"], library[f"k{number}_parameters"]
            launch.restype = parameters.restype = ctypes.c_char_p
            types = parameters().decode().replace(" const", "").split(",")
            self._functions[file, instantiation] = launch, types
        return self._functions[file, name]


def check_arguments(name: str, types: Sequence[str], args: Sequence[Any]) -> None:
    """Raise DeviceError or DTypeError for the first argument that is not of the C++ type of its parameter."""
    if len(args) != len(types):
        raise DeviceError(f"{name} takes {len(types)} arguments, not {len(args)}.")
    for number, (argument, kind) in enumerate(zip(args, types, strict=True)):
        title, element = f"{name}: argument {number}", kind.removesuffix("*")
        if element == kind:
            if not isinstance(argument, np.generic) or SCALAR_TYPES.get(argument.dtype.name) != kind:
                raise DTypeError(f"{title} must be a NumPy scalar for {kind}, not {argument!r}.")
        elif isinstance(argument, np.uint64) and not argument:  # a null pointer
            continue
        elif not isinstance(argument, np.ndarray) or not argument.flags.c_contiguous:
            raise DeviceError(f"{title} must be a contiguous array of the device, not {argument!r}.")
        elif element in WORD_SIZES:  # the kernel moves words, of whatever dtype
            if argument.nbytes % WORD_SIZES[element]:
                raise DTypeError(f"{title}: {argument.nbytes} bytes are no whole words of {WORD_SIZES[element]} bytes.")
        elif CTYPES.get(argument.dtype.name) != element:
            raise DTypeError(f"{title} must be an array for {kind}, not one of {argument.dtype}.")


def emulated_backend(launcher: Emulator | None = None) -> KernelBackend:
    """Return the backend of the device ``"emulated"``, with the launcher that the environment describes by default.

    Raise MissingDependency if there is no compiler.
    """
    compiler()
    return KernelBackend("emulated", np, launcher or Emulator.from_environment())
