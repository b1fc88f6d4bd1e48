"""The launcher that runs kernels on the GPU, through CuPy's RawModule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..environment import whole_number
from ..errors import DeviceError, PynestedError
from ..gpu_errors import INSTALL, device_error
from .backend import KernelBackend
from .kernel_device import Dim3
from .kernel_source import KERNELS, inlined

OPTIONS = ("-std=c++17", "-lineinfo")
SHARED_BY_DEFAULT = 48 * 1024  # bytes; a kernel has to be told before it gets more
BLAS_FROM = 64.0**3  # multiplications; for fewer, a tile of our own kernel takes less time than a call of cuBLAS
POISON = 0xFF  # in every byte of a new array, while launches are checked


@contextmanager
def reporting(cupy: Any, name: str) -> Iterator[None]:
    """Raise one DeviceError for an error of the compiler, of a library that is loaded late, or of the driver."""
    try:
        yield
    except PynestedError:
        raise
    except (RuntimeError, ImportError, OSError, cupy.cuda.compiler.CompileException) as error:
        raise device_error(name, error) from error


class Reported:
    """The module CuPy, whose functions raise one DeviceError for whatever goes wrong on the GPU."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._cupy, name)
        if isinstance(function, type) or not callable(function):
            return function

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            with reporting(self._cupy, name):
                return function(*args, **options)

        return call


class Gpu:
    """Kernels of a folder on CuPy's current device and stream, compiled when they are first launched.

    CuPy keeps compiled modules under a hash of their text, not of files they include, so headers are put into the text.
    With the environment variable PYNESTED_CHECK set to 1, every launch is waited for and new arrays are poisoned.
    """

    def __init__(self, cupy: Any, kernels: Path = KERNELS) -> None:
        self.kernels = kernels
        self.check = whole_number("PYNESTED_CHECK", 0, greatest=1) == 1
        self._cupy = cupy
        self._functions: dict[tuple[str, str], Any] = {}

    def run(self, file: str, name: str, grid: Dim3, block: Dim3, args: Sequence[Any], shared: int) -> None:
        """Launch a kernel; it runs when the stream comes to it."""
        with reporting(self._cupy, name):
            function = self._functions.get((file, name)) or self._load(file, name)
            if shared > SHARED_BY_DEFAULT:
                function.max_dynamic_shared_size_bytes = shared
            function(grid, block, args, shared_mem=shared)
            if self.check:
                self._cupy.cuda.get_current_stream().synchronize()

    def new(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return a new array from CuPy's pool."""
        array = self._cupy.empty(shape, dtype)
        if self.check:
            array.reshape(-1).view(np.uint8).fill(POISON)
        return array

    def _load(self, file: str, name: str) -> Any:
        module = self._cupy.RawModule(code=inlined(file, self.kernels), options=OPTIONS, name_expressions=(name,))
        self._functions[file, name] = module.get_function(name)
        return self._functions[file, name]


def cuda_backend() -> KernelBackend:
    """The backend of the device ``"cuda"``."""
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        raise DeviceError(
            f"the device 'cuda' needs CuPy, which cannot be imported: {INSTALL}. The device 'emulated' runs the same "
            "kernels without a GPU."
        ) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(f"the device 'cuda' needs an NVIDIA driver and a GPU: {error}") from error
    if not count:
        raise DeviceError("the device 'cuda' needs a GPU, and the driver sees none.")
    try:
        cupy.cuda.nvrtc.getVersion()
        cupy.cuda.cublas  # noqa: B018 - loads it
    except (ImportError, RuntimeError) as error:
        raise DeviceError(f"the device 'cuda' needs CUDA's NVRTC and cuBLAS: {INSTALL}. CuPy says: {error}") from error
    return KernelBackend("cuda", Reported(cupy), Gpu(cupy), BLAS_FROM)
