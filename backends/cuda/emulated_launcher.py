"""The launcher that runs kernels on the CPU: a C++ compiler compiles the ``.cu`` files, and fibers are the threads."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import ArgumentError, DeviceError, DTypeError
from . import KernelBackend
from .cache import USE_ANOTHER_FOLDER
from .emulator_compiler import SANITIZERS, compile_library, find_compiler, sanitizer_environment
from .instantiations import CTYPES, WORD_BY_SIZE, all_instantiations
from .kernel_source import KERNEL_FOLDER
from .launching_backend import POISON, Dim3

SCHEDULES = ("forward", "reverse", "random", "eager")
LIMITS = {"seed": (0, 2**64 - 1), "workers": (1, 2**31 - 1)}
SETTINGS = ("schedule", "seed", "workers", "sanitizer")
SCALAR_TYPES = {**CTYPES, "uint64": WORD_BY_SIZE[8]}  # the C++ types of NumPy's scalars
SIZE_BY_WORD = {word: size for size, word in WORD_BY_SIZE.items()}


@dataclass(eq=False, repr=False)
class Emulator:
    """A launcher for the CPU. It compiles all kernels of a file when a kernel of the file is first launched.

    Parameters
    ----------
    schedule : str
        The order in which the threads of a block run between barriers: ``"forward"``, ``"reverse"``, ``"random"``, or
        ``"eager"``. In the eager schedule a warp runs as far ahead of the other warps as barriers let it.
    seed : int
        Seed of the random schedule, and of the order of warps in the eager schedule.
    workers : int
        Number of blocks that run at the same time.
    sanitizer : str
        The sanitizer for which kernels are compiled: ``""``, ``"address"`` or ``"thread"``.
    folder : Path
        The folder of the ``.cu`` files.
    instantiations_by_file : mapping
        The instantiations that are compiled together, by default those of `all_instantiations`. If a file is not in the
        mapping, each of its instantiations is compiled on its own.
    """

    schedule: str = "forward"
    seed: int = 0
    workers: int = 1
    sanitizer: str = ""
    folder: Path = KERNEL_FOLDER
    instantiations_by_file: Mapping[str, Sequence[str]] = field(default_factory=all_instantiations)

    def __post_init__(self) -> None:
        for setting, choices in (("schedule", SCHEDULES), ("sanitizer", SANITIZERS)):
            if (choice := getattr(self, setting)) not in choices:
                names = ", ".join(repr(name) for name in choices if name)
                raise ArgumentError(f"the emulation has no {setting} {choice!r}: it has {names}.")
        for setting, (least, greatest) in LIMITS.items():
            if not least <= (number := getattr(self, setting)) <= greatest:
                limit = f">= {least}" if number < least else f"<= {greatest}"
                raise ArgumentError(f"the emulation needs {setting} {limit}, got {number}.")
        self._functions: dict[tuple[str, str], tuple[Any, list[str]]] = {}

    @classmethod
    def from_environment(cls, **settings: str | int) -> Emulator:
        """Return an emulator with ``settings``, and with those of the variable PYNESTED_EMULATOR for all others."""
        text = os.environ.get("PYNESTED_EMULATOR") or "{}"
        try:
            return cls(**{**json.loads(text), **settings})
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"PYNESTED_EMULATOR is {text!r}, not JSON with some of {SETTINGS}: {error}") from error

    def environment(self) -> dict[str, str]:
        """Return the environment variables of a new process whose emulator has the settings of this one."""
        settings = json.dumps({name: getattr(self, name) for name in SETTINGS})
        return {**os.environ, "PYNESTED_EMULATOR": settings, **sanitizer_environment(self.sanitizer)}

    def __str__(self) -> str:
        """Describe the schedule, and each setting that is not the default."""
        seed = f", seed {self.seed}" if self.schedule in ("random", "eager") else ""
        workers = f", {self.workers} blocks at a time" if self.workers > 1 else ""
        sanitizer = f", {SANITIZERS[self.sanitizer].title}" if self.sanitizer else ""
        return f"schedule {self.schedule}{seed}{workers}{sanitizer}"

    def new(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new array whose bytes are all `POISON`.

        Its memory ends with its last element, so that a sanitizer notices reads and writes behind the array.
        """
        nbytes = prod(shape) * np.dtype(dtype).itemsize
        return np.full(nbytes, POISON, np.uint8).view(dtype).reshape(shape)

    def run(self, file: str, name: str, grid: Dim3, block: Dim3, args: Sequence[Any]) -> None:
        """Run a kernel to its end; raise DeviceError if the emulation noticed a fault in it."""
        launch, types = self._functions.get((file, name)) or self._load(file, name)
        check_arguments(name, types, args)
        # A launch takes the addresses of the arguments. The argument for an array is the address of its memory.
        arguments = [np.array(x.ctypes.data if isinstance(x, np.ndarray) else x) for x in args]
        addresses = (ctypes.c_void_p * len(args))(*(argument.ctypes.data for argument in arguments))
        sizes = (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block)
        schedule = SCHEDULES.index(self.schedule), ctypes.c_uint64(self.seed)
        if error := launch(*sizes, addresses, *schedule, self.workers):
            raise DeviceError(f"{name}: {error.decode()}")

    def compile_all(self) -> None:
        """Compile every file, with as many compilers at a time as there are cores."""
        files_and_names = self.instantiations_by_file.keys(), self.instantiations_by_file.values()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_library, *files_and_names, repeat(self.sanitizer), repeat(self.folder)))

    def _load(self, file: str, name: str) -> tuple[Any, list[str]]:
        """Load the library of a file; return the function that launches a kernel, and the types of its parameters."""
        names = self.instantiations_by_file.get(file, (name,))
        if name not in names:
            raise DeviceError(f"{name} is not in the catalogue of {file}.")
        try:
            library = ctypes.CDLL(str(compile_library(file, names, self.sanitizer, self.folder)))
        except OSError as error:
            advice = f"Where its file system lets no program run (noexec), {USE_ANOTHER_FOLDER}"
            raise DeviceError(f"a compiled kernel cannot be loaded: {error}. {advice}") from error
        for number, instantiation in enumerate(names):
            launch, signature = library[f"k{number}_launch"], library[f"k{number}_signature"]
            launch.restype = signature.restype = ctypes.c_char_p
            _, _, parameters = signature().decode().rpartition("(")  # of "void (*)(float const*, long long)"
            self._functions[file, instantiation] = launch, parameters[:-1].replace(" const", "").split(", ")
        return self._functions[file, name]


def check_arguments(name: str, types: Sequence[str], args: Sequence[Any]) -> None:
    """Raise DeviceError or DTypeError for the first argument that is not of the C++ type of its parameter."""
    if len(args) != len(types):
        raise DeviceError(f"{name} takes {len(types)} arguments, not {len(args)}.")
    for number, (argument, parameter_type) in enumerate(zip(args, types, strict=True)):
        origin, element_type = f"{name}: argument {number}", parameter_type.removesuffix("*")
        if element_type == parameter_type:
            if not isinstance(argument, np.generic) or SCALAR_TYPES.get(argument.dtype.name) != parameter_type:
                raise DTypeError(f"{origin} must be a NumPy scalar for {parameter_type}, not {argument!r}.")
        elif isinstance(argument, np.uint64) and not argument:  # a null pointer
            continue
        elif not isinstance(argument, np.ndarray) or not argument.flags.c_contiguous:
            raise DeviceError(f"{origin} must be a contiguous array of the device, not {argument!r}.")
        elif size := SIZE_BY_WORD.get(element_type):  # the kernel moves words, of whatever dtype
            if argument.nbytes % size:
                raise DTypeError(f"{origin}: {argument.nbytes} bytes are no whole words of {size} bytes.")
        elif CTYPES.get(argument.dtype.name) != element_type:
            raise DTypeError(f"{origin} must be an array for {parameter_type}, not one of {argument.dtype}.")


def emulated_backend(launcher: Emulator | None = None) -> KernelBackend:
    """Return the backend of ``"emulated"``, by default as the environment says; MissingDependency if no compiler."""
    find_compiler()
    return KernelBackend("emulated", np, launcher or Emulator.from_environment())
