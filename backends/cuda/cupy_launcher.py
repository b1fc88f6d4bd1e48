"""The launcher that runs kernels on a GPU, through CuPy's RawModule."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..environment import whole_number
from ..errors import INSTALL_CUPY, DeviceError, gpu_error
from . import KernelBackend
from .kernel_source import source_with_headers
from .launching_backend import POISON, Dim3

OPTIONS = ("-std=c++17", "-lineinfo")
MATMUL_THRESHOLD = 64.0**3  # multiplications; for fewer, our own kernel takes less time than a call of cuBLAS


class CupyLauncher:
    """The launcher for CuPy's current device and stream. It compiles a kernel when the kernel is first launched.

    CuPy caches a compiled module under a hash of its text. A file that the text includes does not change the hash, so
    the text has its headers in it. If the environment variable PYNESTED_CHECK is 1, each launch waits until the kernel
    has run, and new arrays are poisoned.
    """

    def __init__(self, cupy: Any) -> None:
        self.check = whole_number("PYNESTED_CHECK", 0, greatest=1) == 1
        self._cupy = cupy
        self._functions: dict[tuple[str, str], Any] = {}

    def run(self, file: str, name: str, grid: Dim3, block: Dim3, args: Sequence[Any]) -> None:
        """Launch a kernel, which runs after all that was launched before it.

        DeviceError in place of an error of CuPy's compiler, of a missing library, or of the driver.
        """
        try:
            if (file, name) not in self._functions:
                code = source_with_headers(file)
                module = self._cupy.RawModule(code=code, options=OPTIONS, name_expressions=(name,))
                self._functions[file, name] = module.get_function(name)
            self._functions[file, name](grid, block, args)
            if self.check:
                self._cupy.cuda.get_current_stream().synchronize()
        except (RuntimeError, ImportError, OSError, self._cupy.cuda.compiler.CompileException) as error:
            raise gpu_error(name, error) from error

    def new(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return a new array from CuPy's pool."""
        array = self._cupy.empty(shape, dtype)
        if self.check:
            array.reshape(-1).view(np.uint8).fill(POISON)
        return array


def cuda_backend() -> KernelBackend:
    """Return the backend of the device ``"cuda"``; DeviceError if CuPy, a library, the driver or a GPU is missing."""
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        raise DeviceError(
            f"the device 'cuda' needs CuPy, which cannot be imported: {INSTALL_CUPY}. The device 'emulated' runs the "
            "same kernels without a GPU."
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
        raise DeviceError(
            f"the device 'cuda' needs CUDA's NVRTC and cuBLAS: {INSTALL_CUPY}. CuPy says: {error}"
        ) from error
    return KernelBackend("cuda", cupy, CupyLauncher(cupy), MATMUL_THRESHOLD)
