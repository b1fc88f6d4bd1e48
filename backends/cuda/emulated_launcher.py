"""The launcher that runs kernels on the CPU: the same ``.cu`` files through a C++ compiler, a fiber for each thread."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..environment import whole_number
from ..errors import ArgumentError, DeviceError, DTypeError
from ..memory import ALIGNMENT
from .backend import KernelBackend
from .cache import loaded
from .host_compiler import compiler, library, sanitizer_environment
from .instantiations import all_instantiations
from .kernel_device import Triple
from .kernel_source import KERNELS
from .naming import CTYPES, WORDS

SCHEDULES = ("forward", "reverse", "random", "eager")
SETTINGS: Mapping[str, str | int] = {"schedule": "forward", "seed": 0, "workers": 1, "mode": ""}
LIMITS = {"seed": (0, 2**64 - 1), "workers": (1, 2**31 - 1)}
SANITIZERS = {"": "", "address": "AddressSanitizer and UndefinedBehaviorSanitizer", "thread": "ThreadSanitizer"}
SCALARS = {**CTYPES, "uint64": WORDS[8]}  # the C++ types of NumPy's scalars
WORD_SIZES = {name: size for size, name in WORDS.items()}
POISON = 0xFF  # in every byte of a new array: NaN as a float, -1 as an integer


class Emulator:
    """Kernels of a folder, compiled when they are first launched, a whole file at a time.

    Parameters
    ----------
    schedule : str
        In which order the threads of a block take turns between barriers: ``"forward"``, ``"reverse"``, ``"random"``,
        or ``"eager"``, in which a warp runs as far ahead of the others as barriers let it.
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
        for what, given, known in (("schedule", schedule, SCHEDULES), ("sanitizer", mode, SANITIZERS)):
            if given not in known:
                names = ", ".join(repr(one) for one in known if one)
                raise ArgumentError(f"the emulation has no {what} {given!r}: it has {names}.")
        for what, number in (("seed", seed), ("workers", workers)):
            least, greatest = LIMITS[what]
            if number < least:
                raise ArgumentError(f"the emulation needs {what} >= {least}, got {number}.")
            if number > greatest:
                raise ArgumentError(f"the emulation needs {what} <= {greatest}, got {number}.")
        self.schedule, self.seed, self.workers, self.mode = schedule, seed, workers, mode
        self.kernels, self.units = kernels, all_instantiations() if units is None else units
        self._functions: dict[tuple[str, str], tuple[Any, list[str]]] = {}

    @classmethod
    def from_environment(cls, **given: str | int) -> Emulator:
        """Return the emulator that PYNESTED_EMULATOR_SCHEDULE, _SEED, _WORKERS and _MODE describe, or ``given``."""
        settings: dict[str, Any] = {name: _from_environment(name, SETTINGS[name]) for name in SETTINGS}
        return cls(**{**settings, **given})

    def environment(self) -> dict[str, str]:
        """Return the environment variables of a process in which `from_environment` returns an equal emulator."""
        named = {_variable(name): str(getattr(self, name)) for name in SETTINGS}
        return {**os.environ, **named, **sanitizer_environment(self.mode)}

    def __str__(self) -> str:
        """Describe the schedule, and each setting that is not the default."""
        seed = f", seed {self.seed}" if self.schedule in ("random", "eager") else ""
        workers = f", {self.workers} blocks at a time" if self.workers > 1 else ""
        return f"schedule {self.schedule}{seed}{workers}" + (f", {SANITIZERS[self.mode]}" if self.mode else "")

    def run(self, file: str, name: str, grid: Triple, block: Triple, args: Sequence[Any], shared: int) -> None:
        """Run a kernel to its end; raise DeviceError if the emulation noticed a fault in it."""
        function, types = self._functions.get((file, name)) or self._load(file, name)
        check_arguments(name, types, args)
        pointers = (ctypes.c_void_p * len(args))()
        values = []  # the objects to which the pointers point
        for i, given in enumerate(args):
            value: Any
            if given is None or isinstance(given, np.ndarray):
                value = ctypes.c_void_p(None if given is None else given.ctypes.data)
                pointers[i] = ctypes.addressof(value)
            else:
                value = np.array(given)
                pointers[i] = value.ctypes.data
            values.append(value)
        sizes = (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block)
        order = SCHEDULES.index(self.schedule)
        error = function(*sizes, shared, pointers, order, self.seed, self.workers)
        if error:
            raise DeviceError(f"{name}: {error.decode()}")

    def compile(self, file: str) -> None:
        """Compile all instantiations of a file."""
        library(file, self.units[file], self.mode, self.kernels)

    def compile_all(self) -> None:
        """Compile every file, with as many compilers at a time as there are cores."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.compile, self.units))

    def _load(self, file: str, name: str) -> Any:
        names = self.units.get(file, (name,))
        if name not in names:
            raise DeviceError(f"{name} is not in the catalogue of {file}.")
        binary = loaded(library(file, names, self.mode, self.kernels))
        for number, instantiation in enumerate(names):
            self._functions[file, instantiation] = self._function(binary, number)
        return self._functions[file, name]

    def _function(self, binary: ctypes.CDLL, number: int) -> tuple[Any, list[str]]:
        """Return the function that launches a kernel, and the C++ types of the parameters of the kernel."""
        describe, function = getattr(binary, f"k{number}_parameters"), getattr(binary, f"k{number}_launch")
        describe.restype = function.restype = ctypes.c_char_p
        function.argtypes = [
            ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint), ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_uint64, ctypes.c_int,
        ]  # fmt: skip
        return function, describe().decode().replace(" const", "").split(",")


def check_arguments(name: str, types: Sequence[str], args: Sequence[Any]) -> None:
    """Raise DeviceError or DTypeError for the first argument that is not of the C++ type of its parameter."""
    if len(args) != len(types):
        raise DeviceError(f"{name} takes {len(types)} arguments, not {len(args)}.")
    for place, (given, kind) in enumerate(zip(args, types, strict=True)):
        where, pointee = f"{name}: argument {place}", kind.removesuffix("*")
        if pointee == kind:
            if not isinstance(given, np.generic) or SCALARS.get(given.dtype.name) != kind:
                raise DTypeError(f"{where} must be a NumPy scalar for {kind}, not {given!r}.")
        elif given is None or (isinstance(given, np.uint64) and not given):  # a null pointer, also as CuPy passes it
            continue
        elif not isinstance(given, np.ndarray) or not given.flags.c_contiguous:
            raise DeviceError(f"{where} must be a contiguous array of the device, not {given!r}.")
        elif pointee in WORD_SIZES:  # data that is only moved
            if given.nbytes % WORD_SIZES[pointee]:
                raise DTypeError(f"{where}: {given.nbytes} bytes are no whole words of {WORD_SIZES[pointee]} bytes.")
        elif CTYPES.get(given.dtype.name) != pointee:
            raise DTypeError(f"{where} must be an array for {kind}, not one of {given.dtype}.")


class _Memory:
    """Memory of the C library, so that a sanitizer notices a read or a write behind its end, or after it was freed.

    Memory of NumPy, and of arrays of the CPU, can be reused without being freed, or have a margin behind its end.
    """

    __slots__ = ("__array_interface__", "_free", "_pointer")

    def __init__(self, nbytes: int) -> None:
        allocate, self._free = _malloc()
        self._pointer = ctypes.c_void_p()
        if allocate(ctypes.byref(self._pointer), ctypes.c_size_t(ALIGNMENT), ctypes.c_size_t(nbytes)):
            raise MemoryError(f"no {nbytes:,} bytes for an array of the device 'emulated'")
        data = (self._pointer.value or 0, False)
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (nbytes,), "data": data}

    def __del__(self) -> None:
        self._free(self._pointer)


@cache
def _malloc() -> tuple[Any, Any]:
    process = ctypes.CDLL(None)
    return process.posix_memalign, process.free


def _variable(name: str) -> str:
    return f"PYNESTED_EMULATOR_{name.upper()}"


def _from_environment(name: str, default: str | int) -> str | int:
    if isinstance(default, int):
        return whole_number(_variable(name), default, *LIMITS[name])
    return os.environ.get(_variable(name), default)


def poisoned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array whose bytes are all `POISON`; the array ends at the end of its memory."""
    kind = np.dtype(dtype)
    memory = np.asarray(_Memory(prod(shape) * kind.itemsize))
    memory.fill(POISON)
    return np.ndarray(shape, kind, memory)


def emulated_backend(launcher: Emulator | None = None) -> KernelBackend:
    """Return the backend of the device ``"emulated"``, with the launcher that the environment describes by default.

    MissingDependency without a compiler, before anything has to be compiled.
    """
    compiler()
    return KernelBackend("emulated", np, launcher or Emulator.from_environment(), poisoned)
